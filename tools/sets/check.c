/* check.c: nsys ends with 0 whatever it could not do.  What could it? */
#include <err.h>
#include <strings.h>

#include "sets.h"

static const char LOST[] = "samples came faster than they were read: sample at a lower rate";

/* What nsys says, and what to do about it; in lower case. */
static const struct {
	const char *says, *remedy;
} known[] = {
	{ "scheduled in a single pass", "the set takes more than one pass with this "
	    "driver: give some of its metrics to another set in samples.tsv" },
	{ "skipping metric", "this chip does not sample it: is this the chip's "
	    "platform? else take the metric out of the set in samples.tsv" },
	{ "privilege", "the counters are for administrators only: "
	    "./setup/allow-counters.sh says how to open them" },
	{ "permission", "the counters are for administrators only: "
	    "./setup/allow-counters.sh says how to open them" },
	{ "in use", "another profiler holds the counters: end it (DCGM: dcgmi "
	    "profile --pause)" },
	{ "overflow", LOST },
	{ "overrun", LOST },
	{ "dropped", LOST },
};

static const char *
remedy_of(const char *text)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcasestr(text, known[i].says) != NULL)
			return known[i].remedy;
	return NULL;
}

/* Messages that mean that samples are missing: of those lost, and others. */
struct said {
	unsigned n_lost, n_bad;
};

static struct said
read_diagnostics(const char *path)
{
	struct said said = { 0 };
	struct tsv t;

	tsv_open(&t, path);
	size_t severity = tsv_col(&t, "severity"), text = tsv_col(&t, "text");

	while (tsv_next(&t)) {
		bool error = strcmp(tsv_text(&t, severity), "error") == 0;
		const char *s = terminal_safe(t.val[text]);
		bool metrics = strcasestr(s, "gpu metric") != NULL;

		if (!metrics && error)
			warnx("nsys said: %s", s);
		if (!metrics || (!error && strcmp(t.val[severity], "warning") != 0))
			continue;
		const char *remedy = remedy_of(s);
		const bool lost = remedy == LOST;

		warnx("nsys said: %s: %s", s, remedy != NULL ? remedy :
		    "what was sampled is not to be trusted");
		said.n_lost += lost;
		said.n_bad += !lost;
	}
	tsv_close(&t);
	return said;
}

struct seen {
	bool	 there;
	unsigned n_values, n_overflows;	/* windows */
};

static void
look(struct seen *seen, const struct tsv *t, size_t value, size_t why,
    size_t phase, size_t step, const char *id)
{
	seen->there = true;
	if (!tsv_is_na(t, value)) {
		seen->n_values++;
		return;
	}
	if (strncmp(t->val[why], "overflow", 8) == 0 && seen->n_overflows++ > 0)
		return;		/* one of them says it */
	warnx("%s has no sum in phase %s, step %s: %s", id, terminal_safe(t->val[phase]),
	    terminal_safe(t->val[step]), terminal_safe(t->val[why]));
}

static void
read_sampled(const struct metrics *m, struct seen *seen, const char *path)
{
	struct tsv t;

	tsv_open(&t, path);
	size_t metric = tsv_col(&t, "metric"), value = tsv_col(&t, "value");
	size_t why = tsv_col(&t, "why"), phase = tsv_col(&t, "phase");
	size_t step = tsv_col(&t, "step");

	while (tsv_next(&t)) {
		const char *name = tsv_text(&t, metric);

		for (size_t i = 0; i < m->n; i++) {
			size_t len = strlen(m->id[i]);

			if (strncmp(name, m->id[i], len) == 0 &&
			    strcmp(name + len, ".sum") == 0)
				look(&seen[i], &t, value, why, phase, step,
				    m->id[i]);
		}
	}
	tsv_close(&t);
}

/* Another rate would do: which, for who samples again. */
static int
again(const char *how)
{
	puts(how);
	return NS_NO;
}

int
check(const struct metrics *m, const char *sampled, const char *diagnostics)
{
	const struct said said = read_diagnostics(diagnostics);
	unsigned n_overflows = 0, n_there = 0;
	struct seen *seen;

	if (said.n_lost > 0 && said.n_bad == 0)
		return again("slower");
	seen = xalloc(m->n, sizeof *seen);
	read_sampled(m, seen, sampled);
	for (size_t i = 0; i < m->n; i++) {
		n_there += seen[i].there;
		n_overflows += seen[i].n_overflows;
	}
	for (size_t i = 0; n_there > 0 && i < m->n; i++)
		if (!seen[i].there)
			warnx("%s was asked for and is not in the capture", m->id[i]);
	if (n_there == 0)
		warnx("no counter of set %s is in the capture%s", m->set, said.n_bad > 0 ?
		    "" : ", and nsys does not say why: is the GPU one of nsys "
		    "profile --gpu-metrics-devices=help?");
	free(seen);
	if (said.n_bad > 0 || n_there < m->n)
		return NS_TROUBLE;
	if (n_overflows == 0)
		return NS_OK;
	warnx("set %s: %u sums have no value because counters overflow: sample at a "
	    "higher rate", m->set, n_overflows);
	return again("faster");
}
