/* common.cuh: words and floats, and launches that may overlap. */
#ifndef COMMON_CUH
#define COMMON_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "by-word.cuh"
#include "cuda.h"

typedef __nv_bfloat16 bf16;

#define D_INLINE static __device__ __forceinline__

D_INLINE float to_float(float v) { return v; }
D_INLINE float to_float(half v) { return __half2float(v); }
D_INLINE float to_float(bf16 v) { return __bfloat162float(v); }
template <class T> D_INLINE T from_float(float v);
template <> __device__ __forceinline__ float from_float<float>(float v) { return v; }
template <> __device__ __forceinline__ half from_float<half>(float v) { return __float2half(v); }
template <> __device__ __forceinline__ bf16 from_float<bf16>(float v) { return __float2bfloat16(v); }

/* Two floats as two neighbouring words. */
template <class T> D_INLINE uint32_t pair(float a, float b);
template <> __device__ __forceinline__ uint32_t
pair<half>(float a, float b)
{
	half2 v = __floats2half2_rn(a, b);

	return *(uint32_t *)&v;
}
template <> __device__ __forceinline__ uint32_t
pair<bf16>(float a, float b)
{
	__nv_bfloat162 v = __floats2bfloat162_rn(a, b);

	return *(uint32_t *)&v;
}

template <class T> D_INLINE float2
unpair(uint32_t two)
{
	const T *v = (const T *)&two;

	return make_float2(to_float(v[0]), to_float(v[1]));
}

/* 2^x: 0 of what is too small for a normal number. */
D_INLINE float
two_to(float x)
{
	float y;

	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}

/* c[16][8] += a[16][16] b[16][8], a fragment a lane as the PTX manual draws it. */
template <class T> D_INLINE void mma(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1);
#define MMA(word, type) \
template <> __device__ __forceinline__ void \
mma<word>(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1) \
{ \
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 " \
	    "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
	    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) \
	    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1)); \
}
MMA(half, "f16")
MMA(bf16, "bf16")
#undef MMA

/* What the kernel before wrote is there from here on. */
D_INLINE void
wait_for_last(void)
{
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* The next kernel may start to fetch what nobody writes. */
D_INLINE void
let_next_start(void)
{
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* 16 bytes of weights: read once, kept nowhere. */
D_INLINE uint4
stream16(const void *p)
{
	uint4 v;

	asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.b32 {%0,%1,%2,%3}, [%4];"
	    : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
	return v;
}

/* A line that will be read: on its way to the L2. */
D_INLINE void
ask_ahead(const void *p)
{
	asm volatile("prefetch.global.L2 [%0];" :: "l"(p));
}

D_INLINE float
warp_sum(float v)
{
	for (int i = 16; i > 0; i /= 2)
		v += __shfl_xor_sync(~0u, v, i);
	return v;
}

/* Over all threads of a block of up to 1024. */
D_INLINE float
block_sum(float v)
{
	__shared__ float part[33];
	const unsigned warps = blockDim.x / 32;

	v = warp_sum(v);
	if (threadIdx.x % 32 == 0)
		part[threadIdx.x / 32] = v;
	__syncthreads();
	if (threadIdx.x < 32) {
		v = threadIdx.x < warps ? part[threadIdx.x] : 0;
		v = warp_sum(v);
		if (threadIdx.x == 0)
			part[32] = v;
	}
	__syncthreads();
	return part[32];
}

/* Every kernel that is launched so calls wait_for_last before it ends. */
template <class... P, class... A> static void
launch(const struct queue *q, void (*kernel)(P...), dim3 grid, unsigned threads,
    size_t shared, A... arg)
{
	cudaLaunchConfig_t c = {};
	cudaLaunchAttribute overlap = {};

	overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	overlap.val.programmaticStreamSerializationAllowed = 1;
	c.gridDim = grid;
	c.blockDim = dim3(threads);
	c.dynamicSmemBytes = shared;
	c.stream = q->stream;
	c.attrs = &overlap;
	c.numAttrs = q->overlap;
	cudaLaunchKernelEx(&c, kernel, (P)arg...);
}

#endif
