/*
 * ns-phases: which phase and step each piece of GPU work belongs to.
 *
 * in   work: start_ns end_ns kind pid launch_ns graph_launch_id phase step name
 * out  the same rows with phase and step, and a row of kind window for each
 *      window; or, with --windows, the windows alone
 */
#include <err.h>
#include <inttypes.h>
#include <regex.h>
#include <string.h>
#include <unistd.h>

#include "phases/phases.h"

enum { OPT_RANGES = 256, OPT_GRAPHS, OPT_WINDOW, OPT_WINDOWS };
static const struct opt opts[] = {
	{ 'r', "nvtx", "FILE", "windows from the NVTX ranges of FILE, by launching call" },
	{ OPT_RANGES, "ranges", "REGEX", "ranges of any domain with such a name; "
	    "group 1 is the phase" },
	{ OPT_GRAPHS, "last-graphs", "N", "windows from the last N CUDA graph launches" },
	{ OPT_WINDOW, "window", "START:END[:NAME]", "a window of given times; may be repeated" },
	{ OPT_WINDOWS, "windows", NULL, "print the windows alone" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-phases",
	.purpose = "which phase and step each piece of GPU work belongs to",
	.operands = "[FILE]",
	.in = "start_ns end_ns kind pid launch_ns graph_launch_id phase step name",
	.out = "the rows with phase and step, and a row of kind window for each window",
	.example = "nsys2tsv work t.sqlite | ns-phases --last-graphs 20 | ns-timeline",
	.opts = opts,
};
static const char ours[] = "^(prefill|decode)([./][0-9]+)?$";

void
emit_windows(struct emit *e, int64_t until)
{
	for (; e->win != NULL && e->next < e->win->n; e->next++) {
		const struct window *w = &e->win->w[e->next];

		if (w->start > until)
			return;
		for (size_t c = 0; c < e->t->ncol; c++) {
			if (c == e->start)
				out_int(&e->out, w->start);
			else if (c == e->end)
				out_int(&e->out, w->end);
			else if (c == e->pid && w->pid != ANY_PID)
				out_int(&e->out, w->pid);
			else if (c == e->step)
				out_int(&e->out, w->step);
			else
				out_text(&e->out, c == e->kind ? "window" :
				    c == e->phase ? w->phase :
				    c == e->name ? e->win->source : "NA");
		}
		out_row(&e->out);
	}
}

void
emit_row(struct emit *e, int64_t start, const struct window *w)
{
	size_t a = e->phase < e->step ? e->phase : e->step;
	size_t b = e->phase < e->step ? e->step : e->phase;

	emit_windows(e, start);
	e->n_rows++;
	e->n_in += w != NULL;
	if (w == NULL) {
		out_fields(&e->out, e->t, 0, e->t->ncol);
		out_row(&e->out);
		return;
	}
	out_fields(&e->out, e->t, 0, a);
	if (a == e->phase)
		out_text(&e->out, w->phase);
	else
		out_int(&e->out, w->step);
	out_fields(&e->out, e->t, a + 1, b);
	if (b == e->phase)
		out_text(&e->out, w->phase);
	else
		out_int(&e->out, w->step);
	out_fields(&e->out, e->t, b + 1, e->t->ncol);
	out_row(&e->out);
}

/* The ranges that were asked for; those without an end are no window. */
static void
read_ranges(struct windows *win, const char *path, const char *regex)
{
	const char *pattern = regex != NULL ? regex : ours;
	uint64_t n = 0, n_open = 0;
	regmatch_t m[2];
	regex_t re;
	struct tsv t;
	int rc;

	if ((rc = regcomp(&re, pattern, REG_EXTENDED)) != 0) {
		char why[128];

		regerror(rc, &re, why, sizeof why);
		errx(NS_TROUBLE, "--ranges: '%s': %s", pattern, why);
	}
	tsv_open(&t, path);
	size_t start = tsv_col(&t, "start_ns"), end = tsv_col(&t, "end_ns");
	size_t kind = tsv_col(&t, "kind"), domain = tsv_col(&t, "domain");
	size_t name = tsv_col(&t, "name"), pid = tsv_col(&t, "pid");

	for (; tsv_next(&t); n++) {
		struct window w = { .pid = ANY_PID };
		const char *s = tsv_text(&t, name);
		bool grouped;

		if (strcmp(t.val[kind], "mark") == 0 || (regex == NULL &&
		    strcmp(t.val[domain], "nsbench") != 0) ||
		    regexec(&re, s, 2, m, 0) != 0)
			continue;
		if (!tsv_int(&t, start, &w.start))
			tsv_die(&t, start, "may not be NA");
		if (!tsv_int(&t, end, &w.end)) {
			n_open++;
			continue;
		}
		if (w.end < w.start)
			tsv_die(&t, end, "before start_ns");
		tsv_int(&t, pid, &w.pid);
		grouped = regex != NULL && re.re_nsub > 0 && m[1].rm_eo > m[1].rm_so;
		window_name(&w, s, grouped ? s + m[1].rm_so : NULL,
		    grouped ? (size_t)(m[1].rm_eo - m[1].rm_so) : 0);
		windows_add(win, &w);
	}
	if (n_open > 0)
		warnx("%s: %" PRIu64 " ranges have no end and are left out",
		    t.name, n_open);
	if (win->n == 0)
		errx(NS_TROUBLE, "%s: of %" PRIu64 " ranges none is named %s%s%s",
		    t.name, n, pattern, regex == NULL ? " in domain nsbench" : "",
		    regex == NULL ? ": name other ones with --ranges REGEX" : "");
	tsv_close(&t);
	regfree(&re);
	win->source = "nvtx";
	windows_index(win);
}

/* START:END[:NAME] */
static void
add_given(struct windows *win, const char *arg)
{
	struct window w = { .pid = ANY_PID };
	char *s = xstrdup(arg), *end = strchr(s, ':'), *name = NULL;

	if (end != NULL) {
		*end++ = '\0';
		if ((name = strchr(end, ':')) != NULL)
			*name++ = '\0';
	}
	if (end == NULL || !parse_int(s, &w.start) || !parse_int(end, &w.end) ||
	    w.end < w.start || (name != NULL && *name == '\0'))
		errx(NS_TROUBLE, "--window: '%s': START:END[:NAME] in ns was "
		    "expected, START not after END", arg);
	window_name(&w, name != NULL ? name : "window", NULL, 0);
	windows_add(win, &w);
	free(s);
}

/* By the launching call for ranges of the CPU, by start for times of the GPU. */
static void
assign(struct emit *e, struct windows *win, bool by_launch)
{
	size_t when = tsv_col(e->t, by_launch ? "launch_ns" : "start_ns");

	e->win = win;
	while (tsv_next(e->t)) {
		const struct window *w = NULL;
		int64_t start, pid = ANY_PID, t;

		if (!tsv_int(e->t, e->start, &start))
			tsv_die(e->t, e->start, "may not be NA");
		tsv_int(e->t, e->pid, &pid);
		if (tsv_int(e->t, when, &t))
			w = windows_find(win, pid, t);
		else
			e->n_unlaunched++;
		emit_row(e, start, w);
	}
}

static void
print_windows(const struct windows *win)
{
	struct out out;

	out_open(&out, NULL);
	out_head(&out, "phase step start_ns end_ns source pid");
	for (size_t i = 0; i < win->n; i++) {
		const struct window *w = &win->w[i];

		out_text(&out, w->phase);
		out_int(&out, w->step);
		out_int(&out, w->start);
		out_int(&out, w->end);
		out_text(&out, win->source);
		if (w->pid != ANY_PID)
			out_int(&out, w->pid);
		else
			out_na(&out);
		out_row(&out);
	}
	out_close(&out);
}

static void
open_work(struct emit *e, struct tsv *t, const char *path)
{
	tsv_open(t, path);
	*e = (struct emit){ .t = t, .start = tsv_col(t, "start_ns"),
	    .end = tsv_col(t, "end_ns"), .kind = tsv_col(t, "kind"),
	    .pid = tsv_col(t, "pid"), .phase = tsv_col(t, "phase"),
	    .step = tsv_col(t, "step"), .name = tsv_col(t, "name") };
}

static void
work(struct windows *win, const char *path, uint64_t last, bool by_launch)
{
	struct emit e;
	struct tsv t;

	open_work(&e, &t, path);
	out_open(&e.out, NULL);
	for (size_t c = 0; c < t.ncol; c++)
		out_text(&e.out, t.col[c]);
	out_row(&e.out);
	if (last > 0)
		last_graphs(&e, win, last, false);
	else
		assign(&e, win, by_launch);
	emit_windows(&e, INT64_MAX);
	out_close(&e.out);
	warnx("%s: %" PRIu64 " rows: %" PRIu64 " in %zu windows, %" PRIu64
	    " in none", t.name, e.n_rows, e.n_in, win->n, e.n_rows - e.n_in);
	if (e.n_unlaunched > 0)
		warnx("%s: %" PRIu64 " rows have no launching call (launch_ns is "
		    "NA) and belong to no range", t.name, e.n_unlaunched);
	tsv_close(&t);
}

int
main(int argc, char *argv[])
{
	const char *nvtx = NULL, *regex = NULL;
	struct windows win = { .source = "given" };
	uint64_t last = 0;
	bool alone = false;
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1) {
		switch (ch) {
		case 'r': nvtx = optarg; break;
		case OPT_RANGES: regex = optarg; break;
		case OPT_GRAPHS:
			if ((last = opt_count("last-graphs", optarg)) == 0 || last > UINT32_MAX)
				errx(NS_TROUBLE, "--last-graphs: from 1 on");
			break;
		case OPT_WINDOW: add_given(&win, optarg); break;
		case OPT_WINDOWS: alone = true; break;
		default: tool_usage(&tool);
		}
	}
	if (argc - optind > 1 || (nvtx != NULL) + (last > 0) + (win.n > 0) != 1 ||
	    (regex != NULL && nvtx == NULL))
		tool_usage(&tool);
	if (nvtx != NULL)
		read_ranges(&win, nvtx, regex);
	else if (last == 0)
		windows_index(&win);
	else
		win.source = "graph";
	if (!alone)
		work(&win, argv[optind], last, nvtx != NULL);
	else {
		if (last > 0) {
			struct emit e;
			struct tsv t;

			open_work(&e, &t, argv[optind]);
			last_graphs(&e, &win, last, true);
			tsv_close(&t);
		}
		print_windows(&win);
	}
	windows_free(&win);
	return NS_OK;
}
