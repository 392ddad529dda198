/*
 * A libcupti whose range profiler counts what fake_do is told was done: two
 * metrics a pass, in the order in which they were asked for; metric k has k + 1
 * times what was done within a range in the pass that counts it.  It ends the
 * program at a call out of order or with other arguments than it must have, and
 * fails in the way that FAKE_CUPTI names.  -DOLD: without a range profiler.  As
 * those of CUDA 13.1 to 13.5 it clears what they have added behind a block's end.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../tools/cuda/ranges.h"

enum { A_PASS = 2, MOST = 64, RANGES = 4, IMAGE = 16 };
enum state { NOTHING, STARTED, ENABLED, SIZED, CLEARED, READY, IN_PASS, IN_RANGE,
	SUBMITTED, DECODED, DISABLED };

static struct {
	enum state state;
	char	*metric[MOST];
	size_t	 n_metrics, n_ranges, n_asked, pass;
	char	 range[RANGES][40];
	double	 done[RANGES][MOST / A_PASS];
	const uint8_t *data;
	const char *open;		/* the range's name, where it was given */
	int	 host, profiler;
	bool	 busy;			/* work is under way */
	double	 now;
} f;

static bool
fault(const char *name)
{
	const char *s = getenv("FAKE_CUPTI");

	return s != NULL && strcmp(s, name) == 0;
}

static void
must(bool holds, const char *call, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fake cupti: %s: %s\n", call, what);
	_exit(99);
}

/* Ranges are not kept in the order in which they were opened. */
static inline size_t
last_first(size_t range)
{
	return f.n_ranges - 1 - range;
}

#define MUST(holds) must(holds, __func__, #holds)
#define SIZE(type, last) MUST(p->size == BLOCK_SIZE(struct type, last) && p->priv == NULL)
#define GROWN(bytes) do { \
	_Static_assert(sizeof *p >= (bytes), "room"); \
	memset((uint8_t *)p + p->size, 0, (bytes) - p->size); \
} while (0)

/* What a test does in place of a GPU. */
void
fake_do(double amount)
{
	f.busy = true;
	if (f.state == IN_RANGE)
		f.now += amount;
}

void
fake_wait(void)
{
	f.busy = false;
}

/* ---- host */

int
cuptiGetVersion(uint32_t *v)
{
	*v = 42;
	return 0;
}

int
cuptiGetResultString(int result, const char **s)
{
	*s = result == 35 ? "INSUFFICIENT_PRIVILEGES" : result == 26 ? "HARDWARE_BUSY" :
	    result == 999 ? "UNKNOWN" : result == 15 ? "NOT_INITIALIZED" :
	    result == 8 ? "OUT_OF_MEMORY" : result == 1 ? "INVALID_PARAMETER" : NULL;
	return *s == NULL;
}

int
cuptiProfilerHostGetSupportedChips(struct host_chips *p)
{
	static const char *const chips[] = { "FAKE" };

	p->n = 1;
	p->name = chips;
	return 0;
}

int
cuptiProfilerHostInitialize(struct host_init *p)
{
	SIZE(host_init, host);
	GROWN(56);
	MUST(p->profiler == RANGE_PROFILER && p->availability != NULL &&
	    p->availability[0] == 7);
	if (fault("chip"))
		return 46;
	p->host = &f.host;
	f.n_metrics = 0;
	return strcmp(p->chip, "FAKE") != 0;
}

int
cuptiProfilerHostDeinitialize(struct host_fini *p)
{
	SIZE(host_fini, host);
	MUST(p->host == &f.host);
	while (f.n_metrics > 0)
		free(f.metric[--f.n_metrics]);
	return 0;
}

int
cuptiProfilerHostConfigAddMetrics(struct host_add *p)
{
	SIZE(host_add, n);
	MUST(p->host == &f.host && p->n > 0 && f.n_metrics + p->n <= MOST);
	for (size_t i = 0; i < p->n; i++) {
		if (strncmp(p->name[i], "no_", 3) == 0)
			return 17;
		f.metric[f.n_metrics++] = strdup(p->name[i]);
	}
	return fault("apart") && p->n > 1 ? 27 : 0;
}

