/*
 * ranges WAY METRIC...: what CUPTI's range profiler says, call by call, while it
 * counts work that is known: a kernel that writes 1 GiB, launched by itself, then
 * as a graph that was made before counting began, each in a range of its own, on a
 * stream that waits for no other.  That is how ns-worker --count does it (WAY user);
 * where it fails, two other ways tell whether ranges, replay or counting is at fault:
 * auto, where each launch is a range, and kernel, where CUPTI replays it besides.
 *
 *	cc -D_GNU_SOURCE -Itools/lib tests/gpu/ranges.c tools/lib/library.c -ldl -o ranges
 *
 * out	way call result, a line a call; then way range metric value
 */
#include <dlfcn.h>
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/cuda/ranges.h"
#include "library.h"

enum { RANGES_BY_LAUNCH = 1, REPLAY_BY_CUPTI = 2 };
enum { N_RANGES = 2, THREADS = 256, BLOCKS = 1 << 20 };	/* a thread writes 4 bytes */
#define BLOCK(type, last) .size = BLOCK_SIZE(struct type, last)

static const char kernel[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry fill(.param .u64 p)\n{\n"
    "	.reg .b32 %r<5>;\n	.reg .b64 %d<5>;\n"
    "	ld.param.u64 %d1, [p];\n	cvta.to.global.u64 %d2, %d1;\n"
    "	mov.u32 %r1, %ctaid.x;\n	mov.u32 %r2, %ntid.x;\n	mov.u32 %r3, %tid.x;\n"
    "	mad.lo.s32 %r4, %r1, %r2, %r3;\n	mul.wide.u32 %d3, %r4, 4;\n"
    "	add.s64 %d4, %d2, %d3;\n	st.global.u32 [%d4], %r4;\n	ret;\n}\n";

#define DRIVER(X) \
	X(init, cuInit, (unsigned)) \
	X(version, cuDriverGetVersion, (int *)) \
	X(retain, cuDevicePrimaryCtxRetain, (void **, int)) \
	X(current, cuCtxSetCurrent, (void *)) \
	X(allocate, cuMemAlloc_v2, (uint64_t *, size_t)) \
	X(load, cuModuleLoadData, (void **, const void *)) \
	X(function, cuModuleGetFunction, (void **, void *, const char *)) \
	X(stream, cuStreamCreate, (void **, unsigned)) \
	X(launch, cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, \
	    unsigned, unsigned, void *, void **, void **)) \
	X(capture, cuStreamBeginCapture_v2, (void *, int)) \
	X(captured, cuStreamEndCapture, (void *, void **)) \
	X(instantiate, cuGraphInstantiateWithFlags, (void **, void *, uint64_t)) \
	X(graph, cuGraphLaunch, (void *, void *)) \
	X(wait, cuCtxSynchronize, (void))
#define CUPTI(X) \
	X(version, cuptiGetVersion, (uint32_t *)) \
	X(word, cuptiGetResultString, (int, const char **)) \
	X(start, cuptiProfilerInitialize, (struct profiler_start *)) \
	X(support, cuptiProfilerDeviceSupported, (struct device_support *)) \
	X(chip, cuptiDeviceGetChipName, (struct device_chip *)) \
	X(counters, cuptiProfilerGetCounterAvailability, (struct device_counters *)) \
	X(host, cuptiProfilerHostInitialize, (struct host_init *)) \
	X(add, cuptiProfilerHostConfigAddMetrics, (struct host_add *)) \
	X(image_size, cuptiProfilerHostGetConfigImageSize, (struct host_image_size *)) \
	X(image, cuptiProfilerHostGetConfigImage, (struct host_image *)) \
	X(passes, cuptiProfilerHostGetNumOfPasses, (struct host_passes *)) \
	X(enable, cuptiRangeProfilerEnable, (struct ranges_enable *)) \
	X(data_size, cuptiRangeProfilerGetCounterDataSize, (struct ranges_data_size *)) \
	X(data, cuptiRangeProfilerCounterDataImageInitialize, (struct ranges_data *)) \
	X(config, cuptiRangeProfilerSetConfig, (struct ranges_config *)) \
	X(begin, cuptiRangeProfilerStart, (struct ranges_call *)) \
	X(push, cuptiRangeProfilerPushRange, (struct ranges_push *)) \
	X(pop, cuptiRangeProfilerPopRange, (struct ranges_call *)) \
	X(stop, cuptiRangeProfilerStop, (struct ranges_stop *)) \
	X(decode, cuptiRangeProfilerDecodeData, (struct ranges_decode *)) \
	X(ranges, cuptiRangeProfilerGetCounterDataInfo, (struct ranges_count *)) \
	X(name, cuptiRangeProfilerCounterDataGetRangeInfo, (struct ranges_name *)) \
	X(values, cuptiProfilerHostEvaluateToGpuValues, (struct host_values *)) \
	X(disable, cuptiRangeProfilerDisable, (struct ranges_call *))

#define POINTER(call, name, arguments) int (*call)arguments;
#define NAME(call, name, arguments) .call = #name,
#define TEXT(call, name, arguments) const char *call;
static struct { DRIVER(POINTER) } cu;
static struct { CUPTI(POINTER) } cupti;
static const struct { DRIVER(TEXT) } cu_name = { DRIVER(NAME) };
static const struct { CUPTI(TEXT) } cupti_name = { CUPTI(NAME) };

static struct {
	const char *way, **metric;
	size_t	 n_metrics;
	void	*context, *stream, *fill, *graph, *host, *profiler;
	uint64_t memory;
} p;

static void
open_library(void *library, const struct symbol *all, size_t n, const char *name)
{
	const char *absent;

	if (library == NULL)
		errx(2, "%s was not found: put its folder in LD_LIBRARY_PATH", name);
	if ((absent = library_find(library, all, n)) != NULL)
		errx(2, "%s has no %s", name, absent);
}

static void
find(void)
{
#define CU(call, name, arguments) { &cu.call, #name, NULL },
#define CU_PTI(call, name, arguments) { &cupti.call, #name, NULL },
	const struct symbol driver[] = { DRIVER(CU) }, all[] = { CUPTI(CU_PTI) };

	open_library(dlopen("libcuda.so.1", RTLD_NOW), driver,
	    sizeof driver / sizeof *driver, "libcuda.so.1");
	open_library(library_cupti("cuptiRangeProfilerEnable"), all,
	    sizeof all / sizeof *all, "libcupti.so of CUDA 12.6 update 2 or later");
}

/* A line; the first call that fails is the last of its way. */
static void
said(const char *call, int result)
{
	const char *word = NULL;

	cupti.word(result, &word);
	printf("%s\t%s\t%s\n", p.way, call, result == 0 ? "ok" : word != NULL ? word : "no word for it");
	fflush(stdout);
	if (result != 0)
		exit(1);
}
#define SAY(call, block) said(cupti_name.call, cupti.call(block))

static void
drive(const char *call, int result)
{
	if (result != 0)
		errx(2, "%s: %d", call, result);
}
#define DRIVE(call, ...) drive(cu_name.call, cu.call(__VA_ARGS__))

static void
launch(void)
{
	void *arg[] = { &p.memory };

	DRIVE(launch, p.fill, BLOCKS, 1, 1, THREADS, 1, 1, 0, p.stream, arg, NULL);
}

/* The work, done once; the graph is there before CUPTI is. */
static void
prepare(void)
{
	void *module = NULL, *graph = NULL;
	int version;

	DRIVE(init, 0);
	DRIVE(version, &version);
	DRIVE(retain, &p.context, 0);
	DRIVE(current, p.context);
	DRIVE(allocate, &p.memory, (size_t)BLOCKS * THREADS * 4);
	DRIVE(load, &module, kernel);
	DRIVE(function, &p.fill, module, "fill");
	DRIVE(stream, &p.stream, 1);		/* non-blocking */
	DRIVE(capture, p.stream, 1);		/* of this thread */
	launch();
	DRIVE(captured, p.stream, &graph);
	DRIVE(instantiate, &p.graph, graph, 0);
	launch();
	DRIVE(graph, p.graph, p.stream);
	DRIVE(wait);
	printf("%s\tCUDA of the driver\t%d\n", p.way, version);
}

static void
start(struct host_init *host)
{
	struct profiler_start begin = { BLOCK(profiler_start, priv) };
	struct device_support support = { BLOCK(device_support, api), .api = API_RANGES };
	struct device_chip chip = { BLOCK(device_chip, name) };
	struct device_counters counters = { BLOCK(device_counters, image), .context = p.context };
	uint32_t version = 0;

	SAY(version, &version);
	printf("%s\tlibcupti\t%" PRIu32 "\n", p.way, version);
	SAY(start, &begin);
	SAY(support, &support);
	printf("%s\tsupport (3: full)\tall %d vgpu %d confidential %d mining %d wsl %d sli %d\n", p.way,
	    support.all, support.vgpu, support.confidential, support.mining, support.wsl, support.sli);
	SAY(chip, &chip);
	printf("%s\tchip name\t%s\n", p.way, chip.name);
	SAY(counters, &counters);
	counters.image = calloc(counters.bytes, 1);
	SAY(counters, &counters);
	*host = (struct host_init){ BLOCK(host_init, host), .chip = chip.name,
	    .availability = counters.image };
}

static struct host_image
plan(void)
{
	struct host_add add = { BLOCK(host_add, n), .host = p.host, .name = p.metric, .n = p.n_metrics };
	struct host_image_size size = { BLOCK(host_image_size, bytes), .host = p.host };
	struct host_image image = { BLOCK(host_image, image), .host = p.host };
	struct host_passes passes = { BLOCK(host_passes, n) };

	SAY(add, &add);
	SAY(image_size, &size);
	image.bytes = passes.bytes = size.bytes;
	image.image = passes.image = calloc(size.bytes, 1);
	SAY(image, &image);
	SAY(passes, &passes);
	printf("%s\tplanned\t%zu passes\n", p.way, passes.n);
	return image;
}

static struct ranges_data
set_up(const struct host_image *image)
{
	const bool by_user = strcmp(p.way, "user") == 0;
	struct ranges_enable on = { BLOCK(ranges_enable, profiler), .context = p.context };
	struct ranges_data_size size = { BLOCK(ranges_data_size, bytes), .name = p.metric,
	    .n = p.n_metrics, .n_ranges = N_RANGES, .n_nodes = N_RANGES };
	struct ranges_data data = { BLOCK(ranges_data, data) };
	struct ranges_config config = { BLOCK(ranges_config, level), .config = image->image,
	    .config_bytes = image->bytes, .range = by_user ? RANGES_BY_USER : RANGES_BY_LAUNCH,
	    .replay = strcmp(p.way, "kernel") == 0 ? REPLAY_BY_CUPTI : REPLAY_BY_USER,
	    .n_ranges = N_RANGES, .n_levels = 1, .first_level = 1, .level = 1 };

	SAY(enable, &on);
	p.profiler = size.profiler = data.profiler = config.profiler = on.profiler;
	SAY(data_size, &size);
	data.bytes = config.data_bytes = size.bytes;
	data.data = config.data = calloc(size.bytes, 1);
	SAY(data, &data);
	SAY(config, &config);
	return data;
}

static void
range(const char *name)
{
	struct ranges_push push = { BLOCK(ranges_push, name), .profiler = p.profiler, .name = name };
	struct ranges_call pop = { BLOCK(ranges_call, profiler), .profiler = p.profiler };

	DRIVE(wait);
	SAY(push, &push);
	if (strcmp(name, "graph") == 0)
		DRIVE(graph, p.graph, p.stream);
	else
		launch();
	DRIVE(wait);
	SAY(pop, &pop);
}

static bool
pass(void)
{
	struct ranges_call begin = { BLOCK(ranges_call, profiler), .profiler = p.profiler };
	struct ranges_stop stop = { BLOCK(ranges_stop, all), .profiler = p.profiler };

	SAY(begin, &begin);
	range("launch");
	range("graph");
	SAY(stop, &stop);
	printf("%s\tall passes submitted\t%d\n", p.way, stop.all);
	return stop.all != 0;
}

static void
tell(const struct ranges_data *data, size_t i)
{
	struct ranges_name name = { BLOCK(ranges_name, name), .data = data->data, .bytes = data->bytes,
	    .range = i, .delimiter = "/" };
	double *value = calloc(p.n_metrics, sizeof *value);
	struct host_values values = { BLOCK(host_values, value), .host = p.host, .data = data->data,
	    .bytes = data->bytes, .range = i, .name = p.metric, .n = p.n_metrics, .value = value };

	SAY(name, &name);
	SAY(values, &values);
	for (size_t m = 0; m < p.n_metrics; m++)
		printf("%s\t%s\t%s\t%.17g\n", p.way, name.name, p.metric[m], value[m]);
	free(value);
}

int
main(int argc, char *argv[])
{
	struct host_init host;
	struct host_image image;
	struct ranges_data data;
	struct ranges_call off = { BLOCK(ranges_call, profiler) };
	struct ranges_decode decode = { BLOCK(ranges_decode, n_dropped) };
	struct ranges_count count = { BLOCK(ranges_count, n) };
	int most = 20;

	if (argc < 3 || (strcmp(argv[1], "user") != 0 && strcmp(argv[1], "auto") != 0 &&
	    strcmp(argv[1], "kernel") != 0))
		errx(2, "usage: ranges user|auto|kernel METRIC...");
	p.way = argv[1];
	p.metric = (const char **)argv + 2;
	p.n_metrics = (size_t)argc - 2;
	find();
	prepare();
	start(&host);
	SAY(host, &host);
	p.host = host.host;
	image = plan();
	data = set_up(&image);
	while (!pass() && --most > 0)
		;
	off.profiler = decode.profiler = p.profiler;
	SAY(decode, &decode);
	printf("%s\tranges dropped\t%zu\n", p.way, decode.n_dropped);
	count.data = data.data;
	count.bytes = data.bytes;
	SAY(ranges, &count);
	printf("%s\tranges counted\t%zu\n", p.way, count.n);
	for (size_t i = 0; i < count.n; i++)
		tell(&data, i);
	SAY(disable, &off);
	return 0;
}
