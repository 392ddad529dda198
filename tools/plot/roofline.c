/* roofline.c: phases as points under the ceilings that the machine reached. */
#include <math.h>

#include "plot.h"

static const char *const gemms[] = { "gemm_bf16_flop_per_s",
	"gemm_f16_flop_per_s", "gemm_f32_flop_per_s" };
static const char *const gemm_names[] = { "bf16", "f16", "f32" };
enum { WIDTH = 760, HEIGHT = 420 };
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

/* Where the plot lies in the picture, so that a label can follow a line. */
static const double left = 0.12, right = 0.97, top = 0.96, bottom = 0.16;

static double
slope_degrees(const struct box *b)
{
	double x = log10(b->x1 / b->x0) / ((right - left) * WIDTH);
	double y = log10(b->y1 / b->y0) / ((top - bottom) * HEIGHT);

	return atan2(1 / y, 1 / x) * 180 / M_PI;
}

static void
memory_line(struct plot *p, double bw, double peak, const struct box *b)
{
	double x = sqrt(b->x0 * fmin(peak / bw, b->x1));

	fprintf(p->fp, "set label 'memory read %.3g GB/s' at %.12g,%.12g center "
	    "offset character -0.7,0.7 rotate by %.0f tc rgb '" INK "'\n"
	    "plot [%.12g:%.12g] (x * %.12g < %.12g ? x * %.12g : NaN) lw 2 lc rgb '"
	    INK "' notitle", bw / 1e9, x, x * bw, slope_degrees(b), b->x0, b->x1,
	    bw, peak, bw);
}

static void
gemm_label(struct plot *p, const char *name, double flops, double x)
{
	fprintf(p->fp, "set label '%s GEMM %.3g GFLOP/s' at %.12g,%.12g right "
	    "offset character -0.5,0.7 tc rgb '" INK "'\n", name, flops / 1e9, x,
	    flops);
}

static void
ceilings(struct plot *p, const struct kv *c, const struct box *b)
{
	double bw = kv_num(c, "memory_read_bytes_per_s");

	for (size_t i = 0; i < N_GEMMS; i++)
		if (!isnan(kv_num(c, gemms[i])))
			gemm_label(p, gemm_names[i], kv_num(c, gemms[i]), b->x1);
	memory_line(p, bw, peak_of(c), b);
	for (size_t i = 0; i < N_GEMMS; i++) {
		double flops = kv_num(c, gemms[i]);

		if (!isnan(flops))
			fprintf(p->fp, ", (x * %.12g > %.12g ? %.12g : NaN) lw 2 "
			    "lc rgb '" INK "' notitle", bw, flops, flops);
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
	head(p, HEIGHT);
	points(p, &b);
	if (b.x1 == 0) {
		kv_free(&c);
		return "no phase has both bytes and a time";
	}
	cover(&b, peak / bw, peak);	/* the ridge */
	fputs("set logscale xy\nset samples 500\n"
	    "unset key\n"
	    "set xlabel 'FLOP a byte of memory' tc rgb '" INK "'\n"
	    "set format x '%g'\n", p->fp);
	b.x0 /= 4, b.x1 *= 4, b.y0 /= 4, b.y1 *= 3;
	fprintf(p->fp, "set yrange [%.12g:%.12g]\nset lmargin at screen %g\n"
	    "set rmargin at screen %g\nset tmargin at screen %g\n"
	    "set bmargin at screen %g\n", b.y0, b.y1, left, right, top, bottom);
	si_axis(p, "y", "FLOP/s");
	ceilings(p, &c, &b);
	plot_points(p);
	fputs("\n", p->fp);
	kv_free(&c);
	return NULL;
}
