/* time.c: figures over time or over steps. */
#include <math.h>

#include "plot.h"

static size_t
series(struct plot *p, const char *source, size_t at)
{
	const struct table *t = &p->t;
	size_t n = 0;

	fprintf(p->fp, "$s%zu << EOD\n", at);
	for (size_t i = 0; i < t->n; i++) {
		double time = table_num(t, i, "time_ns") * 1e-9;
		double used = table_num(t, i, "used_bytes");

		if (!table_is(t, i, "source", source) || isnan(time) || isnan(used))
			continue;
		fprintf(p->fp, "%.12g %.12g\n", time, used);
		n++;
	}
	fputs("EOD\n", p->fp);
	return n;
}

static bool
speaks(const struct table *t, const char *source)
{
	for (size_t i = 0; i < t->n; i++)
		if (table_is(t, i, "source", source) &&
		    !isnan(table_num(t, i, "used_bytes")))
			return true;
	return false;
}

const char *
draw_footprint(struct plot *p)
{
	const struct table *t = &p->t;
	const char *source;
	size_t n = 0, rows = 0;

	head(p, 340);
	for (size_t i = 0; i < t->n; i++)
		if ((source = new_name(t, i, "source")) != NULL &&
		    speaks(t, source))
			rows += series(p, source, n++);
	if (rows == 0)
		return "no sample has bytes";
	fputs("set yrange [0:*]\nset xlabel 'seconds' tc rgb '" INK "'\n", p->fp);
	si_axis(p, "y", "B");
	fputs("plot ", p->fp);
	n = 0;
	for (size_t i = 0; i < t->n; i++)
		if ((source = new_name(t, i, "source")) != NULL &&
		    speaks(t, source)) {
			fprintf(p->fp, "%s$s%zu with steps lw 2 lc rgb '%s' title ",
			    n > 0 ? ", " : "", n, hue[n % N_HUES]);
			quoted(p->fp, source);
			n++;
		}
	fputs("\n", p->fp);
	return NULL;
}

/* Each repeat a faint line of points; warm-up rows have no repeat. */
const char *
draw_phases(struct plot *p)
{
	const struct table *t = &p->t;
	size_t n = 0;

	head(p, 320);
	fputs("$d << EOD\n", p->fp);
	for (size_t i = 0; i < t->n; i++) {
		double step = table_num(t, i, "step");
		double dur = table_num(t, i, "dur_ns") * 1e-9;

		if (table_is(t, i, "phase", "decode") && !isnan(step) &&
		    !isnan(dur) && table_text(t, i, "repeat") != NULL) {
			fprintf(p->fp, "%.12g %.12g\n", step, dur);
			n++;
		}
	}
	fputs("EOD\n", p->fp);
	if (n == 0)
		return "no decode step was timed";
	fputs("set yrange [0:*]\nset xlabel 'decode step' tc rgb '" INK "'\n"
	    "set xtics format '%.0f'\nset offsets 0.5,0.5,0,0\n", p->fp);
	si_axis(p, "y", "s");
	fprintf(p->fp, "plot $d using 1:2 smooth unique with lines lw 2 lc rgb '%s' "
	    "title 'mean over repeats', $d with points pt 7 ps 0.35 lc rgb '%s' "
	    "title 'each repeat'\n", hue[0], hue[1]);
	return NULL;
}

const char *
draw_timeline(struct plot *p)
{
	const struct table *t = &p->t;
	size_t n = 0;

	head(p, 320);
	fputs("$d << EOD\n", p->fp);
	for (size_t i = 0; i < t->n; i++) {
		double busy = table_num(t, i, "busy_ns") * 1e-9;
		double idle = table_num(t, i, "idle_ns") * 1e-9;

		if (!isnan(busy) && !isnan(idle))
			fprintf(p->fp, "%zu %.12g %.12g\n", n++, busy, idle);
	}
	fputs("EOD\n", p->fp);
	if (n == 0)
		return "no step has busy and idle time";
	fputs("set style data histograms\nset style histogram rowstacked\n"
	    "set boxwidth 0.8 relative\nset yrange [0:*]\n"
	    "set xlabel 'step, in the order of the table' tc rgb '" INK "'\n", p->fp);
	si_axis(p, "y", "s");
	fprintf(p->fp, "plot $d using 2 lc rgb '%s' title 'busy', '' using 3 lc rgb "
	    "'#b0b0b0' title 'idle'\n", hue[0]);
	return NULL;
}
