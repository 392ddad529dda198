/* calib-gpu.h: the host's side of ns-calib on a GPU, a file each. */
#ifndef CALIB_GPU_H
#define CALIB_GPU_H

#include "../calib/calib.h"
#include "calib.h"

enum { QUARTERS = 4 };

struct gpu {
	struct cudaDeviceProp p;
	cudaStream_t stream;
	cudaEvent_t begin, end;
	size_t	 l2_bytes;
	char	*quarter[QUARTERS];	/* random data, beyond the L2 each */
	size_t	 bytes;			/* of each */
	uint32_t *sum;			/* [CU_SUMS] on the device */
	float	*y;			/* [bytes / CU_ROW] on the device */
};
/* Quarters of so many times the L2, or of 1 GiB if that is more; or what fits. */
void	gpu_open(struct gpu *, unsigned times);
void	gpu_close(struct gpu *);
void	gpu_must(cudaError_t, const char *what);	/* dies, says why */
void	gpu_wait(struct gpu *, const char *what);	/* until all is done */
uint32_t gpu_sum(struct gpu *);		/* what kernels added up; and 0 again */
size_t	gpu_within(const struct gpu *);	/* well inside the L2, the same for each SM */
struct walk gpu_walk(const struct gpu *);	/* what serves most chips */

/* Median seconds of what queue puts on the stream, after a warm-up. */
typedef void queue_fn(struct gpu *, const void *job, unsigned repeat);
double	gpu_median(double *, size_t n);		/* sorts */
double	gpu_seconds(struct gpu *g, queue_fn *queue, const void *job, double seconds);

/* calib-gemm.c: flop/s of n x n x n, or NAN. */
struct gemms {
	double	 flop_per_s[CU_TYPES];	/* for some milliseconds, after a rest */
	double	 sustained[CU_TYPES];	/* for longer: power and heat may limit it */
	size_t	 n;
	char	 library[32];
};
void	gpu_gemms(struct gpu *, struct gemms *, double seconds);

/* calib-launch.c: what it costs to start a kernel. */
struct launches {
	double	 wait_ns, each_ns, graph_wait_ns, graph_each_ns;
};
void	gpu_launches(struct gpu *, struct launches *);

/* calib-clocks.c: as NVML says, if it is there. */
struct clocks {
	uint64_t sm_hz, memory_hz;	/* 0: not known */
	char	 throttle[256];		/* "none", a list, or empty: not known */
};
struct clocks gpu_clocks(void);

#endif
