/* summary.c: what a run comes to: the verdict, the speed, bytes a token. */
#include <math.h>

#include "report.h"

const char *const verdict_word[] = { "Trusted", "Not trusted", "Inconclusive" };

/* Without these passed nothing else is worth trusting. */
static const char *const essential[] = { "gate", "predicted_read" };

double
add_known(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

size_t
row_of(const struct table *t, const char *phase, const char *rung)
{
	for (size_t i = 0; i < t->n; i++)
		if (table_is(t, i, "phase", phase) &&
		    (rung == NULL || table_is(t, i, "rung", rung)))
			return i;
	return TSV_NONE;
}

/* Of several sources of a phase's figures, the first row's stands for it. */
bool
leads(const struct table *t, size_t row)
{
	const char *phase = table_text(t, row, "phase");
	size_t first = phase == NULL ? TSV_NONE : row_of(t, phase, NULL);
	const char *source = first == TSV_NONE ? NULL : table_text(t, first, "source");

	return source == NULL || table_is(t, row, "source", source);
}

/* A column of a phase: its sum over the rows. */
double
phase_sum(const struct table *t, const char *phase, const char *column)
{
	double all = NAN;

	for (size_t i = 0; i < t->n; i++)
		if (table_is(t, i, "phase", phase))
			all = add_known(all, table_num(t, i, column));
	return all;
}

static bool
begins(const struct table *t, size_t row, const char *with)
{
	const char *s = table_text(t, row, "check");

	return s != NULL && strncmp(s, with, strlen(with)) == 0;
}

static bool
passed(const struct table *t, const char *check)
{
	for (size_t i = 0; i < t->n; i++)
		if (begins(t, i, check) && table_is(t, i, "verdict", "pass"))
			return true;
	return false;
}

static void
judge(struct summary *s, const struct table *checks)
{
	bool moved = false;

	for (size_t i = 0; i < checks->n; i++) {
		bool fail = table_is(checks, i, "verdict", "fail");

		s->n_pass += table_is(checks, i, "verdict", "pass");
		s->n_warn += table_is(checks, i, "verdict", "warn");
		s->n_na += table_is(checks, i, "verdict", "na");
		if (begins(checks, i, "canary")) {
			moved |= fail;
			s->speed_moved |= fail || table_is(checks, i, "verdict",
			    "warn");
		}
		s->n_fail += fail;
	}
	s->verdict = INCONCLUSIVE;
	if (checks->path == NULL)
		s->reason = "no checks were made";
	else if (s->n_fail > moved)
		s->verdict = NOT_TRUSTED, s->reason = "a check failed";
	else if (moved)
		s->reason = "the canary moved: the machine was not the same "
		    "machine throughout";
	else if (!passed(checks, essential[0]))
		s->reason = "the counters were not put on trial on this machine";
	else if (!passed(checks, essential[1]))
		s->reason = "measured bytes could not be held against a prediction";
	else
		s->verdict = TRUSTED, s->reason = s->speed_moved ?
		    "the bytes can be believed; speeds are inconclusive, since the "
		    "canary moved" : s->n_warn > 0 ?
		    "no check failed, though some figures are in doubt" :
		    "every check that could be made passed";
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The value a fraction q of the way through sorted v. */
static double
quantile(const double *v, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	return i + 1 < n ? v[i] + (at - (double)i) * (v[i + 1] - v[i]) : v[i];
}

/*
 * The times of a phase's steps from step first to last.  A row without a step
 * is of all of them, a token each.
 */
static struct spread
spread_of(const struct table *t, const char *phase, double first, double last)
{
	double *v = xalloc(t->n, sizeof *v);
	struct spread s = { 0, NAN, NAN, NAN, NAN, NAN };

	for (size_t i = 0; i < t->n; i++) {
		double step = table_num(t, i, "step");
		double dur = table_num(t, i, "dur_ns");
		double tokens = table_num(t, i, "n_tokens");

		if (!table_is(t, i, "phase", phase) || isnan(dur) ||
		    table_text(t, i, "repeat") == NULL ||	/* warm-up */
		    step < first || step > last)
			continue;
		v[s.n++] = isnan(step) ? dur / tokens : dur;
		s.n_tokens = isnan(step) ? 1 : tokens;
	}
	if (s.n > 0) {
		qsort(v, s.n, sizeof *v, by_value);
		s.median = quantile(v, s.n, 0.5);
		s.low = quantile(v, s.n, 0.25);
		s.high = quantile(v, s.n, 0.75);
		s.max = v[s.n - 1];
	}
	free(v);
	return s;
}

double
tokens_per_s(const struct spread *s)
{
	return s->n_tokens * 1e9 / s->median;
}

static void
time_it(struct summary *s, const struct table *baseline)
{
	s->prefill = spread_of(baseline, "prefill", 0, INFINITY);
	s->first = spread_of(baseline, "decode", 0, 0);
	s->decode = spread_of(baseline, "decode", 1, INFINITY);
	for (size_t i = 0; i < baseline->n; i++)
		s->one_decode |= table_is(baseline, i, "phase", "decode") &&
		    isnan(table_num(baseline, i, "step"));
	s->one_decode |= s->decode.n == 0;
	if (s->one_decode)
		s->decode = spread_of(baseline, "decode", 0, INFINITY);
}

/* Why a phase has no share of the memory read ceiling; NULL if it has. */
const char *
no_read_share(const struct run *r, const char *phase)
{
	const struct table *t = &r->checks;

	for (size_t i = 0; i < t->n; i++)
		if (begins(t, i, "read_ceiling") && table_is(t, i, "phase", phase) &&
		    !table_is(t, i, "verdict", "pass"))
			return without_phase(text_or(table_text(t, i, "why"),
			    "the check of the read ceiling did not pass"), phase);
	return NULL;
}

/* Was this step measured, by the source whose figures stand for the phase?
 * Without steps.tsv all were. */
static bool
measured_step(const struct run *r, const char *phase, double step)
{
	size_t first = row_of(&r->hierarchy, phase, "memory");
	const char *source = first == TSV_NONE ? NULL :
	    table_text(&r->hierarchy, first, "source");

	for (size_t i = 0; i < r->steps.n; i++)
		if (table_is(&r->steps, i, "phase", phase) &&
		    table_num(&r->steps, i, "step") == step &&
		    (source == NULL || table_is(&r->steps, i, "source", source)))
			return true;
	return row_of(&r->steps, phase, NULL) == TSV_NONE;
}

/* Steps of a phase that the source measured whose figures stand for it. */
double
phase_steps(const struct run *r, const char *phase, const char *source)
{
	double n = 0;

	for (size_t i = 0; i < r->steps.n; i++)
		n += table_is(&r->steps, i, "phase", phase) &&
		    table_is(&r->steps, i, "rung", "memory") &&
		    table_is(&r->steps, i, "source", source) &&
		    !isnan(table_num(&r->steps, i, "step")) &&
		    !isnan(table_num(&r->steps, i, "read_bytes"));
	return n > 0 ? n : NAN;
}

double
phase_tokens(const struct run *r, const char *phase)
{
	size_t i = row_of(&r->hierarchy, phase, "memory");

	return i == TSV_NONE ? NAN : table_num(&r->hierarchy, i, "n_tokens");
}

struct predicted
predicted(const struct run *r, const char *phase, const char *role)
{
	const struct table *t = &r->readset;
	struct predicted p = { NAN, NAN };
	double tokens = phase_tokens(r, phase);
	bool allocates = kv_num(&r->platform, "write_allocate") == 1;

	for (size_t i = 0; i < t->n; i++) {
		if (!table_is(t, i, "phase", phase) ||
		    (role != NULL && !table_is(t, i, "role", role)) ||
		    !measured_step(r, phase, table_num(t, i, "step")))
			continue;
		p.read = add_known(p.read, table_num(t, i, "read_bytes"));
		if (allocates)	/* a line is read before it is written */
			p.read = add_known(p.read, table_num(t, i, "write_bytes"));
		p.write = add_known(p.write, table_num(t, i, "write_bytes"));
	}
	p.read /= tokens;
	p.write /= tokens;
	return p;
}

/* A reason less the phase that it begins with, where that is said already. */
const char *
without_phase(const char *why, const char *phase)
{
	size_t n = strlen(phase);

	return n > 0 && strncmp(why, phase, n) == 0 &&
	    strncmp(why + n, ": ", 2) == 0 ? why + n + 2 : why;
}

/* Decode's reads over the time of the same steps, of the read ceiling. */
static void
share_of_ceiling(struct summary *s, const struct run *r)
{
	size_t mem = row_of(&r->hierarchy, "decode", "memory");
	size_t roof = row_of(&r->roofline, "decode", NULL);
	double rate = s->measured_read * tokens_per_s(&s->decode);

	if (roof != TSV_NONE) {
		s->of_ceiling_ratio = table_num(&r->roofline, roof,
		    "of_ceiling_ratio");
		if (mem != TSV_NONE)
			rate = table_num(&r->hierarchy, mem, "read_bytes") * 1e9 /
			    table_num(&r->roofline, roof, "dur_ns");
	}
	s->of_read_ratio = rate / kv_num(&r->ceilings, "memory_read_bytes_per_s");
	s->no_share = no_read_share(r, "decode");
}

void
summarise(struct summary *s, const struct run *r)
{
	size_t mem = row_of(&r->hierarchy, "decode", "memory");
	struct predicted p = predicted(r, "decode", NULL);

	*s = (struct summary){ .measured_bytes_per_token = NAN,
	    .measured_read = NAN, .decode_read = NAN, .decode_steps = NAN,
	    .of_ceiling_ratio = NAN, .of_read_ratio = NAN };
	judge(s, &r->checks);
	time_it(s, &r->baseline);
	s->predicted_read = p.read;
	s->predicted_bytes_per_token = add_known(p.read, p.write);
	if (mem != TSV_NONE) {
		s->measured_bytes_per_token = table_num(&r->hierarchy, mem,
		    "bytes_per_token");
		s->decode_read = table_num(&r->hierarchy, mem, "read_bytes");
		s->decode_steps = phase_steps(r, "decode", text_or(table_text(
		    &r->hierarchy, mem, "source"), ""));
		s->measured_read = s->decode_read / phase_tokens(r, "decode");
	}
	share_of_ceiling(s, r);
	s->busy_ratio = phase_sum(&r->timeline, "decode", "busy_ns") /
	    phase_sum(&r->timeline, "decode", "wall_ns");
}
