/* counts.c: is what was counted to be trusted? */
#include <math.h>

#include "check.h"

/* Rows that ns-calib has judged already. */
void
check_gate(struct run *r)
{
	char *path = run_path(r, "gate.tsv"), *part, by[32];
	struct tsv t;
	size_t n = 0;

	tsv_open(&t, path);
	size_t kernel = tsv_col(&t, "kernel"), rung = tsv_col(&t, "rung");
	size_t direction = tsv_col(&t, "direction"), source = tsv_col(&t, "source");
	size_t expected = tsv_col(&t, "expected_bytes");
	size_t measured = tsv_col(&t, "measured_bytes");
	size_t error = tsv_col(&t, "error_ratio"), verdict = tsv_col(&t, "verdict");
	size_t tolerance = tsv_col(&t, "tolerance_ratio");

	for (; tsv_next(&t); n++) {
		struct finding f;
		enum verdict v = PASS;

		part = xasprintf("%s.%s.%s", tsv_text(&t, kernel),
		    tsv_text(&t, rung), tsv_text(&t, direction));
		f = finding(part, NULL, tsv_text(&t, source),
		    tsv_num(&t, expected), tsv_num(&t, measured),
		    tsv_num(&t, tolerance));
		f.error = tsv_num(&t, error);
		while (verdict_name[v] != NULL &&
		    strcmp(verdict_name[v], t.val[verdict]) != 0)
			v++;
		if (verdict_name[v] == NULL)
			tsv_die(&t, verdict, "unknown verdict '%s'", t.val[verdict]);
		if (v == PASS)
			found(r, &f, v, "a kernel of known traffic moved what it must");
		else if (v == NOT_JUDGED || isnan(f.error))
			found(r, &f, v, "kernel %s: no %s bytes of %s were measured",
			    t.val[kernel], t.val[direction], t.val[rung]);
		else
			found(r, &f, v, "kernel %s, whose traffic is known, shows "
			    "%s too %s bytes in direction %s at %s: on this "
			    "machine these counters are not the bytes, so no "
			    "figure made from them is to be used",
			    t.val[kernel], percent(f.error, by),
			    f.error < 0 ? "few" : "many", t.val[direction],
			    t.val[rung]);
		free(part);
	}
	if (n == 0)
		nothing_found(r, "gate.tsv has no rows");
	tsv_close(&t);
	free(path);
}

void
terms_open(const struct run *r, struct terms *s, const char *name)
{
	static const char *const names[] = { "source", "phase", "role",
		"quantity", "rung", "direction", "metric" };

	s->path = run_path(r, name);
	tsv_open(&s->t, s->path);
	for (size_t i = 0; i < 7; i++)
		s->col[i] = tsv_col(&s->t, names[i]);
	s->value = tsv_col(&s->t, "value");
}

bool
terms_next(struct terms *s, struct term *m)
{
	if (!tsv_next(&s->t))
		return false;
	*m = (struct term){ tsv_text(&s->t, s->col[0]),
	    tsv_text(&s->t, s->col[1]), tsv_text(&s->t, s->col[2]),
	    tsv_text(&s->t, s->col[3]), tsv_text(&s->t, s->col[4]),
	    tsv_text(&s->t, s->col[5]), tsv_text(&s->t, s->col[6]),
	    tsv_num(&s->t, s->value) };
	return true;
}

void
terms_close(struct terms *s)
{
	tsv_close(&s->t);
	free(s->path);
}

void
check_sentinel(struct run *r)
{
	struct terms s;
	struct term m;
	size_t n = 0;

	terms_open(r, &s, "terms.tsv");
	while (terms_next(&s, &m)) {
		struct finding f = finding(m.metric, m.phase, m.source, 0,
		    m.value, NAN);

		if (strcmp(m.role, "sentinel") != 0)
			continue;
		n++;
		if (isnan(m.value))
			found(r, &f, NOT_JUDGED, "%s was not measured", m.metric);
		else if (m.value == 0)
			found(r, &f, PASS, "nothing went where nothing may go");
		else
			found(r, &f, FAIL, "%s must be 0 and is %.12g in %s: %s "
			    "go a way that the platform's registry does not "
			    "know, so its sums are too small; is this the "
			    "platform of that machine?", m.metric, m.value,
			    m.phase, m.quantity);
	}
	if (n == 0)
		nothing_found(r, "the platform's registry names no sentinel");
	terms_close(&s);
}

