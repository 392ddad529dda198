/* speed.c: time, and what of the machine's own ceilings it comes to. */
#include <math.h>

#include "report.h"

bool
has_speed(const struct doc *d)
{
	return d->run->baseline.path != NULL;
}

/* Quartiles need a few values; below that the number of them is the news. */
static void
speed_row(struct doc *d, const char *name, const struct spread *s)
{
	if (s->n == 0)
		return;
	cell(d, name);
	cell(d, digits(d, tokens_per_s(s)));
	cell(d, duration(d, s->median));
	cell(d, s->n < 4 ? say(d, "n = %zu", s->n) : say(d, "%s to %s",
	    duration(d, s->low), duration(d, s->high)));
	cell(d, duration(d, s->max));
	cell(d, count(d, s->n_tokens));
	cell(d, count(d, (double)s->n));
}

void
write_speed(struct doc *d)
{
	const struct summary *s = d->sum;

	if (s->decode.n == 0 && s->prefill.n == 0) {
		para(d, PLAIN, "baseline.tsv has no prefill and no decode rows.");
		return;
	}
	if (s->decode.n > 0)
		para(d, PLAIN, say(d, "Decode makes %s tokens a second, %s a step. "
		    "These times come from a run that nothing watched; a profiled "
		    "run is slower and its times are not used.",
		    strong(d, digits(d, tokens_per_s(&s->decode))),
		    duration(d, s->decode.median)));
	if (s->speed_moved)
		para(d, DOUBT, STRONG("Speed is inconclusive") ": the same two small "
		    "kernels ran before and after, and not equally fast. The machine "
		    "was busy, hot or throttled; run it again.");
	figure(d, "phases", "Time of each decode step, unprofiled.");
	table(d, "Unprofiled time of a step; tokens a second are of the median",
	    "Phase|>Tokens/s|>Median|>Middle half|>Slowest|>Tokens a step|>Steps");
	speed_row(d, "prefill", &s->prefill);
	if (!s->one_decode)
		speed_row(d, "decode, first step", &s->first);
	speed_row(d, s->one_decode ? "decode" : "decode, later steps", &s->decode);
	table_end(d);
}

/* ---- roofline */

bool
has_roofline(const struct doc *d)
{
	return d->run->roofline.path != NULL;
}

/* Memory binds, but a share of its ceiling would mean nothing: why, or NULL. */
static const char *
no_share(const struct doc *d, size_t i)
{
	const struct table *t = &d->run->roofline;

	return table_is(t, i, "bound", "memory") ?
	    no_read_share(d->run, text_or(table_text(t, i, "phase"), "")) : NULL;
}

static void
say_roof(struct doc *d, size_t i)
{
	const struct table *t = &d->run->roofline;
	const char *bound = table_text(t, i, "bound"), *why = no_share(d, i);
	double of = table_num(t, i, "of_ceiling_ratio");
	const char *share;

	if (bound == NULL || isnan(of))
		return;
	share = why != NULL ?
	    say(d, "there is no share of that ceiling, since %s", scale_bytes(d, why)) :
	    say(d, "it reaches %s of that ceiling%s", percent(d, of), of > 1 ?
	    ", which cannot be: a byte count, a time or the ceiling is wrong" : "");
	item(d, say(d, "%s does %s FLOP for each byte from memory, so %s binds it; "
	    "%s.", capital(d, text_or(table_text(t, i, "phase"), "a phase")),
	    digits(d, table_num(t, i, "flop_per_byte")),
	    strong(d, strcmp(bound, "memory") == 0 ? "memory bandwidth" :
	    strcmp(bound, "compute") == 0 ? "arithmetic" : bound), share));
}

