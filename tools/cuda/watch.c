/*
 * watch.c: what a profiler is told: ranges in domain nsbench, start and stop;
 * and how the device is counted from within.
 */
#include <cuda_profiler_api.h>
#include <dlfcn.h>
#include <err.h>
#include <nvtx3/nvToolsExt.h>
#include <stdlib.h>

#include "count.h"
#include "engine.h"
#include "library.h"

/* A tool has asked to hear of ranges. */
bool
watch_wanted(void)
{
	return getenv("NVTX_INJECTION64_PATH") != NULL;
}

/* Opens a range; NULL closes the last one. */
void
watch_range(const char *name)
{
	static nvtxDomainHandle_t domain;
	nvtxEventAttributes_t a = { .version = NVTX_VERSION,
	    .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
	    .messageType = NVTX_MESSAGE_TYPE_ASCII, .message.ascii = name };

	if (domain == NULL)
		domain = nvtxDomainCreateA("nsbench");
	if (name != NULL)
		nvtxDomainRangePushEx(domain, &a);
	else
		nvtxDomainRangePop(domain);
}

void
watch_profile(bool on)
{
	if (on)
		cudaProfilerStart();
	else
		cudaProfilerStop();
}

/* CUPTI asks for the driver's context, which the runtime has made current. */
static void *
context(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW), *here = NULL;
	int (*get)(void **);
	const struct symbol all[] = { { &get, "cuCtxGetCurrent", NULL } };

	if (driver == NULL || library_find(driver, all, 1) != NULL ||
	    get(&here) != 0 || here == NULL)
		errx(NS_TROUBLE, "--count: the driver has no current context");
	return here;
}

static void
wait_for_device(void)
{
	device_check(cudaDeviceSynchronize(), "counting");
}

static struct count *
open_counter(const char **metric, size_t n, size_t n_ranges)
{
	device_open();
	return count_open(metric, n, n_ranges, &(struct count_device){
	    .context = context(), .index = 0, .wait = wait_for_device });
}

const struct counter watch_counter = {
	.open = open_counter,
	.passes = count_passes,
	.run = count_run,
	.range = count_range,
	.read = count_read,
	.close = count_close,
};
