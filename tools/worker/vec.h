/*
 * vec.h: arithmetic in eight lanes with one order of operations, so that
 * SSE2, AVX2 and NEON, one thread and many, give the same bits.  No fused
 * multiply-add: it rounds otherwise.
 */
#ifndef VEC_H
#define VEC_H

#include "checkpoint.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "safetensors are little-endian; so must this machine be"
#endif

#define INLINE static inline __attribute__((always_inline))
#ifdef __x86_64__
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif

enum { LANES = 8 };
typedef float v8 __attribute__((vector_size(32)));
typedef uint32_t v8u __attribute__((vector_size(32)));
typedef float v8_at __attribute__((vector_size(32), aligned(1), may_alias));
typedef uint16_t h8_at __attribute__((vector_size(16), aligned(1), may_alias));

/*
 * A half's exponent and fraction, moved into a float's place, are the value
 * times 2^-112, subnormals too; what has the largest exponent is infinite or
 * no number, and takes a float's largest.
 */
INLINE void
half8(v8 *out, const v8u *half)
{
	v8u low = (*half & 0x7fff) << 13, finite = (low - 0x0f800000) >> 31;
	v8u f = (v8u)((v8)low * 0x1p112f);

	*out = (v8)(f | ((finite - 1) & 0x7f800000) | (*half & 0x8000) << 16);
}

/* Eight weights from w[i]. */
INLINE void
load8(v8 *out, enum dtype t, const void *w, size_t i)
{
	if (t == DT_F32) {
		*out = *(const v8_at *)((const float *)w + i);
	} else {
		v8u half = __builtin_convertvector(
		    *(const h8_at *)((const uint16_t *)w + i), v8u);

		if (t == DT_BF16)
			*out = (v8)(half << 16);
		else
			half8(out, &half);
	}
}

/* The weight w[i] alone. */
INLINE float
load1(enum dtype t, const void *w, size_t i)
{
	float f;

	if (t == DT_F32) {
		memcpy(&f, (const char *)w + 4 * i, sizeof f);
	} else {
		uint16_t eight[LANES] = { 0 };
		v8 v;

		memcpy(eight, (const char *)w + 2 * i, sizeof *eight);
		load8(&v, t, eight, 0);
		f = v[0];
	}
	return f;
}

INLINE float
sum8(const v8 *v)
{
	const v8 a = *v;

	return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
}

INLINE float
dot(const float *a, const float *b, size_t n)
{
	v8 acc = { 0 };
	float sum;
	size_t i;

	for (i = 0; i + LANES <= n; i += LANES)
		acc += *(const v8_at *)(a + i) * *(const v8_at *)(b + i);
	for (sum = sum8(&acc); i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* y += a x */
INLINE void
add_scaled(float *y, float a, const float *x, size_t n)
{
	size_t i;

	for (i = 0; i + LANES <= n; i += LANES)
		*(v8_at *)(y + i) += a * *(const v8_at *)(x + i);
	for (; i < n; i++)
		y[i] += a * x[i];
}

/*
 * e^x: x = n ln 2 + r, then the series of e^r, whose next term is below a
 * float's last bit.  libm's differs in that bit from machine to machine.
 */
INLINE float
exp_same(float x)
{
	float n, r, p;
	int32_t bits;

	x = x > -87 ? x : -87;	/* and so is what is no number */
	x = x < 88 ? x : 88;
	n = x * 1.44269504f + 0x1.8p23f - 0x1.8p23f;
	r = x - n * 0x1.62e4p-1f - n * 0x1.7f7d1cp-20f;
	p = 1 + r * (1 + r * (1 / 2.f + r * (1 / 6.f + r * (1 / 24.f +
	    r * (1 / 120.f + r * (1 / 720.f + r * (1 / 5040.f)))))));
	bits = ((int32_t)n + 127) << 23;
	memcpy(&n, &bits, sizeof n);
	return p * n;
}

#endif
