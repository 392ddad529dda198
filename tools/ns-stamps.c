/*
 * ns-stamps: where the time of a decode step that is one kernel goes, by what
 * its blocks noted.
 *
 * in   block op kind event time_ns
 * out  kind n_ops n_blocks op_ns total_ns share_ratio hop_ns hop_last_ns weights_ns
 *      multiply_ns scale_ns add_ns skew_ns multiplying_ratio adding_ratio
 *      waiting_ratio read_bytes bytes_per_s of_ceiling_ratio clock_ns
 */
#include <err.h>
#include <math.h>
#include <unistd.h>

#include "stamps/stamps.h"

static const struct opt opts[] = {
	{ 'c', "ceilings", "FILE", "ceilings.kv, for shares of what memory can do" },
	{ 'r', "readset", "FILE", "readset.tsv, for the bytes that each kind must read" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-stamps",
	.purpose = "says where the time of a decode step that is one kernel goes",
	.operands = "[FILE]",
	.in = "stamps.tsv: block op kind event time_ns",
	.out = "kind n_ops n_blocks op_ns total_ns share_ratio hop_ns hop_last_ns "
	    "weights_ns multiply_ns scale_ns add_ns skew_ns multiplying_ratio "
	    "adding_ratio waiting_ratio read_bytes bytes_per_s of_ceiling_ratio clock_ns",
	.example = "ns-stamps -r readset.tsv -c ceilings.kv stamps.tsv",
	.opts = opts,
};

static double
read_ceiling(const char *path)
{
	struct kv kv = { 0 };
	double rate;

	kv_read(&kv, path);
	rate = kv_num(&kv, "memory_read_bytes_per_s");
	if (isnan(rate))
		warnx("%s: no memory_read_bytes_per_s: no shares of it", kv.path);
	kv_free(&kv);
	return rate;
}

/* Shares of the time of all blocks, whatever op a block was at. */
static void
print_spent(struct out *o, const struct kind *k, uint64_t n_blocks)
{
	const double all = k->total_ns * (double)n_blocks;
	double rest = all;

	for (size_t i = 0; i < N_SPENT; i++) {
		out_num(o, k->spent[i] / all);
		rest -= k->spent[i];
	}
	out_num(o, rest / all);
}

static void
print_kind(struct out *o, const struct step *s, uint32_t kind, double bytes, double ceiling)
{
	const struct kind k = kind_measure(s, kind);
	const double rate = bytes / (k.total_ns * 1e-9);
	const struct op *last = &s->op[s->n_ops - 1];

	out_text(o, interned(&s->kinds, kind));
	out_count(o, k.n_ops);
	out_num(o, k.median[BLOCKS]);
	out_num(o, k.median[OP]);
	out_num(o, k.total_ns);
	out_num(o, k.total_ns / (double)(last->left - s->op[0].begun));
	for (size_t i = HOP; i < N_MEASURES; i++)
		out_num(o, k.median[i]);
	print_spent(o, &k, s->n_blocks);
	out_sum(o, bytes);
	out_num(o, rate);
	out_num(o, rate / ceiling);
	out_count(o, s->clock_ns);
	out_row(o);
}

static void
print_step(const struct step *s, const struct reads *reads, double ceiling)
{
	bool *seen = xalloc(s->kinds.n, sizeof *seen);
	struct out o;

	out_open(&o, NULL);
	out_head(&o, tool.out);
	for (size_t i = 0; i < s->n_ops; i++) {
		const uint32_t kind = s->op[i].kind;

		if (seen[kind])
			continue;
		seen[kind] = true;
		print_kind(&o, s, kind, reads_of(reads, interned(&s->kinds, kind)), ceiling);
	}
	out_close(&o);
	free(seen);
}

int
main(int argc, char *argv[])
{
	const char *ceilings = NULL, *readset = NULL;
	struct step s;
	struct reads reads;
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		if (ch == 'c')
			ceilings = optarg;
		else
			readset = optarg;
	if (argc - optind > 1)
		tool_usage(&tool);
	for (size_t i = 0; i < N_READ_KINDS; i++)
		reads.bytes[i] = NAN;
	if (readset != NULL)
		reads_read(&reads, readset);
	step_read(&s, argv[optind]);
	step_spend(&s);
	print_step(&s, &reads, ceilings != NULL ? read_ceiling(ceilings) : NAN);
	step_free(&s);
	return NS_OK;
}
