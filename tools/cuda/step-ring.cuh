/*
 * step-ring.cuh: a ring of stages in shared memory, which one warp fills by
 * bulk copies and the others empty.  Addresses are of shared memory.
 */
#ifndef STEP_RING_CUH
#define STEP_RING_CUH

struct ring {
	uint32_t data, full, empty;	/* [n] stages and their barriers */
	uint32_t n, under_way, low;	/* stages; that are filled at a time; that are empty then */
	uint32_t at, turn;
};

D_INLINE void
ring_next(struct ring &r)
{
	if (++r.at == r.n) {
		r.at = 0;
		r.turn ^= 1;
	}
}

/* The stage that comes next, when it is full: its address. */
D_INLINE uint32_t
ring_take(const struct ring &r)
{
	barrier_wait(r.full + r.at * 8, r.turn);
	return r.data + r.at * STEP_STAGE;
}

/* By a whole warp, which reads it no more. */
D_INLINE void
ring_give(struct ring &r, int lane)
{
	warp_arrive(r.empty + r.at * 8, lane);
	ring_next(r);
}

/* So many of them. */
D_INLINE void
ring_give(struct ring &r, uint32_t n, int lane)
{
	if (ARRIVALS == 32)
		for (; n > 0; n--)
			ring_give(r, lane);
	else {
		const uint32_t mine = r.at + lane;

		__syncwarp();
		if (lane < n)
			barrier_arrive(r.empty + (mine < r.n ? mine : mine - r.n) * 8);
		r.at += n;
		if (r.at >= r.n) {
			r.at -= r.n;
			r.turn ^= 1;
		}
	}
}

/* Until the stage so many before the next has come. */
D_INLINE void
ring_wait(const struct ring &r, uint32_t before)
{
	const bool wraps = r.at < before;

	barrier_wait(r.full + (r.at - before + (wraps ? r.n : 0)) * 8, r.turn ^ wraps);
}

/* Has it so many stages that are empty? */
D_INLINE bool
ring_is_low(const struct ring &r)
{
	const uint32_t i = r.at + r.low - 1;
	const bool wraps = i >= r.n;

	return __all_sync(~0u, barrier_is_over(r.empty + (i - (wraps ? r.n : 0)) * 8,
	    r.turn ^ !wraps));
}

/*
 * By the filling warp: the stage that comes next, when it is empty.  A ring that
 * has much is filled at leisure: words do not wait behind its weights.
 */
D_INLINE uint32_t
ring_empty(const struct ring &r)
{
	ring_wait(r, ring_is_low(r) ? r.under_way : 1);
	barrier_wait(r.empty + r.at * 8, r.turn ^ 1);
	return r.data + r.at * STEP_STAGE;
}

/* So many bytes are about to come there. */
D_INLINE void
ring_expect(const struct ring &r, uint32_t bytes, int lane)
{
	__syncwarp();			/* all have seen it: a stage of no bytes is over at once */
	if (lane == 0)
		barrier_expect(r.full + r.at * 8, bytes);
	else if (ARRIVALS == 32)
		barrier_arrive(r.full + r.at * 8);
	__syncwarp();
}

D_INLINE uint32_t
ring_fill(const struct ring &r, uint32_t bytes, int lane)
{
	const uint32_t to = ring_empty(r);

	ring_expect(r, bytes, lane);
	return to;
}

#endif
