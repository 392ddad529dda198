/* wide-ptx.cuh: boxes of a matrix, and products of four warps, of 9.0a alone. */
#ifndef WIDE_PTX_CUH
#define WIDE_PTX_CUH

D_INLINE void
fetch_box(uint32_t to, const CUtensorMap *box, uint32_t column, uint32_t row, uint32_t barrier,
    uint64_t policy)
{
	asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
	    ".mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;"
	    :: "r"(to), "l"(box), "r"(column), "r"(row), "r"(barrier), "l"(policy) : "memory");
}

/* By who began them: for all, and for what boxes bring. */
D_INLINE void
barriers_are_begun(void)
{
	asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async;" ::: "memory");
}

/* d[64][N] += a[64][16] b[N][16], as the PTX manual draws it; a lane has N / 2 of d. */
template <class T> D_INLINE void wgmma(float (&d)[8], uint64_t a, uint64_t b);
template <class T> D_INLINE void wgmma(float (&d)[16], uint64_t a, uint64_t b);
template <class T> D_INLINE void wgmma(float (&d)[32], uint64_t a, uint64_t b);
#define LIST8 "%0,%1,%2,%3,%4,%5,%6,%7"
#define LIST16 LIST8 ",%8,%9,%10,%11,%12,%13,%14,%15"
#define LIST32 LIST16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define SUMS4(i) "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3])
#define SUMS8(i) SUMS4(i), SUMS4((i) + 4)
#define SUMS16(i) SUMS8(i), SUMS8((i) + 8)
#define WGMMA(word, type, sums, rows, list, a_at, b_at, ...) \
template <> __device__ __forceinline__ void \
wgmma<word>(float (&d)[sums], uint64_t a, uint64_t b) \
{ \
	asm volatile("{ .reg .pred p; setp.eq.u32 p, 0, 0; " \
	    "wgmma.mma_async.sync.aligned.m64n" rows "k16.f32." type "." type " " \
	    "{" list "}, " a_at ", " b_at ", p, 1, 1, 0, 0; }" \
	    : __VA_ARGS__ : "l"(a), "l"(b)); \
}
#define WGMMAS(word, type) \
WGMMA(word, type, 8, "16", LIST8, "%8", "%9", SUMS8(0)) \
WGMMA(word, type, 16, "32", LIST16, "%16", "%17", SUMS16(0)) \
WGMMA(word, type, 32, "64", LIST32, "%32", "%33", SUMS16(0), SUMS16(16))
WGMMAS(half, "f16")
WGMMAS(bf16, "bf16")
#undef WGMMAS
#undef WGMMA

/* No instruction that moves d crosses this. */
template <int SUMS> D_INLINE void
hold(float (&d)[SUMS])
{
#pragma unroll
	for (int i = 0; i < SUMS; i++)
		asm volatile("" : "+f"(d[i]) :: "memory");
}

template <int SUMS> D_INLINE void
wgmma_begin(float (&d)[SUMS])
{
	hold(d);
	asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/* All products are in d. */
template <int SUMS> D_INLINE void
wgmma_end(float (&d)[SUMS])
{
	asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
	hold(d);
}

#endif
