/* ladder.c: bytes a token at each rung, phase beside phase. */
#include <math.h>

#include "plot.h"

static const char *const rungs[][2] = { { "shared", "shared memory" },
	{ "l1", "L1" }, { "xbar", "SM-L2 crossbar" }, { "l2", "L2" },
	{ "memory", "memory" } };
enum { N_RUNGS = sizeof rungs / sizeof *rungs };

static double
value(const struct table *t, const char *phase, const char *rung)
{
	for (size_t i = 0; i < t->n; i++)
		if (table_is(t, i, "phase", phase) && table_is(t, i, "rung", rung))
			return table_num(t, i, "bytes_per_token");
	return NAN;
}

static bool
any_of(const struct table *t, const char *rung)
{
	for (size_t i = 0; i < t->n; i++)
		if (table_is(t, i, "rung", rung) &&
		    table_num(t, i, "bytes_per_token") > 0)
			return true;
	return false;
}

/* The scale begins a decade below the least, since a log scale has no zero. */
static double
floor_of(const struct table *t)
{
	double least = INFINITY;

	for (size_t i = 0; i < t->n; i++) {
		double x = table_num(t, i, "bytes_per_token");

		if (x > 0 && x < least)
			least = x;
	}
	return pow(10, floor(log10(least)) - 1);
}

static void
bars(struct plot *p, const char *phase, size_t at, size_t n_phases)
{
	double width = 0.8 / (double)n_phases, row = 0;

	fprintf(p->fp, "$p%zu << EOD\n", at);
	for (size_t i = 0; i < N_RUNGS; i++) {
		double x = value(&p->t, phase, rungs[i][0]);
		double y = row - 0.4 + width * ((double)at + 0.5);

		if (!any_of(&p->t, rungs[i][0]))
			continue;
		row++;
		if (x > 0)
			fprintf(p->fp, "%.12g %.12g %.12g %.12g\n", x, y,
			    y - width * 0.46, y + width * 0.46);
	}
	fputs("EOD\n", p->fp);
}

const char *
draw_ladder(struct plot *p)
{
	const struct table *t = &p->t;
	const char *phase;
	size_t n_phases = 0, n_rungs = 0, at = 0;

	for (size_t i = 0; i < t->n; i++)
		n_phases += new_name(t, i, "phase") != NULL;
	for (size_t i = 0; i < N_RUNGS; i++)
		n_rungs += any_of(t, rungs[i][0]);
	if (n_rungs == 0)
		return "no rung has bytes a token";
	head(p, (int)(110 + 60 * n_rungs));
	fputs("set logscale x\nset yrange [*:*] reverse\n", p->fp);
	fprintf(p->fp, "set xrange [%.12g:*]\nset offsets 0,0,0.1,0.1\n", floor_of(t));
	si_axis(p, "x", "B");
	fputs("up(x) = x * 1.0005\n"
	    "si(x) = sprintf('%.3g ', x / 10**(3 * floor(log10(up(x)) / 3))) . "
	    "gprintf('%cB', up(x))\n", p->fp);
	fputs("set xlabel 'bytes a token, logarithmic' tc rgb '" INK "'\n"
	    "set grid xtics noytics\nset ytics scale 0 (", p->fp);
	for (size_t i = 0; i < N_RUNGS; i++)
		if (any_of(t, rungs[i][0])) {
			fprintf(p->fp, "%s'%s' %zu", at > 0 ? ", " : "",
			    rungs[i][1], at);
			at++;
		}
	fputs(")\n", p->fp);
	at = 0;
	for (size_t i = 0; i < t->n; i++)
		if ((phase = new_name(t, i, "phase")) != NULL)
			bars(p, phase, at++, n_phases);
	at = 0;
	fputs("plot ", p->fp);
	for (size_t i = 0; i < t->n; i++)
		if ((phase = new_name(t, i, "phase")) != NULL) {
			fprintf(p->fp, "%s$p%zu using (%.12g):2:(%.12g):1:3:4 with "
			    "boxxyerror lc rgb '%s' title ", at > 0 ? ", " : "", at,
			    floor_of(t), floor_of(t), hue[phase_hue(phase)]);
			quoted(p->fp, phase);
			fprintf(p->fp, ", $p%zu using 1:2:(si($1)) with labels left "
			    "offset 0.5,0 tc rgb '" INK "' notitle", at);
			at++;
		}
	fputs("\n", p->fp);
	return NULL;
}
