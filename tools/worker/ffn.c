/* ffn.c: the gated feed-forward layer, one for all rows or by routing. */
#include <math.h>

#include "cpu.h"
#include "vec.h"

static void
dense(struct threads *t, float *x, const float *h, float *scratch,
    const struct ffn *f, size_t n)
{
	product(t, &(struct product){ .w = &f->gate, .up = &f->up, .x = h,
	    .out = scratch, .n = n });
	product(t, &(struct product){ .w = &f->down, .x = scratch, .out = x,
	    .n = n, .add = true });
}

/* A row's best experts, or those told, and their shares, which sum to 1 if they must. */
static void
choose(float *score, const struct model *m, const uint32_t *told, uint32_t *chosen,
    float *share)
{
	float top = -INFINITY, all = 0, sum = 0;

	for (size_t e = 0; e < m->experts; e++)
		top = score[e] > top ? score[e] : top;
	for (size_t e = 0; e < m->experts; e++)
		all += score[e] = exp_same(score[e] - top);
	for (size_t i = 0; i < m->top; i++) {
		size_t best = told != NULL ? told[i] : 0;

		for (size_t e = 1; told == NULL && e < m->experts; e++)
			if (score[e] > score[best])
				best = e;
		chosen[i] = (uint32_t)best;
		sum += share[i] = score[best] / all;
		score[best] = -1;
	}
	for (size_t i = 0; m->arch->norm_topk && i < m->top; i++)
		share[i] /= sum;
}

/* Which rows the expert serves; how many. */
static size_t
served(const struct routes *r, const struct model *m, size_t expert, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < n * m->top; i++)
		if (r->chosen[i] == expert) {
			r->row[found] = (uint32_t)(i / m->top);
			r->row_share[found++] = r->share[i];
		}
	return found;
}

/* Expert after expert, so that each one's weights are read once. */
static void
sparse(struct threads *t, float *x, const float *h, float *scratch,
    const struct layer *layer, const struct model *m, struct routes *r,
    uint32_t *count, size_t n)
{
	product(t, &(struct product){ .w = &layer->router, .x = h, .out = r->score,
	    .n = n });
	for (size_t i = 0; i < n; i++)
		choose(r->score + i * m->experts, m, r->told != NULL ?
		    r->told + i * m->top : NULL, r->chosen + i * m->top,
		    r->share + i * m->top);
	for (size_t e = 0; e < m->experts; e++) {
		size_t rows = served(r, m, e, n);

		if (count != NULL)
			count[e] = (uint32_t)rows;
		if (rows == 0)
			continue;
		product(t, &(struct product){ .w = &layer->ffn[e].gate,
		    .up = &layer->ffn[e].up, .x = h, .from = r->row,
		    .out = scratch, .n = rows });
		product(t, &(struct product){ .w = &layer->ffn[e].down,
		    .x = scratch, .out = x, .to = r->row,
		    .scale = r->row_share, .add = true, .n = rows });
	}
}

/* x += ffn(h) */
void
ffn(struct threads *t, float *x, const float *h, float *scratch,
    const struct layer *layer, const struct model *m, struct routes *r,
    uint32_t *count, size_t n)
{
	if (layer->router.data != NULL)
		sparse(t, x, h, scratch, layer, m, r, count, n);
	else
		dense(t, x, h, scratch, layer->ffn, n);
}
