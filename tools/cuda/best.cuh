/* best.cuh: a logit and its index as one number: greater, or equal and earlier. */
#ifndef BEST_CUH
#define BEST_CUH

D_INLINE unsigned long long
key(float v, uint32_t index)
{
	uint32_t bits = __float_as_uint(v);

	if (isnan(v))
		return 0;
	bits = bits & 0x80000000 ? ~bits : bits | 0x80000000;
	return (unsigned long long)bits << 32 | (uint32_t)~index;
}

D_INLINE uint32_t
key_index(unsigned long long k)
{
	return ~(uint32_t)k;
}

D_INLINE float
key_value(unsigned long long k)
{
	uint32_t bits = k >> 32;

	if (k == 0)
		return __int_as_float(0x7fffffff);
	return __uint_as_float(bits & 0x80000000 ? bits & 0x7fffffff : ~bits);
}

D_INLINE unsigned long long
better(unsigned long long a, unsigned long long b)
{
	return a > b ? a : b;
}

D_INLINE unsigned long long
warp_best(unsigned long long b)
{
	for (int i = 16; i > 0; i /= 2)
		b = better(b, __shfl_xor_sync(~0u, b, i));
	return b;
}

#endif
