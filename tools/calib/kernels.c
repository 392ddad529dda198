/* kernels.c: read, write, copy and GEMV for the instruction sets there are. */
#include "calib.h"

#define KEEP __asm__ volatile("" : : : "memory")
#define SET(name) { #name, name##_read, name##_write, name##_copy, name##_gemv }

#define TARGET
#define BYTES 16
#define NAME(f) base_##f
#include "kernels.h"
#undef TARGET
#undef BYTES
#undef NAME
static const struct kernels base = SET(base);

const struct kernels *
kernels_base(void)
{
	return &base;
}

#ifdef __x86_64__
#include <emmintrin.h>

#define TARGET __attribute__((target("avx2")))
#define BYTES 32
#define NAME(f) avx2_##f
#include "kernels.h"
#undef TARGET
#undef BYTES
#undef NAME
static const struct kernels avx2 = SET(avx2);

#define TARGET __attribute__((target("avx512f")))
#define BYTES 64
#define NAME(f) avx512f_##f
#include "kernels.h"
static const struct kernels avx512f = SET(avx512f);

const struct kernels *
kernels_best(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx512f") ? &avx512f :
	    __builtin_cpu_supports("avx2") ? &avx2 : &base;
}

static void
streaming_write(line *a, size_t n, uint64_t value)
{
	__m128i v = _mm_set1_epi64x((long long)value), *p = (__m128i *)a;

	for (size_t i = 0; i < 4 * n; i++)
		_mm_stream_si128(p + i, v);
	_mm_sfence();
}

static void
streaming_copy(line *to, const line *from, size_t n)
{
	__m128i *p = (__m128i *)to;
	const __m128i *q = (const __m128i *)from;

	for (size_t i = 0; i < 4 * n; i++)
		_mm_stream_si128(p + i, _mm_load_si128(q + i));
	_mm_sfence();
}

const struct kernels *
kernels_streaming(void)
{
	static const struct kernels k = { "nontemporal", NULL, streaming_write,
	    streaming_copy, NULL };

	return &k;
}
#else
const struct kernels *
kernels_best(void)
{
	return &base;
}

const struct kernels *
kernels_streaming(void)
{
	return NULL;
}
#endif
