/*
 * wide-kernel.cuh: 9 to 64 rows of x through a matrix of short words, for compute
 * capability 9.0.  One warp asks for weights, one for x, twelve multiply.  A pass's rows
 * come in two halves, so that a thread that has a sum of gate has the same of up.
 */
#ifndef WIDE_KERNEL_CUH
#define WIDE_KERNEL_CUH

#include <cuda.h>

#include "common.cuh"
#include "best.cuh"
#include "step-ptx.cuh"
#include "tile.cuh"
#include "wide-plan.h"
#include "wide-ptx.cuh"

enum {
	SLAB_BYTES = 8 * WIDE_SLAB * 2,	/* of eight rows, which the swizzle turns about */
	PAIR = 2,		/* slabs of a stage: memory gives 256 bytes of a row faster */
	GROUPS = 3, GROUP_UNITS = 8,	/* of four warps; of a half, that one multiplies */
	WARPS = GROUPS * 4, THREADS = (WARPS + 2) * 32,
	STAGES = 16, SLOTS = 10,	/* of weights, of x, at most */
	STAGE_UNIT = PAIR * SLAB_BYTES,	/* bytes of a unit's half in a stage */
	WEIGHTS_ROOM = 5 * WIDE_UNITS * STAGE_UNIT, X_ROOM = 5 * 4 * STAGE_UNIT,
	UNDER_WAY = 18,			/* units of stages, until x is there */
	/* Where they lie in shared memory; barriers and keys of 8 bytes. */
	AT_X = WEIGHTS_ROOM, AT_FULL = AT_X + X_ROOM, AT_EMPTY = AT_FULL + STAGES * 8,
	AT_X_FULL = AT_EMPTY + STAGES * 8, AT_X_EMPTY = AT_X_FULL + SLOTS * 8,
	AT_THERE = AT_X_EMPTY + SLOTS * 8, AT_BEST = AT_THERE + 8,
	SHARED = AT_BEST + WIDE_MOST * 8 + 1024	/* begins at a multiple of 1024 */
};
static_assert(SHARED <= 227 * 1024, "shared memory of a block");
static_assert(GROUPS * GROUP_UNITS >= WIDE_UNITS, "groups for a pass");
/* A group multiplies 64 rows where it has fewer: of what lies behind them. */
static_assert(X_ROOM >= GROUP_UNITS * SLAB_BYTES, "what is read beyond the last stage");

struct wide_plan {
	CUtensorMap box[2];	/* of the fewest units a pass has, and of one more */
	CUtensorMap x;		/* of all its rows */
	struct wide g;
	struct wide_deal deal;
	uint32_t stages, under_way;
};

D_INLINE struct wide_part
units_of(const struct wide_plan &p, uint32_t pass)
{
	return wide_units(&p.deal, blockIdx.y, pass);
}

D_INLINE struct wide_part
span_of(const struct wide_plan &p)
{
	return wide_part(p.deal.slabs, blockIdx.x, p.deal.spans);
}

/* The first row of either half: gate and up lie apart, halves of other rows do not. */
D_INLINE uint32_t
row_of(const struct wide &g, const struct wide_part &part, uint32_t half)
{
	if (g.to == WIDE_SILU)
		return part.first * 8 + half * (g.rows / 2);
	return part.first * WIDE_UNIT + half * part.n * 8;
}

/* A place in a ring of n. */
struct spot {
	uint32_t at, turn;
};

D_INLINE void
next(struct spot *s, uint32_t n)
{
	if (++s->at == n) {
		s->at = 0;
		s->turn ^= 1;
	}
}

/*
 * By one thread: all weights, which nobody writes.  Before x is there only so many
 * stages are under way: the kernel before waits behind what is.  Loops are not unrolled:
 * when a kernel starts its instructions are cold.
 */
