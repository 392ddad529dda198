/*
 * ns-detail: what holds each of the kernels that were looked at closely.
 *
 * in   phase launch kernel metric value grid block
 * out  detail.tsv: docs/05-formats.md
 */
#include <err.h>
#include <math.h>
#include <unistd.h>

#include "detail/detail.h"
#include "run.h"

#define DETAIL "phase rank step kernel name grid block share_ratio n_launches " \
	"launch_ns n_profiled dur_ns " \
	"registers_read_bytes registers_write_bytes registers_bytes " \
	"shared_read_bytes shared_write_bytes shared_bytes " \
	"l1_read_bytes l1_write_bytes l1_bytes xbar_read_bytes xbar_write_bytes " \
	"xbar_bytes l2_read_bytes l2_write_bytes l2_bytes memory_read_bytes " \
	"memory_write_bytes memory_bytes l1_hit_ratio l2_hit_ratio " \
	"memory_bytes_per_s memory_ceiling of_memory_ceiling_ratio l2_bytes_per_s " \
	"of_l2_ceiling_ratio flop tensor_ratio issue_ratio occupancy_ratio " \
	"occupancy_limit_ratio limited_by n_registers block_shared_bytes n_blocks " \
	"n_sms n_waves stall_1 stall_1_ratio stall_2 stall_2_ratio stall_3 " \
	"stall_3_ratio n_missing n_total reading"