/*
 * What a witness testifies to: the same quantity from its value metrics, of
 * all directions if it cannot tell them apart.
 */
static double
value_of(const struct run *r, const struct term *w)
{
	struct terms s;
	struct term m;
	double sum = 0;
	bool any = false;

	terms_open(r, &s, "terms.tsv");
	while (terms_next(&s, &m))
		if (strcmp(m.role, "value") == 0 &&
		    strcmp(m.source, w->source) == 0 &&
		    strcmp(m.phase, w->phase) == 0 &&
		    strcmp(m.quantity, w->quantity) == 0 &&
		    strcmp(m.rung, w->rung) == 0 &&
		    (strcmp(w->direction, "both") == 0 ||
		    strcmp(m.direction, w->direction) == 0)) {
			sum += m.value;
			any = true;
		}
	terms_close(&s);
	return any ? sum : NAN;
}

void
check_witness(struct run *r)
{
	struct terms s;
	struct term m;
	size_t n = 0;
	char by[32];

	terms_open(r, &s, "terms.tsv");
	while (terms_next(&s, &m)) {
		struct finding f;
		enum verdict v;

		if (strcmp(m.role, "witness") != 0)
			continue;
		n++;
		f = finding(m.metric, m.phase, m.source, value_of(r, &m),
		    m.value, 0.05);
		v = judge(&f, WARN);
		if (v == NOT_JUDGED)
			found(r, &f, v, "the witness or what it witnesses was not "
			    "measured, or is none");
		else if (f.error == 0)
			found(r, &f, v, "%s of %s, %s, by another counter: the same",
			    m.quantity, m.rung, m.direction);
		else
			found(r, &f, v, "%s of %s, %s, by another counter: %s %s%s",
			    m.quantity, m.rung, m.direction, percent(f.error, by),
			    f.error < 0 ? "less" : "more", v == PASS ? "" :
			    run_has(r, "gate.tsv") ?
			    "; the gate decides which of the two is right" :
			    "; which of the two is right a gate on that machine would show");
	}
	if (n == 0)
		nothing_found(r, "the platform's registry names no witness");
	terms_close(&s);
}

void
check_hit_ratio(struct run *r)
{
	struct finding none = finding(NULL, NULL, NULL, 0, 0, NAN);
	size_t n = 0, n_bad = 0;

	for (size_t i = 0; i < r->hierarchy.n; i++) {
		const struct level *l = &r->hierarchy.row[i];
		struct finding f = finding(l->rung, l->phase, l->source, NAN,
		    l->hit_ratio, NAN);

		n += isnan(l->hit_ratio) ? 0 : 1;
		if (isnan(l->hit_ratio) || (l->hit_ratio >= 0 && l->hit_ratio <= 1))
			continue;
		n_bad++;
		found(r, &f, FAIL, "%s: %s hits %.6g of its requests: hits and "
		    "requests were counted in different passes or replays of "
		    "work that varies, or the registry pairs what does not "
		    "belong together", l->phase, l->rung, l->hit_ratio);
	}
	if (n == 0)
		nothing_found(r, "no hit ratio was measured");
	else if (n_bad == 0)
		found(r, &none, PASS, "%zu hit ratios lie between 0 and 1", n);
}

void
check_missing(struct run *r)
{
	struct finding none = finding(NULL, NULL, NULL, 0, 0, NAN);
	size_t n_bad = 0;
	double total = 0;

	for (size_t i = 0; i < r->hierarchy.n; i++) {
		const struct level *l = &r->hierarchy.row[i];
		struct finding f = finding(l->rung, l->phase, l->source, 0,
		    (double)l->n_missing, NAN);

		total += (double)l->n_total;
		if (l->n_missing == 0)
			continue;
		n_bad++;
		if (l->n_missing == l->n_total && strcmp(l->rung, "memory") != 0)
			found(r, &f, NOT_JUDGED, "%s: nothing at %s was measured: its "
			    "counters were not asked for", l->phase, l->rung);
		else
			found(r, &f, WARN, "%s: %llu of %llu values at %s are "
			    "missing: %s; ns-rollup names them", l->phase,
			    (unsigned long long)l->n_missing,
			    (unsigned long long)l->n_total, l->rung,
			    l->n_missing == l->n_total ? "it was not measured" :
			    "its figures are sums of the rest");
	}
	if (total == 0)
		nothing_found(r, "the hierarchy is empty");
	else if (n_bad == 0)
		found(r, &none, PASS, "all %.12g needed values were measured",
		    total);
}
