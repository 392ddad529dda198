/*
 * ns-plot: a figure of a run as a gnuplot script.
 *
 * in   a run directory: hierarchy.tsv, roofline.tsv, sweep.tsv, ...
 * out  a gnuplot script that draws an SVG on its standard output
 *
 * Where the data is absent the script draws a small figure that says so, so
 * that a pipeline never breaks.  All text goes through quoted(), the one place
 * where gnuplot could be made to run something.
 */
#include <err.h>
#include <unistd.h>

#include "plot/plot.h"

static const struct opt opts[] = { { 0, NULL, NULL, NULL } };
static const struct tool tool = {
	.name = "ns-plot",
	.purpose = "a figure of a run as a gnuplot script",
	.operands = "FIGURE DIR",
	.in = "FIGURE: ladder, roofline, sweep, footprint, phases, timeline or ops; "
	    "DIR: a run",
	.out = "a gnuplot script that draws an SVG on its standard output",
	.example = "ns-plot ladder runs/tiny.default.cpu | gnuplot >ladder.svg",
	.opts = opts,
};

static const struct {
	const char *name, *file, *needs;
	const char *(*draw)(struct plot *);	/* NULL, or why it cannot */
} figures[] = {
	{ "ladder", "hierarchy.tsv", "phase rung bytes_per_token", draw_ladder },
	{ "roofline", "roofline.tsv", "phase flop_per_byte flop_per_s bound",
	    draw_roofline },
	{ "sweep", "sweep.tsv", "kernel working_set_bytes bytes_per_s",
	    draw_sweep },
	{ "footprint", "footprint.tsv", "time_ns source used_bytes",
	    draw_footprint },
	{ "phases", "baseline.tsv", "repeat phase step n_tokens dur_ns",
	    draw_phases },
	{ "timeline", "timeline.tsv", "phase step busy_ns idle_ns",
	    draw_timeline },
	{ "ops", "ops.tsv", "kind total_ns multiplying_ratio adding_ratio waiting_ratio",
	    draw_ops },
};
#define N_FIGURES (sizeof figures / sizeof *figures)

/* Plot what is at I; the script is printed whole or replaced by the reason. */
static void
plot(struct out *out, const char *dir, size_t i)
{
	struct plot p = { .dir = dir };
	char *path = xasprintf("%s/%s", dir, figures[i].file), *script = NULL;
	const char *why = "there is no such table in this run";
	size_t size;

	if ((p.fp = open_memstream(&script, &size)) == NULL)
		err(NS_TROUBLE, "%s", path);
	if (table_read(&p.t, path)) {
		table_need(&p.t, figures[i].needs);
		why = figures[i].draw(&p);
	}
	if (fclose(p.fp) != 0)
		err(NS_TROUBLE, "%s", path);
	p.fp = out->fp;
	if (why == NULL)
		fputs(script, out->fp);
	else
		draw_absent(&p, figures[i].name, figures[i].file, why);
	table_free(&p.t);
	free(script);
	free(path);
}

int
main(int argc, char *argv[])
{
	struct out out;
	size_t i = 0;

	if (tool_opt(&tool, argc, argv) != -1 || argc - optind != 2)
		tool_usage(&tool);
	while (i < N_FIGURES && strcmp(argv[optind], figures[i].name) != 0)
		i++;
	if (i == N_FIGURES)
		errx(NS_TROUBLE, "no figure '%s': there is ladder, roofline, sweep, "
		    "footprint, phases, timeline, ops", argv[optind]);
	if (access(argv[optind + 1], X_OK) != 0)
		err(NS_TROUBLE, "%s", argv[optind + 1]);
	out_open(&out, NULL);
	plot(&out, argv[optind + 1], i);
	out_close(&out);
	return NS_OK;
}
