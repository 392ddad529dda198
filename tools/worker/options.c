/* options.c: what ns-worker can be asked. */
#include <err.h>
#include <unistd.h>

#include "job.h"

enum { OPT_PROFILE = 256, OPT_COUNT, OPT_COUNTERS, OPT_SETTINGS, OPT_LOADING, OPT_FOOTPRINT, OPT_ROUTING, OPT_DUMP_LOGITS,
	OPT_DUMP_TOKENS, OPT_DUMP_EXPERTS, OPT_TOKENS, OPT_EXPERTS, OPT_STEP, OPT_STAMPS };

static const struct opt opts[] = {
	{ 'm', "model", "DIR", "the checkpoint to run" },
	{ 'd', "device", "NAME", "cpu (default) or cuda" },
	{ 'p', "prompt-tokens", "N", "of each sequence (32)" },
	{ 'g', "generate-tokens", "N", "decode steps, after the prefill's token (8)" },
	{ 'B', "batch", "N", "sequences, each with its own prompt (1)" },
	{ 'r', "repeats", "N", "measured (3)" },
	{ 'w', "warmup", "N", "repeats before those (1)" },
	{ 's', "seed", "N", "of the random prompt tokens (1)" },
	{ OPT_STEP, "step", "KIND", "of decode on a GPU: auto (default), kernels, experts (streamed), persistent (one kernel)" },
	{ OPT_STAMPS, "stamps", "FILE", "write stamps.tsv: when what happened within a step" },
	{ OPT_PROFILE, "profile", NULL, "tell a profiler when the measured repeats run" },
	{ OPT_COUNT, "count", "LIST", "metrics of the prefill and the last decode step, by CUPTI" },
	{ OPT_COUNTERS, "counters", "FILE", "write counters.tsv: what they came to" },
	{ OPT_SETTINGS, "settings", "FILE", "write worker.kv: which kind of step it was" },
	{ OPT_LOADING, "loading", "FILE", "write loading.tsv: how fast the weights came" },
	{ OPT_FOOTPRINT, "footprint", "FILE", "write footprint.tsv" },
	{ OPT_ROUTING, "routing", "FILE", "write routing.tsv" },
	{ OPT_DUMP_LOGITS, "dump-logits", "FILE", "write them, raw" },
	{ OPT_DUMP_TOKENS, "dump-tokens", "FILE", "write prompts and what was generated" },
	{ OPT_DUMP_EXPERTS, "dump-experts", "FILE", "write which experts each token went to" },
	{ OPT_TOKENS, "tokens", "FILE", "prompt token ids, instead of random ones" },
	{ OPT_EXPERTS, "experts", "FILE", "whom each token goes to, instead of the router's best" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-worker",
	.purpose = "run a model: a prefill, then one step a generated token",
	.operands = "",
	.in = "a checkpoint directory",
	.out = "repeat phase step n_tokens start_ns dur_ns dev_ns",
	.example = "ns-worker -m checkpoints/tiny -p 128 -g 32 >baseline.tsv",
	.opts = opts,
};

static const struct backend *const backends[] = {
	&backend_cpu,
#ifdef NS_CUDA
	&backend_cuda,
#endif
};

static const struct backend *
find_backend(const char *name)
{
	for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
		if (strcmp(name, backends[i]->name) == 0)
			return backends[i];
	if (strcmp(name, "cuda") == 0)
		errx(NS_TROUBLE, "--device cuda: this ns-worker was built "
		    "without nvcc: install the CUDA toolkit (nvcc on the PATH "
		    "or in /usr/local/cuda/bin), make again; or use "
		    "--device cpu");
	errx(NS_TROUBLE, "--device: no backend '%s': cpu or cuda", name);
}

static enum step_cut
find_step(const char *name)
{
	for (enum step_cut s = STEP_AUTO; s < STEP_CUTS; s++)
		if (strcmp(name, step_words[s]) == 0)
			return s;
	errx(NS_TROUBLE, "--step: no '%s': auto, kernels, experts or persistent", name);
}

static uint64_t
at_least_one(const char *name, const char *arg)
{
	uint64_t n = opt_count(name, arg);

	if (n == 0)
		errx(NS_TROUBLE, "--%s: at least 1", name);
	return n;
}

/* Their number follows from what is counted. */
static void
check_counting(struct options *o)
{
	const bool counts = o->metrics.n > 0;

	if (counts != (o->counters != NULL))
		errx(NS_TROUBLE, "--count says what and --counters where: one "
		    "without the other is not enough");
	if (counts && o->repeats != 0)
		errx(NS_TROUBLE, "--count: repeats are as many as its metrics take "
		    "passes: leave --repeats out");
	if (counts && o->warmup == 0)
		errx(NS_TROUBLE, "--count: what a first repeat loads would be counted with "
		    "it: --warmup 1 or more");
	if (counts && o->backend->counter == NULL)
		errx(NS_TROUBLE, "--count: backend %s has no counters: take "
		    "--device cuda, or valgrind as ns-worker(1) says", o->backend->name);
	if (!counts && o->repeats == 0)
		o->repeats = 3;
}

struct options
options_parse(int argc, char **argv)
{
	struct options o = { .backend = &backend_cpu, .warmup = 1,
	    .seed = 1, .plan = { .prompt = 32, .generate = 8, .batch = 1 } };
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		switch (ch) {
		case 'm': o.model = optarg; break;
		case 'd': o.backend = find_backend(optarg); break;
		case 'p':
			o.plan.prompt = at_least_one("prompt-tokens", optarg);
			o.prompt_given = true;
			break;
		case 'g':
			o.plan.generate = opt_count("generate-tokens", optarg);
			break;
		case 'B': o.plan.batch = at_least_one("batch", optarg); break;
		case 'r': o.repeats = at_least_one("repeats", optarg); break;
		case 'w': o.warmup = opt_count("warmup", optarg); break;
		case 's': o.seed = opt_count("seed", optarg); break;
		case OPT_STEP: o.plan.step = find_step(optarg); break;
		case OPT_STAMPS: o.stamps = optarg; break;
		case OPT_PROFILE: o.profile = true; break;
		case OPT_COUNT: metrics_parse(&o.metrics, optarg); break;
		case OPT_COUNTERS: o.counters = optarg; break;
		case OPT_SETTINGS: o.settings = optarg; break;
		case OPT_LOADING: o.loading = optarg; break;
		case OPT_FOOTPRINT: o.footprint = optarg; break;
		case OPT_ROUTING: o.routing = optarg; break;
		case OPT_DUMP_LOGITS: o.logits = optarg; break;
		case OPT_DUMP_TOKENS: o.dump_tokens = optarg; break;
		case OPT_DUMP_EXPERTS: o.dump_experts = optarg; break;
		case OPT_TOKENS: o.tokens = optarg; break;
		case OPT_EXPERTS: o.experts = optarg; break;
		default: tool_usage(&tool);
		}
	if (o.model == NULL || optind != argc)
		tool_usage(&tool);
	if (o.plan.step != STEP_AUTO && o.backend->step == NULL)
		errx(NS_TROUBLE, "--step %s: a GPU's decode has such a step: --device cuda",
		    step_words[o.plan.step]);
	if (o.stamps != NULL && (o.plan.step != STEP_PERSISTENT || o.plan.generate == 0))
		errx(NS_TROUBLE, "--stamps: of the last decode step of --step persistent: "
		    "ask for that, and for one token or more");
	check_counting(&o);
	o.plan.keep_logits = o.logits != NULL;
	o.plan.keep_routing = o.routing != NULL;
	o.plan.keep_stamps = o.stamps != NULL;
	o.plan.keep_experts = o.dump_experts != NULL;
	o.plan.watched = o.profile || o.metrics.n > 0 ||
	    (o.backend->watched != NULL && o.backend->watched());
	return o;
}
