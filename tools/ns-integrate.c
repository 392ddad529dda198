/*
 * ns-integrate: sampled GPU counters, summed over the windows of a program.
 *
 * in   samples: time_ns gpu metric unit value period_ns why
 * out  counters: source phase step launch kernel metric value ...
 */
#include <err.h>
#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "integrate/integrate.h"

enum { OPT_MAP = 256, OPT_BUSY, OPT_ALL, OPT_TOTALS, OPT_NAMES };
static const struct opt opts[] = {
	{ 'w', "work", "FILE", "the windows: work of ns-phases, or phases.tsv" },
	{ 'm', "metrics", "FILE", "a platform's samples.tsv: what each shown name counts" },
	{ OPT_MAP, "map", "SHOWN=METRIC", "what one shown name counts; may be repeated" },
	{ 'd', "device", "N", "of this GPU alone, by nsys's number" },
	{ OPT_BUSY, "busy", NULL, "only samples in which the GPU worked (needs work)" },
	{ OPT_ALL, "all", NULL, "the whole table is one window, phase all" },
	{ OPT_TOTALS, "totals", NULL, "one sum a phase, of all its windows" },
	{ OPT_NAMES, "names", NULL, "print only what was sampled, and what counts" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-integrate",
	.purpose = "sampled GPU counters, summed over the windows of a program",
	.operands = "[FILE]",
	.in = "time_ns gpu metric unit value period_ns why",
	.out = "source phase step launch kernel metric value unit why edge_value n_samples",
	.example = "nsys2tsv samples t.sqlite | ns-integrate -w phased.tsv >sampled.tsv",
	.opts = opts,
};

/* Why there is no sum of any metric, or NULL. */
static char *
why_none(const struct place *p, int64_t usual)
{
	if (p->covered == 0 && p->wanted > 0)
		return xstrdup("not sampled");
	if (p->covered < p->wanted)
		return xasprintf("samples cover %" PRId64 " of %" PRId64 " ns",
		    p->covered, p->wanted);
	if (p->longest > usual + usual / 2)
		return xasprintf("samples are lost: %" PRId64 " ns without one, "
		    "where %" PRId64 " are usual", p->longest, usual);
	return NULL;
}

static char *
why_not(const struct place *p, const struct cell *c)
{
	uint64_t n_absent = c->n_absent + p->n - c->n;

	if (c->n_overflow > 0)
		return xasprintf("overflow in %" PRIu64 " of %" PRIu64 " samples",
		    c->n_overflow, p->n);
	if (n_absent > 0)
		return xasprintf("no value in %" PRIu64 " of %" PRIu64 " samples",
		    n_absent, p->n);
	return NULL;
}

static void
print_place(struct out *o, const struct sums *s, const struct window *w,
    struct gpu *g, const struct place *p, int64_t usual)
{
	char *launch = s->win->totals ? xasprintf("%" PRId64, g->number) :
	    xasprintf("%" PRId64 ".%" PRIu64, g->number, w->nth);
	char *none = s->win->all ? NULL : why_none(p, usual);

	for (uint32_t i = 0; i < s->shown.n; i++) {
		const struct metric *m = &s->metric[i];
		struct cell c = i < p->cap ? p->cell[i] : (struct cell){ 0 };
		char *why = none == NULL ? why_not(p, &c) : xstrdup(none);

		if (m->name != NULL) {
			out_text(o, "nsys");
			out_text(o, w->phase);
			if (s->win->totals)
				out_na(o);
			else
				out_int(o, w->step);
			out_text(o, launch);
			out_na(o);
			out_text(o, m->name);
			out_sum(o, why == NULL ? rint(c.value) : NAN);
			out_text(o, strcmp(m->unit, "bytes") == 0 ? "byte" : NULL);
			out_text(o, why);
			out_sum(o, why == NULL ? c.edge : NAN);
			out_count(o, c.n);
			out_row(o);
		}
		free(why);
	}
	free(none);
	free(launch);
}

static int
by_number(const void *va, const void *vb)
{
	const struct gpu *a = va, *b = vb;

	return (a->number > b->number) - (a->number < b->number);
}

static void
print_sums(struct sums *s)
{
	int64_t *usual = xalloc(s->n_gpu, sizeof *usual);
	struct out o;

	if (s->n_gpu > 0)
		qsort(s->gpu, s->n_gpu, sizeof *s->gpu, by_number);
	for (size_t i = 0; i < s->n_gpu; i++)
		usual[i] = usual_period(&s->gpu[i]);
	out_open(&o, NULL);
	out_head(&o, "source phase step launch kernel metric value unit why "
	    "edge_value n_samples");
	for (size_t k = 0; k < s->win->n_sums; k++)
		for (size_t i = 0; i < s->n_gpu; i++)
			print_place(&o, s, &s->win->w[s->win->first[k]],
			    &s->gpu[i], &s->gpu[i].place[k], usual[i]);
	out_close(&o);
	free(usual);
}

static void
print_names(const struct sums *s)
{
	struct out o;

	out_open(&o, NULL);
	out_head(&o, "shown unit metric why");
	for (uint32_t i = 0; i < s->shown.n; i++) {
		out_text(&o, s->metric[i].shown);
		out_text(&o, s->metric[i].unit);
		out_text(&o, s->metric[i].name);
		out_text(&o, s->metric[i].why);
		out_row(&o);
	}
	out_close(&o);
}

/* Counters were asked for: are there any? */
static void
need_counters(const struct sums *s, const char *path)
{
	if (s->n_counters > 0)
		return;
	if (s->only != ANY_GPU && s->n_gpu == 0)
		errx(NS_TROUBLE, "%s: no sample of GPU %" PRId64, path, s->only);
	if (s->shown.n == 0)
		warnx("%s: nothing was sampled", path);
	else
		errx(NS_TROUBLE, "%s: of %" PRIu32 " sampled metrics none is a "
		    "counter ('%s': %s); record a metric set with suffix: .sum, or "
		    "say with --map what one of them counts", path, s->shown.n,
		    terminal_safe(s->metric[0].shown), s->metric[0].why);
}

int
main(int argc, char *argv[])
{
	const char *work = NULL, *path;
	struct windows win = { 0 };
	struct names names = { 0 };
	struct sums sums = { .win = &win, .names = &names, .only = ANY_GPU };
	bool names_only = false;
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		switch (ch) {
		case 'w': work = optarg; break;
		case 'm': names_read(&names, optarg); break;
		case OPT_MAP: names_add(&names, optarg); break;
		case 'd':
			if ((sums.only = (int64_t)opt_count("device", optarg)) < 0)
				errx(NS_TROUBLE, "--device: there is no such GPU");
			break;
		case OPT_BUSY: sums.busy = true; break;
		case OPT_ALL: windows_all(&win); break;
		case OPT_TOTALS: win.totals = true; break;
		case OPT_NAMES: names_only = true; break;
		default: tool_usage(&tool);
		}
	if (argc - optind > 1 || win.n > 1 || (win.all && win.totals) ||
	    (work == NULL && !win.all && !names_only))
		tool_usage(&tool);
	path = argv[optind] != NULL && strcmp(argv[optind], "-") != 0 ?
	    argv[optind] : "stdin";
	if (work != NULL)
		windows_read(&win, work);
	if (sums.busy && !win.worked)
		errx(NS_TROUBLE, "--busy: when the GPU worked is not known: give the "
		    "work itself with -w, not the windows alone");
	sums_read(&sums, argv[optind]);
	if (names_only)
		print_names(&sums);
	else {
		need_counters(&sums, path);
		print_sums(&sums);
	}
	sums_free(&sums);
	names_free(&names);
	windows_free(&win);
	return NS_OK;
}
