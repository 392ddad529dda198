/* launches.c: counters.tsv, launch by launch: all rows of one stand together. */
#include <err.h>
#include <math.h>
#include <string.h>

#include "detail.h"

struct columns { size_t phase, launch, kernel, metric, value, grid, block; };

static void
begin(struct launches *all, const struct tsv *t, const struct columns *c)
{
	struct launch *l;

	all->l = xgrow(all->l, &all->cap, all->n + 1, sizeof *all->l);
	l = &all->l[all->n++];
	*l = (struct launch){ .phase = xstrdup(tsv_text(t, c->phase)),
	    .kernel = xstrdup(tsv_text(t, c->kernel)),
	    .grid = xstrdup(tsv_text(t, c->grid)),
	    .block = xstrdup(tsv_text(t, c->block)),
	    .value = xalloc(all->n_metrics, sizeof *l->value) };
	for (size_t i = 0; i < all->n_metrics; i++)
		l->value[i] = NAN;
}

void
launches_read(struct launches *all, const struct registry *r, const char *path)
{
	char *last = xstrdup("");
	struct tsv t;
	struct columns c;

	all->n_metrics = r->metric.n;
	tsv_open(&t, path);
	c = (struct columns){ .phase = tsv_col(&t, "phase"),
	    .launch = tsv_col(&t, "launch"),
	    .kernel = tsv_col(&t, "kernel"), .metric = tsv_col(&t, "metric"),
	    .value = tsv_col(&t, "value"), .grid = tsv_col(&t, "grid"),
	    .block = tsv_col(&t, "block") };
	while (tsv_next(&t)) {
		const char *id = tsv_text(&t, c.launch), *name = tsv_text(&t, c.metric);
		uint32_t m = intern_find(&r->metric, name, strlen(name));

		if (strcmp(id, last) != 0) {
			free(last);
			last = xstrdup(id);
			begin(all, &t, &c);
		}
		if (m == INTERN_NONE)
			continue;
		if (!isnan(all->l[all->n - 1].value[m]))
			tsv_die(&t, c.metric, "'%s' a second time for launch %s",
			    name, id);
		all->l[all->n - 1].value[m] = tsv_num(&t, c.value);
	}
	free(last);
	tsv_close(&t);
}

void
launches_free(struct launches *all)
{
	for (size_t i = 0; i < all->n; i++) {
		free(all->l[i].phase);
		free(all->l[i].kernel);
		free(all->l[i].grid);
		free(all->l[i].block);
		free(all->l[i].value);
	}
	free(all->l);
}
