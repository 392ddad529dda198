/*
 * ns-choose: the kernels that take most time, and how ncu is asked for them.
 *
 * in   work with phase and step, names mangled; with --ask chosen.tsv
 * out  chosen.tsv: docs/05-formats.md; with --ask the options of an ncu run
 */
#include <err.h>
#include <inttypes.h>
#include <unistd.h>

#include "choose/choose.h"
#include "intern.h"
#include "own.h"
#include "run.h"

#define CHOSEN "phase rank step kernel name grid block registers shared_bytes " \
	"n_launches sum_ns own_ns mean_ns share_ratio"

enum { OPT_ASK = 256 };
static const struct opt opts[] = {
	{ 'k', "kernels", "N", "so many of each phase (10)" },
	{ 'p', "phase", "PHASE", "of this phase alone" },
	{ OPT_ASK, "ask", NULL, "of a chosen.tsv: ncu's options, each ended by a NUL" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-choose",
	.purpose = "the kernels that take most time, and how ncu is asked for them",
	.operands = "[FILE]",
	.in = "start_ns end_ns kind device phase step name grid block registers shared_bytes\n"
	    "     --ask: phase step kernel",
	.out = CHOSEN "\n     --ask: --nvtx, --nvtx-include, nsbench@prefill/, ...",
	.example = "nsys2tsv --name mangled work t.sqlite | ns-phases -r ranges.tsv | ns-choose",
	.opts = opts,
};

struct columns {
	size_t start, end, kind, device, phase, step, name, grid, block, registers, shared;
};
struct all {
	struct intern keys;
	size_t	 n, n_kept, cap;
	struct launched *l;		/* the n_kept first are chosen */
	struct own own;
	int64_t	 last_start;
	uint64_t n_hidden;		/* graph replays whose kernels are not told */
};

/* How long the row's work lasts, and what of it is its own. */
static int64_t
duration(struct all *a, const struct tsv *t, const struct columns *c, int64_t *own)
{
	int64_t start, end, ns, device;

	if (!tsv_int(t, c->start, &start) || !tsv_int(t, c->end, &end))
		tsv_die(t, c->start, "NA: a time was expected");
	if (__builtin_sub_overflow(end, start, &ns) || ns < 0)
		tsv_die(t, c->end, "'%s' is before the start", t->val[c->end]);
	if (start < a->last_start)
		tsv_die(t, c->start, "out of order: sort the rows first: sort -n");
	a->last_start = start;
	*own = own_ns(&a->own, tsv_int(t, c->device, &device) ? device : INT64_MIN,
	    start, end);
	return ns;
}

/* The row's kernel in its shape, new or known. */
static struct launched *
find(struct all *a, const struct tsv *t, const struct columns *c)
{
	char *key = xasprintf("%s\t%s\t%s\t%s\t%s", tsv_text(t, c->phase),
	    tsv_text(t, c->name), tsv_text(t, c->grid), tsv_text(t, c->block),
	    tsv_text(t, c->shared));
	uint32_t i = intern_text(&a->keys, key);

	free(key);
	if (i == a->n) {
		a->l = xgrow(a->l, &a->cap, a->n + 1, sizeof *a->l);
		a->l[a->n++] = (struct launched){ .phase = xstrdup(t->val[c->phase]),
		    .kernel = xstrdup(t->val[c->name]),
		    .grid = xstrdup(t->val[c->grid]), .block = xstrdup(t->val[c->block]),
		    .registers = xstrdup(tsv_text(t, c->registers)),
		    .shared = xstrdup(t->val[c->shared]), .step = NO_STEP };
	}
	return &a->l[i];
}

static void
take(struct all *a, const struct tsv *t, const struct columns *c, const char *phase)
{
	const char *kind = tsv_text(t, c->kind);
	struct launched *l;
	int64_t step, ns, own;

	if (strcmp(kind, "window") == 0)
		return;
	ns = duration(a, t, c, &own);
	if (tsv_is_na(t, c->phase) ||
	    (phase != NULL && strcmp(t->val[c->phase], phase) != 0))
		return;
	a->n_hidden += strcmp(kind, "graph") == 0;
	if (strcmp(kind, "kernel") != 0)
		return;
	l = find(a, t, c);
	step = run_step(t, c->step);
	l->step = step > l->step ? step : l->step;
	l->n++;
	if (!add_ok(l->sum_ns, ns, &l->sum_ns))
		tsv_die(t, c->end, "the sum of times is beyond 64 bits");
	l->own_ns += own;	/* no more than sum_ns */
}

static void
read_work(struct all *a, const char *path, const char *phase)
{
	struct tsv t;
	struct columns c;

	tsv_open(&t, path);
	c = (struct columns){ .start = tsv_col(&t, "start_ns"),
	    .end = tsv_col(&t, "end_ns"), .kind = tsv_col(&t, "kind"),
	    .device = tsv_col(&t, "device"),
	    .phase = tsv_col(&t, "phase"), .step = tsv_col(&t, "step"),
	    .name = tsv_col(&t, "name"), .grid = tsv_col(&t, "grid"),
	    .block = tsv_col(&t, "block"), .registers = tsv_col(&t, "registers"),
	    .shared = tsv_col(&t, "shared_bytes") };
	a->last_start = INT64_MIN;
	while (tsv_next(&t))
		take(a, &t, &c, phase);
	if (a->n == 0 && a->n_hidden > 0)
		errx(NS_TROUBLE, "%s: %" PRIu64 " graph replays hide their kernels: "
		    "record with nsys profile --cuda-graph-trace=node", t.name, a->n_hidden);
	if (a->n == 0)
		errx(NS_TROUBLE, "%s: no kernel in %s: does ns-phases know the "
		    "phases of this capture?", t.name, phase != NULL ? phase : "any phase");
	if (a->n_hidden > 0)
		warnx("%s: %" PRIu64 " graph replays hide their kernels: the choice is "
		    "of the others", t.name, a->n_hidden);
	tsv_close(&t);
}

static int
by_time(const void *va, const void *vb)
{
	const struct launched *a = va, *b = vb;

	return phase_cmp(a->phase, b->phase) ?:
	    (b->own_ns > a->own_ns) - (b->own_ns < a->own_ns) ?:
	    (b->sum_ns > a->sum_ns) - (b->sum_ns < a->sum_ns) ?:
	    strcmp(a->kernel, b->kernel) ?: strcmp(a->grid, b->grid) ?:
	    strcmp(a->block, b->block) ?: strcmp(a->shared, b->shared);
}

/* Ranks and shares; the first n of each phase come to the front. */
static void
choose(struct all *a, uint64_t n)
{
	qsort(a->l, a->n, sizeof *a->l, by_time);
	for (size_t i = 0, end; i < a->n; i = end) {
		double sum = 0;

		for (end = i; end < a->n &&
		    strcmp(a->l[end].phase, a->l[i].phase) == 0; end++)
			sum += (double)a->l[end].own_ns;
		for (size_t k = i; k < end; k++) {
			a->l[k].rank = k - i + 1;
			a->l[k].share_ratio = (double)a->l[k].own_ns / sum;
		}
	}
	for (size_t i = 0; i < a->n; i++) {
		struct launched l = a->l[i];

		if (l.rank > n)
			continue;
		a->l[i] = a->l[a->n_kept];
		a->l[a->n_kept++] = l;
	}
}

static void
print(const struct all *a)
{
	struct out o;

	out_open(&o, NULL);
	out_head(&o, CHOSEN);
	for (size_t i = 0; i < a->n_kept; i++) {
		const struct launched *l = &a->l[i];
		char *name = readable_name(l->kernel);

		out_text(&o, l->phase);
		out_count(&o, l->rank);
		out_step(&o, l->step);
		out_text(&o, l->kernel);
		out_text(&o, name);
		out_text(&o, l->grid);
		out_text(&o, l->block);
		out_text(&o, l->registers);
		out_text(&o, l->shared);
		out_count(&o, l->n);
		out_int(&o, l->sum_ns);
		out_int(&o, l->own_ns);
		out_num(&o, (double)l->sum_ns / (double)l->n);
		out_num(&o, l->share_ratio);
		out_row(&o);
		free(name);
	}
	out_close(&o);
}

/* What was chosen before, as it stands in the table. */
static void
read_chosen(struct all *a, const char *path, const char *phase)
{
	struct tsv t;

	tsv_open(&t, path);
	size_t in = tsv_col(&t, "phase"), step = tsv_col(&t, "step");
	size_t kernel = tsv_col(&t, "kernel");

	while (tsv_next(&t)) {
		if (phase != NULL && strcmp(tsv_text(&t, in), phase) != 0)
			continue;
		a->l = xgrow(a->l, &a->cap, a->n + 1, sizeof *a->l);
		a->l[a->n] = (struct launched){ .phase = xstrdup(tsv_text(&t, in)),
		    .kernel = xstrdup(tsv_text(&t, kernel)),
		    .step = run_step(&t, step) };
		if (a->l[a->n].step == NO_STEP)
			tsv_die(&t, step, "NA: a step was expected");
		a->n++;
	}
	if (a->n == 0)
		errx(NS_TROUBLE, "%s: nothing is chosen%s%s", t.name,
		    phase != NULL ? " in phase " : "", phase != NULL ? phase : "");
	tsv_close(&t);
}

static void
print_ask(const struct all *a)
{
	struct out o;

	out_open(&o, NULL);
	ask(o.fp, a->l, a->n);
	out_close(&o);
}

static void
free_all(struct all *a)
{
	for (size_t i = 0; i < a->n; i++) {
		free(a->l[i].phase);
		free(a->l[i].kernel);
		free(a->l[i].grid);
		free(a->l[i].block);
		free(a->l[i].registers);
		free(a->l[i].shared);
	}
	free(a->l);
	own_free(&a->own);
	intern_free(&a->keys);
}

int
main(int argc, char *argv[])
{
	struct all a = { 0 };
	const char *phase = NULL;
	uint64_t n = 10;
	bool asked = false;
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		switch (ch) {
		case 'k': n = opt_count("kernels", optarg); break;
		case 'p': phase = optarg; break;
		case OPT_ASK: asked = true; break;
		}
	if (argc - optind > 1)
		tool_usage(&tool);
	if (n == 0)
		errx(NS_TROUBLE, "--kernels: none is nothing to choose");
	if (asked) {
		read_chosen(&a, argv[optind], phase);
		print_ask(&a);
	} else {
		read_work(&a, argv[optind], phase);
		choose(&a, n);
		print(&a);
	}
	free_all(&a);
	return NS_OK;
}
