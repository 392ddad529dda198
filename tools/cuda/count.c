/*
 * count.c: counters over ranges of a run, by CUPTI's range profiler.  There are
 * more counters than a device counts at a time, so the run is repeated, in this
 * process, once a pass: nothing is loaded again, saved or restored.
 */
#include <err.h>

#include "count.h"
#include "library.h"
#include "ranges.h"

#define BLOCK(type, last) .size = BLOCK_SIZE(struct type, last)

struct call {				/* of libcupti */
	int	 (*start)(struct profiler_start *);
	int	 (*end)(struct profiler_start *);
	int	 (*support)(struct device_support *);
	int	 (*chip)(struct device_chip *);
	int	 (*counters)(struct device_counters *);
	int	 (*enable)(struct ranges_enable *);
	int	 (*config)(struct ranges_config *);
	int	 (*begin)(struct ranges_call *);
	int	 (*push)(struct ranges_push *);
	int	 (*pop)(struct ranges_call *);
	int	 (*stop)(struct ranges_stop *);
	int	 (*decode)(struct ranges_decode *);
	int	 (*disable)(struct ranges_call *);
	int	 (*data_size)(struct ranges_data_size *);
	int	 (*data)(struct ranges_data *);
	int	 (*ranges)(struct ranges_count *);
	int	 (*name)(struct ranges_name *);
	int	 (*values)(struct host_values *);
	int	 (*metric)(struct host_metric *);
	int	 (*word)(int, const char **);
};
struct count {
	struct cupti cupti;
	struct call call;
	struct count_device device;
	struct cupti_config config;
	const char **metric;
	size_t	 n_metrics, n_ranges, n_passes;
	char	**range;		/* those of a pass, by name */
	size_t	 n_opened;		/* of them, in this pass */
	uint8_t	*availability, *data;
	size_t	 data_bytes;
	void	*profiler;
};

static void
find_calls(struct count *c)
{
	struct call *f = &c->call;
	const struct symbol all[] = {
		{ &f->start, "cuptiProfilerInitialize", NULL },
		{ &f->end, "cuptiProfilerDeInitialize", NULL },
		{ &f->support, "cuptiProfilerDeviceSupported", NULL },
		{ &f->chip, "cuptiDeviceGetChipName", NULL },
		{ &f->counters, "cuptiProfilerGetCounterAvailability", NULL },
		{ &f->enable, "cuptiRangeProfilerEnable", NULL },
		{ &f->config, "cuptiRangeProfilerSetConfig", NULL },
		{ &f->begin, "cuptiRangeProfilerStart", NULL },
		{ &f->push, "cuptiRangeProfilerPushRange", NULL },
		{ &f->pop, "cuptiRangeProfilerPopRange", NULL },
		{ &f->stop, "cuptiRangeProfilerStop", NULL },
		{ &f->decode, "cuptiRangeProfilerDecodeData", NULL },
		{ &f->disable, "cuptiRangeProfilerDisable", NULL },
		{ &f->data_size, "cuptiRangeProfilerGetCounterDataSize", NULL },
		{ &f->data, "cuptiRangeProfilerCounterDataImageInitialize", NULL },
		{ &f->ranges, "cuptiRangeProfilerGetCounterDataInfo", NULL },
		{ &f->name, "cuptiRangeProfilerCounterDataGetRangeInfo", NULL },
		{ &f->values, "cuptiProfilerHostEvaluateToGpuValues", NULL },
		{ &f->metric, "cuptiProfilerHostGetMetricProperties", NULL },
		{ &f->word, "cuptiGetResultString", NULL },
	};
	const char *absent;

	if (!cupti_open(&c->cupti, NULL))
		errx(NS_TROUBLE, "--count: no libcupti.so with a host interface was "
		    "found: install CUPTI of CUDA 12.6 or later (cuda-cupti), or put its "
		    "folder in LD_LIBRARY_PATH");
	absent = library_find(c->cupti.library, all, sizeof all / sizeof *all);
	if (absent != NULL)
		errx(NS_TROUBLE, "--count: libcupti %u has no %s: install CUPTI of "
		    "CUDA 12.6 update 2 or later", cupti_version(&c->cupti), absent);
}

