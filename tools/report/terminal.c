/* terminal.c: the run in six lines. */
#include <math.h>

#include "report.h"

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
			    text_or(table_text(t, i, "why"), "no reason given"),
			    more > 0 ? say(d, " (and %zu more)", more) : "");
	return d->sum->reason;
}

static const char *
weights(struct doc *d)
{
	const struct kv *m = &d->run->model;
	const char *synthetic = kv_get(m, "synthetic");

	if (m->n == 0)
		return "unknown weights";
	if (synthetic != NULL && strcmp(synthetic, "0") != 0)
		return say(d, "synthetic weights (random, seed %s)",
		    text_or(kv_get(m, "seed"), "unknown"));
	return say(d, "weights %s", text_or(kv_get(m, "fingerprint"),
	    "of unknown fingerprint"));
}

void
write_terminal(struct doc *d)
{
	const struct summary *s = d->sum;
	double ratio = s->measured_read / s->predicted_read;
	bool reasons = s->n_fail > 0 || s->n_warn > 0;

	fprintf(d->fp, "%s: %s%s\n", d->run->name, weights(d),
	    d->run->simulated ? ", simulated hierarchy" : "");
	fprintf(d->fp, "verdict   %s; %s\n", verdict_word[s->verdict],
	    reasons ? worst(d) : s->reason);
	fprintf(d->fp, "speed     prefill %s tok/s, decode %s tok/s\n",
	    digits(d, tokens_per_s(&s->prefill)),
	    digits(d, tokens_per_s(&s->decode)));
	fprintf(d->fp, "bytes     %s read from memory a decode token, %s predicted%s\n",
	    quantity(d, s->measured_read, "B"),
	    quantity(d, s->predicted_read, "B"), isnan(ratio) ? "" :
	    say(d, " (%s)", signed_percent(d, ratio - 1)));
	fprintf(d->fp, "ceiling   decode reads at %s of the memory read ceiling%s\n",
	    percent(d, s->of_read_ratio), d->run->simulated &&
	    !isnan(s->of_read_ratio) ? " (estimate)" : "");
	fprintf(d->fp, "read on   %s/report.html\n", d->run->dir);
}
