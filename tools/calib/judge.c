/* judge.c: what the kernels should have moved, against what was measured. */
#include <err.h>
#include <math.h>

#include "calib.h"

struct moved {
	char	*phase, *rung, *source;
	double	 read_bytes, write_bytes;
};
struct want {
	char	*kernel, *rung;
	bool	 write;
	double	 bytes, scale;	/* larger of both directions */
};

static struct moved *
read_hierarchy(const char *path, size_t *n)
{
	struct moved *m = NULL;
	size_t cap = 0;
	struct tsv t;

	tsv_open(&t, path);
	size_t phase = tsv_col(&t, "phase"), rung = tsv_col(&t, "rung");
	size_t rd = tsv_col(&t, "read_bytes"), wr = tsv_col(&t, "write_bytes");
	size_t source = tsv_col(&t, "source"), step = tsv_find(&t, "step");

	for (*n = 0; tsv_next(&t); ++*n) {
		if (step != TSV_NONE && !tsv_is_na(&t, step))
			tsv_die(&t, step, "a row of one step: give hierarchy.tsv, "
			    "which has a row a phase");
		m = xgrow(m, &cap, *n + 1, sizeof *m);
		m[*n] = (struct moved){ .phase = xstrdup(tsv_text(&t, phase)),
		    .rung = xstrdup(tsv_text(&t, rung)),
		    .source = xstrdup(tsv_text(&t, source)),
		    .read_bytes = tsv_num(&t, rd), .write_bytes = tsv_num(&t, wr) };
	}
	tsv_close(&t);
	return m;
}

static struct want *
read_expected(const char *path, size_t *n)
{
	struct want *w = NULL;
	size_t cap = 0;
	struct tsv t;

	tsv_open(&t, path);
	size_t kernel = tsv_col(&t, "kernel"), rung = tsv_col(&t, "rung");
	size_t direction = tsv_col(&t, "direction");
	size_t bytes = tsv_col(&t, "expected_bytes");

	for (*n = 0; tsv_next(&t); ++*n) {
		const char *d = tsv_text(&t, direction);

		if (strcmp(d, "read") != 0 && strcmp(d, "write") != 0)
			tsv_die(&t, direction, "read or write was expected: '%s'", d);
		w = xgrow(w, &cap, *n + 1, sizeof *w);
		w[*n] = (struct want){ .kernel = xstrdup(tsv_text(&t, kernel)),
		    .rung = xstrdup(tsv_text(&t, rung)), .write = *d == 'w',
		    .bytes = (double)tsv_count(&t, bytes) };
	}
	tsv_close(&t);
	if (*n == 0)
		errx(NS_TROUBLE, "%s: no rows: nothing to judge", path);
	for (size_t i = 0; i < *n; i++)
		for (size_t j = 0; j < *n; j++)
			if (strcmp(w[i].kernel, w[j].kernel) == 0 &&
			    strcmp(w[i].rung, w[j].rung) == 0)
				w[i].scale = fmax(w[i].scale, w[j].bytes);
	return w;
}

/* Writes the row; true if it passes.  m is NULL where nothing was measured. */
static bool
verdict(struct out *o, const struct want *w, const struct moved *m, double tolerance)
{
	double got = m == NULL ? NAN : w->write ? m->write_bytes : m->read_bytes;
	double error = got == w->bytes ? 0 : w->scale != 0 ?
	    (got - w->bytes) / w->scale : NAN;
	bool pass = fabs(error) <= tolerance;
	const char *direction = w->write ? "write" : "read";

	out_text(o, w->kernel);
	out_text(o, w->rung);
	out_text(o, direction);
	out_text(o, m != NULL ? m->source : NULL);
	out_num(o, w->bytes);
	out_num(o, got);
	out_num(o, error);
	out_num(o, tolerance);
	out_text(o, pass ? "pass" : "fail");
	out_row(o);
	if (!pass && isnan(got))
		warnx("gate: kernel %s: no %s bytes of %s were measured",
		    w->kernel, direction, w->rung);
	else if (!pass)
		warnx("gate: kernel %s: %.12g bytes %s at %s, not %.12g: more "
		    "than %g off", w->kernel, got, w->write ? "written" : "read",
		    w->rung, w->bytes, tolerance);
	return pass;
}

int
judge(const char *expected, const char *hierarchy, double tolerance)
{
	size_t n_want, n_moved;
	struct want *w = read_expected(expected, &n_want);
	struct moved *m = read_hierarchy(hierarchy, &n_moved);
	bool pass = true;
	struct out o;

	out_open(&o, NULL);
	out_head(&o, "kernel rung direction source expected_bytes "
	    "measured_bytes error_ratio tolerance_ratio verdict");
	for (size_t i = 0; i < n_want; i++) {
		bool found = false;

		for (size_t j = 0; j < n_moved; j++)
			if (strcmp(m[j].phase, w[i].kernel) == 0 &&
			    strcmp(m[j].rung, w[i].rung) == 0) {
				found = true;
				pass &= verdict(&o, &w[i], &m[j], tolerance);
			}
		if (!found)
			pass &= verdict(&o, &w[i], NULL, tolerance);
	}
	out_close(&o);
	while (n_want-- > 0) {
		free(w[n_want].kernel);
		free(w[n_want].rung);
	}
	while (n_moved-- > 0) {
		free(m[n_moved].phase);
		free(m[n_moved].rung);
		free(m[n_moved].source);
	}
	free(w);
	free(m);
	return pass ? NS_OK : NS_NO;
}