static const char *
remedy(int result)
{
	switch (result) {
	case CUPTI_NOT_PERMITTED:
	case CUPTI_NOT_PERMITTED_VIRTUAL:
		return "this user may not read counters: setup/allow-counters.sh "
		    "says how to allow it";
	case CUPTI_BUSY:
	case CUPTI_OLD_API:
	case CUPTI_SUBSCRIBED:
		return "another profiler holds the counters: end it (ns-probe names "
		    "those that run)";
	case CUPTI_NOT_STARTED:
		return "libnvperf_host.so was not found: it lies beside libcupti.so; put "
		    "their folder in LD_LIBRARY_PATH";
	case CUPTI_MEMORY:
		return "no memory is left for the counters: count fewer, or take a "
		    "smaller model";
	case CUPTI_CONFIDENTIAL:
	case CUPTI_MINING:
	case CUPTI_MIG:
	case CUPTI_SLI:
	case CUPTI_WSL:
		return "this device does not count in that state";
	case CUPTI_PARAMETER:
		return "this libcupti takes other parameters: CUDA 12.6 update 2 to 13.5 "
		    "are known to take these";
	default:
		return "is another profiler running (ns-probe names them), or this "
		    "libcupti newer than the driver (gpu_cuda_version of ns-probe)?";
	}
}

static void
check(const struct count *c, int result, const char *what)
{
	const char *word = NULL;

	if (result == 0)
		return;
	if (c->call.word(result, &word) != 0 || word == NULL)
		word = "an error that it has no word for";
	errx(NS_TROUBLE, "--count: %s: libcupti %u says %s (%d): %s", what,
	    cupti_version(&c->cupti), word, result, remedy(result));
}

/* Where support is unknown or switched off, the profiler itself says more. */
static void
check_support(const struct count *c)
{
	struct device_support s = { BLOCK(device_support, api), .api = API_RANGES,
	    .device = (int)c->device.index };

	check(c, c->call.support(&s), "asking for support");
	if (s.all != SUPPORT_UNSUPPORTED)
		return;
	errx(NS_TROUBLE, "--count: this device does not count: %s",
	    s.architecture == SUPPORT_UNSUPPORTED ? "it is older than Volta" :
	    s.vgpu == SUPPORT_UNSUPPORTED ? "it is a virtual GPU" :
	    s.confidential == SUPPORT_UNSUPPORTED ? "confidential computing is on" :
	    s.wsl == SUPPORT_UNSUPPORTED ? "it runs under WSL" :
	    s.sli == SUPPORT_UNSUPPORTED ? "SLI is on" :
	    s.mining == SUPPORT_UNSUPPORTED ? "it is a mining card" : "libcupti does not say why");
}

static void
find_chip(struct count *c)
{
	struct device_chip chip = { BLOCK(device_chip, name),
	    .device = c->device.index };
	struct device_counters d = { BLOCK(device_counters, image),
	    .context = c->device.context };

	check(c, c->call.chip(&chip), "the chip's name");
	c->cupti.chip = chip.name;
	check(c, c->call.counters(&d), "the device's counters");
	c->availability = d.image = xalloc(d.bytes, 1);
	check(c, c->call.counters(&d), "the device's counters");
	c->cupti.availability = c->availability;
}

static void
configure(struct count *c)
{
	if (cupti_configure(&c->config, &c->cupti, c->metric, c->n_metrics))
		return;
	for (size_t i = 0; i < c->n_metrics; i++)
		if (cupti_passes(&c->cupti, &c->metric[i], 1) == 0)
			errx(NS_TROUBLE, "--count: chip %s has no metric '%s': ns-plan "
			    "tells of a registry, ncu --query-metrics of all",
			    c->cupti.chip, c->metric[i]);
	errx(NS_TROUBLE, "--count: chip %s does not count these %zu metrics in one "
	    "run, though each alone: ask for fewer", c->cupti.chip, c->n_metrics);
}

/* Code is patched when it is loaded: whether in a graph too nobody has tried. */
static void
refuse_patched(const char **metric, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strstr(metric[i], "__sass_") != NULL)
			errx(NS_TROUBLE, "--count: '%s' is counted by patched code, not by "
			    "the device: leave it to ncu", metric[i]);
}

