/* sources.c: the same bytes and the same kernels, by different ways of counting. */
#include <math.h>

#include "check.h"

/* ---- witnesses at the gate: which derivation counts bytes on this machine? */

struct known {			/* gate.expected.tsv */
	size_t	 n, cap;
	struct traffic {
		char	*kernel, *rung, *direction;
		double	 bytes;
	} *row;
};

static void
known_read(const struct run *r, struct known *k)
{
	char *path = run_path(r, "gate.expected.tsv");
	struct tsv t;

	tsv_open(&t, path);
	size_t kernel = tsv_col(&t, "kernel"), rung = tsv_col(&t, "rung");
	size_t direction = tsv_col(&t, "direction");
	size_t bytes = tsv_col(&t, "expected_bytes");

	while (tsv_next(&t)) {
		k->row = xgrow(k->row, &k->cap, k->n + 1, sizeof *k->row);
		k->row[k->n++] = (struct traffic){ xstrdup(t.val[kernel]),
		    xstrdup(t.val[rung]), xstrdup(t.val[direction]),
		    tsv_num(&t, bytes) };
	}
	tsv_close(&t);
	free(path);
}

static void
known_free(struct known *k)
{
	for (size_t i = 0; i < k->n; i++) {
		free(k->row[i].kernel);
		free(k->row[i].rung);
		free(k->row[i].direction);
	}
	free(k->row);
}

/* What a kernel moves at a rung, in one direction or in both. */
static double
known_bytes(const struct known *k, const struct term *m)
{
	double sum = NAN;

	for (size_t i = 0; i < k->n; i++)
		if (strcmp(k->row[i].kernel, m->phase) == 0 &&
		    strcmp(k->row[i].rung, m->rung) == 0 &&
		    (strcmp(m->direction, "both") == 0 ||
		    strcmp(k->row[i].direction, m->direction) == 0))
			sum = isnan(sum) ? k->row[i].bytes : sum + k->row[i].bytes;
	return sum;
}

/* The most that a kernel of the gate moves at a rung: what errors are shares of. */
static double
known_most(const struct known *k, const struct term *m)
{
	double most = 0;

	for (size_t i = 0; i < k->n; i++)
		if (strcmp(k->row[i].kernel, m->phase) == 0 &&
		    strcmp(k->row[i].rung, m->rung) == 0)
			most = fmax(most, k->row[i].bytes);
	return most;
}

/* A witness, and the kernel in which it is farthest from the truth. */
struct derivation {
	char	*metric, *kernel, *rung, *direction;
	double	 expected, measured, error;
};

static void
worse(struct derivation *d, const struct known *k, const struct term *m)
{
	double expected = known_bytes(k, m);
	double error = (m->value - expected) / known_most(k, m);

	if (d->kernel != NULL && fabs(error) <= fabs(d->error))
		return;
	free(d->kernel);
	d->kernel = xstrdup(m->phase);
	d->expected = expected;
	d->measured = m->value;
	d->error = error;
}

static struct derivation *
derivation_of(struct derivation **v, size_t *n, size_t *cap, const struct term *m)
{
	for (size_t i = 0; i < *n; i++)
		if (strcmp((*v)[i].metric, m->metric) == 0)
			return &(*v)[i];
	*v = xgrow(*v, cap, ++*n, sizeof **v);
	(*v)[*n - 1] = (struct derivation){ .metric = xstrdup(m->metric),
	    .rung = xstrdup(m->rung), .direction = xstrdup(m->direction) };
	return &(*v)[*n - 1];
}

/* A witness that fails is no fault of the run: it is left out. */
static void
judge_derivation(struct run *r, struct derivation *d)
{
	struct finding f = finding(d->metric, NULL, "ncu", d->expected, d->measured, 0.01);

	f.error = d->error;
	if (judge(&f, WARN) == PASS)
		found(r, &f, PASS, "this witness counts the bytes of %s, %s", d->rung,
		    d->direction);
	else
		found(r, &f, NOT_JUDGED, "failed at the gate, and so is not used: in kernel %s "
		    "it shows %.3g times the bytes of %s, %s", d->kernel,
		    d->measured / d->expected, d->rung, d->direction);
}

static struct derivation *
derivations(const struct run *r, size_t *n)
{
	struct derivation *v = NULL;
	struct known k = { 0 };
	struct terms s;
	struct term m;
	size_t cap = 0;

	*n = 0;
	known_read(r, &k);
	terms_open(r, &s, "gate.terms.tsv");
	while (terms_next(&s, &m))
		if (strcmp(m.role, "witness") == 0 &&
		    strcmp(m.quantity, "bytes") == 0 && !isnan(m.value) &&
		    known_bytes(&k, &m) > 0)
			worse(derivation_of(&v, n, &cap, &m), &k, &m);
	terms_close(&s);
	known_free(&k);
	return v;
}

static void
derivations_free(struct derivation *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v[i].metric);
		free(v[i].kernel);
		free(v[i].rung);
		free(v[i].direction);
	}
	free(v);
}

void
check_derivation(struct run *r)
{
	size_t n;
	struct derivation *v = derivations(r, &n);

	for (size_t i = 0; i < n; i++)
		judge_derivation(r, &v[i]);
	if (n == 0)
		nothing_found(r, "no witness was counted at the gate");
	derivations_free(v, n);
}

