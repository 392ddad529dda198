/* spend.c: how much of an op's time its blocks multiply, and how much they add up. */
#include "stamps.h"

static int64_t
later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Until when a block was at it: nothing, unless that is later than from. */
static int64_t
spend(struct step *s, int64_t from, int64_t to, enum spent on)
{
	size_t low = 0, high = s->n_ops;

	while (low < high) {		/* the first op that was left after from */
		size_t mid = low + (high - low) / 2;

		if (s->op[mid].left > from)
			high = mid;
		else
			low = mid + 1;
	}
	for (struct op *op = s->op + low; op < s->op + s->n_ops && op->begun < to; op++) {
		int64_t begin = later(from, op->begun);
		int64_t end = to < op->left ? to : op->left;

		if (begin < end)
			op->spent[on] += (double)(end - begin);
	}
	return later(from, to);
}

/*
 * Of one block, in the order of ops.  Its last sums are added up by a warp of its
 * own, while the others may be at the next op: that is multiplying.
 */
static void
spend_block(struct step *s, struct part *const *p, size_t n)
{
	int64_t done = 0;		/* accounted for until then */

	for (size_t i = 0; i < n; i++) {
		const int64_t *at = p[i]->at;
		int64_t added = later(at[LEFT], at[SUMMED]);

		if (i + 1 < n && p[i + 1]->at[WEIGHTS] != NEVER && p[i + 1]->at[WEIGHTS] < added)
			added = p[i + 1]->at[WEIGHTS];
		if (at[MULTIPLIED] == NEVER)
			continue;
		if (at[WEIGHTS] != NEVER)
			done = spend(s, later(done, at[WEIGHTS]), at[MULTIPLIED], MULTIPLYING);
		done = spend(s, later(done, at[MULTIPLIED]), added, ADDING);
	}
}

static int
by_block(const void *a, const void *b)
{
	const struct part *x = *(struct part *const *)a, *y = *(struct part *const *)b;

	return x->block != y->block ? (x->block > y->block) - (x->block < y->block) :
	    (x->op > y->op) - (x->op < y->op);
}

void
step_spend(struct step *s)
{
	struct part **p = xalloc(s->n_parts, sizeof *p);

	for (size_t i = 0; i < s->n_parts; i++)
		p[i] = &s->part[i];
	if (s->n_parts > 0)
		qsort(p, s->n_parts, sizeof *p, by_block);
	for (size_t i = 0, n; i < s->n_parts; i += n, s->n_blocks++) {
		for (n = 1; i + n < s->n_parts && p[i + n]->block == p[i]->block; )
			n++;
		spend_block(s, p + i, n);
	}
	free(p);
}
