/*
 * fill.c: seeded values, the same bytes on any machine.  An element depends on
 * the seed, its tensor's name and its number alone.  Values are uniform, of
 * variance 1 / fan-in, so that sums over a row keep the size of their input;
 * 12 random bits choose one of 4096 that were converted once.
 */
#include <math.h>

#include "synth.h"

enum { N = 4096 };

static uint64_t
mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint32_t
bits_of(float x)
{
	uint32_t u;

	memcpy(&u, &x, sizeof u);
	return u;
}

/* To nearest, ties to even; x is finite and far from the largest. */
static uint16_t
bf16(float x)
{
	uint32_t u = bits_of(x);

	return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static uint16_t
f16(float x)
{
	uint32_t u = bits_of(x), sign = u >> 16 & 0x8000;

	u &= 0x7fffffff;
	if (fabsf(x) < 0x1p-14f)
		return (uint16_t)(sign | (uint32_t)lrintf(fabsf(x) * 0x1p24f));
	u = (u + 0xfff + (u >> 13 & 1)) >> 13;
	return (uint16_t)(sign | (u - ((127 - 15) << 10)));
}

static void
centre_and_spread(const struct tensor *t, double *centre, double *spread)
{
	*centre = 0;
	*spread = 0.1;
	if (t->n_dims == 2)
		*spread = sqrt(3 / (double)t->dim[1]);
	else if (t->role < ROLE_Q_BIAS || t->role > ROLE_O_BIAS)
		*centre = 1;			/* a norm's weight */
}

void
fill_start(struct fill *f, const struct tensor *t, uint64_t seed)
{
	double centre, spread;

	f->key = FNV_START;
	fnv(&f->key, &seed, sizeof seed);
	fnv(&f->key, t->name, strlen(t->name));
	f->key = mix(f->key);
	f->size = dtype_bits(t->dtype) / 8;
	centre_and_spread(t, &centre, &spread);
	for (int i = 0; i < N; i++) {
		float x = (float)(centre + spread * (2 * i + 1 - N) / N);

		if (t->dtype == DT_F32)
			f->table.full[i] = x;
		else
			f->table.half[i] = t->dtype == DT_F16 ? f16(x) : bf16(x);
	}
}

static uint64_t
four(const struct fill *f, uint64_t block)
{
	return mix(f->key + block * UINT64_C(0x9e3779b97f4a7c15));
}

static void
fill_half(const struct fill *f, uint16_t *to, uint64_t block, size_t n)
{
	const uint16_t *table = f->table.half;

	for (size_t i = 0; i < n; i++, to += 4) {
		uint64_t r = four(f, block + i);

		to[0] = table[r & (N - 1)];
		to[1] = table[r >> 16 & (N - 1)];
		to[2] = table[r >> 32 & (N - 1)];
		to[3] = table[r >> 48 & (N - 1)];
	}
}

static void
fill_full(const struct fill *f, float *to, uint64_t block, size_t n)
{
	const float *table = f->table.full;

	for (size_t i = 0; i < n; i++, to += 4) {
		uint64_t r = four(f, block + i);

		to[0] = table[r & (N - 1)];
		to[1] = table[r >> 16 & (N - 1)];
		to[2] = table[r >> 32 & (N - 1)];
		to[3] = table[r >> 48 & (N - 1)];
	}
}

static void
fill_blocks(const struct fill *f, void *to, uint64_t block, size_t n)
{
	if (f->size == 2)
		fill_half(f, to, block, n);
	else
		fill_full(f, to, block, n);
}

void
fill(const struct fill *f, void *to, uint64_t at, size_t n)
{
	float last[4];

	fill_blocks(f, to, at / 4, n / 4);
	if (n % 4 != 0) {
		fill_blocks(f, last, (at + n) / 4, 1);
		memcpy((char *)to + (n - n % 4) * f->size, last, n % 4 * f->size);
	}
}
