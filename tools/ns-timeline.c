/*
 * ns-timeline: how busy the GPU was in each window, and what it did.
 *
 * in   work with phase, step and rows of kind window, as ns-phases prints it
 * out  timeline: phase step pid device wall_ns busy_ns idle_ns n_kernels ...
 */
#include <err.h>
#include <inttypes.h>
#include <unistd.h>

#include "timeline/timeline.h"

enum { OPT_ALL = 256, OPT_TOTALS, OPT_GAPS, OPT_CLASSES, OPT_KERNELS,
    OPT_CALLS, OPT_API, OPT_META };
enum { ALL };			/* the phase that is interned first */
static const struct opt opts[] = {
	{ OPT_ALL, "all", NULL, "the whole table is one window, phase all" },
	{ OPT_TOTALS, "totals", NULL, "a row for each phase, not for each step" },
	{ OPT_GAPS, "gaps", NULL, "every gap, with its class and its neighbours" },
	{ OPT_CLASSES, "classes", NULL, "idle time by class of gap" },
	{ OPT_KERNELS, "kernels", NULL, "kernel time by name" },
	{ 'f', "families", "FILE", "time by family of names, from families.tsv" },
	{ OPT_CALLS, "calls", NULL, "API calls of the CPU by time (needs --api)" },
	{ OPT_API, "api", "FILE", "api.tsv: tells gaps of class sync_wait" },
	{ OPT_META, "meta", "FILE", "meta of the capture: were records lost?" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-timeline",
	.purpose = "how busy the GPU was in each window, and what it did",
	.operands = "[FILE]",
	.in = "start_ns end_ns kind device pid launch_ns graph_launch_id phase step name",
	.out = "phase step pid device wall_ns busy_ns idle_ns n_kernels n_launches\n"
	    "     n_graph_launches sum_kernel_ns largest_gap_ns n_gaps overlap_ns\n"
	    "     n_windows reliable why",
	.example = "nsys2tsv work t.sqlite | ns-phases --last-graphs 20 | ns-timeline",
	.opts = opts,
};

void
add_ns(int64_t *sum, int64_t ns)
{
	if (!add_ok(*sum, ns, sum))
		errx(NS_TROUBLE, "a sum of times is beyond 64 bits");
}

void
out_opt(struct out *o, int64_t n)
{
	if (n == NONE)
		out_na(o);
	else
		out_int(o, n);
}

/* What is known of a row of the output. */
struct line {
	uint32_t order;		/* of the phase: when its first window begins */
	struct seen s;
	struct tally t;
};

static void
print_line(struct out *out, const struct line *l, const struct intern *names,
    uint64_t n_lost)
{
	const struct seen *s = &l->s;
	const struct tally *t = &l->t;
	char *why = NULL;

	if (t->n_hidden > 0)
		why = xasprintf("%" PRIu64 " graph replays hide their kernels: "
		    "record with --cuda-graph-trace=node", t->n_hidden);
	else if (s->opaque)
		why = xstrdup("a graph replay launched elsewhere runs in it");
	else if (n_lost > 0)
		why = xasprintf("%" PRIu64 " records of the capture have no "
		    "valid times and are left out", n_lost);
	out_text(out, interned(names, s->phase));
	out_opt(out, s->step);
	out_opt(out, s->pid);
	out_opt(out, s->device);
	out_int(out, s->wall);
	out_int(out, s->busy);
	out_int(out, s->wall - s->busy);
	out_opt(out, t->n_hidden > 0 ? NONE : (int64_t)t->n_kernels);
	out_count(out, t->n_launches);
	out_count(out, t->n_graphs);
	out_opt(out, t->n_hidden > 0 ? NONE : t->sum_kernel);
	out_int(out, s->largest_gap);
	out_count(out, s->n_gaps);
	out_int(out, s->work - s->busy);
	out_count(out, s->n_windows);
	out_int(out, why == NULL);
	out_text(out, why);
	out_row(out);
	free(why);
}

static void
merge(struct line *into, const struct line *l)
{
	add_ns(&into->s.wall, l->s.wall);
	add_ns(&into->s.busy, l->s.busy);
	add_ns(&into->s.work, l->s.work);
	into->s.n_windows += l->s.n_windows;
	into->s.n_gaps += l->s.n_gaps;
	if (l->s.largest_gap > into->s.largest_gap)
		into->s.largest_gap = l->s.largest_gap;
	into->s.opaque |= l->s.opaque;
	into->t.n_kernels += l->t.n_kernels;
	into->t.n_launches += l->t.n_launches;
	into->t.n_graphs += l->t.n_graphs;
	into->t.n_hidden += l->t.n_hidden;
	add_ns(&into->t.sum_kernel, l->t.sum_kernel);
}

static int
by_key(const void *va, const void *vb)
{
	const struct line *a = va, *b = vb;

	return order(a->order, b->order) ?:
	    order(a->s.step, b->s.step) ?:
	    order(a->s.pid, b->s.pid) ?:
	    order(a->s.device, b->s.device);
}

/* Everything at once: what to make of the rows. */
struct job {
	int	 mode;
	bool	 all;
	const char *api;
	uint64_t n_lost;
	struct intern names;
	struct sweep *sweep;
	struct tallies *tallies;
	struct shares *shares;
	struct waits waits;
	struct gaps gaps;
	struct row *windows;
	size_t	 n_windows, cap_windows;
};

static void
print_timeline(const struct job *job)
{
	size_t n, n_lines = 0;
	const struct seen *seen = sweep_seen(job->sweep, &n);
	struct line *lines = xalloc(n, sizeof *lines);
	struct intern phases = { 0 };
	struct out out;

	for (size_t i = 0; i < job->n_windows; i++)
		intern(&phases, &job->windows[i].phase, sizeof seen->phase);
	for (size_t i = 0; i < n; i++) {
		struct line *l = &lines[n_lines];

		if (!sweep_uses(job->sweep, seen[i].pid, seen[i].device))
			continue;
		l->order = intern(&phases, &seen[i].phase, sizeof seen->phase);
		l->s = seen[i];
		l->t = tallies_of(job->tallies, &seen[i]);
		if (job->mode == OPT_TOTALS)
			l->s.step = NONE;
		n_lines++;
	}
	qsort(lines, n_lines, sizeof *lines, by_key);
	out_open(&out, NULL);
	out_head(&out, "phase step pid device wall_ns busy_ns idle_ns n_kernels "
	    "n_launches n_graph_launches sum_kernel_ns largest_gap_ns n_gaps "
	    "overlap_ns n_windows reliable why");
	for (size_t i = 0; i < n_lines; i++) {
		while (i + 1 < n_lines && by_key(&lines[i], &lines[i + 1]) == 0) {
			merge(&lines[i + 1], &lines[i]);
			i++;
		}
		print_line(&out, &lines[i], &job->names, job->n_lost);
	}
	out_close(&out);
	intern_free(&phases);
	free(lines);
}

static void
add_window(struct job *job, const struct row *w)
{
	job->windows = xgrow(job->windows, &job->cap_windows,
	    job->n_windows + 1, sizeof *w);
	job->windows[job->n_windows++] = *w;
}

static void
take_row(struct job *job, const struct row *given)
{
	struct row r = *given;

	if (job->all) {
		r.phase = ALL;
		r.step = 0;
	} else if (r.kind == KIND_WINDOW)
		add_window(job, &r);
	if (job->shares != NULL)
		shares_row(job->shares, &r);
	else if (job->mode != OPT_CALLS)
		sweep_row(job->sweep, &r);
	if (job->tallies != NULL)
		tallies_row(job->tallies, &r);
}

static void
finish(struct job *job)
{
	sweep_end(job->sweep);
	if (job->n_windows == 0)
		warnx("no windows in the table: ns-phases makes them, --all "
		    "takes the whole table as one");
	if (job->shares != NULL)
		shares_print(job->shares);
	else if (job->mode == OPT_GAPS)
		gaps_print(&job->gaps, job->sweep, &job->names);
	else if (job->mode == OPT_CLASSES)
		gaps_print_classes(&job->gaps, job->sweep, &job->names);
	else if (job->mode == OPT_CALLS)
		calls_print(job->api, job->windows, job->n_windows, &job->names);
	else
		print_timeline(job);
}

static void
timeline(struct job *job, const char *path, const char *families)
{
	bool gaps = job->mode == OPT_GAPS || job->mode == OPT_CLASSES;
	bool shares = job->mode == OPT_KERNELS || families != NULL;
	const struct row *r;
	struct rows rows;

	intern_text(&job->names, "all");	/* becomes ALL */
	if (gaps && job->api != NULL)
		waits_read(&job->waits, job->api);
	job->gaps.waits = &job->waits;
	job->sweep = sweep_new(gaps ? gaps_add : NULL, &job->gaps);
	if (job->all) {
		sweep_all(job->sweep, ALL);
		add_window(job, &(struct row){ .start = -MAX_TIME,
		    .end = MAX_TIME, .pid = NONE, .phase = ALL });
	}
	if (shares)
		job->shares = shares_new(&job->names, families);
	else if (!gaps && job->mode != OPT_CALLS)
		job->tallies = tallies_new();
	rows_open(&rows, path, &job->names, gaps || shares);
	while ((r = rows_next(&rows)) != NULL)
		take_row(job, r);
	rows_close(&rows);
	finish(job);
	if (job->shares != NULL)
		shares_free(job->shares);
	if (job->tallies != NULL)
		tallies_free(job->tallies);
	sweep_free(job->sweep);
	intern_free(&job->names);
	free(job->windows);
	free(job->waits.w);
	free(job->gaps.g);
}

/* What nsys2tsv meta says it had to leave out of work. */
static uint64_t
lost(const char *path)
{
	static const char *const keys[] = { "rejected_kernel", "rejected_copy",
	    "rejected_set", "rejected_graph" };
	struct kv meta = { 0 };
	uint64_t sum = 0;

	kv_read(&meta, path);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (kv_get(&meta, keys[i]) != NULL)
			sum += kv_count(&meta, keys[i]);
	kv_free(&meta);
	return sum;
}

int
main(int argc, char *argv[])
{
	struct job job = { 0 };
	const char *families = NULL;
	int ch, n_modes = 0;

	while ((ch = tool_opt(&tool, argc, argv)) != -1) {
		switch (ch) {
		case OPT_ALL: job.all = true; break;
		case OPT_API: job.api = optarg; break;
		case OPT_META: job.n_lost = lost(optarg); break;
		case 'f':
			families = optarg;
			n_modes++;
			break;
		case OPT_TOTALS: case OPT_GAPS: case OPT_CLASSES:
		case OPT_KERNELS: case OPT_CALLS:
			job.mode = ch;
			n_modes++;
			break;
		default: tool_usage(&tool);
		}
	}
	if (argc - optind > 1 || n_modes > 1 ||
	    (job.mode == OPT_CALLS) > (job.api != NULL))
		tool_usage(&tool);
	timeline(&job, argv[optind], families);
	return NS_OK;
}
