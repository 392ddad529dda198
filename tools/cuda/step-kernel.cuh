/*
 * step-kernel.cuh: a decode step in one kernel, a block a multiprocessor.  One
 * warp streams the block's weights of all layers through a ring of shared
 * memory and never waits for activations; eight multiply, and look at the cache;
 * one adds up, or three where there are several sequences, and has the newest
 * position.  Blocks wait for one another's results only, word by word.
 */
#ifndef STEP_KERNEL_CUH
#define STEP_KERNEL_CUH

#include "step.h"

#include "best.cuh"
#include "look.cuh"
#include "tile.cuh"
#include "step-ptx.cuh"
#include "step-ring.cuh"
#include "step-words.cuh"
#include "step-site.cuh"
#include "step-fetch.cuh"
#include "step-product.cuh"
#include "step-newest.cuh"
#include "step-finish.cuh"
#include "step-attention.cuh"

static inline void
lay_room(struct step *a, uint32_t dim)
{
	const uint32_t batch = (uint32_t)a->finish.batch;
	const uint32_t tiles = (a->hidden / STEP_ROWS + a->n_blocks - 1) / a->n_blocks;
	struct step_room r = {};

	a->most_tiles = max(tiles, tiles_a_group(batch));
	r.residual = r.sums + 2 * a->most_tiles * sums_stride(batch) * 4;
	r.newest = r.residual + STEP_DEEP * batch * STEP_ROWS * 4;
	r.row = r.newest + GROUP_MAX * 4 + dim * 2;
	r.ops = r.row + (GROUP_MAX + 2) * (dim + 8) * 2;
	r.heads = r.ops + a->n_ops * sizeof *a->op;
	r.parts = r.heads + a->n_layers * sizeof *a->heads;
	r.all = r.parts + a->n_ops * sizeof *a->part;
	a->room = r;
}

/* Tables that all threads read, from memory to shared memory, by one of them. */
D_INLINE void
fetch_tables(const struct step &a, const struct site &s, uint32_t barrier)
{
	const uint32_t room = (uint32_t)__cvta_generic_to_shared(s.room);
	const uint32_t ops = a.n_ops * sizeof *a.op, heads = a.n_layers * sizeof *a.heads;
	const uint64_t policy = read_once_policy();

	static_assert(sizeof *a.op % 16 == 0 && sizeof *a.heads % 16 == 0);
	barrier_expect(barrier, ops + heads);
	bulk_copy(room + a.room.ops, a.op, ops, barrier, policy);
	bulk_copy(room + a.room.heads, a.heads, heads, barrier, policy);
}

/* What a block must know before it fetches, all of it on its way at a time. */
template <class T> D_INLINE void
begin_step(const struct step &a, const struct site &s, uint32_t barrier)
{
	struct step_part *part = (struct step_part *)(s.room + a.room.parts);

	if (threadIdx.x == 0)
		fetch_tables(a, s, barrier);
	read_hidden<T>(a, s);
#pragma unroll 1	/* first those who have nothing of that */
	for (uint32_t i = threads(s.batch) - 1 - threadIdx.x; i < a.n_ops; i += threads(s.batch))
		part[i] = a.part[(size_t)blockIdx.x * a.n_ops + i];
	if (threadIdx.x < s.batch)
		s.position[threadIdx.x] = a.finish.place[threadIdx.x].position;
	barrier_wait(barrier, 0);
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

/*
 * ONE: the batch is one sequence, which saves it much of its arithmetic.  STAMPED: it
 * notes when what has happened.
 */
template <class T, int D, bool ONE, bool STAMPED> __global__ void __launch_bounds__(threads(ONE ? 1 : 2), 1)
step(const __grid_constant__ struct step a)
{
#if __CUDA_ARCH__ >= 900
	extern __shared__ __align__(128) unsigned char smem[];
	__shared__ unsigned long long barriers[2 * STEP_STAGES + 5], best[STEP_BATCH];
	__shared__ float scale[STEP_BATCH], factor[STEP_BATCH];
	__shared__ uint32_t position[STEP_BATCH];
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	const uint32_t barrier = (uint32_t)__cvta_generic_to_shared(barriers);
	const uint32_t tables = barrier + (2 * STEP_STAGES + 4) * 8;
	const uint32_t set = *a.turn & 1;
	struct ring r = { (uint32_t)__cvta_generic_to_shared(smem), barrier,
	    barrier + STEP_STAGES * 8, a.n_stages, a.under_way, a.low, 0, 0 };
	const struct site s = { { a.words + set * a.set,
	    set == 0 ? (ptrdiff_t)a.set : -(ptrdiff_t)a.set, word_policy() }, smem,
	    smem + a.n_stages * STEP_STAGE, scale, factor, best, position,
	    barrier + 2 * STEP_STAGES * 8, barrier + (2 * STEP_STAGES + 2) * 8,
	    ONE ? 1 : (uint32_t)a.finish.batch, STAMPED };

	if (threadIdx.x < STEP_BATCH) {
		best[threadIdx.x] = 0;
		scale[threadIdx.x] = 1;
	}
	if (threadIdx.x < a.n_stages) {
		barrier_init(r.full + threadIdx.x * 8, ARRIVALS);
		barrier_init(r.empty + threadIdx.x * 8, WARPS * ARRIVALS);
	}
	if (threadIdx.x < 2) {
		barrier_init(s.ready + threadIdx.x * 8, WARPS * ARRIVALS);
		barrier_init(s.empty + threadIdx.x * 8, clerks(s.batch) * ARRIVALS);
	}
	if (threadIdx.x == 0)
		barrier_init(tables, 1);
	bulk_fence();
	__syncthreads();
	begin_step<T>(a, s, tables);
	__syncthreads();
	if (warp < WARPS)
		multiply_all<T, D, ONE>(a, s, r, warp, lane);
	else if (warp < WARPS + (int)clerks(s.batch))
		finish_all<T, D, ONE>(a, s, warp - WARPS, lane);
	else
		fetch<D>(a, s, r, warp - WARPS - clerks(s.batch), lane);
#endif
}

typedef void (*step_kernel)(struct step);

template <class T, bool STAMPED> static step_kernel
step_of(const struct step *a, uint32_t dim)
{
	if (a->finish.batch == 1)
		return dim == 64 ? step<T, 64, true, STAMPED> : step<T, 128, true, STAMPED>;
	return dim == 64 ? step<T, 64, false, STAMPED> : step<T, 128, false, STAMPED>;
}

static step_kernel
kernel_of(enum word word, const struct step *a, uint32_t dim, bool stamped)
{
	if (stamped)
		return word == WORD_F16 ? step_of<half, true>(a, dim) : step_of<bf16, true>(a, dim);
	return word == WORD_F16 ? step_of<half, false>(a, dim) : step_of<bf16, false>(a, dim);
}

#endif
