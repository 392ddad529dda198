/* measure.c: an op by the median block, a kind of op by the median layer. */
#include <math.h>

#include "stamps.h"

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The lower of two in the middle, so that it is one that was seen. */
static double
median(double *v, size_t n)
{
	if (n == 0)
		return NAN;
	qsort(v, n, sizeof *v, by_value);
	return v[(n - 1) / 2];
}

/* When it happened in the blocks that have a part in it. */
static size_t
times(const struct op *op, enum event e, double *v)
{
	size_t n = 0;

	for (size_t i = 0; i < op->n_parts; i++)
		if (op->part[i].at[e] != NEVER)
			v[n++] = (double)op->part[i].at[e];
	return n;
}

/* From one event to another, in the median block that has both. */
static double
apart(const struct op *op, enum event from, enum event to, double *v)
{
	size_t n = 0;

	for (size_t i = 0; i < op->n_parts; i++) {
		const int64_t *at = op->part[i].at;

		if (at[from] != NEVER && at[to] != NEVER)
			v[n++] = (double)(at[to] - at[from]);
	}
	return median(v, n);
}

/* The first op of a step waits for none. */
static void
op_measure(const struct op *op, bool first, double *v, double m[N_MEASURES])
{
	const double begun = first ? NAN : (double)op->begun;
	size_t n = times(op, ARRIVED, v);

	m[BLOCKS] = (double)op->n_parts;
	m[OP] = (double)op->left - begun;
	m[HOP] = median(v, n) - begun;
	m[HOP_LAST] = n > 0 ? v[n - 1] - begun : NAN;
	m[TO_WEIGHTS] = apart(op, ARRIVED, WEIGHTS, v);
	m[MULTIPLY] = apart(op, WEIGHTS, MULTIPLIED, v);
	m[SCALE] = apart(op, MULTIPLIED, SCALED, v);
	m[ADD] = apart(op, MULTIPLIED, LEFT, v);
	n = times(op, LEFT, v);
	median(v, n);
	m[SKEW] = v[n - 1] - v[0];
}

struct kind
kind_measure(const struct step *s, uint32_t kind)
{
	struct kind k = { 0 };
	double *v = xalloc(s->n_parts, sizeof *v), m[N_MEASURES];
	double *all[N_MEASURES];
	size_t n[N_MEASURES] = { 0 };

	for (size_t j = 0; j < N_MEASURES; j++)
		all[j] = xalloc(s->n_ops, sizeof *all[j]);
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *op = &s->op[i];

		if (op->kind != kind)
			continue;
		op_measure(op, i == 0, v, m);
		for (size_t j = 0; j < N_MEASURES; j++)
			if (!isnan(m[j]))
				all[j][n[j]++] = m[j];
		k.n_ops++;
		k.total_ns += (double)(op->left - op->begun);
		for (size_t j = 0; j < N_SPENT; j++)
			k.spent[j] += op->spent[j];
	}
	for (size_t j = 0; j < N_MEASURES; j++) {
		k.median[j] = median(all[j], n[j]);
		free(all[j]);
	}
	free(v);
	return k;
}
