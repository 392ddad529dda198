/* calib-clocks.c: clocks, and why they are not higher, as NVML says. */
#include <dlfcn.h>

#include "calib-gpu.h"

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };

static bool
find(void *lib, const char *name, void *function)
{
	void *p = lib != NULL ? dlsym(lib, name) : NULL;

	memcpy(function, &p, sizeof p);
	return p != NULL;
}

/* In NVML's order, a bit each. */
static void
words(unsigned long long bits, char *list, size_t size)
{
	static const char *const reasons[] = { "idle", "application_clocks",
	    "software_power_cap", "hardware_slowdown", "sync_boost",
	    "software_thermal", "hardware_thermal", "hardware_power_brake",
	    "display_clocks" };
	const size_t n = sizeof reasons / sizeof *reasons;

	*list = '\0';
	if (bits == 0 || bits >> n != 0)
		snprintf(list, size, bits == 0 ? "none" : "0x%llx", bits);
	for (size_t i = 0; bits >> n == 0 && i < n; i++)
		if (bits >> i & 1) {
			size_t len = strlen(list);

			snprintf(list + len, size - len, "%s%s", len != 0 ? "," : "",
			    reasons[i]);
		}
}

struct clocks
gpu_clocks(void)
{
	void *lib = dlopen("libnvidia-ml.so.1", RTLD_NOW), *device;
	int (*init)(void), (*handle)(const char *, void **), (*end)(void);
	int (*clock)(void *, int, unsigned *), (*reasons)(void *, unsigned long long *);
	struct clocks c = { 0 };
	unsigned long long bits;
	unsigned mhz;
	char bus[32];

	if (!find(lib, "nvmlInit_v2", &init) ||
	    !find(lib, "nvmlShutdown", &end) ||
	    !find(lib, "nvmlDeviceGetHandleByPciBusId_v2", &handle) ||
	    !find(lib, "nvmlDeviceGetClockInfo", &clock) ||
	    cudaDeviceGetPCIBusId(bus, sizeof bus, 0) != cudaSuccess || init() != 0)
		return c;
	if (handle(bus, &device) == 0) {
		if (clock(device, CLOCK_SM, &mhz) == 0)
			c.sm_hz = mhz * UINT64_C(1000000);
		if (clock(device, CLOCK_MEMORY, &mhz) == 0)
			c.memory_hz = mhz * UINT64_C(1000000);
		if ((find(lib, "nvmlDeviceGetCurrentClocksEventReasons", &reasons) ||
		    find(lib, "nvmlDeviceGetCurrentClocksThrottleReasons", &reasons)) &&
		    reasons(device, &bits) == 0)
			words(bits, c.throttle, sizeof c.throttle);
	}
	end();
	return c;
}
