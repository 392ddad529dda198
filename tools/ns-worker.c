/*
 * ns-worker: the process that the profilers wrap: a prefill, then one step a
 * generated token.
 *
 * in   a checkpoint directory
 * out  repeat  phase  step  n_tokens  start_ns  dur_ns  dev_ns
 */
#include <err.h>
#include <inttypes.h>
#include <unistd.h>

#include "worker/worker.h"

enum { OPT_PROFILE = 256, OPT_COUNT, OPT_COUNTERS, OPT_LOADING, OPT_FOOTPRINT, OPT_ROUTING, OPT_DUMP_LOGITS,
	OPT_DUMP_TOKENS, OPT_DUMP_EXPERTS, OPT_TOKENS, OPT_EXPERTS, OPT_STEP };

static const struct opt opts[] = {
	{ 'm', "model", "DIR", "the checkpoint to run" },
	{ 'd', "device", "NAME", "cpu (default) or cuda" },
	{ 'p', "prompt-tokens", "N", "of each sequence (32)" },
	{ 'g', "generate-tokens", "N", "decode steps, after the prefill's token (8)" },
	{ 'B', "batch", "N", "sequences, each with its own prompt (1)" },
	{ 'r', "repeats", "N", "measured (3)" },
	{ 'w', "warmup", "N", "repeats before those (1)" },
	{ 's', "seed", "N", "of the random prompt tokens (1)" },
	{ OPT_STEP, "step", "KIND", "of decode on a GPU: persistent (one kernel) or kernels" },
	{ OPT_PROFILE, "profile", NULL, "tell a profiler when the measured repeats run" },
	{ OPT_COUNT, "count", "LIST", "metrics of the prefill and the last decode step, by CUPTI" },
	{ OPT_COUNTERS, "counters", "FILE", "write counters.tsv: what they came to" },
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

struct options {
	const char *model, *tokens, *loading, *footprint, *routing, *logits;
	const char *dump_tokens, *dump_experts, *experts, *counters;
	const struct backend *backend;
	struct metrics metrics;		/* to be counted; or none */
	struct plan plan;
	uint64_t repeats, warmup, seed;
	bool	 prompt_given, profile;
};

struct timing {
	uint64_t repeat, step, start_ns, dur_ns, dev_ns;
	bool	 prefill;
};

struct run {
	const struct options *o;
	struct checkpoint checkpoint;
	struct model model;
	void	*engine;
	uint32_t *prompt;		/* [prompt][batch] */
	uint32_t *experts;		/* those told, or NULL */
	uint64_t start_ns, allocated;	/* bytes, weights included */
	struct timing *timing;
	size_t	 n_timing, cap_timing;
	struct count *count;		/* in measured repeats; or NULL */
	struct footprint *footprint;
	size_t	 n_footprint, cap_footprint;
	struct progress progress;
	uint64_t done;			/* steps, for the progress line */
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
	if (strcmp(name, "persistent") == 0)
		return STEP_PERSISTENT;
	if (strcmp(name, "kernels") == 0)
		return STEP_KERNELS;
	errx(NS_TROUBLE, "--step: no '%s': persistent or kernels", name);
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
	if (counts && o->backend->counter == NULL)
		errx(NS_TROUBLE, "--count: backend %s has no counters: take "
		    "--device cuda, or valgrind as ns-worker(1) says", o->backend->name);
	if (!counts && o->repeats == 0)
		o->repeats = 3;
}

static struct options
parse(int argc, char **argv)
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
		case OPT_PROFILE: o.profile = true; break;
		case OPT_COUNT: metrics_parse(&o.metrics, optarg); break;
		case OPT_COUNTERS: o.counters = optarg; break;
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
	if (o.plan.step == STEP_PERSISTENT && o.backend == &backend_cpu)
		errx(NS_TROUBLE, "--step persistent: a GPU's decode has such a step: --device cuda");
	check_counting(&o);
	o.plan.keep_logits = o.logits != NULL;
	o.plan.keep_routing = o.routing != NULL;
	o.plan.keep_experts = o.dump_experts != NULL;
	o.plan.watched = o.profile || o.metrics.n > 0 ||
	    (o.backend->watched != NULL && o.backend->watched());
	return o;
}

