/* device.c: the device, its memory, and words for what went wrong. */
#include <err.h>
#include <string.h>

#include "engine.h"

void
device_check(cudaError_t e, const char *what)
{
	if (e != cudaSuccess)
		errx(NS_TROUBLE, "--device cuda: %s: %s", what,
		    cudaGetErrorString(e));
}

/* The first visible device, or the driver's reason why there is none. */
struct cudaDeviceProp
device_open(void)
{
	struct cudaDeviceProp p;
	struct cudaFuncAttributes a;
	cudaError_t e;
	int n = 0;

	e = cudaGetDeviceCount(&n);
	if (e != cudaSuccess || n == 0)
		errx(NS_TROUBLE, "--device cuda: no device: %s; see what "
		    "nvidia-smi says, or use --device cpu",
		    e == cudaSuccess ? "none is visible" : cudaGetErrorString(e));
	device_check(cudaSetDevice(0), "device 0");
	device_check(cudaGetDeviceProperties(&p, 0), "device 0");
	e = cudaFuncGetAttributes(&a, cu_probe());
	if (e != cudaSuccess)
		errx(NS_TROUBLE, "--device cuda: %s (sm_%d%d): %s: build with "
		    "make CUDA_ARCHS=%d%d", p.name, p.major, p.minor,
		    cudaGetErrorString(e), p.major, p.minor);
	return p;
}

static void
memory(size_t *there, size_t *all)
{
	device_open();
	device_check(cudaMemGetInfo(there, all), "memory");
}

/* Where device and host share their memory, no more than the host has. */
uint64_t
device_available(void)
{
	const struct cudaDeviceProp p = device_open();
	uint64_t host = memory_available();
	size_t there, all;

	memory(&there, &all);
	return p.integrated && host != 0 && host < there ? host : there;
}

uint64_t
device_used(void)
{
	size_t there, all;

	device_check(cudaMemGetInfo(&there, &all), "memory");
	return all - there;
}

void *
take(struct arena *a, size_t n, size_t size)
{
	size_t bytes;
	void *p;

	if (!mul_ok(n, size, &bytes) || bytes > SIZE_MAX / 2 - a->used)
		errx(NS_TROUBLE, "%zu x %zu bytes: more than any device holds; "
		    "ask for fewer tokens or sequences", n, size);
	p = a->base == NULL ? NULL : a->base + a->used;
	a->used += (bytes + 255) / 256 * 256;
	return p;
}
