/* terminal.c: the run in six lines. */
#include <math.h>

#include "report.h"

/* Of what only warns, what was found, less what that may mean: the report has it all. */
static const char *
found(struct doc *d, const char *why)
{
	const char *end = d->sum->n_fail > 0 ? NULL : strstr(why, ": ");

	return end == NULL ? why : say(d, "%.*s", (int)(end - why), why);
}

/* The first failed check, or warned, and how many more there are. */
static const char *
worst(struct doc *d)
{
	const struct table *t = &d->run->checks;
	const char *kind = d->sum->n_fail > 0 ? "fail" : "warn";
	size_t more = (d->sum->n_fail > 0 ? d->sum->n_fail : d->sum->n_warn) - 1;

	for (size_t i = 0; i < t->n; i++)
		if (table_is(t, i, "verdict", kind))
			return say(d, "%s %s%s%s: %s%s",
			    text_or(table_text(t, i, "check"), "unnamed"),
			    text_or(table_text(t, i, "phase"), ""),
			    table_text(t, i, "phase") != NULL ? " " : "",
			    strcmp(kind, "fail") == 0 ? "failed" : "warns",
			    found(d, without_phase(text_or(table_text(t, i, "why"),
			    "no reason given"), text_or(table_text(t, i, "phase"),
			    ""))), more > 0 ? say(d, " (and %zu more)", more) : "");
	return d->sum->reason;
}

static const char *
weights(struct doc *d)
{
	const struct kv *m = &d->run->model;
	const char *synthetic = kv_get(m, "synthetic");

	if (m->n == 0 && command_words(d) != NULL)
		return command_words(d);
	if (m->n == 0)
		return "unknown weights";
	if (synthetic != NULL && strcmp(synthetic, "0") != 0)
		return say(d, "synthetic weights (random, seed %s)",
		    text_or(kv_get(m, "seed"), "unknown"));
	return say(d, "weights %s", text_or(kv_get(m, "fingerprint"),
	    "of unknown fingerprint"));
}

static void
line(struct doc *d, const char *text)
{
	for (; *text != '\0'; text++)
		putc(*text == *HARD ? ' ' : *text, d->fp);
	putc('\n', d->fp);
}

static void
say_bytes(struct doc *d)
{
	const struct summary *s = d->sum;
	double ratio = s->measured_read / s->predicted_read;

	if (isnan(s->measured_read) && !isnan(s->decode_read / s->decode_steps))
		line(d, say(d, "bytes     %s read from memory a decode step%s",
		    quantity(d, s->decode_read / s->decode_steps, "B"), s->decode_steps == 1 ?
		    "" : say(d, ", the mean of %s", count(d, s->decode_steps))));
	else if (isnan(s->measured_read) && !isnan(s->decode_read))
		line(d, say(d, "bytes     %s read from memory in decode, of an "
		    "unknown number of tokens", quantity(d, s->decode_read, "B")));
	else if (isnan(add_known(s->measured_read, s->predicted_read)) &&
	    d->run->hierarchy.n > 0)
		line(d, "bytes     none of decode; the report has what other phases moved");
	else if (isnan(add_known(s->measured_read, s->predicted_read)))
		line(d, "bytes     not measured");
	else
		line(d, say(d, "bytes     %s read from memory a decode token, %s "
		    "predicted%s", quantity(d, s->measured_read, "B"),
		    isnan(s->predicted_read) ? "none" :
		    quantity(d, s->predicted_read, "B"), isnan(ratio) ? "" :
		    say(d, " (%s)", signed_percent(d, ratio - 1))));
}

/* The share of the ceiling; of a capture that has none, how busy the GPU was. */
static void
say_share(struct doc *d)
{
	const struct summary *s = d->sum;
	double whole = phase_sum(&d->run->timeline, "all", "busy_ns") /
	    phase_sum(&d->run->timeline, "all", "wall_ns");

	if (s->no_share != NULL)
		line(d, say(d, "ceiling   no figure: %s",
		    scale_bytes(d, s->no_share)));
	else if (!isnan(s->of_read_ratio))
		line(d, say(d, "ceiling   decode reads at %s of the memory read "
		    "ceiling%s", percent(d, s->of_read_ratio),
		    d->run->simulated ? " (estimate)" : ""));
	else if (!isnan(s->busy_ratio))
		line(d, say(d, "busy      the GPU works %s of the wall time of a "
		    "decode step", percent(d, s->busy_ratio)));
	else if (!isnan(whole))
		line(d, say(d, "busy      the GPU works %s of the whole capture",
		    percent(d, whole)));
	else
		line(d, "ceiling   not measured");
}

void
write_terminal(struct doc *d)
{
	const struct summary *s = d->sum;
	bool reasons = s->n_fail > 0 || (s->n_warn > 0 && !s->speed_moved);

	line(d, say(d, "%s: %s%s", d->run->name, weights(d),
	    d->run->simulated ? ", simulated hierarchy" : ""));
	line(d, say(d, "verdict   %s; %s", verdict_word[s->verdict],
	    reasons ? worst(d) : s->reason));
	line(d, say(d, "speed     prefill %s, decode %s%s",
	    token_rate(d, &s->prefill), token_rate(d, &s->decode),
	    s->speed_moved ? " (inconclusive: the canary moved)" : ""));
	say_bytes(d);
	say_share(d);
	line(d, say(d, "read on   %s/report.html", d->run->dir));
}