enum { OPT_CHOSEN = 256, OPT_PARTIAL };
static const struct opt opts[] = {
	{ 'c', "ceilings", "FILE", "ceilings.kv: what the machine can do" },
	{ 'd', "detail", "FILE", "detail.tsv of the platform" },
	{ 'm', "metrics", "FILE", "metrics.tsv of the platform" },
	{ 'p', "phase", "PHASE", "the kernels of this phase alone" },
	{ OPT_CHOSEN, "chosen", "FILE", "chosen.tsv: what was asked for" },
	{ OPT_PARTIAL, "partial", NULL, "what was not profiled is NA, not an error" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-detail",
	.purpose = "what holds each of the kernels that were looked at closely",
	.operands = "[FILE]",
	.in = "phase launch kernel metric value grid block\n     --chosen: chosen.tsv",
	.out = DETAIL,
	.example = "cat kernels-*.csv | ncu2tsv | ns-detail -m metrics.tsv -d detail.tsv "
	    "--chosen chosen.tsv",
	.opts = opts,
};

struct job {
	struct registry reg;
	struct items items;
	struct launches launches;
	struct table chosen;
	struct kv ceilings;
};

static double
fact_of(const struct item *f, const struct total *t)
{
	if (f->metric == INTERN_NONE || t->n_seen[f->metric] == 0)
		return NAN;
	return f->factor * t->sum[f->metric] / (double)t->n_seen[f->metric];
}

/* Is the launch of the kernel in that row of chosen.tsv, in its shape? */
static bool
fits(const struct job *j, const struct launch *l, size_t row)
{
	const struct table *c = &j->chosen;
	double want = table_num(c, row, "shared_bytes"), is = 0;

	if (!table_is(c, row, "phase", l->phase) ||
	    !table_is(c, row, "kernel", l->kernel) ||
	    !table_is(c, row, "grid", l->grid) || !table_is(c, row, "block", l->block))
		return false;
	for (enum fact f = F_SHARED_STATIC; f <= F_SHARED_DYNAMIC; f++)
		is += j->items.fact[f].metric == INTERN_NONE ? NAN :
		    j->items.fact[f].factor * l->value[j->items.fact[f].metric];
	return isnan(want) || isnan(is) || want == is;
}

static struct total
add_up(struct job *j, size_t row)
{
	size_t n = j->reg.metric.n;
	struct total t = { .sum = xalloc(n, sizeof *t.sum),
	    .n_seen = xalloc(n, sizeof *t.n_seen) };

	for (size_t i = 0; i < j->launches.n; i++) {
		struct launch *l = &j->launches.l[i];

		if (!fits(j, l, row))
			continue;
		l->taken = true;
		t.n_launches++;
		for (size_t m = 0; m < n; m++)
			if (!isnan(l->value[m])) {
				t.sum[m] += l->value[m];
				t.n_seen[m]++;
			}
	}
	return t;
}

/* Counters of a tiny kernel come from passes that differ: more hits than lookups say nothing. */
static double
as_ratio(double hits)
{
	return hits >= 0 && hits <= 1 ? hits : NAN;
}

static void
tell_bytes(const struct job *j, const struct total *t, struct told *k)
{
	const struct registry *r = &j->reg;
	double n = (double)t->n_launches;

	for (enum rung g = R_REGISTERS; g < R_NONE; g++) {
		k->read[g] = registry_sum(r, t, Q_BYTES, g, D_READ).value / n;
		k->write[g] = registry_sum(r, t, Q_BYTES, g, D_WRITE).value / n;
		k->bytes[g] = registry_sum(r, t, Q_BYTES, g, D_ANY).value / n;
	}
	k->dur_ns = registry_sum(r, t, Q_TIME, R_NONE, D_ANY).value / n;
	k->flop = registry_sum(r, t, Q_FLOP, R_NONE, D_ANY).value / n;
	k->tensor = registry_sum(r, t, Q_ACTIVITY, R_NONE, D_ANY).value /
	    registry_sum(r, t, Q_CYCLES, R_NONE, D_ANY).value;
	k->l1_hit = as_ratio(registry_hit_ratio(r, t, R_L1));
	k->l2_hit = as_ratio(registry_hit_ratio(r, t, R_L2));
}

/* The ceiling of memory is that of what the kernel mostly does there. */
static void
tell_rates(const struct job *j, struct told *k)
{
	double reads = k->read[R_MEMORY] / k->bytes[R_MEMORY];
	const struct kv *c = &j->ceilings;
	char *key;

	k->ceiling = isnan(reads) || (reads > 0.1 && reads < 0.9) ? "copy" :
	    reads >= 0.9 ? "read" : "write";
	key = xasprintf("memory_%s_bytes_per_s", k->ceiling);
	k->memory_rate = k->bytes[R_MEMORY] / (k->dur_ns * 1e-9);
	k->of_memory = k->memory_rate / kv_num(c, key);
	k->l2_rate = k->bytes[R_L2] / (k->dur_ns * 1e-9);
	k->of_l2 = k->read[R_L2] / (k->dur_ns * 1e-9) / kv_num(c, "l2_read_bytes_per_s");
	free(key);
}

/* Occupancy is what the scarcest resource allows; several may be as scarce. */
static void
tell_limit(struct told *k)
{
	double least = NAN;

	for (enum fact f = F_LIMIT_REGISTERS; f <= F_LIMIT_BLOCKS; f++)
		least = fmin(least, k->fact[f]);
	for (enum fact f = F_LIMIT_REGISTERS; f <= F_LIMIT_BLOCKS; f++)
		if (k->fact[f] == least) {
			size_t n = strlen(k->limited_by);

			snprintf(k->limited_by + n, sizeof k->limited_by - n, "%s%s",
			    n > 0 ? "," : "", facts[f] + strlen("limit_"));
		}
}

/* Shares of all stalls: of the cycles in which warps could not be issued. */
static void
tell_stalls(const struct job *j, const struct total *t, struct told *k)
{
	double all = 0;

	for (size_t i = 0; i < j->items.n_stalls; i++) {
		const struct stall *s = &j->items.stall[i];
		double x = fact_of(&s->item, t);
		size_t at = N_TOP;

		if (isnan(x))
			continue;
		all += x;
		while (at > 0 && (k->top[at - 1] == NULL || k->top_ratio[at - 1] < x))
			at--;
		for (size_t m = N_TOP - 1; m > at && at < N_TOP; m--) {
			k->top[m] = k->top[m - 1];
			k->top_ratio[m] = k->top_ratio[m - 1];
		}
		if (at < N_TOP && x > 0) {
			k->top[at] = s;
			k->top_ratio[at] = x;
		}
	}
	for (size_t m = 0; m < N_TOP; m++)
		k->top_ratio[m] = k->top[m] != NULL ? k->top_ratio[m] / all : NAN;
}

static double
n_blocks(const char *grid)
{
	unsigned long x, y, z;

	return grid != NULL && sscanf(grid, "%lux%lux%lu", &x, &y, &z) == 3 ?
	    (double)x * (double)y * (double)z : NAN;
}

static void
count_missing(const struct job *j, const struct total *t, uint64_t *missing, uint64_t *total)
{
	const struct registry *r = &j->reg;

	*missing = *total = 0;
	for (uint32_t m = 0; m < r->metric.n; m++) {
		bool need = registry_needs(r, m, R_NONE, Q_BYTES, Q_CYCLES);

		for (enum rung g = R_REGISTERS; g < R_NONE; g++)
			need |= registry_needs(r, m, g, Q_BYTES, Q_CYCLES);
		for (size_t i = 0; i < j->items.n_stalls; i++)
			need |= j->items.stall[i].item.metric == m;
		if (need) {
			*total += t->n_launches;
			*missing += t->n_launches - t->n_seen[m];
		}
	}
}

static void
print_told(struct out *o, const struct told *k)
{
	for (enum rung g = R_REGISTERS; g < R_NONE; g++) {
		out_num(o, k->read[g]);
		out_num(o, k->write[g]);
		out_num(o, k->bytes[g]);
	}
	out_num(o, k->l1_hit);
	out_num(o, k->l2_hit);
	out_num(o, k->memory_rate);
	out_text(o, isnan(k->memory_rate) ? NULL : k->ceiling);
	out_num(o, k->of_memory);
	out_num(o, k->l2_rate);
	out_num(o, k->of_l2);
	out_num(o, k->flop);
	out_num(o, k->tensor);
	out_num(o, k->fact[F_ISSUE]);
	out_num(o, k->fact[F_OCCUPANCY]);
	out_num(o, k->fact[F_OCCUPANCY_LIMIT]);
	out_text(o, *k->limited_by != '\0' ? k->limited_by : NULL);
	out_num(o, k->fact[F_REGISTERS]);
	out_num(o, k->fact[F_SHARED_STATIC] + k->fact[F_SHARED_DYNAMIC]);
	out_num(o, k->n_blocks);
	out_num(o, k->fact[F_SMS]);
	out_num(o, k->fact[F_WAVES]);
	for (size_t i = 0; i < N_TOP; i++) {
		out_text(o, k->top[i] != NULL ? k->top[i]->reason : NULL);
		out_num(o, k->top_ratio[i]);
	}
}

static void
print_kernel(struct out *o, struct job *j, size_t row, const struct total *t)
{
	static const char *const names[] = { "kernel", "name", "grid", "block" };
	static const char *const numbers[] = { "share_ratio", "n_launches", "mean_ns" };
	const struct table *c = &j->chosen;
	struct told k = { .n_blocks = n_blocks(table_text(c, row, "grid")) };
	uint64_t n_missing, n_total;
	char *line;

	for (size_t i = 0; i < N_FACTS; i++)
		k.fact[i] = fact_of(&j->items.fact[i], t);
	tell_bytes(j, t, &k);
	tell_rates(j, &k);
	tell_limit(&k);
	tell_stalls(j, t, &k);
	count_missing(j, t, &n_missing, &n_total);
	out_text(o, table_text(c, row, "phase"));
	out_num(o, table_num(c, row, "rank"));
	out_num(o, table_num(c, row, "step"));
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		out_text(o, table_text(c, row, names[i]));
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		out_num(o, table_num(c, row, numbers[i]));
	out_count(o, t->n_launches);
	out_num(o, k.dur_ns);
	print_told(o, &k);
	out_count(o, n_missing);
	out_count(o, n_total);
	line = t->n_launches > 0 ? reading(&k) : NULL;
	out_text(o, line);
	out_row(o);
	free(line);
}

/* What was asked for and is not there, and what is there instead. */
static void
say_absent(struct job *j, const bool *absent, size_t n_absent, size_t n, bool partial)
{
	const struct table *c = &j->chosen;

	warnx("of %zu kernels that were asked for ncu profiled %zu; missing:", n, n - n_absent);
	for (size_t i = 0; i < c->n; i++)
		if (absent[i])
			warnx("  %s %s: %s grid %s block %s", c->row[i][table_find(c, "phase")],
			    c->row[i][table_find(c, "rank")], c->row[i][table_find(c, "kernel")],
			    c->row[i][table_find(c, "grid")], c->row[i][table_find(c, "block")]);
	for (const struct launch *l = j->launches.l; l < j->launches.l + j->launches.n; l++)
		if (!l->taken)
			warnx("  profiled instead: %s %s grid %s block %s", terminal_safe(l->phase),
			    terminal_safe(l->kernel), terminal_safe(l->grid), terminal_safe(l->block));
	if (!partial)
		errx(NS_TROUBLE, "the watched program launched others than in the "
		    "timeline, or outside the range: same program, same options? "
		    "(capture the timeline again, then the kernels; --partial takes "
		    "what is there)");
}

static void
print_all(struct job *j, const char *phase, bool partial)
{
	const struct table *c = &j->chosen;
	struct total *t = xalloc(c->n, sizeof *t);
	bool *absent = xalloc(c->n, sizeof *absent);
	size_t n = 0, n_absent = 0;
	struct out o;

	for (size_t i = 0; i < c->n; i++) {
		if (phase != NULL && !table_is(c, i, "phase", phase))
			continue;
		t[i] = add_up(j, i);
		absent[i] = t[i].n_launches == 0;
		n_absent += absent[i];
		n++;
	}
	if (n_absent > 0)
		say_absent(j, absent, n_absent, n, partial);
	out_open(&o, NULL);
	out_head(&o, DETAIL);
	for (size_t i = 0; i < c->n; i++)
		if (phase == NULL || table_is(c, i, "phase", phase))
			print_kernel(&o, j, i, &t[i]);
	out_close(&o);
	for (size_t i = 0; i < c->n; i++) {
		free(t[i].sum);
		free(t[i].n_seen);
	}
	free(t);
	free(absent);
}

int
main(int argc, char *argv[])
{
	const char *ceilings = NULL, *detail = NULL, *metrics = NULL, *phase = NULL,
	    *chosen = NULL;
	struct job j = { 0 };
	bool partial = false;
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		switch (ch) {
		case 'c': ceilings = optarg; break;
		case 'd': detail = optarg; break;
		case 'm': metrics = optarg; break;
		case 'p': phase = optarg; break;
		case OPT_CHOSEN: chosen = optarg; break;
		case OPT_PARTIAL: partial = true; break;
		}
	if (detail == NULL || metrics == NULL || chosen == NULL || argc - optind > 1)
		tool_usage(&tool);
	registry_read(&j.reg, metrics);
	items_read(&j.items, &j.reg, detail);
	if (ceilings != NULL)
		kv_read(&j.ceilings, ceilings);
	if (!table_read(&j.chosen, chosen))
		errx(NS_TROUBLE, "%s: no such file: ns-choose makes it", chosen);
	table_need(&j.chosen, "phase rank step kernel name grid block shared_bytes "
	    "n_launches mean_ns share_ratio");
	launches_read(&j.launches, &j.reg, argv[optind]);
	print_all(&j, phase, partial);
	launches_free(&j.launches);
	table_free(&j.chosen);
	items_free(&j.items);
	registry_free(&j.reg);
	kv_free(&j.ceilings);
	return NS_OK;
}
