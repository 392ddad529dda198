/* counters.c: which metrics are counted, and the table of what they came to. */
#include <err.h>
#include <math.h>

#include "worker.h"

void
metrics_parse(struct metrics *m, const char *list)
{
	char *rest, *name;

	*m = (struct metrics){ .text = xstrdup(list) };
	for (rest = m->text; (name = strsep(&rest, ",")) != NULL; ) {
		if (*name == '\0')
			errx(NS_TROUBLE, "--count: a metric without a name in '%s'", list);
		for (size_t i = 0; i < m->n; i++)
			if (strcmp(m->name[i], name) == 0)
				errx(NS_TROUBLE, "--count: '%s' stands twice", name);
		m->name = xgrow(m->name, &m->cap, m->n + 1, sizeof *m->name);
		m->name[m->n++] = name;
	}
}

void
metrics_free(struct metrics *m)
{
	free(m->name);
	free(m->text);
}

/* The range decode.7 is step 7 of decode; prefill is its step 0. */
static void
row(struct out *o, const char *range, size_t launch, const char *metric, double value,
    const char *unit)
{
	const size_t n = strcspn(range, ".");
	char *phase = xasprintf("%.*s", (int)n, range);

	out_text(o, "cupti");
	out_text(o, phase);
	out_text(o, range[n] == '.' ? range + n + 1 : "0");
	out_count(o, launch);
	out_text(o, range);
	out_text(o, metric);
	out_sum(o, value);
	out_text(o, unit);
	out_text(o, isfinite(value) ? NULL : isnan(value) ? "nan" : "infinite");
	out_row(o);
	free(phase);
}

void
counters_write(const char *path, const struct counts *c)
{
	struct out o;

	out_open(&o, path);
	out_head(&o, "source phase step launch kernel metric value unit why");
	for (size_t r = 0; r < c->n_ranges; r++) {
		for (size_t m = 0; m < c->n_metrics; m++)
			row(&o, c->range[r], r, c->metric[m],
			    c->value[r * c->n_metrics + m], c->unit[m]);
		row(&o, c->range[r], r, "profiler__replayer_passes",
		    (double)c->n_passes, "pass");
	}
	out_close(&o);
}

void
counts_free(struct counts *c)
{
	free(c->range);
	free(c->unit);
	free(c->value);
}