struct count *
count_open(const char **metric, size_t n, size_t n_ranges,
    const struct count_device *device)
{
	struct profiler_start start = { BLOCK(profiler_start, priv) };
	struct count *c = xalloc(1, sizeof *c);

	c->device = *device;
	c->metric = metric;
	c->n_metrics = n;
	c->n_ranges = n_ranges;
	c->range = xalloc(n_ranges, sizeof *c->range);
	refuse_patched(metric, n);
	find_calls(c);
	check(c, c->call.start(&start), "starting libcupti");
	check_support(c);
	find_chip(c);
	configure(c);
	return c;
}

size_t
count_passes(const struct count *c)
{
	return c->config.n_passes;
}

/* The profiler takes the counters, and memory for what they will have counted. */
static void
enable(struct count *c)
{
	struct ranges_enable on = { BLOCK(ranges_enable, profiler),
	    .context = c->device.context };
	struct ranges_data_size size = { BLOCK(ranges_data_size, bytes),
	    .name = c->metric, .n = c->n_metrics, .n_ranges = c->n_ranges,
	    .n_nodes = (uint32_t)c->n_ranges };
	struct ranges_data data = { BLOCK(ranges_data, data) };
	struct ranges_config config = { BLOCK(ranges_config, level),
	    .config = c->config.image, .config_bytes = c->config.bytes,
	    .range = RANGES_BY_USER, .replay = REPLAY_BY_USER,
	    .n_ranges = c->n_ranges, .n_levels = 1, .first_level = 1, .level = 1 };

	check(c, c->call.enable(&on), "taking the counters");
	c->profiler = size.profiler = data.profiler = config.profiler = on.profiler;
	check(c, c->call.data_size(&size), "memory for the counters");
	c->data_bytes = data.bytes = config.data_bytes = size.bytes;
	c->data = data.data = config.data = xalloc(size.bytes, 1);
	check(c, c->call.data(&data), "memory for the counters");
	check(c, c->call.config(&config), "setting up the passes");
}

/* One pass; true if it was the last. */
static bool
pass(struct count *c, void (*work)(void *), void *arg)
{
	struct ranges_call begin = { BLOCK(ranges_call, profiler),
	    .profiler = c->profiler };
	struct ranges_stop stop = { BLOCK(ranges_stop, all),
	    .profiler = c->profiler };

	check(c, c->call.begin(&begin), "starting a pass");
	c->n_opened = 0;
	work(arg);
	check(c, c->call.stop(&stop), "ending a pass");
	if (c->n_opened != c->n_ranges)
		errx(NS_TROUBLE, "--count: %zu ranges were opened in a pass, not %zu",
		    c->n_opened, c->n_ranges);
	c->n_passes++;
	return stop.all != 0;
}

void
count_run(struct count *c, void (*work)(void *), void *arg)
{
	struct ranges_decode decode = { BLOCK(ranges_decode, n_dropped) };

	enable(c);
	while (!pass(c, work, arg))
		if (c->n_passes >= 2 * (size_t)c->config.n_passes)
			errx(NS_TROUBLE, "--count: libcupti planned %u passes and wants "
			    "more than %zu", c->config.n_passes, c->n_passes);
	decode.profiler = c->profiler;
	check(c, c->call.decode(&decode), "reading the counters");
	if (decode.n_dropped != 0)
		errx(NS_TROUBLE, "--count: %zu ranges were dropped, so that what is left "
		    "is not all: ask for fewer metrics", decode.n_dropped);
}

/* Each pass opens the same ones; names stay, whoever keeps a pointer to them. */
static const char *
next_range(struct count *c, const char *name)
{
	char **r = &c->range[c->n_opened];

	if (c->n_opened == c->n_ranges)
		errx(NS_TROUBLE, "--count: range %s is more than the %zu of a pass", name,
		    c->n_ranges);
	if (*r == NULL)
		*r = xstrdup(name);
	if (strcmp(*r, name) != 0)
		errx(NS_TROUBLE, "--count: range %s in one pass is %s in another", *r, name);
	c->n_opened++;
	return *r;
}

