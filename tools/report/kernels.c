/* kernels.c: launches.tsv, or else counters.tsv, and the metric registry -> memory bytes a kernel. */
#include <err.h>
#include <math.h>
#include <search.h>
#include <unistd.h>

#include "report.h"

struct term {			/* bytes += factor x metric */
	const char *metric;
	enum { READ, WRITE, BOTH } direction;
	double	 factor;
};
struct terms { struct term *v; size_t n; };

static struct terms
memory_terms(const struct table *m)
{
	struct terms all = { xalloc(m->n, sizeof *all.v), 0 };

	table_need(m, "quantity rung direction metric factor role");
	for (size_t i = 0; i < m->n; i++)
		if (table_is(m, i, "quantity", "bytes") &&
		    table_is(m, i, "rung", "memory") &&
		    table_is(m, i, "role", "value"))
			all.v[all.n++] = (struct term){
			    text_or(table_text(m, i, "metric"), ""),
			    table_is(m, i, "direction", "read") ? READ :
			    table_is(m, i, "direction", "write") ? WRITE : BOTH,
			    table_num(m, i, "factor") };
	return all;
}

static int
by_name(const void *a, const void *b)
{
	const struct kernel *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order != 0 ? order : strcmp(x->phase, y->phase);
}

static int
by_bytes(const void *a, const void *b)
{
	const struct kernel *x = a, *y = b;

	return x->bytes != y->bytes ? (y->bytes > x->bytes) -
	    (y->bytes < x->bytes) : by_name(a, b);
}

/* Known by its clean name: those that differ in control bytes alone are one. */
static struct kernel *
kernel_of(void **tree, const char *phase, const char *name)
{
	struct kernel *k = xalloc(1, sizeof *k);
	void **at;

	k->phase = text_clean(phase);
	k->name = text_clean(name);
	if ((at = tsearch(k, tree, by_name)) == NULL)
		err(NS_TROUBLE, "tsearch");
	if (*(struct kernel **)at != k) {
		free(k->phase);
		free(k->name);
		free(k);
	}
	return *at;
}

static void
add(struct kernel *k, const struct term *term, bool first, double value)
{
	double bytes = term->factor * value;

	k->n_launches += first;
	if (isnan(bytes)) {
		k->n_missing++;
		return;
	}
	k->bytes += bytes;
	k->read_bytes += term->direction == READ ? bytes : 0;
	k->write_bytes += term->direction == WRITE ? bytes : 0;
}

struct list { struct kernel *v; size_t n, cap; };

static void
collect(const void *node, VISIT visit, void *arg)
{
	struct list *l = arg;

	if (visit != postorder && visit != leaf)
		return;
	l->v = xgrow(l->v, &l->cap, l->n + 1, sizeof *l->v);
	l->v[l->n++] = **(struct kernel *const *)node;
}

/* What counters of any length comes to, kernel by kernel. */
static struct list
sum_up(const char *path, const struct terms *terms)
{
	void *tree = NULL;
	struct list l = { 0 };
	struct tsv t;

	tsv_open(&t, path);
	size_t phase = tsv_col(&t, "phase"), kernel = tsv_col(&t, "kernel");
	size_t metric = tsv_col(&t, "metric"), value = tsv_col(&t, "value");
	size_t grid = tsv_find(&t, "grid");

	while (tsv_next(&t)) {
		if (grid != TSV_NONE && tsv_is_na(&t, grid))
			continue;	/* a whole range, no kernel */
		for (size_t i = 0; i < terms->n; i++)
			if (!tsv_is_na(&t, kernel) &&
			    strcmp(terms->v[i].metric, t.val[metric]) == 0)
				add(kernel_of(&tree, t.val[phase], t.val[kernel]),
				    &terms->v[i], i == 0, tsv_num(&t, value));
	}
	tsv_close(&t);
	twalk_r(tree, collect, &l);
	tdestroy(tree, free);
	return l;
}

void
kernels_load(struct run *r, const char *metrics)
{
	char *counters = xasprintf("%s/launches.tsv", r->dir);
	char *own = xasprintf("%s/metrics.tsv", r->dir);
	struct table m;

	if (access(counters, F_OK) != 0) {
		free(counters);
		counters = xasprintf("%s/counters.tsv", r->dir);
	}
	if (table_read(&m, metrics != NULL ? metrics : own)) {
		struct terms terms = memory_terms(&m);

		if (access(counters, F_OK) == 0) {
			struct list l = sum_up(counters, &terms);

			if (l.n > 0)
				qsort(l.v, l.n, sizeof *l.v, by_bytes);
			r->kernel = l.v;
			r->n_kernel = l.n;
		}
		free(terms.v);
	} else if (metrics != NULL)
		errx(NS_TROUBLE, "%s: No such file", metrics);
	table_free(&m);
	free(counters);
	free(own);
}
