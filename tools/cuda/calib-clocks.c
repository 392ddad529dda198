/* calib-clocks.c: clocks, and why they are not higher. */
#include "calib-gpu.h"
#include "nvml.h"

struct clocks
gpu_clocks(void)
{
	struct clocks c = { 0 };
	struct nvml n;
	char bus[32];

	if (cudaDeviceGetPCIBusId(bus, sizeof bus, 0) != cudaSuccess)
		return c;
	nvml_read(&n, bus);
	if (n.sm_hz > 0)
		c.sm_hz = (uint64_t)n.sm_hz;
	if (n.memory_hz > 0)
		c.memory_hz = (uint64_t)n.memory_hz;
	memcpy(c.throttle, n.throttle, sizeof c.throttle);
	return c;
}
