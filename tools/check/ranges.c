/* ranges.c: was every phase that was begun also ended? */
#include <math.h>

#include "check.h"

/* prefill, decode.N or decode/N: a range that is a phase. */
static bool
is_phase(const char *name)
{
	return strcmp(name, "prefill") == 0 ||
	    (strncmp(name, "decode", 6) == 0 && (name[6] == '.' || name[6] == '/' || name[6] == '\0'));
}

void
check_ranges(struct run *r)
{
	struct finding f = finding(NULL, NULL, "nsys", 0, 0, NAN);
	char *path = run_path(r, "ranges.tsv");
	size_t n = 0, n_open = 0;
	struct tsv t;

	tsv_open(&t, path);
	size_t name = tsv_col(&t, "name"), end = tsv_col(&t, "end_ns");

	while (tsv_next(&t)) {
		if (!is_phase(t.val[name]))
			continue;
		n++;
		if (!tsv_is_na(&t, end))
			continue;
		n_open++;
		f = finding(t.val[name], NULL, "nsys", 0, 1, NAN);
		found(r, &f, FAIL, "range %s was never closed: the program ended within it, "
		    "or the capture was cut short; its work is in no figure", t.val[name]);
	}
	tsv_close(&t);
	free(path);
	if (n == 0)
		nothing_found(r, "no range is a phase");
	else if (n_open == 0)
		found(r, &f, PASS, "each of %zu phases that began has ended", n);
}