static void
check_positions(const struct plan *p, const struct arch *a)
{
	uint64_t all;

	if (!add_ok((uint64_t)p->prompt, (uint64_t)p->generate, &all) ||
	    all > a->max_positions)
		errx(NS_TROUBLE, "%zu prompt and %zu generated tokens: the "
		    "model has %" PRIu64 " positions", p->prompt, p->generate,
		    a->max_positions);
}

static void
check_memory(const struct run *r)
{
	const uint64_t there = r->o->backend->available();

	if (there != 0 && r->allocated > there)
		errx(NS_TROUBLE, "%s needs %" PRIu64 " MiB, %" PRIu64 " of them "
		    "weights; %" PRIu64 " MiB are available: take a smaller "
		    "model, or fewer tokens or sequences", r->o->model,
		    r->allocated >> 20, r->model.bytes >> 20, there >> 20);
}

/* Everything that must be ready before the first phase. */
static void
prepare(struct run *r, struct options *o)
{
	struct ids ids = { 0 };

	r->o = o;
	r->start_ns = now_ns();
	marks_prepare();
	checkpoint_open(&r->checkpoint, o->model);
	checkpoint_map(&r->checkpoint);
	model_open(&r->model, &r->checkpoint);
	if (o->tokens != NULL) {
		ids_read(&ids, o->tokens, r->model.vocab);
		if (!o->prompt_given)
			o->plan.prompt = ids.n;
	}
	check_positions(&o->plan, &r->checkpoint.arch);
	if (o->dump_experts != NULL)
		experts_count(&o->plan, &r->model);
	if (o->experts != NULL)
		o->plan.experts = r->experts = experts_read(o->experts, &o->plan, &r->model);
	if (!add_ok(r->model.bytes, o->backend->need(&r->model, &o->plan),
	    &r->allocated))
		r->allocated = UINT64_MAX;
	check_memory(r);
	r->prompt = o->tokens != NULL ?
	    tokens_given(&o->plan, &ids, o->tokens) :
	    tokens_random(&o->plan, r->model.vocab, o->seed);
	free(ids.id);
	if (o->metrics.n > 0) {
		r->count = o->backend->counter->open(o->metrics.name, o->metrics.n,
		    o->plan.generate > 0 ? 2 : 1);
		o->repeats = o->backend->counter->passes(r->count);
	}
	r->engine = o->backend->open(&r->model, &o->plan);
}

static void
sample(struct run *r)
{
	r->footprint = xgrow(r->footprint, &r->cap_footprint,
	    r->n_footprint + 1, sizeof *r->footprint);
	r->footprint[r->n_footprint] = footprint_now(r->start_ns, r->allocated);
	if (r->o->backend->used != NULL)
		r->footprint[r->n_footprint].driver = r->o->backend->used();
	r->n_footprint++;
}

/* A range for profilers, in every measured repeat; NULL closes the last. */
static void
range(const struct run *r, const char *name)
{
	if (r->o->backend->range != NULL)
		r->o->backend->range(name);
}

static void
range_repeat(const struct run *r, uint64_t number)
{
	char name[40];

	snprintf(name, sizeof name, "repeat.%" PRIu64, number);
	range(r, name);
}

/* Counted are the prefill and the last step, whose cache is the longest. */
static bool
is_counted(const struct run *r, const struct timing *t)
{
	return r->count != NULL && (t->prefill || t->step + 1 == r->o->plan.generate);
}

static void
phase_open(const struct run *r, const struct timing *t)
{
	char name[40] = "prefill";

	if (!t->prefill)
		snprintf(name, sizeof name, "decode.%" PRIu64, t->step);
	range(r, name);
	if (is_counted(r, t))
		r->o->backend->counter->range(r->count, name);
}

