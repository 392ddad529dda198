/*
 * tools/lib/cupti.h and tools/cuda/ranges.h against NVIDIA's headers, one of
 * which wants a file named string in the include path to be read as C.  Blocks
 * have been added to since CUDA 13.0: ours are as they were, with room for the rest.
 */
#include <stdbool.h>
#include <stdio.h>
#include <cupti_version.h>
#include <cupti_profiler_host.h>
#include <cupti_target.h>
#include <cupti_range_profiler.h>

#include "../tools/cuda/ranges.h"

#define SAME(ours, field, theirs, its) \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs, its) && \
	    sizeof ((struct ours *)0)->field == sizeof ((theirs *)0)->its, #ours "." #field)
#define ALL(ours, last, theirs) \
	_Static_assert(BLOCK_SIZE(struct ours, last) == theirs##_STRUCT_SIZE || \
	    (CUPTI_API_VERSION > 130001 && \
	    BLOCK_SIZE(struct ours, last) < theirs##_STRUCT_SIZE && \
	    theirs##_STRUCT_SIZE <= sizeof(struct ours)), #ours)

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

SAME(device_support, device, CUpti_Profiler_DeviceSupported_Params, cuDevice);
SAME(device_support, all, CUpti_Profiler_DeviceSupported_Params, isSupported);
SAME(device_support, architecture, CUpti_Profiler_DeviceSupported_Params, architecture);
SAME(device_support, sli, CUpti_Profiler_DeviceSupported_Params, sli);
SAME(device_support, vgpu, CUpti_Profiler_DeviceSupported_Params, vGpu);
SAME(device_support, confidential, CUpti_Profiler_DeviceSupported_Params, confidentialCompute);
SAME(device_support, mining, CUpti_Profiler_DeviceSupported_Params, cmp);
SAME(device_support, wsl, CUpti_Profiler_DeviceSupported_Params, wsl);
SAME(device_support, api, CUpti_Profiler_DeviceSupported_Params, api);
SAME(device_chip, device, CUpti_Device_GetChipName_Params, deviceIndex);
SAME(device_chip, name, CUpti_Device_GetChipName_Params, pChipName);
SAME(device_counters, context, CUpti_Profiler_GetCounterAvailability_Params, ctx);
SAME(device_counters, bytes, CUpti_Profiler_GetCounterAvailability_Params, counterAvailabilityImageSize);
SAME(device_counters, image, CUpti_Profiler_GetCounterAvailability_Params, pCounterAvailabilityImage);
SAME(ranges_enable, context, CUpti_RangeProfiler_Enable_Params, ctx);
SAME(ranges_enable, profiler, CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
SAME(ranges_call, profiler, CUpti_RangeProfiler_Start_Params, pRangeProfilerObject);
SAME(ranges_call, profiler, CUpti_RangeProfiler_PopRange_Params, pRangeProfilerObject);
SAME(ranges_call, profiler, CUpti_RangeProfiler_Disable_Params, pRangeProfilerObject);
SAME(ranges_config, profiler, CUpti_RangeProfiler_SetConfig_Params, pRangeProfilerObject);
SAME(ranges_config, config_bytes, CUpti_RangeProfiler_SetConfig_Params, configSize);
SAME(ranges_config, config, CUpti_RangeProfiler_SetConfig_Params, pConfig);
SAME(ranges_config, data_bytes, CUpti_RangeProfiler_SetConfig_Params, counterDataImageSize);
SAME(ranges_config, data, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
SAME(ranges_config, range, CUpti_RangeProfiler_SetConfig_Params, range);
SAME(ranges_config, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
SAME(ranges_config, n_ranges, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass);
SAME(ranges_config, n_levels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels);
SAME(ranges_config, first_level, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel);
SAME(ranges_config, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
SAME(ranges_config, level, CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel);
SAME(ranges_push, profiler, CUpti_RangeProfiler_PushRange_Params, pRangeProfilerObject);
SAME(ranges_push, name, CUpti_RangeProfiler_PushRange_Params, pRangeName);
SAME(ranges_stop, profiler, CUpti_RangeProfiler_Stop_Params, pRangeProfilerObject);
SAME(ranges_stop, pass, CUpti_RangeProfiler_Stop_Params, passIndex);
SAME(ranges_stop, level, CUpti_RangeProfiler_Stop_Params, targetNestingLevel);
SAME(ranges_stop, all, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted);
SAME(ranges_decode, profiler, CUpti_RangeProfiler_DecodeData_Params, pRangeProfilerObject);
SAME(ranges_decode, n_dropped, CUpti_RangeProfiler_DecodeData_Params, numOfRangeDropped);
SAME(ranges_data_size, profiler, CUpti_RangeProfiler_GetCounterDataSize_Params, pRangeProfilerObject);
SAME(ranges_data_size, name, CUpti_RangeProfiler_GetCounterDataSize_Params, pMetricNames);
SAME(ranges_data_size, n, CUpti_RangeProfiler_GetCounterDataSize_Params, numMetrics);
SAME(ranges_data_size, n_ranges, CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumOfRanges);
SAME(ranges_data_size, n_nodes, CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumRangeTreeNodes);
SAME(ranges_data_size, bytes, CUpti_RangeProfiler_GetCounterDataSize_Params, counterDataSize);
SAME(ranges_data, profiler, CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pRangeProfilerObject);
SAME(ranges_data, bytes, CUpti_RangeProfiler_CounterDataImage_Initialize_Params, counterDataSize);
SAME(ranges_data, data, CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pCounterData);
SAME(ranges_count, data, CUpti_RangeProfiler_GetCounterDataInfo_Params, pCounterDataImage);
SAME(ranges_count, bytes, CUpti_RangeProfiler_GetCounterDataInfo_Params, counterDataImageSize);
SAME(ranges_count, n, CUpti_RangeProfiler_GetCounterDataInfo_Params, numTotalRanges);
SAME(ranges_name, data, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, pCounterDataImage);
SAME(ranges_name, bytes, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, counterDataImageSize);
SAME(ranges_name, range, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, rangeIndex);
SAME(ranges_name, delimiter, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, rangeDelimiter);
SAME(ranges_name, name, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, rangeName);
SAME(host_values, host, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pHostObject);
SAME(host_values, data, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
SAME(host_values, bytes, CUpti_Profiler_Host_EvaluateToGpuValues_Params, counterDataImageSize);
SAME(host_values, range, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
SAME(host_values, name, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
SAME(host_values, n, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);
SAME(host_values, value, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);
SAME(host_metric, host, CUpti_Profiler_Host_GetMetricProperties_Params, pHostObject);
SAME(host_metric, name, CUpti_Profiler_Host_GetMetricProperties_Params, pMetricName);
SAME(host_metric, about, CUpti_Profiler_Host_GetMetricProperties_Params, pDescription);
SAME(host_metric, hardware, CUpti_Profiler_Host_GetMetricProperties_Params, pHwUnit);
SAME(host_metric, unit, CUpti_Profiler_Host_GetMetricProperties_Params, pDimUnit);
SAME(host_metric, type, CUpti_Profiler_Host_GetMetricProperties_Params, metricType);
ALL(profiler_start, priv, CUpti_Profiler_Initialize_Params);
ALL(profiler_start, priv, CUpti_Profiler_DeInitialize_Params);
ALL(device_support, api, CUpti_Profiler_DeviceSupported_Params);
_Static_assert(BLOCK_SIZE(struct device_chip, name) == sizeof(CUpti_Device_GetChipName_Params), "device_chip");
ALL(device_counters, image, CUpti_Profiler_GetCounterAvailability_Params);
ALL(ranges_enable, profiler, CUpti_RangeProfiler_Enable_Params);
ALL(ranges_call, profiler, CUpti_RangeProfiler_Start_Params);
ALL(ranges_call, profiler, CUpti_RangeProfiler_PopRange_Params);
ALL(ranges_call, profiler, CUpti_RangeProfiler_Disable_Params);
ALL(ranges_config, level, CUpti_RangeProfiler_SetConfig_Params);
ALL(ranges_push, name, CUpti_RangeProfiler_PushRange_Params);
ALL(ranges_stop, all, CUpti_RangeProfiler_Stop_Params);
ALL(ranges_decode, n_dropped, CUpti_RangeProfiler_DecodeData_Params);
ALL(ranges_data_size, bytes, CUpti_RangeProfiler_GetCounterDataSize_Params);
ALL(ranges_data, data, CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
ALL(ranges_count, n, CUpti_RangeProfiler_GetCounterDataInfo_Params);
ALL(ranges_name, name, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params);
ALL(host_values, value, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
ALL(host_metric, type, CUpti_Profiler_Host_GetMetricProperties_Params);
_Static_assert((int)RANGES_BY_USER == (int)CUPTI_UserRange &&
    (int)REPLAY_BY_USER == (int)CUPTI_UserReplay, "ranges and replay");
_Static_assert((int)API_RANGES == (int)CUPTI_PROFILER_RANGE_PROFILING, "api");
_Static_assert((int)SUPPORT_UNSUPPORTED == (int)CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED &&
    (int)SUPPORT_DISABLED == (int)CUPTI_PROFILER_CONFIGURATION_DISABLED &&
    (int)SUPPORT_FULL == (int)CUPTI_PROFILER_CONFIGURATION_SUPPORTED, "support");
#define RESULT(ours, theirs) \
	_Static_assert((int)CUPTI_##ours == (int)CUPTI_ERROR_##theirs, #ours)
RESULT(PARAMETER, INVALID_PARAMETER);
RESULT(MEMORY, OUT_OF_MEMORY);
RESULT(NOT_STARTED, NOT_INITIALIZED);
RESULT(BUSY, HARDWARE_BUSY);
RESULT(NOT_PERMITTED, INSUFFICIENT_PRIVILEGES);
RESULT(OLD_API, OLD_PROFILER_API_INITIALIZED);
RESULT(SUBSCRIBED, MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
RESULT(NOT_PERMITTED_VIRTUAL, VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
RESULT(CONFIDENTIAL, CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
RESULT(MINING, CMP_DEVICE_NOT_SUPPORTED);
#if CUPTI_API_VERSION > 24		/* of CUDA 12.6 */
RESULT(MIG, MIG_DEVICE_NOT_SUPPORTED);
RESULT(SLI, SLI_DEVICE_NOT_SUPPORTED);
RESULT(WSL, WSL_DEVICE_NOT_SUPPORTED);
#endif
RESULT(UNKNOWN, UNKNOWN);

int
main(void)
{
	return puts("same") < 0;
}
