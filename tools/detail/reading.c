/*
 * reading.c: what a kernel is held by, in one line.  The first rule that fits
 * speaks; ns-detail(1) and docs/03 have them in words.
 */
#include <math.h>
#include <string.h>

#include "detail.h"

/* From which share on something is what holds the kernel. */
static const double AT_CEILING = 0.6, TENSOR_BUSY = 0.5, ISSUE_BUSY = 0.6;
/* An occupancy of this share of what the launch allows is held by its limit. */
static const double AT_LIMIT = 0.7;
/* Blocks for fewer than this share of the SMs leave the GPU idle. */
static const double FILLS = 0.9;

static char *
at_ceiling(const struct told *k)
{
	static const char *const verbs[][2] = { { "read", "reads" },
	    { "write", "writes" }, { "copy", "moves" } };
	const char *verb = "moves";

	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (strcmp(k->ceiling, verbs[i][0]) == 0)
			verb = verbs[i][1];
	if (k->of_memory >= AT_CEILING)
		return xasprintf("%s memory at %.0f %% of the %s ceiling", verb,
		    100 * k->of_memory, k->ceiling);
	if (k->tensor >= TENSOR_BUSY)
		return xasprintf("tensor-bound: the pipe is active %.0f %% of the time",
		    100 * k->tensor);
	if (k->of_l2 >= AT_CEILING)
		return xasprintf("reads L2 at %.0f %% of its ceiling", 100 * k->of_l2);
	if (k->fact[F_ISSUE] >= ISSUE_BUSY)
		return xasprintf("issue-bound: %.0f %% of the issue slots are used",
		    100 * k->fact[F_ISSUE]);
	return NULL;
}

/* Loads wait for the rung that most of their bytes come from. */
static const char *
waited_for(const struct told *k)
{
	if (strcmp(k->top[0]->reason, "long_scoreboard") != 0 ||
	    isnan(k->read[R_MEMORY]) || isnan(k->read[R_L2]))
		return k->top[0]->waits_for;
	return 2 * k->read[R_MEMORY] >= k->read[R_L2] ? "data from memory" :
	    "data from L2";
}

/* ", limited by registers and shared memory", where the launch is what limits. */
static char *
limit_words(const struct told *k)
{
	double limit = k->fact[F_OCCUPANCY_LIMIT];
	char *copy, *rest, *one, *all;

	if (!(limit < 1) || k->fact[F_OCCUPANCY] < AT_LIMIT * limit || *k->limited_by == '\0')
		return xstrdup("");
	copy = rest = xstrdup(k->limited_by);
	all = xstrdup(", limited by ");
	for (bool first = true; (one = strsep(&rest, ",")) != NULL; first = false) {
		char *more = xasprintf("%s%s%s%s", all, first ? "" : " and ", one,
		    strcmp(one, "shared") == 0 ? " memory" : "");

		free(all);
		all = more;
	}
	free(copy);
	return all;
}

static char *
waits(const struct told *k)
{
	double occupancy = k->fact[F_OCCUPANCY];
	char *reason, *limit, *all;

	if (k->top[0] == NULL)
		return NULL;
	reason = xstrdup(k->top[0]->reason);
	for (char *p = reason; *p != '\0'; p++)
		if (*p == '_')
			*p = ' ';
	all = xasprintf("waits for %s: %.0f %% of stalls are %s", waited_for(k),
	    100 * k->top_ratio[0], reason);
	free(reason);
	if (isnan(occupancy))
		return all;
	limit = limit_words(k);
	reason = xasprintf("%s, at %.0f %% occupancy%s", all, 100 * occupancy, limit);
	free(limit);
	free(all);
	return reason;
}

static char *
joined(char *a, const char *between, char *b)
{
	char *all;

	if (a == NULL || b == NULL)
		return a != NULL ? a : b;
	all = xasprintf("%s%s%s", a, between, b);
	free(a);
	free(b);
	return all;
}

char *
reading(const struct told *k)
{
	char *s = at_ceiling(k), *few = NULL;

	if (s == NULL && k->n_blocks < FILLS * k->fact[F_SMS])
		few = xasprintf("too small for the GPU: %.0f %s on %.0f SMs",
		    k->n_blocks, k->n_blocks == 1 ? "block" : "blocks", k->fact[F_SMS]);
	if (s == NULL)
		s = joined(few, "; ", waits(k));
	return joined(s, "; ", k->bytes[R_REGISTERS] > 0 ? xstrdup("spills registers") : NULL);
}