static void
phase_close(const struct run *r, const struct timing *t)
{
	if (is_counted(r, t))
		r->o->backend->counter->range(r->count, NULL);
	range(r, NULL);
}

/* One phase step, timed and marked; step counts decodes from 0. */
static void
phase(struct run *r, struct timing t, bool mark, bool measured)
{
	const struct backend *b = r->o->backend;

	if (measured)
		phase_open(r, &t);
	if (mark)
		marks_open();
	t.start_ns = now_ns();
	if (t.prefill)
		b->prefill(r->engine, r->prompt);
	else
		b->decode(r->engine, t.step);
	t.dur_ns = now_ns() - t.start_ns;
	if (mark)
		marks_close(t.prefill ? "prefill" : "decode", t.step);
	if (measured)
		phase_close(r, &t);
	t.start_ns -= r->start_ns;
	r->timing[r->n_timing++] = t;
	if (!marks_on())
		progress(&r->progress, ++r->done);
}

static void
device_times(struct run *r)
{
	const size_t n = 1 + r->o->plan.generate;

	for (size_t i = 0; r->o->backend->device_ns != NULL && i < n; i++)
		r->timing[r->n_timing - n + i].dev_ns =
		    r->o->backend->device_ns(r->engine, i);
}

/* With a mark, nothing but the phases comes between start and stop. */
static void
repeat(struct run *r, uint64_t i, bool measured)
{
	const bool mark = measured && i == 0, between = !mark || !marks_on();

	r->timing = xgrow(r->timing, &r->cap_timing,
	    r->n_timing + r->o->plan.generate + 1, sizeof *r->timing);
	sample(r);
	if (measured)
		range_repeat(r, i);
	if (mark)
		marks_start();
	phase(r, (struct timing){ .repeat = i, .prefill = true }, mark, measured);
	if (between)
		sample(r);
	for (uint64_t s = 0; s < r->o->plan.generate; s++)
		phase(r, (struct timing){ .repeat = i, .step = s }, mark, measured);
	if (mark)
		marks_stop();
	if (measured)
		range(r, NULL);
	device_times(r);
	sample(r);
}

static void
measured_repeat(void *v)
{
	struct run *r = v;

	repeat(r, r->n_timing / (1 + r->o->plan.generate), true);
}

static void
count(struct run *r)
{
	const struct counter *c = r->o->backend->counter;
	struct counts counts;

	c->run(r->count, measured_repeat, r);
	counts = c->read(r->count);
	counters_write(r->o->counters, &counts);
	counts_free(&counts);
	c->close(r->count);
}

static void
run(struct run *r)
{
	const struct options *o = r->o;

	progress_start(&r->progress, "ns-worker", (o->warmup + o->repeats) *
	    (1 + o->plan.generate));
	for (uint64_t i = 0; i < o->warmup; i++)
		repeat(r, i, false);
	r->n_timing = r->n_footprint = 0;
	if (o->profile && o->backend->profile != NULL)
		o->backend->profile(true);
	if (r->count != NULL)
		count(r);
	else
		for (uint64_t i = 0; i < o->repeats; i++)
			measured_repeat(r);
	if (o->profile && o->backend->profile != NULL)
		o->backend->profile(false);
	progress_end(&r->progress);
}

static void
write_baseline(const struct run *r)
{
	const struct plan *p = &r->o->plan;
	struct out out;

	out_open(&out, NULL);
	out_head(&out, "repeat phase step n_tokens start_ns dur_ns dev_ns");
	for (size_t i = 0; i < r->n_timing; i++) {
		const struct timing *t = &r->timing[i];

		out_count(&out, t->repeat);
		out_text(&out, t->prefill ? "prefill" : "decode");
		out_count(&out, t->step);
		out_count(&out, p->batch * (t->prefill ? p->prompt : 1));
		out_count(&out, t->start_ns);
		out_count(&out, t->dur_ns);
		if (r->o->backend->device_ns != NULL)
			out_count(&out, t->dev_ns);
		else
			out_na(&out);
		out_row(&out);
	}
	out_close(&out);
}

