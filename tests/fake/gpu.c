/*
 * A driver that answers as a GB10 or an H200 does, for tests of ns-probe:
 * cc -shared -DCUDA [-DH200|-DNO_DEVICE] is libcuda.so.1, -DNVML
 * libnvidia-ml.so.1, -DCUPTI [-DCHIP=...] [-DNO_RANGES] libcupti.so.13.
 */
#include <stddef.h>
#include <stdio.h>

#ifdef CUDA
int cuInit(unsigned flags)
{
	(void)flags;
#ifdef NO_DEVICE
	return 100;
#else
	return 0;
#endif
}
int cuGetErrorName(int e, const char **s) { *s = e == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_UNKNOWN"; return 0; }
int cuDriverGetVersion(int *v) { *v = 13000; return 0; }
int cuDeviceGetCount(int *n) { *n = 1; return 0; }
int cuDeviceGet(int *d, int i) { *d = i; return 0; }
int cuDeviceGetPCIBusId(char *s, int n, int d) { snprintf(s, (size_t)n, "000F:01:00.%d", d); return 0; }
#ifdef H200
int cuDeviceGetName(char *s, int n, int d) { (void)d; snprintf(s, (size_t)n, "NVIDIA H200"); return 0; }
int cuDeviceTotalMem_v2(size_t *b, int d) { (void)d; *b = 150110011392; return 0; }
#else
int cuDeviceGetName(char *s, int n, int d) { (void)d; snprintf(s, (size_t)n, "NVIDIA GB10"); return 0; }
int cuDeviceTotalMem_v2(size_t *b, int d) { (void)d; *b = 128523960320; return 0; }
#endif
int cuDeviceGetAttribute(int *v, int which, int d)
{
	(void)d;
	switch (which) {
#ifdef H200
	case 16: *v = 132; break;
	case 18: *v = 0; break;
	case 37: *v = 6144; break;
	case 38: *v = 62914560; break;
	case 75: *v = 9; break;
	case 76: *v = 0; break;
#elif defined NEXT
	case 75: *v = 99; break;
	case 76: *v = 0; break;
#else
	case 16: *v = 48; break;
	case 18: *v = 1; break;
	case 37: *v = 256; break;
	case 38: *v = 25165824; break;
	case 75: *v = 12; break;
	case 76: *v = 1; break;
#endif
	default: return 1;
	}
	return 0;
}
#endif

#ifdef NVML
struct memory { unsigned long long total, free, used; };
enum { NOT_SUPPORTED = 3 };
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(int e) { return e == NOT_SUPPORTED ? "Not Supported" : "Unknown Error"; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *s, void **h) { static int dev; (void)s; *h = &dev; return 0; }
int nvmlSystemGetDriverVersion(char *s, unsigned n) { snprintf(s, n, "580.95.05"); return 0; }
#ifdef H200
int nvmlDeviceGetMemoryInfo(void *d, struct memory *m) { (void)d; *m = (struct memory){ 150754820096, 150754820096 - 1048576, 1048576 }; return 0; }
int nvmlDeviceGetEccMode(void *d, int *a, int *b) { (void)d; *a = *b = 1; return 0; }
int nvmlDeviceGetMigMode(void *d, unsigned *a, unsigned *b) { (void)d; *a = *b = 0; return 0; }
int nvmlDeviceGetCurrentClocksEventReasons(void *d, unsigned long long *r) { (void)d; *r = 0x24; return 0; }
#else
int nvmlDeviceGetMemoryInfo(void *d, struct memory *m) { (void)d; (void)m; return NOT_SUPPORTED; }
int nvmlDeviceGetEccMode(void *d, int *a, int *b) { (void)d; (void)a; (void)b; return NOT_SUPPORTED; }
int nvmlDeviceGetMigMode(void *d, unsigned *a, unsigned *b) { (void)d; (void)a; (void)b; return NOT_SUPPORTED; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *r) { (void)d; *r = 0; return 0; }
#endif
int nvmlDeviceGetClockInfo(void *d, int which, unsigned *mhz)
{
	(void)d;
#ifndef H200
	if (which == 2)
		return NOT_SUPPORTED;
#endif
	*mhz = which == 1 ? 2418 : 3201;
	return 0;
}
int nvmlDeviceGetUtilizationRates(void *d, unsigned u[2]) { (void)d; u[0] = 93; u[1] = 20; return 0; }
int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, void *p) { (void)d; (void)p; *n = 2; return 7; }
int nvmlDeviceGetMaxClockInfo(void *d, int which, unsigned *mhz) { (void)d; (void)which; *mhz = 3003; return 0; }
#endif

#ifdef CUPTI
int cuptiGetVersion(unsigned *v) { *v = 130001; return 0; }
int cuptiProfilerHostGetSupportedChips(void *p) { (void)p; return 999; }
int cuptiProfilerHostInitialize(void *p) { (void)p; return 999; }
int cuptiProfilerHostDeinitialize(void *p) { (void)p; return 999; }
int cuptiProfilerHostConfigAddMetrics(void *p) { (void)p; return 999; }
int cuptiProfilerHostGetConfigImageSize(void *p) { (void)p; return 999; }
int cuptiProfilerHostGetConfigImage(void *p) { (void)p; return 999; }
int cuptiProfilerHostGetNumOfPasses(void *p) { (void)p; return 999; }
#ifndef NO_RANGES
int cuptiRangeProfilerEnable(void *p) { (void)p; return 999; }
#endif
struct chip_name { size_t size; void *priv; size_t device; const char *name; };
int cuptiProfilerInitialize(void *p) { (void)p; return 0; }
int cuptiDeviceGetChipName(struct chip_name *p)
{
#ifdef CHIP
	p->name = CHIP;
	return 0;
#else
	(void)p;
	return 999;
#endif
}
#endif