D_INLINE void
fetch_weights(const struct wide_plan &p, uint32_t s)
{
	const uint64_t policy = read_once_policy();
	const struct wide_part span = span_of(p);
	uint32_t asked = 0;
	bool there = false;
	struct spot w = {};

#pragma unroll 1
	for (uint32_t pass = 0; pass < p.deal.passes; pass++) {
		const struct wide_part part = units_of(p, pass);
		const CUtensorMap *const box = &p.box[part.n > p.deal.fewest];

#pragma unroll 1
		for (uint32_t i = 0; i < span.n; i += PAIR)
#pragma unroll 1
			for (uint32_t half = 0; half < 2; half++) {
				const uint32_t full = s + AT_FULL + w.at * 8;
				const uint32_t n = min(span.n - i, (uint32_t)PAIR);

				if (!there && asked >= p.under_way)
					barrier_wait(s + AT_FULL + (asked - p.under_way) * 8, 0);
				there = there || ++asked >= p.stages || barrier_is_over(s + AT_THERE, 0);
				barrier_wait(s + AT_EMPTY + w.at * 8, w.turn ^ 1);
				barrier_expect(full, n * part.n * SLAB_BYTES);
#pragma unroll 1
				for (uint32_t j = 0; j < n; j++)
					fetch_box(s + (w.at * PAIR + j) * p.deal.most * SLAB_BYTES, box,
					    (span.first + i + j) * WIDE_SLAB,
					    row_of(p.g, part, half), full, policy);
				next(&w, p.stages);
			}
	}
}

/* By one thread: x, once it is there. */
template <int N> D_INLINE void
fetch_x(const struct wide_plan &p, uint32_t s)
{
	enum { BYTES = N * WIDE_SLAB * 2, N_SLOTS = X_ROOM / (PAIR * BYTES) };
	const uint64_t policy = word_policy();
	const struct wide_part span = span_of(p);
	struct spot x = {};

	wait_for_last();
	barrier_arrive(s + AT_THERE);
#pragma unroll 1
	for (uint32_t pass = 0; pass < p.deal.passes; pass++)
#pragma unroll 1
		for (uint32_t i = 0; i < span.n; i += PAIR) {
			const uint32_t full = s + AT_X_FULL + x.at * 8;
			const uint32_t n = min(span.n - i, (uint32_t)PAIR);

			barrier_wait(s + AT_X_EMPTY + x.at * 8, x.turn ^ 1);
			barrier_expect(full, n * BYTES);
#pragma unroll 1
			for (uint32_t j = 0; j < n; j++)
				fetch_box(s + AT_X + (x.at * PAIR + j) * BYTES, &p.x,
				    (span.first + i + j) * WIDE_SLAB, 0, full, policy);
			next(&x, N_SLOTS);
		}
}

/* To wgmma: rows of 128 bytes, eight in 1024, whose eighths lie where the row's number says. */
D_INLINE uint64_t
operand(uint32_t at)
{
	return (uint64_t)((at & 0x3ffff) >> 4) | (uint64_t)1 << 16 |
	    (uint64_t)(SLAB_BYTES / 16) << 32 | (uint64_t)1 << 62;
}

D_INLINE float
gated(float gate, float up)
{
	return gate / (1 + __expf(-gate)) * up;
}

/* Of a row and two sequences. */
D_INLINE void
put_sums(float *out, const struct wide &g, uint32_t row, uint32_t seq, float2 v)
{
	out += seq * (size_t)g.rows + row;
	if (row < g.rows && seq < g.batch)
		out[0] = v.x;
	if (row < g.rows && seq + 1 < g.batch)
		out[g.rows] = v.y;
}

/* Of eight rows of gate and of up and eight sequences from first on: a lane has two. */
template <class T> D_INLINE void
put_silu(const struct wide &g, uint32_t row, uint32_t first, float2 gate, float2 up, int lane)
{
	const uint32_t v = fragment_turned(pair<T>(gated(gate.x, up.x), gated(gate.y, up.y)));
	const uint32_t seq = first + lane / 4;

	if (seq < g.batch)
		*(uint32_t *)((T *)g.out + seq * (size_t)(g.rows / 2) + row + lane % 4 * 2) = v;
}

