/*
 * matmul.c: rows of activations through a matrix that lies in the mapped
 * checkpoint.  Two rows of the matrix and four of activations make a tile,
 * whose sums stay in registers.
 */
#include "cpu.h"
#include "vec.h"

enum {
	BLOCK = 16,	/* matrix rows that stay near while all of x passes */
	AHEAD = 32768	/* bytes that a prefetch runs ahead */
};

INLINE float
silu(float x)
{
	return x / (1 + exp_same(-x));
}

INLINE void
put(const struct product *p, size_t t, size_t r, float v)
{
	float *out = p->out + (p->to != NULL ? p->to[t] : t) * p->w->rows + r;

	if (p->bias != NULL && p->bias->data != NULL)
		v += load1(p->bias->dtype, p->bias->data, r);
	if (p->scale != NULL)
		v *= p->scale[t];
	*out = p->add ? *out + v : v;
}

/* The sums of both rows of a tile; the second is up's, or w's next if any. */
INLINE void
put_pair(const struct product *p, size_t t, size_t r, float a, float b)
{
	if (p->up != NULL) {
		put(p, t, r, silu(a) * b);
		return;
	}
	put(p, t, r, a);
	if (r + 1 < p->w->rows)
		put(p, t, r + 1, b);
}

struct pair {
	const void *a, *b;		/* rows of a matrix */
	size_t	 n;			/* elements */
};

INLINE float
finish(enum dtype d, const void *w, const float *x, const v8 *acc, size_t n)
{
	float sum = sum8(acc);

	for (size_t i = n - n % LANES; i < n; i++)
		sum += load1(d, w, i) * x[i];
	return sum;
}

INLINE void
tile1(enum dtype d, const struct pair *w, const float *x, float out[2])
{
	v8 a0 = { 0 }, b0 = { 0 }, a, b;
	const char *next_a = (const char *)w->a + AHEAD;
	const char *next_b = (const char *)w->b + AHEAD;

	for (size_t i = 0; i + LANES <= w->n; i += LANES) {
		__builtin_prefetch(next_a + i * (d == DT_F32 ? 4 : 2));
		__builtin_prefetch(next_b + i * (d == DT_F32 ? 4 : 2));
		load8(&a, d, w->a, i);
		load8(&b, d, w->b, i);
		v8 v = *(const v8_at *)(x + i);

		a0 += a * v;
		b0 += b * v;
	}
	out[0] = finish(d, w->a, x, &a0, w->n);
	out[1] = finish(d, w->b, x, &b0, w->n);
}

/* The same sums in the same order, for four rows of x. */
INLINE void
tile4(enum dtype d, const struct pair *w, const float *const x[4], float out[8])
{
	const float *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
	v8 a0 = { 0 }, a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
	v8 a, b, v;

	for (size_t i = 0; i + LANES <= w->n; i += LANES) {
		load8(&a, d, w->a, i);
		load8(&b, d, w->b, i);
		v = *(const v8_at *)(x0 + i);
		a0 += a * v;
		b0 += b * v;
		v = *(const v8_at *)(x1 + i);
		a1 += a * v;
		b1 += b * v;
		v = *(const v8_at *)(x2 + i);
		a2 += a * v;
		b2 += b * v;
		v = *(const v8_at *)(x3 + i);
		a3 += a * v;
		b3 += b * v;
	}
	out[0] = finish(d, w->a, x0, &a0, w->n);
	out[1] = finish(d, w->a, x1, &a1, w->n);
	out[2] = finish(d, w->a, x2, &a2, w->n);
	out[3] = finish(d, w->a, x3, &a3, w->n);
	out[4] = finish(d, w->b, x0, &b0, w->n);
	out[5] = finish(d, w->b, x1, &b1, w->n);
	out[6] = finish(d, w->b, x2, &b2, w->n);
	out[7] = finish(d, w->b, x3, &b3, w->n);
}

INLINE const float *
row_of(const struct product *p, size_t t)
{
	return p->x + (p->from != NULL ? p->from[t] : t) * p->w->cols;
}

/*
 * Rows begin where the checkpoint put them, not at a cache line, and callgrind
 * counts one miss for a vector that spans two missing lines.  A byte cannot.
 * It is stored, because valgrind leaves out a load that nothing uses.
 */
INLINE void
touch(const char *row)
{
	volatile char seen = *row;

	(void)seen;
}

/* The r-th row of w beside its partner. */
INLINE struct pair
pair_at(const struct product *p, enum dtype d, size_t r)
{
	const size_t row_bytes = p->w->cols * (d == DT_F32 ? 4 : 2);
	const char *a = (const char *)p->w->data + r * row_bytes, *b = a;

	if (p->up != NULL)
		b = (const char *)p->up->data + r * row_bytes;
	else if (r + 1 < p->w->rows)
		b = a + row_bytes;
	touch(a);
	touch(b);
	return (struct pair){ a, b, p->w->cols };
}

INLINE void
block_of(enum dtype d, const struct product *p, size_t first, size_t last)
{
	const size_t step = p->up != NULL ? 1 : 2;
	float out[8];
	size_t t;

	for (t = 0; t + 4 <= p->n; t += 4) {
		const float *x[4] = { row_of(p, t), row_of(p, t + 1),
		    row_of(p, t + 2), row_of(p, t + 3) };

		for (size_t r = first; r < last; r += step) {
			struct pair w = pair_at(p, d, r);

			tile4(d, &w, x, out);
			for (size_t i = 0; i < 4; i++)
				put_pair(p, t + i, r, out[i], out[4 + i]);
		}
	}
	for (; t < p->n; t++)
		for (size_t r = first; r < last; r += step) {
			struct pair w = pair_at(p, d, r);

			tile1(d, &w, row_of(p, t), out);
			put_pair(p, t, r, out[0], out[1]);
		}
}

CLONES static void
block(const struct product *p, size_t first, size_t last)
{
	switch (p->w->dtype) {
	case DT_F32:
		block_of(DT_F32, p, first, last);
		break;
	case DT_F16:
		block_of(DT_F16, p, first, last);
		break;
	default:
		block_of(DT_BF16, p, first, last);
	}
}

static void
part(const void *arg, struct range in)
{
	for (size_t r = in.first; r < in.last; r += BLOCK)
		block(arg, r, r + BLOCK < in.last ? r + BLOCK : in.last);
}

void
product(struct threads *t, const struct product *p)
{
	split(t, p->w->rows, BLOCK, part, p);
}
