/*
 * step-ptx.cuh: the instructions that a step is made of and C++ has no words
 * for.  Barriers and stages are addresses of shared memory.
 */
#ifndef STEP_PTX_CUH
#define STEP_PTX_CUH

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

/*
 * A warp comes to a barrier as one, or, for a tool that does not see what one lane's
 * arrival says of the others, as 32.
 */
#ifdef EACH_LANE_ARRIVES
enum { ARRIVALS = 32 };
#else
enum { ARRIVALS = 1 };
#endif
D_INLINE void
warp_arrive(uint32_t barrier, int lane)
{
	__syncwarp();
	if (ARRIVALS == 32 || lane == 0)
		barrier_arrive(barrier);
}

D_INLINE void
barrier_expect(uint32_t barrier, uint32_t bytes)
{
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
	    :: "r"(barrier), "r"(bytes) : "memory");
}

/* Is the phase of that parity over? */
D_INLINE bool
barrier_is_over(uint32_t barrier, uint32_t parity)
{
	uint32_t over;

	asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; "
	    "selp.u32 %0, 1, 0, p; }" : "=r"(over) : "r"(barrier), "r"(parity) : "memory");
	return over;
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

/* Of words: the last to leave the L2. */
D_INLINE uint64_t
word_policy(void)
{
	uint64_t p;

	asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(p));
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

/* What lies there, if it does; else v stays. */
D_INLINE void
shared_again(uint4 *v, uint32_t at, bool there)
{
	asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0; "
	    "@p ld.shared.v4.b32 {%0,%1,%2,%3}, [%4]; }"
	    : "+r"(v->x), "+r"(v->y), "+r"(v->z), "+r"(v->w) : "r"(at), "r"((uint32_t)there));
}

D_INLINE uint32_t
shared4(uint32_t at)
{
	uint32_t v;

	asm volatile("ld.shared.b32 %0, [%1];" : "=r"(v) : "r"(at));
	return v;
}

/* Words in memory that several blocks use. */
D_INLINE void
word_put(void *p, uint32_t v, uint64_t policy)
{
	asm volatile("st.relaxed.gpu.global.L2::cache_hint.b32 [%0], %1, %2;"
	    :: "l"(p), "r"(v), "l"(policy) : "memory");
}

/* What lies there, if so; else v stays. */
D_INLINE void
word_again(uint4 *v, const void *p, bool so, uint64_t policy)
{
	asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0; "
	    "@p ld.relaxed.gpu.global.L2::cache_hint.v4.b32 {%0,%1,%2,%3}, [%4], %6; }"
	    : "+r"(v->x), "+r"(v->y), "+r"(v->z), "+r"(v->w)
	    : "l"(p), "r"((uint32_t)so), "l"(policy) : "memory");
}

D_INLINE void
word_again(uint2 *v, const void *p, bool so, uint64_t policy)
{
	asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; "
	    "@p ld.relaxed.gpu.global.L2::cache_hint.v2.b32 {%0,%1}, [%2], %4; }"
	    : "+r"(v->x), "+r"(v->y)
	    : "l"(p), "r"((uint32_t)so), "l"(policy) : "memory");
}

/* What lies there, if it does; else 0. */
D_INLINE uint32_t
word_ask(const void *p, bool there, uint64_t policy)
{
	uint32_t v = 0;

	asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; "
	    "@p ld.relaxed.gpu.global.L2::cache_hint.b32 %0, [%1], %3; }"
	    : "+r"(v) : "l"(p), "r"((uint32_t)there), "l"(policy) : "memory");
	return v;
}

/* Its line comes to the L2, and where it lies to this multiprocessor. */
D_INLINE void
line_expect(const void *p)
{
	asm volatile("prefetch.global.L2 [%0];" :: "l"(p));
}

/* The same of words. */
D_INLINE void
word_line_expect(const void *p)
{
	asm volatile("prefetch.global.L2::evict_last [%0];" :: "l"(p));
}

/*
 * It is in registers from here on, instead of being worked out again wherever it is
 * needed; and nothing is worked out of it before.
 */
template <class V> D_INLINE void
settle(V *v)
{
	static_assert(sizeof *v == 4 || sizeof *v == 8);
	if constexpr (sizeof *v == 8)
		asm volatile("" : "+l"(*v));
	else
		asm volatile("" : "+r"(*v));
}

D_INLINE void
settle(float *v)
{
	asm volatile("" : "+f"(*v));
}

/* The same for all multiprocessors. */
D_INLINE unsigned long long
clock_ns(void)
{
	unsigned long long t;

	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t) :: "memory");
	return t;
}

/* So many threads of the block, all in whole warps; each meeting by a number of its own. */
template <int N> D_INLINE void
threads_meet(uint32_t threads)
{
	asm volatile("bar.sync %0, %1;" :: "n"(N), "r"(threads) : "memory");
}

#endif