/* A header alone where weights are used as they are mapped. */
static void
write_loading(const struct run *r)
{
	struct loaded l;
	struct out out;

	out_open(&out, r->o->loading);
	out_head(&out, "bytes dur_ns n_threads");
	if (r->o->backend->loaded != NULL) {
		l = r->o->backend->loaded(r->engine);
		out_count(&out, l.bytes);
		out_count(&out, l.dur_ns);
		out_count(&out, l.n_threads);
		out_row(&out);
	}
	out_close(&out);
}

static void
write_footprint(const struct run *r)
{
	struct out out;

	out_open(&out, r->o->footprint);
	out_head(&out, "time_ns source used_bytes");
	for (size_t i = 0; i < r->n_footprint; i++) {
		const struct footprint *f = &r->footprint[i];
		const char *source[] = { "allocator", "driver", "process", "system" };
		uint64_t used[] = { f->allocator, f->driver, f->process, f->system };

		for (size_t s = 0; s < sizeof used / sizeof *used; s++) {
			if (s == 1 && r->o->backend->used == NULL)
				continue;
			out_count(&out, f->time_ns);
			out_text(&out, source[s]);
			if (used[s] != 0)
				out_count(&out, used[s]);
			else
				out_na(&out);
			out_row(&out);
		}
	}
	out_close(&out);
}

static void
write_routing(const struct run *r, const uint32_t *count)
{
	const size_t layers = r->model.n_layers, experts = r->model.experts;
	struct out out;

	out_open(&out, r->o->routing);
	out_head(&out, "phase step layer expert n_tokens");
	for (size_t i = 0; i < (1 + r->o->plan.generate) * layers * experts; i++) {
		size_t step = i / experts / layers;

		if (count[i] == 0)
			continue;
		out_text(&out, step == 0 ? "prefill" : "decode");
		out_count(&out, step == 0 ? 0 : step - 1);
		out_count(&out, i / experts % layers);
		out_count(&out, i % experts);
		out_count(&out, count[i]);
		out_row(&out);
	}
	out_close(&out);
}

static void
write_logits(const struct run *r, const float *logits)
{
	const struct plan *p = &r->o->plan;
	struct out out;

	out_open(&out, r->o->logits);
	fwrite(logits, sizeof *logits,
	    (1 + p->generate) * p->batch * r->model.vocab, out.fp);
	out_close(&out);
}

static void
write_tokens(const struct run *r, const uint32_t *generated)
{
	const struct plan *p = &r->o->plan;
	struct out out;

	out_open(&out, r->o->dump_tokens);
	out_head(&out, "sequence position origin token");
	for (size_t s = 0; s < p->batch; s++)
		for (size_t i = 0; i < p->prompt + 1 + p->generate; i++) {
			bool given = i < p->prompt;

			out_count(&out, s);
			out_count(&out, i);
			out_text(&out, given ? "prompt" : "generated");
			out_count(&out, given ? r->prompt[i * p->batch + s] :
			    generated[(i - p->prompt) * p->batch + s]);
			out_row(&out);
		}
	out_close(&out);
}

int
main(int argc, char *argv[])
{
	struct options o = parse(argc, argv);
	struct run r = { 0 };
	struct result result;

	prepare(&r, &o);
	run(&r);
	result = o.backend->result(r.engine);
	if (o.loading != NULL)
		write_loading(&r);
	if (o.footprint != NULL)
		write_footprint(&r);
	if (o.routing != NULL)
		write_routing(&r, result.routing);
	if (o.logits != NULL)
		write_logits(&r, result.logits);
	if (o.dump_tokens != NULL)
		write_tokens(&r, result.token);
	if (o.dump_experts != NULL)
		experts_write(o.dump_experts, result.experts, &o.plan, &r.model);
	write_baseline(&r);
	o.backend->close(r.engine);
	model_close(&r.model);
	checkpoint_close(&r.checkpoint);
	free(r.prompt);
	free(r.experts);
	free(r.timing);
	free(r.footprint);
	metrics_free(&o.metrics);
	return NS_OK;
}
