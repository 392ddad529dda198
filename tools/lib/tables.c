/* tables.c: what a run predicted and what it measured, step by step. */
#include <err.h>
#include <math.h>

#include "run.h"

void
readset_read(struct readset *r, const char *path)
{
	struct tsv t;
	size_t phase, step, rd, wr, flop;

	*r = (struct readset){ 0 };
	tsv_open(&t, path);
	phase = tsv_col(&t, "phase");
	step = tsv_col(&t, "step");
	rd = tsv_col(&t, "read_bytes");
	wr = tsv_col(&t, "write_bytes");
	flop = tsv_col(&t, "flop");
	while (tsv_next(&t)) {
		const char *name = tsv_text(&t, phase);
		int64_t number = run_step(&t, step);
		struct need *n = r->n > 0 ? &r->step[r->n - 1] : NULL;

		if (n == NULL || n->step != number || strcmp(n->phase, name) != 0) {
			r->step = xgrow(r->step, &r->cap, r->n + 1, sizeof *n);
			n = &r->step[r->n++];
			*n = (struct need){ .phase = xstrdup(name), .step = number };
		}
		n->read_bytes += tsv_num(&t, rd);
		n->write_bytes += tsv_num(&t, wr);
		n->flop += tsv_num(&t, flop);
	}
	tsv_close(&t);
}

struct need
readset_sum(const struct readset *r, const char *phase, const int64_t *step,
    size_t n_steps, size_t *n_found)
{
	struct need sum = { .step = NO_STEP };

	*n_found = 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct need *n = &r->step[i];

		if (strcmp(n->phase, phase) != 0 ||
		    !step_among(n->step, step, n_steps))
			continue;
		sum.read_bytes += n->read_bytes;
		sum.write_bytes += n->write_bytes;
		sum.flop += n->flop;
		++*n_found;
	}
	return sum;
}

void
readset_free(struct readset *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->step[i].phase);
	free(r->step);
	*r = (struct readset){ 0 };
}

void
hierarchy_read(struct hierarchy *h, const char *path)
{
	struct tsv t;
	size_t source, phase, step, rung, rd, wr, bytes, hits, tokens, missing, total;

	*h = (struct hierarchy){ 0 };
	tsv_open(&t, path);
	source = tsv_col(&t, "source");
	phase = tsv_col(&t, "phase");
	step = tsv_col(&t, "step");
	rung = tsv_col(&t, "rung");
	rd = tsv_col(&t, "read_bytes");
	wr = tsv_col(&t, "write_bytes");
	bytes = tsv_col(&t, "bytes");
	hits = tsv_col(&t, "hit_ratio");
	tokens = tsv_col(&t, "n_tokens");
	missing = tsv_col(&t, "n_missing");
	total = tsv_col(&t, "n_total");
	while (tsv_next(&t)) {
		h->row = xgrow(h->row, &h->cap, h->n + 1, sizeof *h->row);
		h->row[h->n++] = (struct level){
		    .source = xstrdup(tsv_text(&t, source)),
		    .phase = xstrdup(tsv_text(&t, phase)),
		    .rung = xstrdup(tsv_text(&t, rung)),
		    .step = run_step(&t, step),
		    .read_bytes = tsv_num(&t, rd), .write_bytes = tsv_num(&t, wr),
		    .bytes = tsv_num(&t, bytes), .hit_ratio = tsv_num(&t, hits),
		    .n_tokens = tsv_num(&t, tokens),
		    .n_missing = tsv_count(&t, missing),
		    .n_total = tsv_count(&t, total) };
	}
	tsv_close(&t);
}

void
hierarchy_free(struct hierarchy *h)
{
	for (size_t i = 0; i < h->n; i++) {
		free(h->row[i].source);
		free(h->row[i].phase);
		free(h->row[i].rung);
	}
	free(h->row);
	*h = (struct hierarchy){ 0 };
}

static struct measured *
group_of(struct measured **list, size_t *n, size_t *cap, const struct level *row)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp((*list)[i].source, row->source) == 0 &&
		    strcmp((*list)[i].phase, row->phase) == 0)
			return &(*list)[i];
	*list = xgrow(*list, cap, *n + 1, sizeof **list);
	(*list)[*n] = (struct measured){ .source = row->source,
	    .phase = row->phase };
	return &(*list)[(*n)++];
}

static void
measure(struct measured *m, const struct level *row)
{
	m->n_missing += row->n_missing;
	m->n_total += row->n_total;
	if (isnan(row->bytes))
		return;
	if (row->step != NO_STEP) {
		m->step = xgrow(m->step, &m->cap, m->n_steps + 1, sizeof *m->step);
		m->step[m->n_steps++] = row->step;
	}
	m->n_rows++;
	m->read_bytes += row->read_bytes;
	m->write_bytes += row->write_bytes;
	m->bytes += row->bytes;
	m->n_tokens += row->n_tokens;
}

struct measured *
measured_memory(const struct hierarchy *h, size_t *n)
{
	struct measured *list = NULL;
	size_t cap = 0;

	*n = 0;
	for (size_t i = 0; i < h->n; i++)
		if (strcmp(h->row[i].rung, "memory") == 0)
			measure(group_of(&list, n, &cap, &h->row[i]), &h->row[i]);
	for (size_t i = 0; i < *n; i++) {
		struct measured *m = &list[i];

		step_sort(m->step, m->n_steps);
		if (m->n_rows == 0)
			m->read_bytes = m->write_bytes = m->bytes =
			    m->n_tokens = NAN;
	}
	return list;
}

void
measured_free(struct measured *m, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(m[i].step);
	free(m);
}

double
gemm_ceiling(const struct kv *ceilings, const char *dtype, const char **used)
{
	static const struct {
		const char *dtype, *gemm;
	} names[] = { { "bf16", "bf16" }, { "f16", "f16" }, { "tf32", "tf32" },
	    { "fp8", "fp8" }, { "f8_e4m3", "fp8" }, { "f8_e5m2", "fp8" } };
	char key[32];

	for (size_t i = 0; dtype != NULL && i < sizeof names / sizeof *names; i++) {
		if (strcasecmp(dtype, names[i].dtype) != 0)
			continue;
		snprintf(key, sizeof key, "gemm_%s_flop_per_s", names[i].gemm);
		if (kv_get(ceilings, key) != NULL) {
			*used = names[i].gemm;
			return kv_num(ceilings, key);
		}
	}
	*used = "f32";
	return kv_num(ceilings, "gemm_f32_flop_per_s");
}
