/*
 * step-ring.cuh: a ring of stages in shared memory, which one warp fills by
 * bulk copies and the others empty.  Addresses are of shared memory.
 */
#ifndef STEP_RING_CUH
#define STEP_RING_CUH

struct ring {
	uint32_t data, full, empty;	/* [n] stages and their barriers */
	uint32_t n, at, turn;
};

D_INLINE void
barrier_init(uint32_t barrier, uint32_t arrivals)
{
	asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(barrier), "r"(arrivals));
}

D_INLINE void
barrier_arrive(uint32_t barrier)
{
	asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
}

D_INLINE void
barrier_expect(uint32_t barrier, uint32_t bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
	    :: "r"(barrier), "r"(bytes) : "memory");
}

/* Until the phase of that parity is over. */
D_INLINE void
barrier_wait(uint32_t barrier, uint32_t parity)
{
	uint32_t over;

	do
		asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
		    "selp.u32 %0, 1, 0, p; }" : "=r"(over) : "r"(barrier), "r"(parity) : "memory");
	while (!over);
}

D_INLINE uint64_t
read_once_policy(void)
{
	uint64_t p;

	asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(p));
	return p;
}

D_INLINE void
bulk_copy(uint32_t to, const void *from, uint32_t bytes, uint32_t barrier, uint64_t policy)
{
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
	    ".L2::cache_hint [%0], [%1], %2, [%3], %4;"
	    :: "r"(to), "l"(from), "r"(bytes), "r"(barrier), "l"(policy) : "memory");
}

/* What was written to shared memory is before what bulk copies write there. */
D_INLINE void
bulk_fence(void)
{
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

D_INLINE uint4
shared16(uint32_t at)
{
	uint4 v;

	asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];"
	    : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at));
	return v;
}

/* What lies there, if it does; else zeros. */
D_INLINE uint4
shared16(uint32_t at, bool there)
{
	uint4 v = make_uint4(0, 0, 0, 0);

	asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0; "
	    "@p ld.shared.v4.b32 {%0,%1,%2,%3}, [%4]; }"
	    : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w) : "r"(at), "r"((uint32_t)there));
	return v;
}

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
	__syncwarp();
	if (lane == 0)
		barrier_arrive(r.empty + r.at * 8);
	ring_next(r);
}

/* By the filling warp: bytes are about to come; the stage's address. */
D_INLINE uint32_t
ring_fill(const struct ring &r, uint32_t bytes, int lane)
{
	barrier_wait(r.empty + r.at * 8, r.turn ^ 1);
	if (lane == 0)
		barrier_expect(r.full + r.at * 8, bytes);
	__syncwarp();
	return r.data + r.at * STEP_STAGE;
}

#endif
