/*
 * ns-rollup: from counters to bytes at every rung of the memory hierarchy.
 *
 * The registry says which metric means what, so that a platform is data.  A
 * sum is factor x metric over the launches of a phase or step; a launch that
 * lacks a needed metric is counted as missing, never taken for zero.
 *
 * in   source phase step launch kernel metric value
 * out  hierarchy.tsv, steps.tsv or terms.tsv: see docs/05-formats.md
 */
#include <err.h>
#include <math.h>
#include <unistd.h>

#include "rollup/rollup.h"
#include "run.h"

#define HIERARCHY "phase step rung read_bytes write_bytes bytes " \
	"read_requests write_requests requests hit_ratio n_tokens bytes_per_token " \
	"amplification_ratio n_missing n_total source"
#define TERMS "source phase role quantity rung direction metric value " \
	"n_missing n_total"
#define FLOP "phase step flop dur_ns active_ratio n_tokens flop_per_token " \
	"n_missing n_total source"

enum { OPT_STEPS = 256, OPT_TERMS, OPT_FLOP };
enum view { VIEW_HIERARCHY, VIEW_STEPS, VIEW_TERMS, VIEW_FLOP };
static const struct opt opts[] = {
	{ 'b', "baseline", "FILE", "baseline.tsv, for the tokens of each step" },
	{ 'm', "metrics", "FILE", "metrics.tsv, the registry of the platform" },
	{ OPT_STEPS, "steps", NULL, "a row a step" },
	{ OPT_TERMS, "terms", NULL, "a row a row of the registry" },
	{ OPT_FLOP, "flop", NULL, "work and time instead of bytes" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-rollup",
	.purpose = "from counters to bytes at every rung of the memory hierarchy",
	.operands = "[FILE ...]",
	.in = "source phase step launch kernel metric value",
	.out = HIERARCHY "\n     --terms: " TERMS "\n     --flop: " FLOP,
	.example = "ns-rollup -m configs/platforms/cpu/metrics.tsv "
	    "-b baseline.tsv counters.tsv",
	.opts = opts,
};

static void
count_cells(const struct registry *r, const struct total *t, enum rung rung,
    enum quantity from, enum quantity to, uint64_t *n_missing, uint64_t *n_total)
{
	*n_missing = *n_total = 0;
	for (uint32_t m = 0; m < r->metric.n; m++)
		if (registry_needs(r, m, rung, from, to)) {
			*n_total += t->n_launches;
			*n_missing += t->n_launches - t->n_seen[m];
		}
}

static void
print_rung(struct out *o, const struct registry *r, const struct total *t,
    enum rung rung, double n_tokens)
{
	double bytes = registry_sum(r, t, Q_BYTES, rung, D_ANY).value;
	double memory = registry_sum(r, t, Q_BYTES, R_MEMORY, D_ANY).value;
	uint64_t n_total, n_missing;

	count_cells(r, t, rung, Q_BYTES, Q_MISSES, &n_missing, &n_total);
	if (n_total == 0)
		return;
	out_text(o, t->phase);
	out_step(o, t->step);
	out_text(o, rungs[rung]);
	out_sum(o, registry_sum(r, t, Q_BYTES, rung, D_READ).value);
	out_sum(o, registry_sum(r, t, Q_BYTES, rung, D_WRITE).value);
	out_sum(o, bytes);
	out_sum(o, registry_sum(r, t, Q_REQUESTS, rung, D_READ).value);
	out_sum(o, registry_sum(r, t, Q_REQUESTS, rung, D_WRITE).value);
	out_sum(o, registry_sum(r, t, Q_REQUESTS, rung, D_ANY).value);
	out_num(o, registry_hit_ratio(r, t, rung));
	out_sum(o, n_tokens);
	out_num(o, bytes / n_tokens);
	out_num(o, bytes / memory);
	out_count(o, n_missing);
	out_count(o, n_total);
	out_text(o, t->source);
	out_row(o);
}

static void
print_terms(struct out *o, const struct registry *r, const struct total *t)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct term *m = &r->term[i];
		uint64_t n_seen = t->n_seen[m->metric];

		out_text(o, t->source);
		out_text(o, t->phase);
		out_text(o, roles[m->role]);
		out_text(o, quantities[m->quantity]);
		out_text(o, rungs[m->rung]);
		out_text(o, directions[m->direction]);
		out_text(o, interned(&r->metric, m->metric));
		out_sum(o, n_seen > 0 ? m->factor * t->sum[m->metric] : NAN);
		out_count(o, t->n_launches - n_seen);
		out_count(o, t->n_launches);
		out_row(o);
	}
}

/* Work, the profiler's time, and for which share of its cycles it was active. */
static void
print_flop(struct out *o, const struct registry *r, const struct total *t,
    double n_tokens)
{
	double flop = registry_sum(r, t, Q_FLOP, R_NONE, D_ANY).value;
	struct sum active = registry_sum(r, t, Q_ACTIVITY, R_NONE, D_ANY);
	struct sum cycles = registry_sum(r, t, Q_CYCLES, R_NONE, D_ANY);
	uint64_t n_total, n_missing;

	count_cells(r, t, R_NONE, Q_FLOP, Q_CYCLES, &n_missing, &n_total);
	out_text(o, t->phase);
	out_step(o, t->step);
	out_sum(o, flop);
	out_sum(o, registry_sum(r, t, Q_TIME, R_NONE, D_ANY).value);
	out_num(o, active.complete && cycles.complete ?
	    active.value / cycles.value : NAN);
	out_sum(o, n_tokens);
	out_num(o, flop / n_tokens);
	out_count(o, n_missing);
	out_count(o, n_total);
	out_text(o, t->source);
	out_row(o);
}

