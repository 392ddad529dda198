/* calib.h: the parts of ns-calib. */
#ifndef CALIB_H
#define CALIB_H

#include "ns.h"

/* A cache line, aligned as one. */
typedef struct {
	_Alignas(64) uint64_t word[8];
} line;

/* The kernels, compiled for one instruction set. */
struct kernels {
	const char *name;				/* "avx512f" */
	uint64_t (*read)(const line *, size_t n);	/* sum of all words */
	void	(*write)(line *, size_t n, uint64_t value);	/* in every word */
	void	(*copy)(line *to, const line *from, size_t n);
	void	(*gemv)(float *y, const void *a, const void *x, size_t rows,
		    size_t n);				/* a is rows x n lines */
};
const struct kernels *kernels_base(void);	/* what the compiler targets */
const struct kernels *kernels_best(void);	/* what this machine has */
const struct kernels *kernels_streaming(void);	/* write and copy past the
						   caches; NULL: none here */

/* Two buffers of random floats in [1, 2), well beyond the last level. */
struct arena {
	line	*a, *b;
	size_t	 lines;				/* of each */
	uint64_t last_level_bytes;
	int	 n_threads;
};
struct arena arena_open(void);
void	arena_close(struct arena *);

enum job_kind { JOB_READ, JOB_WRITE, JOB_COPY, JOB_GEMV };
struct job {
	enum job_kind kind;
	const struct kernels *k;
	line	*a, *b;
	size_t	 lines;				/* of a, and of b for a copy */
	size_t	 passes;			/* in each repeat */
	bool	 rotate;			/* a and b change places */
};
double	job_rate(struct job *, double seconds);	/* bytes/s, median; at least 5 */

struct gemm {
	double	 flop_per_s;			/* NAN: not available */
	char	 kernel[32];			/* the library's name for it */
};
struct gemm gemm_f32(double seconds);

/* The table of what a gate has to move. */
void	gate_head(struct out *);
void	gate_expect(struct out *, const char *kernel, const char *rung,
	    const char *direction, uint64_t bytes);

/* The commands; those of a GPU are in tools/cuda. */
void	gate(uint64_t last_level_bytes);
int	judge(const char *expected, const char *hierarchy, double tolerance);
void	ceilings(double seconds);
void	sweep(double seconds);
void	canary(double seconds);
void	cuda_gate(uint64_t last_level_bytes);
void	cuda_ceilings(double seconds);
void	cuda_sweep(double seconds);
void	cuda_canary(double seconds);

#endif
