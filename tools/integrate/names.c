/*
 * names.c: which metric a sampled name stands for.  A metric set of one's own
 * shows "ID [sum]" for ID.sum; others show what their author wrote.
 */
#include <err.h>
#include <string.h>

#include "integrate.h"

static void
add(struct names *n, const char *shown, const char *metric)
{
	uint32_t n_before = n->shown.n, i = intern_text(&n->shown, shown);

	n->metric = xgrow(n->metric, &n->cap, n->shown.n, sizeof *n->metric);
	if (i == n_before)
		n->metric[i] = xstrdup(metric);
	else if (strcmp(n->metric[i], metric) != 0)
		errx(NS_TROUBLE, "'%s' is said to count %s, and %s too",
		    terminal_safe(xstrdup(shown)), terminal_safe(n->metric[i]),
		    terminal_safe(xstrdup(metric)));
}

void
names_add(struct names *n, const char *arg)
{
	char *shown = xstrdup(arg), *eq = strrchr(shown, '=');

	if (eq == NULL || eq == shown || eq[1] == '\0')
		errx(NS_TROUBLE, "--map: '%s': SHOWN=METRIC was expected, as in "
		    "'DRAM Read Bytes [Bytes]=dram__bytes_read.sum'", arg);
	*eq = '\0';
	add(n, shown, eq + 1);
	free(shown);
}

void
names_read(struct names *n, const char *path)
{
	struct tsv t;

	tsv_open(&t, path);
	size_t metric = tsv_col(&t, "metric"), shown = tsv_col(&t, "shown");

	while (tsv_next(&t))
		if (!tsv_is_na(&t, shown))
			add(n, tsv_text(&t, shown), tsv_text(&t, metric));
	tsv_close(&t);
}

/* "dram__bytes_read [sum]" -> dram__bytes_read.sum */
static char *
plain(const char *shown)
{
	size_t id = strspn(shown, "abcdefghijklmnopqrstuvwxyz0123456789_");

	if (id == 0 || (strcmp(shown + id, " [sum]") != 0 &&
	    strcmp(shown + id, " [Sum]") != 0))
		return NULL;
	return xasprintf("%.*s.sum", (int)id, shown);
}

char *
names_metric(const struct names *n, const char *shown, const char *unit,
    const char **why)
{
	uint32_t i = intern_find(&n->shown, shown, strlen(shown));
	bool counts = strcmp(unit, "count") == 0 || strcmp(unit, "bytes") == 0;

	if (i != INTERN_NONE && counts)
		return xstrdup(n->metric[i]);
	*why = strcmp(unit, "percent_int") == 0 ?
	    "whole percents: they cannot be added up to bytes" :
	    !counts ? "not a sum over the period" : "no name of a metric is known for it";
	if (i != INTERN_NONE)
		errx(NS_TROUBLE, "'%s' cannot stand for %s: it is %s in %s; record "
		    "the counter itself, with suffix: .sum",
		    terminal_safe(xstrdup(shown)), terminal_safe(n->metric[i]),
		    strcmp(unit, "percent_int") == 0 ? "a percentage, kept" : "kept",
		    strcmp(unit, "percent_int") == 0 ? "whole percents" :
		    terminal_safe(xstrdup(unit)));
	return counts ? plain(shown) : NULL;
}

void
names_free(struct names *n)
{
	for (size_t i = 0; i < n->shown.n; i++)
		free(n->metric[i]);
	free(n->metric);
	intern_free(&n->shown);
}
