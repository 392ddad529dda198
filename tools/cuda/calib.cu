/* calib.cu: kernels of known traffic, and the operands and checks of products. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "calib.h"

#define D_INLINE static __device__ __forceinline__

enum { THREADS = 256, BLOCKS = 8 };	/* a block, a multiprocessor */

/* ---- read, write, copy */

/*
 * From the L2, whoever asked for it before.  L1::no_allocate would mark lines as
 * the first to leave the L2 too: half of it would seem to be missing.
 */
D_INLINE uint4
load(const uint4 *p)
{
	uint4 v;

	asm volatile("ld.relaxed.gpu.global.v4.b32 {%0,%1,%2,%3}, [%4];"
	    : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
	return v;
}

template <bool STREAMING> D_INLINE void
store(uint4 *p, uint4 v)
{
	if (STREAMING)
		__stcs(p, v);
	else
		*p = v;
}

D_INLINE uint32_t
mix(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352d;
	x ^= x >> 15;
	x *= 0x846ca68b;
	return x ^ x >> 16;
}

/* Two numbers: 3.9e-3 to 2 as bf16 pairs go, no inf or nan as f16 or f32 either. */
D_INLINE uint32_t
tame(uint32_t x)
{
	return (x & 0x83ff83ff) | 0x3c003c00;
}

D_INLINE uint4
random16(uint32_t i, uint32_t seed)
{
	const uint32_t h = mix(i ^ seed);

	return make_uint4(tame(h), tame(h * 0x9e3779b1), tame(h * 0x85ebca6b),
	    tame(h * 0xc2b2ae35));
}

D_INLINE uint32_t
sum4(uint4 v)
{
	return v.x + v.y + v.z + v.w;
}

/* Each warp's sum into one of the slots. */
D_INLINE void
add_up(uint32_t *sum, uint32_t s)
{
	for (int i = 16; i > 0; i /= 2)
		s += __shfl_xor_sync(~0u, s, i);
	if (threadIdx.x % 32 == 0)
		atomicAdd(sum + blockIdx.x % CU_SUMS, s);
}

/*
 * What is walked is n pieces, of DEPTH x THREADS times 16 bytes, passes times;
 * a block takes every gridDim.x-th.  Where n is no more than the blocks, each
 * has a piece to itself: two that asked one L1 for the same would ask the L2 once.
 */
template <int DEPTH> D_INLINE size_t
mine(size_t i, size_t n)
{
	return i % n * DEPTH * THREADS + threadIdx.x;
}

template <int DEPTH> __global__ void __launch_bounds__(THREADS)
reading(const uint4 *from, size_t n, unsigned passes, uint32_t *sum)
{
	uint32_t s = 0;

	for (size_t i = blockIdx.x; i < n * passes; i += gridDim.x) {
		const uint4 *p = from + mine<DEPTH>(i, n);
		uint4 v[DEPTH];

#pragma unroll
		for (int k = 0; k < DEPTH; k++)
			v[k] = load(p + k * THREADS);
#pragma unroll
		for (int k = 0; k < DEPTH; k++)
			s += sum4(v[k]);
	}
	add_up(sum, s);
}

template <int DEPTH, bool STREAMING> __global__ void __launch_bounds__(THREADS)
writing(uint4 *to, size_t n, uint32_t seed, uint32_t *sum)
{
	uint32_t s = 0;

	for (size_t i = blockIdx.x; i < n; i += gridDim.x) {
		const size_t at = mine<DEPTH>(i, n);

#pragma unroll
		for (int k = 0; k < DEPTH; k++) {
			const uint4 v = random16(at + k * THREADS, seed);

			store<STREAMING>(to + at + k * THREADS, v);
			s += sum4(v);
		}
	}
	if (sum != NULL)
		add_up(sum, s);
}

template <int DEPTH, bool STREAMING> __global__ void __launch_bounds__(THREADS)
copying(uint4 *to, const uint4 *from, size_t n, unsigned passes)
{
	for (size_t i = blockIdx.x; i < n * passes; i += gridDim.x) {
		const size_t at = mine<DEPTH>(i, n);
		uint4 v[DEPTH];

#pragma unroll
		for (int k = 0; k < DEPTH; k++)
			v[k] = load(from + at + k * THREADS);
#pragma unroll
		for (int k = 0; k < DEPTH; k++)
			store<STREAMING>(to + at + k * THREADS, v[k]);
	}
}

static size_t
pieces(struct walk w, size_t bytes)
{
	return bytes / ((w.deep ? 8 : 4) * THREADS * sizeof(uint4));
}

static unsigned
grid(struct walk w, size_t n, unsigned passes)
{
	const size_t stay = (size_t)w.n_sms * BLOCKS;

	return (unsigned)((w.once && passes == 1) || n < stay ? n : stay);
}

void
cu_calib_read(cudaStream_t s, struct walk w, const void *from, size_t bytes,
    unsigned passes, uint32_t *sum)
{
	const size_t n = pieces(w, bytes);
	const auto kernel = w.deep ? reading<8> : reading<4>;

	kernel<<<grid(w, n, passes), THREADS, 0, s>>>((const uint4 *)from, n, passes, sum);
}

void
cu_calib_write(cudaStream_t s, struct walk w, void *to, size_t bytes,
    uint32_t seed, uint32_t *sum)
{
	const size_t n = pieces(w, bytes);
	const auto kernel = w.deep ?
	    w.streaming ? writing<8, true> : writing<8, false> :
	    w.streaming ? writing<4, true> : writing<4, false>;

	kernel<<<grid(w, n, 1), THREADS, 0, s>>>((uint4 *)to, n, seed, sum);
}

void
cu_calib_copy(cudaStream_t s, struct walk w, void *to, const void *from,
    size_t bytes, unsigned passes)
{
	const size_t n = pieces(w, bytes);
	const auto kernel = w.deep ?
	    w.streaming ? copying<8, true> : copying<8, false> :
	    w.streaming ? copying<4, true> : copying<4, false>;

	kernel<<<grid(w, n, passes), THREADS, 0, s>>>((uint4 *)to, (const uint4 *)from,
	    n, passes);
}

/* ---- a matrix and a vector: a warp a row */

D_INLINE float
dot8(uint4 a, uint4 b)
{
	const __nv_bfloat162 *x = (const __nv_bfloat162 *)&a, *y = (const __nv_bfloat162 *)&b;
	float s = 0;

#pragma unroll
	for (int i = 0; i < 4; i++) {
		const float2 u = __bfloat1622float2(x[i]), v = __bfloat1622float2(y[i]);

		s += u.x * v.x + u.y * v.y;
	}
	return s;
}

static __global__ void __launch_bounds__(THREADS)
gemv(float *y, const uint4 *a, const uint4 *x, size_t rows)
{
	enum { STEPS = CU_ROW / 8 / 32, WARPS = THREADS / 32 };
	const unsigned lane = threadIdx.x % 32;

	for (size_t r = (size_t)blockIdx.x * WARPS + threadIdx.x / 32; r < rows;
	    r += (size_t)gridDim.x * WARPS) {
		const uint4 *row = a + r * (CU_ROW / 8) + lane;
		float s = 0;

#pragma unroll
		for (int i = 0; i < STEPS; i += 8) {
			uint4 v[8];
#pragma unroll
			for (int k = 0; k < 8; k++)
				v[k] = load(row + 32 * (i + k));
#pragma unroll
			for (int k = 0; k < 8; k++)
				s += dot8(v[k], x[lane + 32 * (i + k)]);
		}
		for (int i = 16; i > 0; i /= 2)
			s += __shfl_xor_sync(~0u, s, i);
		if (lane == 0)
			y[r] = s;
	}
}

void
cu_calib_gemv(cudaStream_t s, float *y, const void *a, const void *x,
    size_t rows, unsigned n_sms)
{
	gemv<<<n_sms * BLOCKS, THREADS, 0, s>>>(y, (const uint4 *)a, (const uint4 *)x, rows);
}

static __global__ void
nothing(void)
{
}

void
cu_calib_nothing(cudaStream_t s)
{
	nothing<<<1, 32, 0, s>>>();
}

const void *
cu_calib_probe(void)
{
	return (const void *)nothing;
}

/* ---- products */

typedef __nv_bfloat16 bf16;
typedef __nv_fp8_e4m3 fp8;

template <class T> __global__ void
values(T *to, size_t n, uint32_t seed)
{
	for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n;
	    i += (size_t)gridDim.x * THREADS)
		to[i] = T((mix((uint32_t)i ^ seed) >> 8) * (1.f / (1 << 24)) - 0.5f);
}