int
cuptiProfilerHostGetConfigImageSize(struct host_image_size *p)
{
	SIZE(host_image_size, bytes);
	p->bytes = IMAGE;
	return 0;
}

int
cuptiProfilerHostGetConfigImage(struct host_image *p)
{
	SIZE(host_image, image);
	MUST(p->bytes == IMAGE);
	memset(p->image, 1, IMAGE);
	return 0;
}

int
cuptiProfilerHostGetNumOfPasses(struct host_passes *p)
{
	SIZE(host_passes, n);
	MUST(p->bytes == IMAGE && p->image[IMAGE - 1] == 1);
	p->n = (f.n_metrics + A_PASS - 1) / A_PASS;
	return 0;
}

#ifndef OLD
int
cuptiProfilerHostGetMetricProperties(struct host_metric *p)
{
	SIZE(host_metric, type);
	GROWN(64);
	MUST(p->host == &f.host);
	p->unit = strstr(p->name, "bytes") != NULL ? "byte" :
	    strstr(p->name, "duration") != NULL ? "nanosecond" :
	    strstr(p->name, "sectors") != NULL ? "l2_sector" :
	    strstr(p->name, "ops") != NULL ? "math_op" :
	    strstr(p->name, "wavefronts") != NULL ? "l1tex_wavefront" :
	    strstr(p->name, "inst") != NULL ? "instruction" : "";
	return 0;
}

int
cuptiProfilerHostEvaluateToGpuValues(struct host_values *p)
{
	SIZE(host_values, value);
	MUST(p->host == &f.host && p->data == f.data && p->n == f.n_metrics &&
	    p->range < f.n_ranges && f.state == DECODED);
	for (size_t i = 0; i < p->n; i++) {
		MUST(strcmp(p->name[i], f.metric[i]) == 0);
		p->value[i] = (double)(i + 1) * f.done[last_first(p->range)][i / A_PASS];
		if (fault("nan") && i == 0)
			p->value[i] = NAN;
	}
	return 0;
}

/* ---- device */

int
cuptiProfilerInitialize(struct profiler_start *p)
{
	SIZE(profiler_start, priv);
	f.state = STARTED;
	return fault("driver") ? 999 : fault("nvperf") ? 15 : 0;
}

int
cuptiProfilerDeInitialize(struct profiler_start *p)
{
	SIZE(profiler_start, priv);
	MUST(f.state == DISABLED && f.n_metrics == 0);
	return 0;
}

int
cuptiProfilerDeviceSupported(struct device_support *p)
{
	SIZE(device_support, api);
	GROWN(56);
	MUST(f.state == STARTED && p->api == API_RANGES && p->device == 0);
	p->all = p->vgpu = fault("virtual") ? SUPPORT_UNSUPPORTED : SUPPORT_FULL;
	p->architecture = p->sli = p->confidential = p->mining = p->wsl = SUPPORT_FULL;
	return 0;
}

int
cuptiDeviceGetChipName(struct device_chip *p)
{
	SIZE(device_chip, name);
	MUST(f.state == STARTED && p->device == 0);
	p->name = "FAKE";
	return 0;
}

int
cuptiProfilerGetCounterAvailability(struct device_counters *p)
{
	SIZE(device_counters, image);
	GROWN(41);
	MUST(f.state == STARTED && p->context != NULL);
	if (fault("privileges"))
		return 35;
	if (p->image == NULL)
		p->bytes = 8;
	else {
		MUST(p->bytes == 8);
		memset(p->image, 7, 8);
	}
	return 0;
}

int
cuptiRangeProfilerEnable(struct ranges_enable *p)
{
	SIZE(ranges_enable, profiler);
	GROWN(36);
	MUST(f.state == STARTED && p->context != NULL);
	if (fault("busy") || fault("unknown"))
		return fault("busy") ? 26 : 999;
	p->profiler = &f.profiler;
	f.state = ENABLED;
	return 0;
}