/* A warp's sums of two units of each half, of those from unit on that its group has. */
template <class T, int N, enum wide_to TO> D_INLINE void
leave(const struct wide_plan &p, const struct wide_part &part, uint32_t unit, uint32_t end,
    const float (&d)[N / 2], const float (&u)[N / 2], int lane)
{
	float *const out = TO == WIDE_BEST ? p.g.logits : (float *)p.g.out +
	    blockIdx.x * (size_t)p.g.batch * p.g.rows;

#pragma unroll
	for (int h = 0; h < 2; h++) {
		const uint32_t row = row_of(p.g, part, 0) + (unit + h) * 8;
		const uint32_t row2 = row_of(p.g, part, 1) + (unit + h) * 8;

		if (unit + h >= end)
			break;
#pragma unroll
		for (int j = 0; j < N / 8; j++) {
			const float2 a = make_float2(d[4 * j + 2 * h], d[4 * j + 2 * h + 1]);
			const float2 b = make_float2(u[4 * j + 2 * h], u[4 * j + 2 * h + 1]);
			const uint32_t seq = 8 * j + lane % 4 * 2;

			if constexpr (TO == WIDE_SILU)
				put_silu<T>(p.g, row, 8 * j, a, b, lane);
			else if (TO == WIDE_PARTS || out != NULL) {
				put_sums(out, p.g, row + lane / 4, seq, a);
				put_sums(out, p.g, row2 + lane / 4, seq, b);
			}
		}
	}
}

/* [WIDE_MOST] */
D_INLINE unsigned long long *
bests(uint32_t s)
{
	return (unsigned long long *)__cvta_shared_to_generic(s + AT_BEST);
}

/* Of a warp's sums, as leave has them. */
template <int N> D_INLINE void
choose(const struct wide_plan &p, uint32_t s, const struct wide_part &part, uint32_t unit,
    uint32_t end, const float (&d)[N / 2], const float (&u)[N / 2], int lane)
{
#pragma unroll
	for (int i = 0; i < N / 4; i++) {
		const int at = i / 2 * 4 + i % 2;
		unsigned long long best = 0;

#pragma unroll
		for (int h = 0; h < 4; h++) {
			const uint32_t row = row_of(p.g, part, h % 2) + (unit + h / 2) * 8 + lane / 4;

			if (unit + h / 2 < end && row < p.g.rows)
				best = better(best, key((h % 2 ? u : d)[at + h / 2 * 2], row));
		}
		for (int o = 4; o < 32; o *= 2)
			best = better(best, __shfl_xor_sync(~0u, best, o));
		if (lane < 4)
			atomicMax(bests(s) + i / 2 * 8 + lane * 2 + i % 2, best);
	}
}

/* By all who multiply: the best of the block's rows. */
D_INLINE void
leave_bests(const struct wide &g, uint32_t s)
{
	threads_meet<1>(WARPS * 32);
	if (threadIdx.x < g.batch)
		((unsigned long long *)g.out)[threadIdx.x * gridDim.y + blockIdx.y] =
		    bests(s)[threadIdx.x];
}

/* A stage of weights, when it is there, into the sums of its half; of no slabs: given back. */
template <class T, int N, int SLABS> D_INLINE void
take_stage(float (&d)[N / 2], const struct wide_plan &p, uint32_t s, struct spot *w,
    uint32_t unit, uint32_t x, int lane)
{
	const uint32_t slab = p.deal.most * SLAB_BYTES;
	const uint32_t at = s + w->at * PAIR * slab + unit * SLAB_BYTES;

	barrier_wait(s + AT_FULL + w->at * 8, w->turn);
	if constexpr (SLABS > 0) {
		__syncwarp();
		wgmma_begin(d);
#pragma unroll
		for (int i = 0; i < SLABS; i++)
#pragma unroll
			for (int k = 0; k < WIDE_SLAB / 16; k++)
				wgmma<T>(d, operand(at + i * slab) + 2 * k,
				    operand(x + i * N * WIDE_SLAB * 2) + 2 * k);
		wgmma_end(d);
	}
	warp_arrive(s + AT_EMPTY + w->at * 8, lane);
	next(w, p.stages);
}

/* Both halves of some slabs. */
template <class T, int N, int SLABS> D_INLINE void
take(float (&d)[N / 2], float (&u)[N / 2], const struct wide_plan &p, uint32_t s,
    struct spot *w, struct spot *x, uint32_t unit, int lane)
{
	enum { SLOT = PAIR * N * WIDE_SLAB * 2 };
	const uint32_t at = s + AT_X + x->at * SLOT;