/* A thread a place: off by more than a share of what such a sum scatters by? */
template <class T, class D> __global__ void
check(const T *a, const T *b, const D *d, size_t n, double share, unsigned *wrong)
{
	const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	const size_t row = mix(2 * i) % n, col = mix(2 * i + 1) % n;
	double sum = 0, square = 0;

	for (size_t k = 0; k < n; k++) {
		const double p = (double)(float)a[row * n + k] * (double)(float)b[col * n + k];

		sum += p;
		square += p * p;
	}
	if (!(fabs((double)(float)d[row + col * n] - sum) <= share * sqrt(square)))
		atomicAdd(wrong, 1);
}

#define BY_TYPE(type, F) do switch (type) { \
	case CU_F32: F(float, float, 1e-4); break; \
	case CU_TF32: F(float, float, 0.01); break; \
	case CU_F16: F(half, half, 0.02); break; \
	case CU_BF16: F(bf16, bf16, 0.02); break; \
	default: F(fp8, bf16, 0.1); break; } while (0)

void
cu_calib_values(cudaStream_t s, enum cu_type type, void *to, size_t n, uint32_t seed)
{
#define FILL(T, D, share) values<T><<<1024, THREADS, 0, s>>>((T *)to, n, seed)
	BY_TYPE(type, FILL);
}

void
cu_calib_check(cudaStream_t s, enum cu_type type, const void *a, const void *b,
    const void *d, size_t n, unsigned *wrong)
{
#define CHECK(T, D, share) check<T, D><<<32, 32, 0, s>>>((const T *)a, (const T *)b, \
	(const D *)d, n, share, wrong)
	BY_TYPE(type, CHECK);
}
