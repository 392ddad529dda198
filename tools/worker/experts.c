/* experts.c: which experts each token went to, out to a table and back. */
#include <err.h>
#include <inttypes.h>

#include "worker.h"

#define UNSAID UINT32_MAX

/* Where the choices of a token in a layer begin. */
static size_t
place(const struct plan *p, const struct model *m, size_t layer, size_t position,
    size_t sequence)
{
	return ((layer * (p->prompt + p->generate) + position) * p->batch +
	    sequence) * m->top;
}

/* How many choices there are; dies where the model has none to make. */
size_t
experts_count(const struct plan *p, const struct model *m)
{
	size_t rows, n;

	if (m->experts == 0)
		errx(NS_TROUBLE, "--experts, --dump-experts: the model has none");
	if (!mul_ok(p->prompt + p->generate, p->batch, &rows) ||
	    !mul_ok(rows, m->top, &n) || !mul_ok(n, m->n_layers, &n) ||
	    n > SIZE_MAX / 64)
		errx(NS_TROUBLE, "%zu tokens of %zu sequences: too many choices",
		    p->prompt + p->generate, p->batch);
	return n;
}

/* Nothing unsaid, no expert twice. */
static void
check(const uint32_t *chosen, const struct plan *p, const struct model *m,
    const char *path)
{
	for (size_t l = 0; l < m->n_layers; l++)
		for (size_t i = 0; m->layer[l].router.data != NULL &&
		    i < (p->prompt + p->generate) * p->batch * m->top; i++) {
			const uint32_t *row = chosen + place(p, m, l, 0, 0) + i / m->top * m->top;
			const size_t token = i / m->top, rank = i % m->top;
			bool twice = false;

			for (size_t k = 0; k < rank; k++)
				twice = twice || row[k] == row[rank];
			if (row[rank] == UNSAID || twice)
				errx(NS_TROUBLE, "%s: sequence %zu, position %zu, layer %zu, "
				    "rank %zu: %s", path, token % p->batch, token / p->batch,
				    l, rank, twice ? "an expert chosen twice" :
				    "no expert: a row for each of them is needed");
		}
}

/* [layer][position][sequence][top]; rows of what is not run are left out. */
uint32_t *
experts_read(const char *path, const struct plan *p, const struct model *m)
{
	const size_t n = experts_count(p, m);
	uint32_t *chosen = xalloc(n, sizeof *chosen);
	size_t sequence, position, layer, rank, expert;
	struct tsv t;

	memset(chosen, 0xff, n * sizeof *chosen);
	tsv_open(&t, path);
	sequence = tsv_col(&t, "sequence");
	position = tsv_col(&t, "position");
	layer = tsv_col(&t, "layer");
	rank = tsv_col(&t, "rank");
	expert = tsv_col(&t, "expert");
	while (tsv_next(&t)) {
		const uint64_t s = tsv_count(&t, sequence), i = tsv_count(&t, position);
		const uint64_t l = tsv_count(&t, layer), r = tsv_count(&t, rank);
		const uint64_t e = tsv_count(&t, expert);

		if (l >= m->n_layers || m->layer[l].router.data == NULL)
			tsv_die(&t, layer, "no layer with experts: %" PRIu64, l);
		if (r >= m->top)
			tsv_die(&t, rank, "the model chooses %zu", m->top);
		if (e >= m->experts)
			tsv_die(&t, expert, "the model has %zu", m->experts);
		if (s < p->batch && i < p->prompt + p->generate)
			chosen[place(p, m, l, i, s) + r] = (uint32_t)e;
	}
	tsv_close(&t);
	check(chosen, p, m, path);
	return chosen;
}

void
experts_write(const char *path, const uint32_t *chosen, const struct plan *p,
    const struct model *m)
{
	struct out out;

	out_open(&out, path);
	out_head(&out, "sequence position layer rank expert");
	for (size_t s = 0; s < p->batch; s++)
		for (size_t i = 0; i < p->prompt + p->generate; i++)
			for (size_t l = 0; l < m->n_layers; l++)
				for (size_t r = 0; m->layer[l].router.data != NULL &&
				    r < m->top; r++) {
					out_count(&out, s);
					out_count(&out, i);
					out_count(&out, l);
					out_count(&out, r);
					out_count(&out, chosen[place(p, m, l, i, s) + r]);
					out_row(&out);
				}
	out_close(&out);
}
