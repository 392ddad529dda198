/* ops.c: what the blocks of a decode step do, kind of op by kind of op. */
#include <math.h>

#include "plot.h"

static const char *const doing[] = { "multiplying_ratio", "adding_ratio", "waiting_ratio" };
enum { N_DOING = 3 };

/* What the bytes of a kind would take at what memory can do. */
static void
ceilings(struct plot *p, double scale)
{
	const struct table *t = &p->t;

	fputs("$m << EOD\n", p->fp);
	for (size_t i = 0; i < t->n; i++) {
		double least = table_num(t, i, "total_ns") * table_num(t, i, "of_ceiling_ratio");

		if (!isnan(least))
			fprintf(p->fp, "%zu %.12g\n", i, least * scale);
	}
	fputs("EOD\n", p->fp);
}

static void
bars(struct plot *p, double scale)
{
	const struct table *t = &p->t;

	fputs("$d << EOD\n", p->fp);
	for (size_t i = 0; i < t->n; i++) {
		for (size_t j = 0; j < N_DOING; j++)
			fprintf(p->fp, "%.12g ", fmax(0, table_num(t, i, "total_ns") *
			    table_num(t, i, doing[j]) * scale));
		fputs("\n", p->fp);
	}
	fputs("EOD\nset xtics (", p->fp);
	for (size_t i = 0; i < t->n; i++) {
		const char *kind = table_text(t, i, "kind");

		quoted(p->fp, kind != NULL ? kind : "");
		fprintf(p->fp, " %zu%s", i, i + 1 < t->n ? ", " : ")\n");
	}
}

const char *
draw_ops(struct plot *p)
{
	const struct table *t = &p->t;
	double most = 0, scale;
	bool known = false;

	for (size_t i = 0; i < t->n; i++) {
		most = fmax(most, table_num(t, i, "total_ns"));
		known |= !isnan(table_num(t, i, "of_ceiling_ratio"));
	}
	if (most == 0)
		return "no op has a time";
	head(p, 320);
	scale = 1e-9 * unit_axis(p, "y", most * 1e-9, "s");
	bars(p, scale);
	ceilings(p, scale);
	fputs("set style data histograms\nset style histogram rowstacked\n"
	    "set boxwidth 0.6 relative\nset yrange [0:*]\n", p->fp);
	fprintf(p->fp, "plot [-0.6:%zu.6] $d using 1 lc rgb '%s' title 'multiplying', '' using 2 "
	    "lc rgb '%s' title 'adding', '' using 3 lc rgb '#b0b0b0' title 'waiting'", t->n - 1,
	    hue[0], hue[1]);
	if (known)
		fprintf(p->fp, ", $m using 1:2 with points pt 9 ps 1.2 lc rgb '%s' title "
		    "'memory alone'", hue[2]);
	fputs("\n", p->fp);
	return NULL;
}
