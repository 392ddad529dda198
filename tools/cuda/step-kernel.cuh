/*
 * step-kernel.cuh: a decode step in one kernel, a block a multiprocessor.  One
 * warp streams the block's weights of all layers through a ring of shared
 * memory and never waits for activations; eight multiply, and look at the cache;
 * one adds up.  Blocks wait for one another's results only, word by word.
 */
#ifndef STEP_KERNEL_CUH
#define STEP_KERNEL_CUH

#include "step.h"

#include "best.cuh"
#include "look.cuh"
#include "step-ptx.cuh"
#include "step-ring.cuh"
#include "step-words.cuh"
#include "step-site.cuh"
#include "step-fetch.cuh"
#include "step-product.cuh"
#include "step-finish.cuh"
#include "step-attention.cuh"

static inline void
lay_room(struct step *a, uint32_t dim)
{
	const uint32_t batch = (uint32_t)a->finish.batch;
	const uint32_t tiles = (a->hidden / STEP_ROWS + a->n_blocks - 1) / a->n_blocks;
	struct step_room r = {};

	a->most_tiles = max(tiles, (uint32_t)STEP_GROUP);
	r.residual = r.sums + 2 * a->most_tiles * sums_stride(batch) * 4;
	r.queries = r.residual + STEP_DEEP * batch * STEP_ROWS * 4;
	r.scores = r.queries + (GROUP_MAX + 2) * dim * 2;
	r.ops = r.scores + WARPS * SCORES * 2;
	r.heads = r.ops + a->n_ops * sizeof *a->op;
	r.parts = r.heads + a->n_layers * sizeof *a->heads;
	r.all = r.parts + a->n_ops * sizeof *a->part;
	a->room = r;
}

/* Words of four bytes, by all threads. */
D_INLINE void
copy(void *to, const void *from, size_t bytes)
{
#pragma unroll 1
	for (size_t i = threadIdx.x; i < bytes / 4; i += THREADS)
		((uint32_t *)to)[i] = ((const uint32_t *)from)[i];
}

template <class T, int D, bool ONE> D_INLINE void
multiply_all(const struct step &a, const struct site &s, struct ring &r, int warp, int lane)
{
	struct hand h = { 0, 0, warp, lane };

#pragma unroll 1
	for (uint32_t i = 0; i < a.n_ops; i++) {
		const struct step_op &op = op_of(a, s, i);
		const struct step_part part = part_of(a, s, i);

		if (op.kind == STEP_ATTEND)
			attend_all<T, D>(a, s, r, op, part, warp, lane);
		else
			multiply_product<T, ONE>(a, s, r, h, op, part.n);
	}
}

/* ONE: the batch is one sequence, which saves it much of its arithmetic. */
template <class T, int D, bool ONE> __global__ void __launch_bounds__(THREADS, 1)
step(const __grid_constant__ struct step a)
{
#if __CUDA_ARCH__ >= 900
	extern __shared__ __align__(128) unsigned char smem[];
	__shared__ unsigned long long barriers[2 * STEP_STAGES + 4], best[STEP_BATCH];
	__shared__ float scale[STEP_BATCH], factor[STEP_BATCH];
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	const uint32_t barrier = (uint32_t)__cvta_generic_to_shared(barriers);
	const uint32_t set = *a.turn & 1;
	struct ring r = { (uint32_t)__cvta_generic_to_shared(smem), barrier,
	    barrier + STEP_STAGES * 8, a.n_stages, 0, 0 };
	const struct site s = { { a.words + set * a.set,
	    set == 0 ? (ptrdiff_t)a.set : -(ptrdiff_t)a.set }, smem,
	    smem + a.n_stages * STEP_STAGE, scale, factor, best, barrier + 2 * STEP_STAGES * 8,
	    barrier + (2 * STEP_STAGES + 2) * 8, ONE ? 1 : (uint32_t)a.finish.batch };

	copy(s.room + a.room.ops, a.op, a.n_ops * sizeof *a.op);
	copy(s.room + a.room.parts, a.part + (size_t)blockIdx.x * a.n_ops,
	    a.n_ops * sizeof *a.part);
	copy(s.room + a.room.heads, a.heads, a.n_layers * sizeof *a.heads);
	if (threadIdx.x < STEP_BATCH) {
		best[threadIdx.x] = 0;
		scale[threadIdx.x] = 1;
	}
	if (threadIdx.x < a.n_stages) {
		barrier_init(r.full + threadIdx.x * 8, 1);
		barrier_init(r.empty + threadIdx.x * 8, WARPS);
	}
	if (threadIdx.x < 2) {
		barrier_init(s.ready + threadIdx.x * 8, WARPS);
		barrier_init(s.empty + threadIdx.x * 8, 1);
	}
	bulk_fence();
	__syncthreads();
	if (warp == WARPS + 1)
		fetch<D>(a, s, r, lane);
	else if (warp == WARPS)
		finish_all<T>(a, s, lane);
	else
		multiply_all<T, D, ONE>(a, s, r, warp, lane);
#endif
}

template <class T> static void (*step_of(const struct step *a, uint32_t dim))(struct step)
{
	if (a->finish.batch == 1)
		return dim == 64 ? step<T, 64, true> : step<T, 128, true>;
	return dim == 64 ? step<T, 64, false> : step<T, 128, false>;
}

#endif
