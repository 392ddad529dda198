/*
 * tools/plan/cupti.h against NVIDIA's header, which wants a file named string
 * in the include path to be read as C.
 */
#include <stdio.h>
#include <cupti_profiler_host.h>

#include "cupti.h"

#define SAME(ours, field, theirs, its) \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs, its) && \
	    sizeof ((struct ours *)0)->field == sizeof ((theirs *)0)->its, #ours "." #field)
#define ALL(ours, last, theirs) \
	_Static_assert(BLOCK_SIZE(struct ours, last) == theirs##_STRUCT_SIZE, #ours)

SAME(host_init, profiler, CUpti_Profiler_Host_Initialize_Params, profilerType);
SAME(host_init, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
SAME(host_init, availability, CUpti_Profiler_Host_Initialize_Params, pCounterAvailabilityImage);
SAME(host_init, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
SAME(host_fini, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
SAME(host_chips, n, CUpti_Profiler_Host_GetSupportedChips_Params, numChips);
SAME(host_chips, name, CUpti_Profiler_Host_GetSupportedChips_Params, ppChipNames);
SAME(host_add, host, CUpti_Profiler_Host_ConfigAddMetrics_Params, pHostObject);
SAME(host_add, name, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
SAME(host_add, n, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);
SAME(host_image_size, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize);
SAME(host_image, bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
SAME(host_image, image, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
SAME(host_passes, bytes, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize);
SAME(host_passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
SAME(host_passes, n, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
ALL(host_init, host, CUpti_Profiler_Host_Initialize_Params);
ALL(host_fini, host, CUpti_Profiler_Host_Deinitialize_Params);
ALL(host_chips, name, CUpti_Profiler_Host_GetSupportedChips_Params);
ALL(host_add, n, CUpti_Profiler_Host_ConfigAddMetrics_Params);
ALL(host_image_size, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params);
ALL(host_image, image, CUpti_Profiler_Host_GetConfigImage_Params);
ALL(host_passes, n, CUpti_Profiler_Host_GetNumOfPasses_Params);
_Static_assert((int)RANGE_PROFILER == (int)CUPTI_PROFILER_TYPE_RANGE_PROFILER &&
    (int)PM_SAMPLING == (int)CUPTI_PROFILER_TYPE_PM_SAMPLING, "profilers");

int
main(void)
{
	return puts("same") < 0;
}
