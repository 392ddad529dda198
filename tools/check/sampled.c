/* sampled.c: what was sampled against what was counted, and set against set. */
#include <math.h>

#include "check.h"

/* Over less than this a few samples decide: 5 ms. */
#define SHORT_NS 5e6

/* The value terms of one source, phase, quantity, rung and direction. */
struct amount {
	char	*source, *phase, *quantity, *rung, *direction;
	double	 value;
	size_t	 n;
};
struct amounts {
	size_t	 n, cap;
	struct amount *v;
};

static bool
amount_is(const struct amount *a, const char *source, const struct term *m)
{
	return strcmp(a->source, source) == 0 && strcmp(a->phase, m->phase) == 0 &&
	    strcmp(a->quantity, m->quantity) == 0 && strcmp(a->rung, m->rung) == 0 &&
	    strcmp(a->direction, m->direction) == 0;
}

static void
amounts_add(struct amounts *s, const struct term *m)
{
	size_t i = 0;

	while (i < s->n && !amount_is(&s->v[i], m->source, m))
		i++;
	if (i == s->n) {
		s->v = xgrow(s->v, &s->cap, ++s->n, sizeof *s->v);
		s->v[i] = (struct amount){ xstrdup(m->source), xstrdup(m->phase),
		    xstrdup(m->quantity), xstrdup(m->rung), xstrdup(m->direction), 0, 0 };
	}
	s->v[i].value += m->value;
	s->v[i].n++;
}

static struct amounts
amounts_read(const struct run *r)
{
	struct amounts s = { 0 };
	struct terms t;
	struct term m;

	terms_open(r, &t, "terms.tsv");
	while (terms_next(&t, &m))
		if (strcmp(m.role, "value") == 0 && phase_cmp(m.phase, "NA") != 0 &&
		    (strcmp(m.quantity, "bytes") == 0 || strcmp(m.quantity, "requests") == 0))
			amounts_add(&s, &m);
	terms_close(&t);
	return s;
}

static void
amounts_free(struct amounts *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->v[i].source);
		free(s->v[i].phase);
		free(s->v[i].quantity);
		free(s->v[i].rung);
		free(s->v[i].direction);
	}
	free(s->v);
}

static const struct measured *
steps_of(const struct run *r, const char *source, const char *phase)
{
	for (size_t i = 0; i < r->n_memory; i++)
		if (strcmp(r->memory[i].source, source) == 0 &&
		    strcmp(r->memory[i].phase, phase) == 0)
			return &r->memory[i];
	return NULL;
}

/* Bytes that one of its steps needs on the mean: the cache grows from step to step. */
static double
mean_need(const struct run *r, const struct measured *m)
{
	size_t n;
	struct need need = readset_sum(&r->readset, m->phase, m->step, m->n_steps, &n);

	return n > 0 ? (need.read_bytes + need.write_bytes) / (double)n : NAN;
}

/* What the steps of a should be worth in steps of b. */
static double
scale(const struct run *r, const struct measured *a, const struct measured *b)
{
	double grown = ratio(mean_need(r, b), mean_need(r, a));
	double n = fmax((double)b->n_steps, 1) / fmax((double)a->n_steps, 1);

	return n * (isnan(grown) ? 1 : grown);
}

/* The largest share that samples at the edges of a phase have in a sum of it. */
static double
edge_ratio(const struct run *r, const char *phase)
{
	double most = 0;
	char *path;
	struct tsv t;

	if (!run_has(r, "sampling.tsv"))
		return 0;
	path = run_path(r, "sampling.tsv");
	tsv_open(&t, path);
	size_t of = tsv_col(&t, "phase"), edge = tsv_col(&t, "edge_ratio");

	while (tsv_next(&t))
		if (strcmp(t.val[of], phase) == 0)
			most = fmax(most, tsv_num(&t, edge));
	tsv_close(&t);
	free(path);
	return most;
}

/* What moves at the rung in all directions: of little, an error is little too. */
static double
of_all(const struct amounts *s, const struct amount *of)
{
	double sum = 0;

	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i].source, of->source) == 0 &&
		    strcmp(s->v[i].phase, of->phase) == 0 &&
		    strcmp(s->v[i].quantity, of->quantity) == 0 &&
		    strcmp(s->v[i].rung, of->rung) == 0)
			sum += s->v[i].value;
	return sum;
}

/* Instructions, as they are sampled, are some more for each warp that starts. */
static double
tolerance(const struct run *r, const struct amount *a)
{
	double dur_ns = baseline_dur_ns(&r->baseline, a->phase, NULL, 0);

	return strcmp(a->rung, "registers") == 0 || dur_ns < SHORT_NS ? 0.05 : 0.01;
}

