/* watch.c: what a profiler is told: ranges in domain nsbench, start and stop. */
#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>
#include <stdlib.h>

#include "engine.h"

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
