/* derivation.c: which ways of counting bytes does the gate bear out? */
#include <math.h>

#include "check.h"

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
	char	*source, *metric, *kernel, *rung, *direction;
	double	 expected, measured, error;
};

static void
worse(struct derivation *d, const struct known *k, const struct term *m)
{
	double expected = known_bytes(k, m);
	double error = ratio(m->value - expected, known_most(k, m));

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
	(*v)[*n - 1] = (struct derivation){ .source = xstrdup(m->source),
	    .metric = xstrdup(m->metric), .rung = xstrdup(m->rung), .direction = xstrdup(m->direction) };
	return &(*v)[*n - 1];
}

/* A witness that fails is no fault of the run: it is left out. */
static void
judge_derivation(struct run *r, struct derivation *d)
{
	struct finding f = finding(d->metric, NULL, d->source, d->expected, d->measured, 0.01);
	double ratio = d->measured / d->expected;
	char *many = ratio < 0.001 ? xstrdup("hardly any of") : xasprintf("%.3g times", ratio);

	f.error = d->error;
	if (judge(&f, WARN) == PASS)
		found(r, &f, PASS, "this witness counts the bytes of %s, %s", d->rung,
		    d->direction);
	else
		found(r, &f, NOT_JUDGED, "failed at the gate, and so is not used: in kernel %s "
		    "it shows %s the bytes of %s, %s", d->kernel, many, d->rung, d->direction);
	free(many);
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
		free(v[i].source);
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