static void
judge_sampled(struct run *r, const struct amounts *all, const struct amount *counted,
    const struct amount *sampled, double scaled)
{
	char *part = xasprintf("%s.%s.%s", counted->rung, counted->quantity,
	    counted->direction), by[32];
	struct finding f = finding(part, counted->phase, sampled->source,
	    counted->value * scaled, sampled->value,
	    tolerance(r, counted) + edge_ratio(r, counted->phase));
	enum verdict v;

	if (f.error != 0)
		f.error = ratio(f.measured - f.expected, of_all(all, counted) * scaled);
	v = judge(&f, WARN);
	if (isnan(counted->value) || isnan(sampled->value))
		found(r, &f, v, "%s: %s has no number for it", counted->phase,
		    isnan(counted->value) ? counted->source : sampled->source);
	else if (v == NOT_JUDGED)
		found(r, &f, v, "%s: %s counted nothing there, so there is nothing to be off by",
		    counted->phase, counted->source);
	else
		found(r, &f, v, "%s: samples show %s%s %s than %s counted%s",
		    counted->phase, percent(f.error, by),
		    of_all(all, counted) > counted->value ? " of what moves there" : "",
		    f.error < 0 ? "less" : "more", counted->source, v == PASS ? "" :
		    ": other work in the window, a phase of too few samples, or, at L1 "
		    "and L2, kernels that were slower while they were counted: what L1 "
		    "holds depends on time");
	free(part);
}

void
check_sampled(struct run *r)
{
	struct amounts s = amounts_read(r);
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		for (size_t j = 0; j < s.n; j++) {
			struct amount *a = &s.v[i], *b = &s.v[j];
			struct term of = { .phase = a->phase, .quantity = a->quantity,
			    .rung = a->rung, .direction = a->direction };
			const struct measured *counted, *sampled;

			/* As many counters, or the two are not the same sum. */
			if (source_sampled(a->source) || !source_sampled(b->source) ||
			    !amount_is(b, b->source, &of) || a->n != b->n)
				continue;
			counted = steps_of(r, a->source, a->phase);
			sampled = steps_of(r, b->source, a->phase);
			if (counted == NULL || sampled == NULL)
				continue;
			judge_sampled(r, &s, a, b, scale(r, counted, sampled));
			n++;
		}
	if (n == 0)
		nothing_found(r, "no phase was both sampled (nsys) and counted (ncu, cupti)");
	amounts_free(&s);
}

/* The most of a kind (bytes, or counts) that two sets both have in a phase. */
static double
most_shared(const char *path, const char *phase, const char *unit)
{
	double most = 0;
	struct tsv t;

	tsv_open(&t, path);
	size_t of = tsv_col(&t, "phase"), value = tsv_col(&t, "value");
	size_t other = tsv_col(&t, "other_value"), kind = tsv_col(&t, "unit");

	while (tsv_next(&t))
		if (!tsv_is_na(&t, other) && strcmp(t.val[of], phase) == 0 &&
		    strcmp(t.val[kind], unit) == 0)
			most = fmax(most, tsv_num(&t, value));
	tsv_close(&t);
	return most;
}

/*
 * Sets were sampled in different runs of the program: what they share agrees.
 * Errors are of the most that is shared: what little is written to memory is
 * for the most part what was left in L2 before.
 */
void
check_sets(struct run *r)
{
	char *path = run_path(r, "sampling.tsv"), by[32];
	struct tsv t;
	size_t n = 0;

	tsv_open(&t, path);
	size_t phase = tsv_col(&t, "phase"), metric = tsv_col(&t, "metric");
	size_t value = tsv_col(&t, "value"), other = tsv_col(&t, "other_value");
	size_t set = tsv_col(&t, "set"), other_set = tsv_col(&t, "other_set");
	size_t unit = tsv_col(&t, "unit");

	while (tsv_next(&t)) {
		struct finding f = finding(t.val[metric], t.val[phase], "nsys",
		    tsv_num(&t, value), tsv_num(&t, other), 0.01 + edge_ratio(r, t.val[phase]));
		enum verdict v;

		if (tsv_is_na(&t, other_set))
			continue;
		if (f.error != 0)
			f.error = ratio(f.measured - f.expected,
			    most_shared(path, t.val[phase], t.val[unit]));
		v = judge(&f, WARN);
		n++;
		if (v == NOT_JUDGED)
			found(r, &f, v, "one of sets %s and %s has no number", t.val[set],
			    t.val[other_set]);
		else
			found(r, &f, v, "set %s shows %s %s than set %s%s", t.val[other_set],
			    percent(f.error, by), f.error < 0 ? "less" : "more", t.val[set],
			    v == PASS ? "" : ": their runs did not do the same work, so "
			    "figures of the two do not belong together");
	}
	tsv_close(&t);
	free(path);
	if (n == 0)
		nothing_found(r, "no two sets have a counter in common");
}
