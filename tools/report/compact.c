/*
 * compact.c: what the figures show and each piece of GPU work, as columns of
 * JSON: small enough to keep beside a result or to plot elsewhere.
 */
#include <err.h>
#include <jansson.h>
#include <unistd.h>

#include "intern.h"
#include "json.h"

static const char *const plotted[] = { "hierarchy.tsv", "roofline.tsv",
	"sweep.tsv", "footprint.tsv", "baseline.tsv", "timeline.tsv",
	"families.tsv", "idle.tsv", "ops.tsv", NULL };

static json_t *
columns(const struct table *t)
{
	json_t *o = json_object();

	for (size_t j = 0; j < t->ncol; j++) {
		json_t *column = json_array();

		for (size_t i = 0; i < t->n; i++)
			json_push(column, json_value(t->col[j], t->row[i][j]));
		json_put(o, t->col[j], column);
	}
	return o;
}

/* The strings that numbers in a column stand for. */
static json_t *
strings(const struct intern *names)
{
	json_t *a = json_array();

	for (uint32_t i = 0; i < names->n; i++) {
		char *clean = text_clean(interned(names, i));

		json_push(a, json_string(clean));
		free(clean);
	}
	return a;
}

enum { NAME, KIND, PHASE, N_TEXTS };
static const char *const texts[N_TEXTS] = { "name", "kind", "phase" };
enum { START, END, STEP, DEVICE, STREAM, N_NUMBERS };
static const char *const numbers[N_NUMBERS] = { "start_ns", "end_ns", "step",
	"device", "stream" };

/* Windows are no work; every other row is one interval. */
static json_t *
intervals(const char *path)
{
	json_t *o = json_object(), *text[N_TEXTS], *number[N_NUMBERS];
	struct intern names[N_TEXTS] = { 0 };
	size_t text_col[N_TEXTS], number_col[N_NUMBERS];
	struct tsv t;

	tsv_open(&t, path);
	for (size_t i = 0; i < N_TEXTS; i++) {
		text_col[i] = tsv_col(&t, texts[i]);
		json_put(o, texts[i], text[i] = json_array());
	}
	for (size_t i = 0; i < N_NUMBERS; i++) {
		number_col[i] = tsv_col(&t, numbers[i]);
		json_put(o, numbers[i], number[i] = json_array());
	}
	while (tsv_next(&t)) {
		int64_t n;

		if (strcmp(t.val[text_col[KIND]], "window") == 0)
			continue;
		for (size_t i = 0; i < N_TEXTS; i++)
			json_push(text[i], json_integer(intern_text(&names[i],
			    tsv_text(&t, text_col[i]))));
		for (size_t i = 0; i < N_NUMBERS; i++)
			json_push(number[i], tsv_int(&t, number_col[i], &n) ?
			    json_integer(n) : json_null());
	}
	tsv_close(&t);
	for (size_t i = 0; i < N_TEXTS; i++) {
		char *key = xasprintf("%ss", texts[i]);

		json_put(o, key, strings(&names[i]));
		free(key);
		intern_free(&names[i]);
	}
	return o;
}

void
write_compact(FILE *fp, const struct run *r)
{
	static const char *const work[] = { "phased.tsv", "work.tsv", NULL };
	json_t *top = json_object(), *figures = json_object();
	bool done = false;

	json_put(top, "format", json_integer(1));
	json_put(top, "run", json_string(r->name));
	for (const struct part *p = tables; p->file != NULL; p++)
		for (size_t i = 0; plotted[i] != NULL; i++)
			if (strcmp(p->file, plotted[i]) == 0 &&
			    part_table(r, p)->path != NULL)
				json_put(figures, json_stem(p->file),
				    columns(part_table(r, p)));
	json_put(top, "figures", figures);
	for (size_t i = 0; work[i] != NULL; i++) {
		char *path = xasprintf("%s/%s", r->dir, work[i]);

		if (!done && access(path, F_OK) == 0) {
			json_put(top, "work", intervals(path));
			done = true;
		}
		free(path);
	}
	if (json_dumpf(top, fp, JSON_COMPACT | JSON_REAL_PRECISION(12)) != 0)
		err(NS_TROUBLE, "stdout");
	putc('\n', fp);
	json_decref(top);
}
