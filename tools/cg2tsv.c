/*
 * cg2tsv: what callgrind counted in each dump, function by function.
 *
 * in   callgrind output, format version 1; several dumps in one file or each
 *      in its own
 * out  source phase step launch kernel metric value
 */
#include <err.h>
#include <unistd.h>

#include "cg/cg.h"

enum { OPT_TOTALS = 256 };
static const struct opt opts[] = {
	{ OPT_TOTALS, "totals", NULL, "one row a dump and metric, kernel NA" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "cg2tsv",
	.purpose = "what callgrind counted in each dump, function by function",
	.operands = "[FILE ...]",
	.in = "callgrind output, also of --combine-dumps=yes",
	.out = "source phase step launch kernel metric value",
	.example = "cg2tsv callgrind.out >counters.tsv",
	.opts = opts,
};

struct run {
	bool	 totals;
	struct out out;
	uint64_t last_part, last_thread;
	uint64_t n_kept, n_left;	/* parts */
	bool	 ended;			/* the program's end was seen */
};

/* "Client Request: decode.3" is phase decode, step 3; NULL: no named request. */
static char *
phase_of(const struct cg *c, uint64_t *step)
{
	static const char by_request[] = "Client Request: ";
	const char *trigger = c->part.trigger;
	char *name, *dot;

	*step = 0;
	if (trigger == NULL || strncmp(trigger, by_request, sizeof by_request - 1) != 0 ||
	    trigger[sizeof by_request - 1] == '\0')
		return NULL;
	name = xstrdup(trigger + sizeof by_request - 1);
	dot = strrchr(name, '.');
	if (dot != NULL && dot != name && dot[1] != '\0' &&
	    dot[1 + strspn(dot + 1, "0123456789")] == '\0') {
		*step = cg_number(c, dot + 1);
		*dot = '\0';
	}
	return name;
}

static void
row(struct out *o, const struct part *p, const char *phase, uint64_t step,
    const char *kernel, const char *metric, uint64_t value)
{
	char launch[48];

	snprintf(launch, sizeof launch, p->thread != 0 ? "%llu.%llu" : "%llu",
	    (unsigned long long)p->number, (unsigned long long)p->thread);
	out_text(o, "callgrind");
	out_text(o, phase);
	out_count(o, step);
	out_text(o, launch);
	out_text(o, kernel);
	out_text(o, metric);
	out_count(o, value);
	out_row(o);
}

static void
in_order(struct run *r, const struct cg *c)
{
	const struct part *p = &c->part;

	if (p->number < r->last_part || (p->number == r->last_part &&
	    p->thread <= r->last_thread))
		cg_die(c, "part %llu after part %llu: give the dumps of one run, "
		    "in the order of their numbers", (unsigned long long)p->number,
		    (unsigned long long)r->last_part);
	r->last_part = p->number;
	r->last_thread = p->thread;
}

static void
part(struct run *r, const struct cg *c)
{
	const struct part *p = &c->part;
	uint64_t step;
	char *phase = phase_of(c, &step);

	if (phase == NULL) {
		/* Every run ends with one: it is no phase, and no news. */
		if (p->trigger != NULL &&
		    strcmp(p->trigger, "Program termination") == 0)
			r->ended = true;
		else if (r->n_left++ == 0)
			warnx("%s: part %llu left out: it was not made by a named "
			    "client request but by '%s'", c->path,
			    (unsigned long long)p->number,
			    p->trigger != NULL ? p->trigger : "");
		return;
	}
	in_order(r, c);
	r->n_kept++;
	for (size_t i = 0; r->totals && i < p->n_events; i++)
		row(&r->out, p, phase, step, NULL, p->event[i], p->total[i]);
	for (size_t f = 0; !r->totals && f < p->n_fns; f++)
		for (size_t i = 0; i < p->n_events; i++)
			row(&r->out, p, phase, step, p->fn[f]->name, p->event[i],
			    p->fn[f]->cost[i]);
	free(phase);
}

static void
cg2tsv(struct run *r, const char *path)
{
	struct cg c;

	cg_open(&c, path);
	while (cg_next(&c))
		part(r, &c);
	cg_close(&c);
}

int
main(int argc, char *argv[])
{
	struct run r = { 0 };

	while (tool_opt(&tool, argc, argv) == OPT_TOTALS)
		r.totals = true;
	out_open(&r.out, NULL);
	out_head(&r.out, tool.out);
	cg2tsv(&r, argv[optind]);
	for (int i = optind + 1; i < argc; i++)
		cg2tsv(&r, argv[i]);
	if (r.n_kept == 0)
		errx(NS_TROUBLE, "no dump was made by a named client request: the "
		    "program has to call CALLGRIND_DUMP_STATS_AT(\"decode.0\")");
	if (r.n_left > 1)
		warnx("%llu parts left out in all", (unsigned long long)r.n_left);
	if (!r.ended)
		warnx("no dump of the program's end: was the run cut off, or was a "
		    "file not given?");
	out_close(&r.out);
	return NS_OK;
}