void
write_roofline(struct doc *d)
{
	const struct table *t = &d->run->roofline;

	for (size_t i = 0; i < t->n; i++)
		if (leads(t, i))
			say_roof(d, i);
	figure(d, "roofline", "Each phase under the ceilings that this machine "
	    "itself reached.");
	table(d, "Phases under their ceilings", "Phase|Bound|>FLOP a byte|"
	    ">Reached|>Ceiling|>Of the ceiling|>Memory traffic");
	for (size_t i = 0; i < t->n; i++) {
		if (!leads(t, i))
			continue;
		cell(d, text_or(table_text(t, i, "phase"), not_measured));
		cell(d, text_or(table_text(t, i, "bound"), not_measured));
		cell(d, digits(d, table_num(t, i, "flop_per_byte")));
		cell(d, quantity(d, table_num(t, i, "flop_per_s"), "FLOP/s"));
		cell(d, quantity(d, table_num(t, i, "ceiling_flop_per_s"), "FLOP/s"));
		cell(d, no_share(d, i) != NULL ? "no figure" :
		    percent(d, table_num(t, i, "of_ceiling_ratio")));
		cell(d, quantity(d, table_num(t, i, "bytes_per_s"), "B/s"));
	}
	table_end(d);
	if (d->run->simulated)
		para(d, NOTE, "Time is this computer's, bytes are the simulated "
		    "cache's: shares of a bandwidth ceiling are estimates here.");
}

/* ---- ceilings */

bool
has_ceilings(const struct doc *d)
{
	return d->run->ceilings.n > 0 || d->run->sweep.path != NULL;
}

/* The best rate of a working set of at least this size: noise only slows. */
static double
best_from(const struct table *t, const char *kernel, double size)
{
	double best = NAN;

	for (size_t i = 0; i < t->n; i++)
		if (table_is(t, i, "kernel", kernel) &&
		    table_num(t, i, "working_set_bytes") >= size)
			best = fmax(best, table_num(t, i, "bytes_per_s"));
	return best;
}

/* The step between two working sets over which the most bandwidth is lost. */
static void
say_knee(struct doc *d, const char *kernel)
{
	const struct table *t = &d->run->sweep;
	double last = NAN, before = NAN, worst = 1, from = NAN, to = NAN;

	for (size_t i = 0; i < t->n; i++) {
		double size = table_num(t, i, "working_set_bytes");
		double rate = best_from(t, kernel, size);

		if (!table_is(t, i, "kernel", kernel))
			continue;
		if (size > last && rate / before < worst)
			worst = rate / before, from = last, to = size;
		last = size, before = rate;
	}
	if (!isnan(from))
		item(d, say(d, "%s: the steepest fall is from %s with a working set of "
		    "%s to %s with %s.", capital(d, words(d, kernel)),
		    quantity(d, best_from(t, kernel, from), "B/s"),
		    quantity(d, from, "B"),
		    quantity(d, best_from(t, kernel, to), "B/s"),
		    quantity(d, to, "B")));
}

static void
say_knees(struct doc *d)
{
	const struct table *t = &d->run->sweep;

	for (size_t i = 0; i < t->n; i++) {
		const char *kernel = table_text(t, i, "kernel");
		bool seen = kernel == NULL;

		for (size_t j = 0; j < i && !seen; j++)
			seen = table_is(t, j, "kernel", kernel);
		if (!seen)
			say_knee(d, kernel);
	}
}

void
write_ceilings(struct doc *d)
{
	const struct kv *kv = &d->run->ceilings;
	double read = kv_num(kv, "memory_read_bytes_per_s");
	double l2 = kv_num(kv, "l2_read_bytes_per_s");

	para(d, PLAIN, say(d, "Ceilings are what this machine reached with nothing "
	    "else to do, never a datasheet's.%s", isnan(l2 / read) ? "" :
	    say(d, " Its L2 reads %s as fast as its memory.",
	    times(d, l2 / read))));
	kv_table(d, kv, "Ceilings");
	say_knees(d);
	figure(d, "sweep", "Bandwidth over the size of the working set; a step down "
	    "is the edge of a cache.");
}
