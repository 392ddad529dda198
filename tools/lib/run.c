/* run.c: phases, steps and unprofiled durations. */
#include <err.h>
#include <math.h>

#include "run.h"

int64_t
run_step(const struct tsv *t, size_t col)
{
	int64_t step;

	if (!tsv_int(t, col, &step))
		return NO_STEP;
	if (step < 0)
		tsv_die(t, col, "not a step: '%s'", t->val[col]);
	return step;
}

void
out_step(struct out *o, int64_t step)
{
	if (step == NO_STEP)
		out_na(o);
	else
		out_int(o, step);
}

static int
phase_rank(const char *s)
{
	return strcmp(s, "prefill") == 0 ? 0 : strcmp(s, "decode") == 0 ? 1 :
	    strcmp(s, "NA") != 0 ? 2 : 3;
}

int
phase_cmp(const char *a, const char *b)
{
	int i = phase_rank(a), j = phase_rank(b);

	return i != j ? i - j : strcmp(a, b);
}

bool
source_sampled(const char *source)
{
	return strcmp(source, "nsys") == 0;
}

void
baseline_read(struct baseline *b, const char *path)
{
	struct tsv t;
	size_t repeat, phase, step, tokens, dur;

	*b = (struct baseline){ 0 };
	tsv_open(&t, path);
	repeat = tsv_col(&t, "repeat");
	phase = tsv_col(&t, "phase");
	step = tsv_col(&t, "step");
	tokens = tsv_col(&t, "n_tokens");
	dur = tsv_col(&t, "dur_ns");
	while (tsv_next(&t)) {
		struct baseline_row r = { .step = run_step(&t, step),
		    .n_tokens = tsv_count(&t, tokens), .dur_ns = tsv_count(&t, dur) };

		if (!tsv_int(&t, repeat, &r.repeat))
			continue;
		r.phase = xstrdup(tsv_text(&t, phase));
		b->row = xgrow(b->row, &b->cap, b->n + 1, sizeof *b->row);
		b->row[b->n++] = r;
	}
	tsv_close(&t);
}

double
baseline_tokens(const struct baseline *b, const char *phase, int64_t step)
{
	double sum = NAN;

	for (size_t i = 0; i < b->n; i++) {
		const struct baseline_row *r = &b->row[i];

		if (r->repeat == b->row[0].repeat && strcmp(r->phase, phase) == 0 &&
		    (step == NO_STEP || step == r->step))
			sum = (isnan(sum) ? 0 : sum) + (double)r->n_tokens;
	}
	return sum;
}

static int
cmp_num(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(double *x, size_t n)
{
	if (n == 0)
		return NAN;
	qsort(x, n, sizeof *x, cmp_num);
	return (x[(n - 1) / 2] + x[n / 2]) / 2;
}

static int
cmp_step(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

void
step_sort(int64_t *step, size_t n)
{
	if (n > 0)
		qsort(step, n, sizeof *step, cmp_step);
}

bool
step_among(int64_t x, const int64_t *step, size_t n)
{
	return n == 0 || bsearch(&x, step, n, sizeof x, cmp_step) != NULL;
}

/*
 * A repeat that lacks one of the steps is left out.  A row without a step is of
 * all of them, a token each: so many of its tokens are so much of its time.
 */
double
baseline_dur_ns(const struct baseline *b, const char *phase,
    const int64_t *step, size_t n_steps)
{
	double *sum = xalloc(b->n, sizeof *sum), mid;
	size_t n = 0;

	for (size_t i = 0; i < b->n; ) {
		int64_t repeat = b->row[i].repeat;
		size_t found = 0;

		for (sum[n] = 0; i < b->n && b->row[i].repeat == repeat; i++) {
			const struct baseline_row *r = &b->row[i];

			if (strcmp(r->phase, phase) != 0)
				continue;
			if (r->step == NO_STEP && n_steps > 0) {
				sum[n] += (double)r->dur_ns * (double)n_steps /
				    (double)r->n_tokens;
				found += n_steps;
			} else if (step_among(r->step, step, n_steps)) {
				sum[n] += (double)r->dur_ns;
				found++;
			}
		}
		if (found > 0 && (n_steps == 0 || found == n_steps))
			n++;
	}
	mid = median(sum, n);
	free(sum);
	return mid;
}

void
baseline_free(struct baseline *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->row[i].phase);
	free(b->row);
	*b = (struct baseline){ 0 };
}