	barrier_wait(s + AT_X_FULL + x->at * 8, x->turn);
	take_stage<T, N, SLABS>(d, p, s, w, unit, at, lane);
	take_stage<T, N, SLABS>(u, p, s, w, unit, at, lane);
	warp_arrive(s + AT_X_EMPTY + x->at * 8, lane);
	next(x, X_ROOM / SLOT);
}

/* All slabs of a pass; whose group has none of its units gives back what others take. */
template <class T, int N> D_INLINE void
take_all(float (&d)[N / 2], float (&u)[N / 2], const struct wide_plan &p, uint32_t s,
    struct spot *w, struct spot *x, const struct wide_part &mine, uint32_t slabs, int lane)
{
	if (mine.n == 0)
#pragma unroll 1
		for (uint32_t i = 0; i < slabs; i += PAIR)
			take<T, N, 0>(d, u, p, s, w, x, 0, lane);
	else {
#pragma unroll 1
		for (; slabs >= PAIR; slabs -= PAIR)
			take<T, N, PAIR>(d, u, p, s, w, x, mine.first, lane);
		if (slabs > 0)
			take<T, N, 1>(d, u, p, s, w, x, mine.first, lane);
	}
}

/* As few groups as can have an equal share of a pass's units. */
D_INLINE struct wide_part
share_of(uint32_t units, uint32_t group)
{
	const uint32_t groups = (units + GROUP_UNITS - 1) / GROUP_UNITS;
	const uint32_t share = (units + groups - 1) / groups, first = min(group * share, units);

	return { first, min(share, units - first) };
}

template <class T, int N, enum wide_to TO> D_INLINE void
multiply(const struct wide_plan &p, uint32_t s, uint32_t warp, int lane)
{
	const struct wide_part span = span_of(p);
	struct spot w = {}, x = {};

#pragma unroll 1
	for (uint32_t pass = 0; pass < p.deal.passes; pass++) {
		const struct wide_part part = units_of(p, pass);
		const struct wide_part mine = share_of(part.n, warp / 4);
		const uint32_t unit = mine.first + warp % 4 * 2, end = mine.first + mine.n;
		float d[N / 2] = {}, u[N / 2] = {};

		take_all<T, N>(d, u, p, s, &w, &x, mine, span.n, lane);
		leave<T, N, TO>(p, part, unit, end, d, u, lane);
		if (TO == WIDE_BEST)
			choose<N>(p, s, part, unit, end, d, u, lane);
	}
	if (TO == WIDE_BEST)
		leave_bests(p.g, s);
}

D_INLINE void
init_barriers(uint32_t s)
{
#pragma unroll 1
	for (int i = 0; i < STAGES; i++) {
		barrier_init(s + AT_FULL + i * 8, 1);
		barrier_init(s + AT_EMPTY + i * 8, WARPS * ARRIVALS);
	}
#pragma unroll 1
	for (int i = 0; i < SLOTS; i++) {
		barrier_init(s + AT_X_FULL + i * 8, 1);
		barrier_init(s + AT_X_EMPTY + i * 8, WARPS * ARRIVALS);
	}
	barrier_init(s + AT_THERE, 1);
	barriers_are_begun();
}

template <class T, int N, enum wide_to TO> __global__ void __launch_bounds__(THREADS, 1)
wide(const __grid_constant__ struct wide_plan p)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
	extern __shared__ char raw[];
	const uint32_t s = (shared_at(raw) + 1023) & ~1023u;
	const uint32_t warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
	const int lane = threadIdx.x % 32;

	let_next_start();
	if (threadIdx.x == 0)
		init_barriers(s);
	if (threadIdx.x < WIDE_MOST)
		bests(s)[threadIdx.x] = 0;
	__syncthreads();
	if (warp < WARPS)
		multiply<T, N, TO>(p, s, warp, lane);
	else if (lane == 0 && warp == WARPS)
		fetch_weights(p, s);
	else if (lane == 0)
		fetch_x<N>(p, s);
#endif
}

#endif