int
cuptiRangeProfilerGetCounterDataSize(struct ranges_data_size *p)
{
	SIZE(ranges_data_size, bytes);
	MUST(f.state == ENABLED && p->profiler == &f.profiler && p->n == f.n_metrics);
	MUST(p->n_ranges > 0 && p->n_ranges <= RANGES && p->n_nodes >= p->n_ranges);
	f.n_asked = p->n_ranges;
	p->bytes = 32;
	f.state = SIZED;
	return 0;
}

int
cuptiRangeProfilerCounterDataImageInitialize(struct ranges_data *p)
{
	SIZE(ranges_data, data);
	MUST(f.state == SIZED && p->profiler == &f.profiler && p->bytes == 32);
	if (fault("memory") || fault("parameter"))
		return fault("memory") ? 8 : 1;
	f.data = p->data;
	f.state = CLEARED;
	return 0;
}

int
cuptiRangeProfilerSetConfig(struct ranges_config *p)
{
	SIZE(ranges_config, level);
	MUST(f.state == CLEARED && p->profiler == &f.profiler && p->data == f.data);
	MUST(p->config_bytes == IMAGE && p->config[0] == 1 && p->data_bytes == 32);
	MUST(p->range == RANGES_BY_USER && p->replay == REPLAY_BY_USER);
	MUST(p->n_ranges == f.n_asked && p->pass == 0);
	MUST(p->n_levels == 1 && p->first_level == 1 && p->level == 1);
	f.state = READY;
	return 0;
}

int
cuptiRangeProfilerStart(struct ranges_call *p)
{
	SIZE(ranges_call, profiler);
	MUST(f.state == READY && p->profiler == &f.profiler);
	if (fault("start"))
		return 35;
	f.n_ranges = 0;
	f.state = IN_PASS;
	return 0;
}

int
cuptiRangeProfilerPushRange(struct ranges_push *p)
{
	SIZE(ranges_push, name);
	MUST(f.state == IN_PASS && p->profiler == &f.profiler && !f.busy);
	MUST(f.n_ranges < f.n_asked);
	if (f.pass == 0)
		snprintf(f.range[f.n_ranges], sizeof f.range[0], "%s", p->name);
	MUST(strcmp(f.range[f.n_ranges], p->name) == 0);
	f.open = p->name;
	f.now = 0;
	f.state = IN_RANGE;
	return 0;
}

int
cuptiRangeProfilerPopRange(struct ranges_call *p)
{
	SIZE(ranges_call, profiler);
	MUST(f.state == IN_RANGE && p->profiler == &f.profiler && !f.busy);
	MUST(strcmp(f.range[f.n_ranges], f.open) == 0);
	f.done[f.n_ranges++][f.pass] = f.now;
	f.state = IN_PASS;
	return 0;
}

int
cuptiRangeProfilerStop(struct ranges_stop *p)
{
	SIZE(ranges_stop, all);
	MUST(f.state == IN_PASS && p->profiler == &f.profiler);
	p->all = ++f.pass * A_PASS >= f.n_metrics && !fault("endless");
	f.state = p->all ? SUBMITTED : READY;
	return 0;
}

int
cuptiRangeProfilerDecodeData(struct ranges_decode *p)
{
	SIZE(ranges_decode, n_dropped);
	MUST(f.state == SUBMITTED && p->profiler == &f.profiler);
	p->n_dropped = fault("dropped");
	f.state = DECODED;
	return 0;
}

int
cuptiRangeProfilerDisable(struct ranges_call *p)
{
	SIZE(ranges_call, profiler);
	MUST(f.state == DECODED && p->profiler == &f.profiler);
	f.state = DISABLED;
	return 0;
}

int
cuptiRangeProfilerGetCounterDataInfo(struct ranges_count *p)
{
	SIZE(ranges_count, n);
	MUST(f.state == DECODED && p->data == f.data && p->bytes == 32);
	p->n = f.n_ranges - fault("lost");
	return 0;
}

int
cuptiRangeProfilerCounterDataGetRangeInfo(struct ranges_name *p)
{
	SIZE(ranges_name, name);
	MUST(f.state == DECODED && p->data == f.data && p->range < f.n_ranges);
	MUST(p->delimiter != NULL);
	p->name = fault("other") ? "other" : f.range[fault("twice") ? 0 : last_first(p->range)];
	return 0;
}
#endif
