/* results.h: what tests of products have on the device, and read back. */
#ifndef RESULTS_H
#define RESULTS_H

#include <err.h>
#include <math.h>

#include "engine.h"

static inline void
must(cudaError_t e)
{
	if (e != cudaSuccess)
		errx(NS_TROUBLE, "%s", cudaGetErrorString(e));
}

static inline void *
device(size_t bytes)
{
	void *p;

	must(cudaMalloc(&p, bytes));
	return p;
}

static inline double
value(enum word word, const void *p, size_t i)
{
	const size_t size = word == WORD_F32 ? 4 : 2;
	uint32_t bits = 0;
	float f;

	memcpy(&bits, (const char *)p + i * size, size);
	if (word == WORD_F16)
		return ldexp((bits & 0x7c00) != 0 ? (bits & 0x3ff) | 0x400 : bits & 0x3ff,
		    (int)((bits & 0x7c00) != 0 ? bits >> 10 & 31 : 1) - 25) *
		    (bits >> 15 != 0 ? -1 : 1);
	if (word == WORD_BF16)
		bits <<= 16;
	memcpy(&f, &bits, sizeof f);
	return f;
}

#endif
