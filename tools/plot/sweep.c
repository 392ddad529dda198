/* sweep.c: bandwidth over the working set, with the edges of the caches. */
#include <err.h>
#include <math.h>

#include "plot.h"

/* Sizes of caches out of probe.kv, wherever a key says so. */
static void
edges(struct plot *p, double from, double to)
{
	static const struct { const char *key, *name; } cache[] = {
		{ "l1d_bytes", "L1" }, { "l1_bytes", "L1" }, { "l2_bytes", "L2" },
		{ "l3_bytes", "L3" },
	};
	char *path = xasprintf("%s/probe.kv", p->dir);
	struct kv probe = { 0 };

	if (access_ok(path))
		kv_read(&probe, path);
	for (size_t i = 0; i < sizeof cache / sizeof *cache; i++) {
		double x = kv_num(&probe, cache[i].key);

		if (!(x >= from && x <= to))
			continue;
		fprintf(p->fp, "set arrow from %.12g, graph 0 to %.12g, graph 1 nohead "
		    "dt 2 lc rgb '" INK "'\nset label '%s' at %.12g, graph 0.97 left "
		    "offset 0.4,0 tc rgb '" INK "'\n", x, x, cache[i].name, x);
	}
	kv_free(&probe);
	free(path);
}

/* Powers of four, in the binary units that caches are sold in. */
static void
size_tics(struct plot *p, double from, double to)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	const char *comma = "";

	fputs("set xtics (", p->fp);
	for (unsigned log4 = 0; log4 < 25; log4++) {
		double x = pow(4, log4);

		if (x < from || x > to)
			continue;
		fprintf(p->fp, "%s'%.0f %s' %.0f", comma, pow(2, 2 * log4 % 10),
		    unit[2 * log4 / 10], x);
		comma = ", ";
	}
	fputs(")\n", p->fp);
}

static void
lines(struct plot *p, const char *kernel, size_t at, double scale)
{
	const struct table *t = &p->t;

	fprintf(p->fp, "$k%zu << EOD\n", at);
	for (size_t i = 0; i < t->n; i++) {
		double x = table_num(t, i, "working_set_bytes");
		double y = table_num(t, i, "bytes_per_s");

		if (table_is(t, i, "kernel", kernel) && x > 0 && y >= 0)
			fprintf(p->fp, "%.12g %.12g\n", x, y * scale);
	}
	fputs("EOD\n", p->fp);
}

const char *
draw_sweep(struct plot *p)
{
	const struct table *t = &p->t;
	const char *kernel;
	double from = INFINITY, to = 0, most = 0, scale;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		double x = table_num(t, i, "working_set_bytes");

		if (isnan(table_num(t, i, "bytes_per_s")) || !(x > 0))
			continue;
		from = fmin(from, x);
		to = fmax(to, x);
		most = fmax(most, table_num(t, i, "bytes_per_s"));
	}
	if (to == 0)
		return "the sweep has no rows";
	head(p, 360);
	fputs("set logscale x 2\nset yrange [0:*]\n"
	    "set xlabel 'working set' tc rgb '" INK "'\n", p->fp);
	size_tics(p, from, to);
	scale = unit_axis(p, "y", most, "B/s");
	edges(p, from, to);
	for (size_t i = 0; i < t->n; i++)
		if ((kernel = new_name(t, i, "kernel")) != NULL)
			lines(p, kernel, n++, scale);
	fprintf(p->fp, "plot [%.12g:%.12g] ", from, to);
	n = 0;
	for (size_t i = 0; i < t->n; i++)
		if ((kernel = new_name(t, i, "kernel")) != NULL) {
			fprintf(p->fp, "%s$k%zu with linespoints lw 2 pt 7 ps 0.5 lc rgb "
			    "'%s' title ", n > 0 ? ", " : "", n, hue[n % N_HUES]);
			quoted(p->fp, kernel);
			n++;
		}
	fputs("\n", p->fp);
	return NULL;
}
