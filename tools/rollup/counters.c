/*
 * counters.c: the counters of every launch, summed as they come.  What is kept
 * of a launch is only which of the registry's metrics it has a value for.
 */
#include <err.h>
#include <math.h>

#include "rollup.h"
#include "run.h"

enum { STEP, KERNEL, NAME, LAUNCH };	/* of counters.last */
struct columns {
	size_t source, phase, step, launch, kernel, metric, value;
};

static uint32_t
step_of(struct counters *c, const char *source, const char *phase, int64_t step)
{
	char *key = xasprintf("%s\t%s\t%lld", source, phase, (long long)step);
	uint32_t i = intern_text(&c->steps, key);

	free(key);
	if (i == c->n_steps) {
		c->step = xgrow(c->step, &c->steps_cap, c->n_steps + 1,
		    sizeof *c->step);
		c->step[c->n_steps++] = (struct total){
		    .source = xstrdup(source), .phase = xstrdup(phase),
		    .step = step,
		    .sum = xalloc(c->reg->metric.n, sizeof(double)),
		    .n_seen = xalloc(c->reg->metric.n, sizeof(uint64_t)) };
	}
	return i;
}

static bool
same_as_last(const struct counters *c, const char *source, const char *phase,
    int64_t step, const char *kernel, const char *name)
{
	const struct total *t;

	if (c->launches.n == 0)
		return false;
	t = &c->step[c->last[STEP]];
	return step == t->step &&
	    strcmp(name, interned(&c->names, c->last[NAME])) == 0 &&
	    strcmp(kernel, interned(&c->kernels, c->last[KERNEL])) == 0 &&
	    strcmp(phase, t->phase) == 0 && strcmp(source, t->source) == 0;
}

static void
new_launch(struct counters *c)
{
	size_t n = c->reg->metric.n, old, cells;

	if (!mul_ok((size_t)c->launches.n, n, &cells))
		errx(NS_TROUBLE, "too many launches");
	old = cells - n;
	c->file = xgrow(c->file, &c->file_cap, cells, sizeof *c->file);
	memset(c->file + old, 0, n * sizeof *c->file);
	c->step[c->last[STEP]].n_launches++;
}

/* The launch that the row in hand belongs to becomes the last. */
static void
find_launch(struct counters *c, const struct tsv *t, const struct columns *col)
{
	const char *source = tsv_text(t, col->source);
	const char *phase = tsv_text(t, col->phase);
	const char *kernel = tsv_text(t, col->kernel);
	const char *name = tsv_text(t, col->launch);
	int64_t step = run_step(t, col->step);
	uint32_t n = c->launches.n;

	if (same_as_last(c, source, phase, step, kernel, name))
		return;
	c->last[STEP] = step_of(c, source, phase, step);
	c->last[KERNEL] = intern_text(&c->kernels, kernel);
	c->last[NAME] = intern_text(&c->names, name);
	c->last[LAUNCH] = intern(&c->launches, c->last, LAUNCH * sizeof *c->last);
	if (c->last[LAUNCH] == n)
		new_launch(c);
}

/* NA, and a count below zero (a sampled counter that overflowed), is missing. */
static void
add_value(struct counters *c, const struct tsv *t, const struct columns *col)
{
	const char *name = tsv_text(t, col->metric);
	double x = tsv_num(t, col->value);
	struct total *step = &c->step[c->last[STEP]];
	uint32_t m = intern_find(&c->reg->metric, name, strlen(name));
	uint16_t *file;

	if (m == INTERN_NONE || isnan(x))
		return;
	if (x < 0) {
		if (c->n_negative++ == 0)
			warnx("%s:%llu: %s: %s is below zero: the counter "
			    "overflowed; taken as missing", t->name,
			    (unsigned long long)t->line, name, t->val[col->value]);
		return;
	}
	file = &c->file[(size_t)c->last[LAUNCH] * c->reg->metric.n + m];
	if (*file == c->n_files)
		tsv_die(t, col->metric, "'%s' a second time for launch %s of "
		    "phase %s, step %s, kernel %s", name, t->val[col->launch],
		    t->val[col->phase], t->val[col->step], t->val[col->kernel]);
	if (*file != 0) {
		c->n_again++;
		return;
	}
	*file = (uint16_t)c->n_files;
	step->sum[m] += x;
	step->n_seen[m]++;
}

void
counters_read(struct counters *c, const char *path)
{
	struct tsv t;
	struct columns col;

	if (++c->n_files > UINT16_MAX)
		errx(NS_TROUBLE, "more than %d files", UINT16_MAX);
	tsv_open(&t, path);
	col.source = tsv_col(&t, "source");
	col.phase = tsv_col(&t, "phase");
	col.step = tsv_col(&t, "step");
	col.launch = tsv_col(&t, "launch");
	col.kernel = tsv_col(&t, "kernel");
	col.metric = tsv_col(&t, "metric");
	col.value = tsv_col(&t, "value");
	while (tsv_next(&t)) {
		find_launch(c, &t, &col);
		add_value(c, &t, &col);
	}
	tsv_close(&t);
}

static int
cmp_total(const void *a, const void *b)
{
	const struct total *x = a, *y = b;
	int d = strcmp(x->source, y->source);

	if (d == 0)
		d = phase_cmp(x->phase, y->phase);
	return d != 0 ? d : (x->step > y->step) - (x->step < y->step);
}

void
counters_sort(struct counters *c)
{
	if (c->n_steps > 0)
		qsort(c->step, c->n_steps, sizeof *c->step, cmp_total);
}

void
total_add(struct total *to, const struct total *t, size_t n_metrics)
{
	to->n_launches += t->n_launches;
	for (size_t i = 0; i < n_metrics; i++) {
		to->sum[i] += t->sum[i];
		to->n_seen[i] += t->n_seen[i];
	}
}

void
counters_free(struct counters *c)
{
	for (size_t i = 0; i < c->n_steps; i++) {
		free(c->step[i].source);
		free(c->step[i].phase);
		free(c->step[i].sum);
		free(c->step[i].n_seen);
	}
	free(c->step);
	free(c->file);
	intern_free(&c->steps);
	intern_free(&c->kernels);
	intern_free(&c->names);
	intern_free(&c->launches);
}
