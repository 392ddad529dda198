/*
 * recorded.c: a plan that ns-plan made where CUPTI was, less what is not
 * wanted.  Part of a group takes no more passes than the whole, so that the
 * counts hold.
 */
#include <err.h>

#include "plan.h"

static size_t
find(const struct wanted *w, const char *name)
{
	size_t i = 0;

	while (i < w->n && strcmp(w->name[i], name) != 0)
		i++;
	return i;
}

/* Prints the rows of that chip's wanted metrics; says which have none. */
unsigned
recorded_print(const char *path, const struct wanted *w, const char *of)
{
	bool *seen = xalloc(w->n, sizeof *seen);
	uint64_t last = 0, from = 1, n_passes = 0;
	struct tsv t;
	struct out o;

	tsv_open(&t, path);
	size_t chip = tsv_col(&t, "chip"), pass = tsv_col(&t, "pass");
	size_t passes = tsv_col(&t, "n_passes"), metric = tsv_col(&t, "metric");
	size_t source = tsv_col(&t, "source");

	out_open(&o, NULL);
	out_head(&o, "chip pass n_passes metric source");
	while (tsv_next(&t)) {
		uint64_t p = tsv_count(&t, pass);
		size_t i = find(w, tsv_text(&t, metric));

		if (strcmp(tsv_text(&t, chip), of) != 0 || i == w->n)
			continue;
		if (seen[i])
			tsv_die(&t, metric, "'%s' a second time", w->name[i]);
		if (p < last)
			tsv_die(&t, pass, "passes are not in order");
		seen[i] = true;
		from += p > last ? n_passes : 0;
		last = p;
		n_passes = tsv_count(&t, passes);
		if (n_passes == 0 || n_passes > 1000)
			tsv_die(&t, passes, "not a count of passes");
		out_text(&o, of);
		out_count(&o, from);
		out_count(&o, n_passes);
		out_text(&o, w->name[i]);
		out_text(&o, tsv_text(&t, source));
		out_row(&o);
	}
	for (size_t i = 0; i < w->n; i++)
		if (!seen[i])
			errx(NS_TROUBLE, "%s: no %s for chip %s: make it again "
			    "where libcupti is (make plans)", t.name,
			    w->name[i], of);
	tsv_close(&t);
	free(seen);
	out_close(&o);
	return (unsigned)(from + n_passes - 1);
}
