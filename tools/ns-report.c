/*
 * ns-report: the tables of a run as a report to read, or to compute with.
 *
 * in   a run directory: whatever of its tables is there
 * out  Markdown, one HTML file, JSON (all tables, or the compact columns of the
 *      figures and of each piece of GPU work), or six lines for the terminal
 */
#include <err.h>
#include <unistd.h>

#include "report/report.h"

static const struct opt opts[] = {
	{ 'f', "format", "FORMAT", "md (default), html, json, compact or verdict" },
	{ 'k', "kernels", "N", "kernels, families and gaps shown (default 10)" },
	{ 'm', "metrics", "FILE", "the platform's metrics.tsv, for bytes by kernel" },
	{ 0, NULL, NULL, NULL },
};
static const struct tool tool = {
	.name = "ns-report",
	.purpose = "the tables of a run as a report",
	.operands = "DIR",
	.in = "DIR: the tables of a run, whichever are there",
	.out = "Markdown, one HTML file, JSON, or six lines for the terminal",
	.example = "ns-report -f html runs/tiny.default.cpu >report.html",
	.opts = opts,
};

/* What is asked first comes first: can it be trusted, where do the bytes go. */
static const struct section order[] = {
	{ "verdict", "Verdict", NULL, write_verdict },
	{ "absent", "What is absent", has_absent, write_absent },
	{ "bytes", "Where the bytes go", has_ladder, write_ladder },
	{ "predicted", "Predicted against measured", has_predicted, write_predicted },
	{ "speed", "Speed", has_speed, write_speed },
	{ "roofline", "Under the ceilings", has_roofline, write_roofline },
	{ "timeline", "Where the time goes", has_timeline, write_timeline },
	{ "ops", "Inside the decode step", has_ops, write_ops },
	{ "detail", "Kernels", has_detail, write_detail },
	{ "kernels", "What moves the bytes", has_kernels, write_kernels },
	{ "experts", "Experts", has_routing, write_routing },
	{ "footprint", "Memory in use", has_footprint, write_footprint },
	{ "gate", "The counters on trial", has_gate, write_gate },
	{ "ceilings", "What the machine can do", has_ceilings, write_ceilings },
	{ "machine", "The machine", has_machine, write_machine },
	{ "made", "How this was made", has_made, write_made },
	{ "reading", "How to read this", NULL, write_glossary },
	{ NULL, NULL, NULL, NULL },
};

static void
write_document(struct doc *d)
{
	d->back->begin(d, say(d, "Where a token spends its time: %s", d->run->name));
	write_head(d);
	for (const struct section *s = d->sections; s->id != NULL; s++)
		if (s->there == NULL || s->there(d)) {
			doc_section(d, s->id, s->title);
			s->write(d);
		}
	doc_end(d);
}

int
main(int argc, char *argv[])
{
	const char *format = "md", *metrics = NULL;
	struct doc d = { .sections = order, .top_kernels = 10 };
	struct run run;
	struct summary sum;
	struct out out;
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		if (ch == 'f')
			format = optarg;
		else if (ch == 'k')
			d.top_kernels = opt_count("kernels", optarg);
		else
			metrics = optarg;
	if (argc - optind != 1)
		tool_usage(&tool);
	d.back = strcmp(format, "html") == 0 ? &html :
	    strcmp(format, "md") == 0 ? &markdown : NULL;
	if (d.back == NULL && strcmp(format, "json") != 0 &&
	    strcmp(format, "compact") != 0 && strcmp(format, "verdict") != 0)
		errx(NS_TROUBLE, "--format: md, html, json, compact or verdict, not '%s'",
		    format);

	run_load(&run, argv[optind], metrics);
	summarise(&sum, &run);
	out_open(&out, NULL);
	d.run = &run;
	d.sum = &sum;
	d.fp = out.fp;
	if (d.back != NULL)
		write_document(&d);
	else if (*format == 'j')
		write_json(d.fp, &run, &sum);
	else if (*format == 'c')
		write_compact(d.fp, &run);
	else
		write_terminal(&d);
	doc_free(&d);
	run_free(&run);
	out_close(&out);
	return NS_OK;
}