static void
print_total(struct out *o, const struct registry *r, const struct total *t,
    enum view view, double n_tokens)
{
	if (view == VIEW_TERMS)
		print_terms(o, r, t);
	else if (view == VIEW_FLOP)
		print_flop(o, r, t, n_tokens);
	else
		for (enum rung rung = R_REGISTERS; rung < R_NONE; rung++)
			print_rung(o, r, t, rung, n_tokens);
}

static bool
needed(const struct registry *r, uint32_t m, enum view view)
{
	bool need = view == VIEW_FLOP && registry_needs(r, m, R_NONE, Q_FLOP, Q_CYCLES);

	for (enum rung rung = R_REGISTERS; view != VIEW_FLOP && rung < R_NONE; rung++)
		need |= registry_needs(r, m, rung, Q_BYTES, Q_MISSES);
	return need;
}

/* A metric that some launches lack is said by itself, those that nobody asked for at once. */
static void
say_missing(const struct registry *r, const struct total *t, enum view view)
{
	const char *absent = NULL;
	unsigned n_absent = 0;
	char others[40] = "";

	for (uint32_t m = 0; m < r->metric.n; m++) {
		if (!needed(r, m, view) || t->n_seen[m] == t->n_launches)
			continue;
		if (t->n_seen[m] == 0 && n_absent++ == 0)
			absent = interned(&r->metric, m);
		if (t->n_seen[m] > 0)
			warnx("%s, %s: %s has no value in %llu of %llu launches",
			    terminal_safe(t->source), terminal_safe(t->phase), interned(&r->metric, m),
			    (unsigned long long)(t->n_launches - t->n_seen[m]),
			    (unsigned long long)t->n_launches);
	}
	if (n_absent > 1)
		snprintf(others, sizeof others, " (and %u more)", n_absent - 1);
	if (n_absent > 0)
		warnx("%s, %s: %s%s has no value in %llu of %llu launches",
		    terminal_safe(t->source), terminal_safe(t->phase), absent, others, (unsigned long long)t->n_launches,
		    (unsigned long long)t->n_launches);
}

/*
 * The steps from i on that are of one phase, added up.  Launches of no step
 * have the tokens of the whole phase, unless others say which steps there were.
 */
static size_t
print_phase(struct out *o, const struct counters *c, size_t i,
    const struct baseline *b, enum view view)
{
	const struct total *first = &c->step[i];
	size_t n = c->reg->metric.n;
	struct total t = { .source = first->source, .phase = first->phase,
	    .step = NO_STEP, .sum = xalloc(n, sizeof *t.sum),
	    .n_seen = xalloc(n, sizeof *t.n_seen) };
	double n_tokens = NAN;

	for (; i < c->n_steps && strcmp(c->step[i].source, t.source) == 0 &&
	    strcmp(c->step[i].phase, t.phase) == 0; i++) {
		double more = baseline_tokens(b, t.phase, c->step[i].step);

		total_add(&t, &c->step[i], n);
		n_tokens = &c->step[i] == first || c->step[i - 1].step == NO_STEP ?
		    more : n_tokens + more;
	}
	print_total(o, c->reg, &t, view, n_tokens);
	say_missing(c->reg, &t, view);
	free(t.sum);
	free(t.n_seen);
	return i;
}

static void
print_all(const struct counters *c, const struct baseline *b, enum view view)
{
	struct out o;

	out_open(&o, NULL);
	out_head(&o, view == VIEW_TERMS ? TERMS : view == VIEW_FLOP ? FLOP :
	    HIERARCHY);
	for (size_t i = 0; i < c->n_steps; )
		if (view == VIEW_STEPS) {
			const struct total *t = &c->step[i++];

			print_total(&o, c->reg, t, view,
			    baseline_tokens(b, t->phase, t->step));
		} else
			i = print_phase(&o, c, i, b, view);
	out_close(&o);
}

int
main(int argc, char *argv[])
{
	struct registry reg = { 0 };
	struct baseline b = { 0 };
	struct counters c = { .reg = &reg };
	const char *baseline = NULL, *metrics = NULL;
	enum view view = VIEW_HIERARCHY;
	unsigned n_views = 0;
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		switch (ch) {
		case 'b':
			baseline = optarg;
			break;
		case 'm':
			metrics = optarg;
			break;
		case OPT_STEPS:
		case OPT_TERMS:
		case OPT_FLOP:
			view = VIEW_STEPS + (unsigned)(ch - OPT_STEPS);
			n_views++;
			break;
		}
	if (metrics == NULL || n_views > 1)
		tool_usage(&tool);
	registry_read(&reg, metrics);
	if (baseline != NULL)
		baseline_read(&b, baseline);
	if (optind == argc)
		counters_read(&c, NULL);
	for (int i = optind; i < argc; i++)
		counters_read(&c, argv[i]);
	if (c.n_again > 0)
		warnx("%llu values stand in more than one file: the first counts",
		    (unsigned long long)c.n_again);
	if (c.n_negative > 1)
		warnx("%llu values below zero are taken as missing",
		    (unsigned long long)c.n_negative);
	counters_sort(&c);
	print_all(&c, &b, view);
	counters_free(&c);
	registry_free(&reg);
	baseline_free(&b);
	return NS_OK;
}
