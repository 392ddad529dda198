/* calib-gpu.c: the device, four quarters of its memory, and the time a job takes. */
#include <err.h>
#include <math.h>

#include "calib-gpu.h"
#include "host.h"

enum { MIN_REPEATS = 7, MAX_REPEATS = 999, WARMUP = 2 };

void
gpu_must(cudaError_t e, const char *what)
{
	if (e != cudaSuccess)
		errx(NS_TROUBLE, "--device cuda: %s: %s", what, cudaGetErrorString(e));
}

void
gpu_wait(struct gpu *g, const char *what)
{
	gpu_must(cudaGetLastError(), what);
	gpu_must(cudaStreamSynchronize(g->stream), what);
}

/* The first visible device, or the driver's reason. */
static void
find(struct gpu *g)
{
	struct cudaFuncAttributes a;
	cudaError_t e;
	int n = 0, driver = 0;

	e = cudaGetDeviceCount(&n);
	if (e != cudaSuccess && cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0)
		errx(NS_TROUBLE, "--device cuda: no NVIDIA driver here (libcuda.so.1): "
		    "install it, or use --device cpu");
	if (e != cudaSuccess || n == 0)
		errx(NS_TROUBLE, "--device cuda: no device: %s: see what nvidia-smi "
		    "says, or use --device cpu",
		    e == cudaSuccess ? "none is visible" : cudaGetErrorString(e));
	gpu_must(cudaSetDeviceFlags(cudaDeviceScheduleSpin), "device 0");
	gpu_must(cudaSetDevice(0), "device 0");
	gpu_must(cudaGetDeviceProperties(&g->p, 0), "device 0");
	e = cudaFuncGetAttributes(&a, cu_calib_probe());
	if (e != cudaSuccess)
		errx(NS_TROUBLE, "--device cuda: %s (sm_%d%d): %s: build with make "
		    "CUDA_ARCHS=%d%d", g->p.name, g->p.major, g->p.minor,
		    cudaGetErrorString(e), g->p.major, g->p.minor);
}

/* Half of what is there; the host's too, where the device has none of its own. */
static size_t
affordable(const struct gpu *g)
{
	uint64_t host;
	size_t there, all;

	gpu_must(cudaMemGetInfo(&there, &all), "memory");
	if (g->p.integrated && host_meminfo("", "MemAvailable", &host) && host < there)
		there = host;
	return there / 2;
}

static void
size(struct gpu *g, unsigned times)
{
	const size_t most = affordable(g) / QUARTERS;

	g->l2_bytes = (size_t)g->p.l2CacheSize;
	if (g->l2_bytes < CU_PIECE)
		errx(NS_TROUBLE, "--device cuda: %s says that it has %d bytes of L2",
		    g->p.name, g->p.l2CacheSize);
	g->bytes = times * g->l2_bytes;
	if (g->bytes < (size_t)1 << 30)
		g->bytes = (size_t)1 << 30;
	if (g->bytes > most)
		g->bytes = most;
	g->bytes = g->bytes / CU_PIECE * CU_PIECE;
	if (g->bytes < 4 * g->l2_bytes)
		errx(NS_TROUBLE, "--device cuda: %zu bytes of memory can be used, %d "
		    "times %zu are needed, four times the L2: free some",
		    QUARTERS * most, QUARTERS, 4 * g->l2_bytes);
}

size_t
gpu_within(const struct gpu *g)
{
	const size_t unit = (size_t)g->p.multiProcessorCount * CU_PIECE;
	const size_t n = g->l2_bytes / 3 / unit;

	return unit * (n < 1 ? 1 : n > 4 ? 4 : n);
}

struct walk
gpu_walk(const struct gpu *g)
{
	return (struct walk){ .deep = true, .once = true,
	    .n_sms = (unsigned)g->p.multiProcessorCount };
}

void
gpu_open(struct gpu *g, unsigned times)
{
	*g = (struct gpu){ 0 };
	find(g);
	size(g, times);
	gpu_must(cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking), "stream");
	gpu_must(cudaEventCreate(&g->begin), "event");
	gpu_must(cudaEventCreate(&g->end), "event");
	gpu_must(cudaMalloc((void **)&g->sum, CU_SUMS * sizeof *g->sum), "memory");
	gpu_must(cudaMalloc((void **)&g->y, g->bytes / CU_ROW * sizeof *g->y), "memory");
	for (unsigned i = 0; i < QUARTERS; i++) {
		gpu_must(cudaMalloc((void **)&g->quarter[i], g->bytes), "memory");
		cu_calib_write(g->stream, gpu_walk(g), g->quarter[i], g->bytes, i, NULL);
	}
	gpu_must(cudaMemsetAsync(g->sum, 0, CU_SUMS * sizeof *g->sum, g->stream), "memory");
	gpu_wait(g, "filling memory");
}

void
gpu_close(struct gpu *g)
{
	for (unsigned i = 0; i < QUARTERS; i++)
		cudaFree(g->quarter[i]);
	cudaFree(g->y);
	cudaFree(g->sum);
	cudaEventDestroy(g->begin);
	cudaEventDestroy(g->end);
	cudaStreamDestroy(g->stream);
}

uint32_t
gpu_sum(struct gpu *g)
{
	uint32_t part[CU_SUMS], sum = 0;

	gpu_must(cudaMemcpyAsync(part, g->sum, sizeof part, cudaMemcpyDeviceToHost,
	    g->stream), "sums");
	gpu_must(cudaMemsetAsync(g->sum, 0, sizeof part, g->stream), "sums");
	gpu_wait(g, "sums");
	for (unsigned i = 0; i < CU_SUMS; i++)
		sum += part[i];
	return sum;
}

static int
by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

double
gpu_median(double *x, size_t n)
{
	qsort(x, n, sizeof *x, by_size);
	return n % 2 != 0 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

double
gpu_seconds(struct gpu *g, queue_fn *queue, const void *job, double seconds)
{
	double took[MAX_REPEATS], all = 0;
	float ms;
	int n = 0;

	for (unsigned i = 0; i < WARMUP; i++)
		queue(g, job, i);
	do {
		gpu_must(cudaEventRecord(g->begin, g->stream), "event");
		queue(g, job, WARMUP + (unsigned)n);
		gpu_must(cudaEventRecord(g->end, g->stream), "event");
		gpu_wait(g, "a measured kernel");
		gpu_must(cudaEventElapsedTime(&ms, g->begin, g->end), "event");
		took[n++] = (double)ms * 1e-3;
		all += took[n - 1];
	} while (n < MAX_REPEATS && (n < MIN_REPEATS || all < seconds));
	return gpu_median(took, (size_t)n);
}