/* ---- bytes sampled against bytes replayed */

static void
judge_sampled(struct run *r, const struct measured *ncu, const struct measured *nsys)
{
	struct finding f = finding(NULL, ncu->phase, nsys->source, ncu->bytes,
	    nsys->bytes, 0.05);
	enum verdict v = judge(&f, WARN);
	char by[32];

	if (v == NOT_JUDGED)
		found(r, &f, v, "%s: the bytes of one of the two are missing",
		    ncu->phase);
	else
		found(r, &f, v, "%s: samples show %s %s memory bytes than replay%s",
		    ncu->phase, percent(f.error, by),
		    f.error < 0 ? "fewer" : "more", v == PASS ? "" :
		    ": other work in the window, samples that overflowed, or a "
		    "replay with flushed caches");
}

/* What the GPU's samples say against what its replay says. */
void
check_sampled(struct run *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_memory; i++)
		for (size_t j = 0; j < r->n_memory; j++) {
			const struct measured *a = &r->memory[i], *b = &r->memory[j];

			if (strcmp(a->source, "ncu") != 0 ||
			    strcmp(b->source, "nsys") != 0 ||
			    strcmp(a->phase, b->phase) != 0 ||
			    a->n_steps != b->n_steps)
				continue;
			n++;
			judge_sampled(r, a, b);
		}
	if (n == 0)
		nothing_found(r, "no phase whose memory bytes were both sampled "
		    "(nsys) and replayed (ncu)");
}

/* ---- launches: those that nsys saw and those that ncu counted one by one */

struct launches {
	char	*phase;
	int64_t	 step;
	uint64_t n;
};

/* Launches a phase and step; rows of whole ranges, which have no grid, are none. */
static struct launches *
launches_read(const struct run *r, size_t *n)
{
	char *path = run_path(r, run_has(r, "launches.tsv") ? "launches.tsv" : "counters.tsv");
	char *last = xstrdup("");
	struct launches *v = NULL;
	size_t cap = 0;
	struct tsv t;

	tsv_open(&t, path);
	size_t source = tsv_col(&t, "source"), phase = tsv_col(&t, "phase");
	size_t step = tsv_col(&t, "step"), launch = tsv_col(&t, "launch");
	size_t grid = tsv_find(&t, "grid"), i;

	for (*n = 0; tsv_next(&t); ) {
		if (strcmp(t.val[source], "ncu") != 0 || strcmp(t.val[launch], last) == 0 ||
		    grid == TSV_NONE || tsv_is_na(&t, grid))
			continue;
		free(last);
		last = xstrdup(t.val[launch]);
		for (i = 0; i < *n; i++)
			if (v[i].step == run_step(&t, step) &&
			    strcmp(v[i].phase, t.val[phase]) == 0)
				break;
		if (i == *n) {
			v = xgrow(v, &cap, ++*n, sizeof *v);
			v[i] = (struct launches){ xstrdup(t.val[phase]),
			    run_step(&t, step), 0 };
		}
		v[i].n++;
	}
	tsv_close(&t);
	free(last);
	free(path);
	return v;
}

/* Kernels that the timeline has in a step; NAN if it is not in it. */
static double
n_seen(const struct run *r, const struct launches *l)
{
	char *path = run_path(r, "timeline.tsv");
	double n = NAN;
	struct tsv t;

	tsv_open(&t, path);
	size_t phase = tsv_col(&t, "phase"), step = tsv_col(&t, "step");
	size_t kernels = tsv_col(&t, "n_kernels");

	while (tsv_next(&t))
		if (strcmp(t.val[phase], l->phase) == 0 && (l->step == NO_STEP ||
		    run_step(&t, step) == l->step))
			n = (isnan(n) ? 0 : n) + tsv_num(&t, kernels);
	tsv_close(&t);
	free(path);
	return n;
}

static void
judge_kernels(struct run *r, const struct launches *l)
{
	double seen = n_seen(r, l);
	struct finding f = finding(NULL, l->phase, "ncu", seen, (double)l->n, NAN);
	char *name = l->step == NO_STEP ? xstrdup(l->phase) :
	    xasprintf("%s, step %lld", l->phase, (long long)l->step);

	if (isnan(seen))
		found(r, &f, NOT_JUDGED, "%s: ncu counted %llu kernels; the timeline "
		    "does not have it", name, (unsigned long long)l->n);
	else if (seen == (double)l->n)
		found(r, &f, PASS, "%s: ncu counted each kernel that nsys saw", name);
	else
		found(r, &f, WARN, "%s: nsys saw %.12g kernels, ncu counted %llu: a filter "
		    "left some out, or the two runs were not alike", name, seen,
		    (unsigned long long)l->n);
	free(name);
}

void
check_kernels(struct run *r)
{
	struct launches *v;
	size_t n;

	if (!run_has(r, "launches.tsv") && !run_has(r, "counters.tsv")) {
		nothing_found(r, "ncu was not run");
		return;
	}
	v = launches_read(r, &n);
	for (size_t i = 0; i < n; i++) {
		judge_kernels(r, &v[i]);
		free(v[i].phase);
	}
	if (n == 0)
		nothing_found(r, "ncu counted whole ranges, not kernel by kernel");
	free(v);
}
