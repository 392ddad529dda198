/* roofline.c: phases as points under the ceilings that the machine reached. */
#include <math.h>

#include "plot.h"

static const char *const gemms[] = { "gemm_bf16_flop_per_s",
	"gemm_f16_flop_per_s", "gemm_f32_flop_per_s" };
static const char *const gemm_names[] = { "bf16", "f16", "f32" };
enum { N_GEMMS = sizeof gemms / sizeof *gemms };

/* Highest of the GEMM ceilings. */
static double
peak_of(const struct kv *c)
{
	double peak = NAN;

	for (size_t i = 0; i < N_GEMMS; i++)
		peak = fmax(peak, kv_num(c, gemms[i]));
	return peak;
}

struct box { double x0, x1, y0, y1; };

static void
cover(struct box *b, double x, double y)
{
	b->x0 = fmin(b->x0, x);
	b->x1 = fmax(b->x1, x);
	b->y0 = fmin(b->y0, y);
	b->y1 = fmax(b->y1, y);
}

static void
points(struct plot *p, struct box *b)
{
	const struct table *t = &p->t;

	for (size_t i = 0; i < t->n; i++) {
		double x = table_num(t, i, "flop_per_byte");
		double y = table_num(t, i, "flop_per_s");

		if (!(x > 0) || !(y > 0))
			continue;
		cover(b, x, y);
		fprintf(p->fp, "$p%zu << EOD\n%.12g %.12g\nEOD\n", i, x, y);
	}
}

static void
plot_points(struct plot *p)
{
	const struct table *t = &p->t;

	for (size_t i = 0; i < t->n; i++) {
		const char *phase = table_text(t, i, "phase");

		if (phase == NULL || !(table_num(t, i, "flop_per_byte") > 0) ||
		    !(table_num(t, i, "flop_per_s") > 0))
			continue;
		fprintf(p->fp, ", $p%zu with points pt 7 ps 1.3 lc rgb '%s' notitle, "
		    "$p%zu using 1:2:(", i, hue[phase_hue(phase)], i);
		quoted(p->fp, phase);
		fprintf(p->fp, ") with labels left offset 1.2,-0.6 tc rgb '%s' "
		    "notitle", hue[phase_hue(phase)]);
	}
}

static void
ceilings(struct plot *p, const struct kv *c, const struct box *b)
{
	double bw = kv_num(c, "memory_read_bytes_per_s");
	double peak = peak_of(c);

	fprintf(p->fp, "plot [%.12g:%.12g] (x * %.12g < %.12g ? x * %.12g : NaN) "
	    "lw 2 lc rgb '" INK "' title 'memory read %.4g GB/s'", b->x0, b->x1, bw,
	    peak, bw, bw / 1e9);
	for (size_t i = 0; i < N_GEMMS; i++) {
		double flops = kv_num(c, gemms[i]);

		if (!isnan(flops))
			fprintf(p->fp, ", (x * %.12g > %.12g ? %.12g : NaN) lw 2 dt %zu "
			    "lc rgb '" INK "' title '%s GEMM %.4g GFLOP/s'", bw, flops,
			    flops, i + 1, gemm_names[i], flops / 1e9);
	}
}

const char *
draw_roofline(struct plot *p)
{
	struct kv c = { 0 };
	char *path = xasprintf("%s/ceilings.kv", p->dir);
	struct box b = { INFINITY, 0, INFINITY, 0 };
	double bw, peak;

	if (access_ok(path))
		kv_read(&c, path);
	free(path);
	bw = kv_num(&c, "memory_read_bytes_per_s");
	peak = peak_of(&c);
	if (isnan(bw) || isnan(peak)) {
		kv_free(&c);
		return "ceilings.kv has no memory or no GEMM ceiling";
	}
	head(p, 420);
	points(p, &b);
	if (b.x1 == 0) {
		kv_free(&c);
		return "no phase has both bytes and a time";
	}
	cover(&b, peak / bw, peak);
	fputs("set logscale xy\nset samples 500\n"
	    "set key outside top left vertical maxrows 2\n"
	    "set xlabel 'FLOP a byte of memory' tc rgb '" INK "'\n"
	    "set format x '%g'\n", p->fp);
	b.x0 /= 4, b.x1 *= 4;
	fprintf(p->fp, "set yrange [%.12g:%.12g]\n", b.y0 / 4, b.y1 * 3);
	si_axis(p, "y", "FLOP/s");
	ceilings(p, &c, &b);
	plot_points(p);
	fputs("\n", p->fp);
	kv_free(&c);
	return NULL;
}