/* Nothing is under way at its edges, so that it holds its own work and no other. */
void
count_range(struct count *c, const char *name)
{
	struct ranges_push push = { BLOCK(ranges_push, name),
	    .profiler = c->profiler };
	struct ranges_call pop = { BLOCK(ranges_call, profiler),
	    .profiler = c->profiler };

	c->device.wait();
	if (name != NULL) {
		push.name = next_range(c, name);
		check(c, c->call.push(&push), "opening a range");
	} else
		check(c, c->call.pop(&pop), "closing a range");
}

/* As ncu calls it: an l2_sector is a sector, operations and wavefronts bare counts. */
static const char *
unit_of(const struct count *c, const char *metric)
{
	static const char *const units[][2] = { { "nanosecond", "ns" },
	    { "instruction", "inst" }, { "percent", "%" }, { "op", NULL },
	    { "wavefront", NULL } };
	struct host_metric m = { BLOCK(host_metric, type), .host = c->config.host,
	    .name = metric };
	const char *word;

	check(c, c->call.metric(&m), metric);
	if (m.unit == NULL || *m.unit == '\0')
		return NULL;
	word = strrchr(m.unit, '_');
	word = word != NULL ? word + 1 : m.unit;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(word, units[i][0]) == 0)
			return units[i][1];
	return word;
}

/* Which of those that were opened is the i-th that was counted? */
static size_t
range_of(const struct count *c, size_t i)
{
	struct ranges_name name = { BLOCK(ranges_name, name), .data = c->data,
	    .bytes = c->data_bytes, .range = i, .delimiter = "/" };
	const char *last;

	check(c, c->call.name(&name), "a range's name");
	last = strrchr(name.name, '/');
	last = last != NULL ? last + 1 : name.name;
	for (size_t r = 0; r < c->n_ranges; r++)
		if (strcmp(c->range[r], last) == 0)
			return r;
	errx(NS_TROUBLE, "--count: libcupti has counted range '%s', which was not opened",
	    name.name);
}

static void
read_range(const struct count *c, size_t i, struct counts *r)
{
	const size_t which = range_of(c, i);
	struct host_values values = { BLOCK(host_values, value),
	    .host = c->config.host, .data = c->data, .bytes = c->data_bytes,
	    .range = i, .name = c->metric, .n = c->n_metrics,
	    .value = r->value + which * c->n_metrics };

	if (r->range[which] != NULL)
		errx(NS_TROUBLE, "--count: libcupti has counted range %s twice",
		    c->range[which]);
	r->range[which] = c->range[which];
	check(c, c->call.values(&values), c->range[which]);
}

struct counts
count_read(const struct count *c)
{
	struct ranges_count n = { BLOCK(ranges_count, n), .data = c->data,
	    .bytes = c->data_bytes };
	struct counts r = { .n_metrics = c->n_metrics, .n_ranges = c->n_ranges,
	    .n_passes = c->n_passes, .metric = c->metric };

	check(c, c->call.ranges(&n), "the ranges counted");
	if (n.n != c->n_ranges)
		errx(NS_TROUBLE, "--count: %zu of %zu ranges were counted", n.n,
		    c->n_ranges);
	r.range = xalloc(c->n_ranges, sizeof *r.range);
	r.unit = xalloc(c->n_metrics, sizeof *r.unit);
	r.value = xalloc(c->n_ranges * c->n_metrics, sizeof *r.value);
	for (size_t i = 0; i < c->n_metrics; i++)
		r.unit[i] = unit_of(c, c->metric[i]);
	for (size_t i = 0; i < c->n_ranges; i++)
		read_range(c, i, &r);
	return r;
}

void
count_close(struct count *c)
{
	struct ranges_call off = { BLOCK(ranges_call, profiler),
	    .profiler = c->profiler };
	struct profiler_start end = { BLOCK(profiler_start, priv) };

	check(c, c->call.disable(&off), "giving the counters back");
	cupti_config_free(&c->config, &c->cupti);
	c->call.end(&end);
	for (size_t r = 0; r < c->n_ranges; r++)
		free(c->range[r]);
	free(c->range);
	free(c->availability);
	free(c->data);
	free(c);
}
