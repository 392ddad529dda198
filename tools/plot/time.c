/* time.c: figures over time or over steps. */
#include <math.h>

#include "plot.h"

/* The largest value of a column, 0 if it has none; and the least above 0. */
static double
most_of(const struct table *t, const char *column, double *least)
{
	double most = 0;

	*least = INFINITY;
	for (size_t i = 0; i < t->n; i++) {
		double x = table_num(t, i, column);

		most = fmax(most, x);
		if (x > 0)
			*least = fmin(*least, x);
	}
	return most;
}

static void
series(struct plot *p, const char *source, size_t at, double x, double y)
{
	const struct table *t = &p->t;

	fprintf(p->fp, "$s%zu << EOD\n", at);
	for (size_t i = 0; i < t->n; i++) {
		double time = table_num(t, i, "time_ns");
		double used = table_num(t, i, "used_bytes");

		if (table_is(t, i, "source", source) && !isnan(time) && used > 0)
			fprintf(p->fp, "%.12g %.12g\n", time * x, used * y);
	}
	fputs("EOD\n", p->fp);
}

static bool
speaks(const struct table *t, const char *source)
{
	for (size_t i = 0; i < t->n; i++)
		if (table_is(t, i, "source", source) &&
		    table_num(t, i, "used_bytes") > 0)
			return true;
	return false;
}

/* A source that stands in row i for the first time and has something to say. */
static const char *
new_source(const struct table *t, size_t i)
{
	const char *source = new_name(t, i, "source");

	return source != NULL && speaks(t, source) ? source : NULL;
}

/* Witnesses of one process and of a whole machine: a scale that shows both. */
static double
bytes_axis(struct plot *p, double most, double least)
{
	if (most < 20 * least) {
		fputs("set yrange [0:*]\n", p->fp);
		return unit_axis(p, "y", most, "B");
	}
	fprintf(p->fp, "set logscale y\nset yrange [%.12g:*]\n",
	    pow(10, floor(log10(least))));
	si_axis(p, "y", "B");
	return 1;
}

const char *
draw_footprint(struct plot *p)
{
	const struct table *t = &p->t;
	const char *source;
	double least, most = most_of(t, "used_bytes", &least), scale, seconds, any;
	size_t n = 0;

	if (most == 0)
		return "no sample has bytes";
	head(p, 340);
	scale = bytes_axis(p, most, least);
	seconds = 1e-9 * unit_axis(p, "x", most_of(t, "time_ns", &any) * 1e-9, "s");
	for (size_t i = 0; i < t->n; i++)
		if ((source = new_source(t, i)) != NULL)
			series(p, source, n++, seconds, scale);
	fputs("set xlabel 'since the program began' tc rgb '" INK "'\nplot ", p->fp);
	n = 0;
	for (size_t i = 0; i < t->n; i++)
		if ((source = new_source(t, i)) != NULL) {
			fprintf(p->fp, "%s$s%zu with steps lw 2 lc rgb '%s' title ",
			    n > 0 ? ", " : "", n, hue[n % N_HUES]);
			quoted(p->fp, source);
			n++;
		}
	fputs("\n", p->fp);
	return NULL;
}

/* Is row i a timed decode step?  Warm-up rows have no repeat. */
static bool
timed(const struct table *t, size_t i)
{
	return table_is(t, i, "phase", "decode") &&
	    table_text(t, i, "repeat") != NULL &&
	    !isnan(table_num(t, i, "step")) && !isnan(table_num(t, i, "dur_ns"));
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median time of a step over the repeats. */
static double
median_of(const struct table *t, double step)
{
	double *v = xalloc(t->n, sizeof *v), mid;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (timed(t, i) && table_num(t, i, "step") == step)
			v[n++] = table_num(t, i, "dur_ns");
	qsort(v, n, sizeof *v, by_value);
	mid = n == 0 ? NAN : (v[(n - 1) / 2] + v[n / 2]) / 2;
	free(v);
	return mid;
}

/* Has row i's step not stood above? */
static bool
new_step(const struct table *t, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (timed(t, j) && table_num(t, j, "step") ==
		    table_num(t, i, "step"))
			return false;
	return true;
}

static void
step_times(struct plot *p, double scale)
{
	const struct table *t = &p->t;

	fputs("$d << EOD\n", p->fp);
	for (size_t i = 0; i < t->n; i++)
		if (timed(t, i))
			fprintf(p->fp, "%.12g %.12g\n", table_num(t, i, "step"),
			    table_num(t, i, "dur_ns") * scale);
	fputs("EOD\n$m << EOD\n", p->fp);
	for (size_t i = 0; i < t->n; i++)
		if (timed(t, i) && new_step(t, i))
			fprintf(p->fp, "%.12g %.12g\n", table_num(t, i, "step"),
			    median_of(t, table_num(t, i, "step")) * scale);
	fputs("EOD\n", p->fp);
}

const char *
draw_phases(struct plot *p)
{
	const struct table *t = &p->t;
	double most = 0, least = INFINITY, last = 0, scale = 1e-9;

	for (size_t i = 0; i < t->n; i++)
		if (timed(t, i)) {
			most = fmax(most, table_num(t, i, "dur_ns"));
			least = fmin(least, table_num(t, i, "dur_ns"));
			last = fmax(last, table_num(t, i, "step"));
		}
	if (!(most > 0))
		return "no decode step was timed";
	head(p, 320);
	if (most < 20 * least)
		scale *= unit_axis(p, "y", most * 1e-9, "s");
	else {			/* a disturbed run: show its floor too */
		fputs("set logscale y\n", p->fp);
		si_axis(p, "y", "s");
	}
	step_times(p, scale);
	fprintf(p->fp, "set yrange [%s:*]\nset xtics format '%%.0f'\n"
	    "set xlabel 'decode step' tc rgb '" INK "'\n"
	    "plot [-0.5:%.12g] $d with points pt 7 ps 0.4 lc rgb '#60%s' title "
	    "'each repeat', $m smooth unique with lines lw 2 lc rgb '%s' title "
	    "'median'\n", most < 20 * least ? "0" : "*", last + 0.5, hue[0] + 1,
	    hue[0]);
	return NULL;
}

const char *
draw_timeline(struct plot *p)
{
	const struct table *t = &p->t;
	double any, scale, most = fmax(most_of(t, "busy_ns", &any),
	    most_of(t, "idle_ns", &any));
	size_t n = 0;

	if (most == 0)
		return "no step has busy and idle time";
	head(p, 320);
	scale = 1e-9 * unit_axis(p, "y", most * 1e-9, "s");
	fputs("$d << EOD\n", p->fp);
	for (size_t i = 0; i < t->n; i++) {
		double busy = table_num(t, i, "busy_ns");
		double idle = table_num(t, i, "idle_ns");

		if (!isnan(busy) && !isnan(idle))
			fprintf(p->fp, "%zu %.12g %.12g\n", n++, busy * scale,
			    idle * scale);
	}
	fputs("EOD\nset style data histograms\nset style histogram rowstacked\n"
	    "set boxwidth 0.8 relative\nset yrange [0:*]\n"
	    "set xlabel 'step, in the order of the table' tc rgb '" INK "'\n", p->fp);
	fprintf(p->fp, "set xtics format '%%.0f'\nplot [-0.7:%zu.7] $d using 2 lc rgb "
	    "'%s' title 'busy', '' using 3 lc rgb '#b0b0b0' title 'idle'\n", n - 1,
	    hue[0]);
	return NULL;
}
