/*
 * ns-readset: what memory must deliver, predicted from a checkpoint's header
 * and the workload alone, step by step and role by role.
 *
 * in   name role layer expert shape n_elements bytes
 * out  phase step role read_bytes write_bytes flop
 */
#include <err.h>
#include <math.h>
#include <unistd.h>

#include "readset/readset.h"

enum { OPT_KV_BYTES = 256, OPT_ROUTING, OPT_ACTIVATION_BYTES };
static const struct opt opts[] = {
	{ 'B', "batch", "N", "sequences at once (1)" },
	{ 'g', "generate-tokens", "N", "decode steps" },
	{ 'm', "model", "FILE", "model.kv" },
	{ 'p', "prompt-tokens", "N", "prompt tokens of each sequence" },
	{ OPT_ACTIVATION_BYTES, "activation-bytes", "N", "bytes of an element of an activation (0: not counted)" },
	{ OPT_KV_BYTES, "kv-bytes", "N", "bytes of an element of the KV cache" },
	{ OPT_ROUTING, "routing", "FILE", "routing.tsv: the experts chosen" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-readset",
	.purpose = "predicts the bytes and the work of each step of a model",
	.operands = "[FILE]",
	.in = "name role layer expert shape n_elements bytes",
	.out = "phase step role read_bytes write_bytes flop",
	.example = "ns-readset -m model.kv -p 32 -g 16 --kv-bytes 4 tensors.tsv",
	.opts = opts,
};

/* The odds' share is rounded once, when all of it is together. */
static uint64_t
whole(uint64_t known, double expected)
{
	if (expected >= 0x1p63)
		errx(NS_TROUBLE, "%g: more than 64 bits: sizes or workload are "
		    "wrong", expected);
	return plus(known, (uint64_t)llround(expected));
}

static void
print_step(struct out *o, const struct model *m, const struct cost *cost,
    const char *phase, uint64_t step)
{
	bool there[N_ROLES] = { false };

	for (size_t i = 0; i < m->n; i++)
		there[m->tensor[i].role] = true;
	there[R_LM_HEAD] = true;
	there[R_CACHE] = there[R_K] || there[R_V];
	there[R_ACTIVATION] = cost[R_ACTIVATION].write != 0;
	for (size_t i = 0; i < N_ROLES; i++)
		if (there[i]) {
			out_text(o, phase);
			out_count(o, step);
			out_text(o, roles[i].name);
			out_count(o, whole(cost[i].read, cost[i].expected_read));
			out_count(o, cost[i].write);
			out_count(o, whole(cost[i].flop, cost[i].expected_flop));
			out_row(o);
		}
}

static void
print_all(const struct model *m, const struct routing *routing,
    const struct workload *w)
{
	struct cost cost[N_ROLES];
	struct out o;

	out_open(&o, NULL);
	out_head(&o, tool.out);
	step_cost(m, routing, w, false, 0, cost);
	print_step(&o, m, cost, "prefill", 0);
	for (uint64_t i = 0; i < w->generate; i++) {
		step_cost(m, routing, w, true, i, cost);
		print_step(&o, m, cost, "decode", i);
	}
	out_close(&o);
}

static uint64_t
positive(const char *name, const char *arg)
{
	uint64_t n = opt_count(name, arg);

	if (n == 0)
		errx(NS_TROUBLE, "--%s: at least 1 was expected", name);
	return n;
}

int
main(int argc, char *argv[])
{
	struct workload w = { .batch = 1, .generate = UINT64_MAX };
	struct routing routing = { 0 };
	const char *kv = NULL, *routes = NULL;
	struct model m;
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		switch (ch) {
		case 'B':
			w.batch = positive("batch", optarg);
			break;
		case 'g':
			w.generate = opt_count("generate-tokens", optarg);
			break;
		case 'm':
			kv = optarg;
			break;
		case 'p':
			w.prompt = positive("prompt-tokens", optarg);
			break;
		case OPT_ACTIVATION_BYTES:
			w.activation_bytes = opt_count("activation-bytes", optarg);
			break;
		case OPT_KV_BYTES:
			w.kv_bytes = positive("kv-bytes", optarg);
			break;
		case OPT_ROUTING:
			routes = optarg;
			break;
		}
	if (kv == NULL || w.prompt == 0 || w.generate == UINT64_MAX ||
	    w.kv_bytes == 0 || argc - optind > 1) {
		if (argc - optind <= 1)
			warnx("-m, -p, -g and --kv-bytes are needed");
		tool_usage(&tool);
	}
	model_read(&m, kv, argv[optind]);
	if (routes != NULL)
		routing_read(&routing, routes);
	if (m.moe && routing.n == 0)
		warnx("no routing: the bytes of experts are those expected if all "
		    "%llu are equally likely", (unsigned long long)m.n_experts);
	print_all(&m, routing.n > 0 ? &routing : NULL, &w);
	free(routing.route);
	model_free(&m);
	return NS_OK;
}
