static inline __attribute__((always_inline)) int
mix(int x)
{
	x ^= x >> 7;
	x = x * 5 + 1;
	return x ^ x >> 3;
}
