/*
 * attention.c: each query over the keys up to its own position.  The query
 * heads that share a key head go together, so that a key is read once.
 */
#include <math.h>

#include "cpu.h"
#include "vec.h"

INLINE void
softmax(float *x, size_t n)
{
	float top = -INFINITY, sum = 0;

	for (size_t i = 0; i < n; i++)
		top = x[i] > top ? x[i] : top;
	for (size_t i = 0; i < n; i++)
		sum += x[i] = exp_same(x[i] - top);
	for (size_t i = 0; i < n; i++)
		x[i] /= sum;
}

/* The group of query heads at q, each dim wide; k and v step by stride. */
CLONES static void
group(const struct attention *a, float *q, const float *k, const float *v,
    float *score, size_t n)
{
	const size_t n_group = a->heads / a->kv_heads, dim = a->dim;
	const size_t stride = a->batch * a->kv_heads * dim;
	const float scale = 1 / sqrtf((float)dim);

	for (size_t j = 0; j < n; j++)
		for (size_t g = 0; g < n_group; g++)
			score[g * n + j] = scale *
			    dot(q + g * dim, k + j * stride, dim);
	for (size_t g = 0; g < n_group; g++)
		softmax(score + g * n, n);
	memset(q, 0, n_group * dim * sizeof *q);
	for (size_t j = 0; j < n; j++)
		for (size_t g = 0; g < n_group; g++)
			add_scaled(q + g * dim, score[g * n + j],
			    v + j * stride, dim);
}

/* Pairs of a key head and a row, the rows of a head side by side. */
static void
part(const void *arg, struct range in)
{
	const struct attention *a = arg;
	const size_t n_group = a->heads / a->kv_heads, rows = a->n_pos * a->batch;
	float *score = a->score + in.thread * n_group * a->n_positions;

	for (size_t i = in.first; i < in.last; i++) {
		size_t h = i / rows, r = i % rows, seq = r % a->batch;
		size_t end = a->first + r / a->batch + 1;
		size_t begin = a->window != 0 && end > a->window ?
		    end - a->window : 0;
		size_t at = ((begin * a->batch + seq) * a->kv_heads + h) * a->dim;

		group(a, a->q + (r * a->heads + h * n_group) * a->dim,
		    a->k + at, a->v + at, score, end - begin);
	}
}

void
attention(struct threads *t, const struct attention *a)
{
	split(t, a->kv_heads * a->n_pos * a->batch, 1, part, a);
}
