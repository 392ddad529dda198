/*
 * calib.h: the kernels of ns-calib on a GPU.  Each queues its work on a stream
 * and returns; sizes are multiples of CU_PIECE bytes.
 */
#ifndef CUDA_CALIB_H
#define CUDA_CALIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CU_PIECE = 32 << 10, CU_SUMS = 1024, CU_ROW = 4096 };

/* How a kernel walks: what is fastest differs from chip to chip. */
struct walk {
	bool	 deep;			/* 8 loads of 16 bytes in flight, not 4 */
	bool	 once;			/* one pass: a block a piece, not one that stays */
	bool	 streaming;		/* stores marked to leave the cache first */
	unsigned n_sms;
};
/* sum[CU_SUMS]: added up, all words read or written modulo 2^32; NULL: no sum */
void	cu_calib_read(cudaStream_t, struct walk, const void *, size_t bytes,
	    unsigned passes, uint32_t *sum);
void	cu_calib_write(cudaStream_t, struct walk, void *, size_t bytes,
	    uint32_t seed, uint32_t *sum);	/* random, and finite as bf16, f16, f32 */
void	cu_calib_copy(cudaStream_t, struct walk, void *to, const void *from,
	    size_t bytes, unsigned passes);
/* y[rows] = a[rows][CU_ROW] x[CU_ROW], bf16 into f32 */
void	cu_calib_gemv(cudaStream_t, float *y, const void *a, const void *x,
	    size_t rows, unsigned n_sms);
void	cu_calib_nothing(cudaStream_t);
const void *cu_calib_probe(void);	/* a kernel: is this chip's code here? */

enum cu_type { CU_F32, CU_TF32, CU_F16, CU_BF16, CU_FP8, CU_TYPES };
/* n values in [-1/2, 1/2) */
void	cu_calib_values(cudaStream_t, enum cu_type, void *, size_t n, uint32_t seed);
/* Adds to *wrong how many of 1024 places of d = a b^T, n x n, are not so; d is f32
 * for CU_F32 and CU_TF32, f16 for CU_F16, else bf16. */
void	cu_calib_check(cudaStream_t, enum cu_type, const void *a, const void *b,
	    const void *d, size_t n, unsigned *wrong);

#ifdef __cplusplus
}
#endif
#endif
