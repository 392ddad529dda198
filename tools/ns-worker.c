/*
 * ns-worker: the process that the profilers wrap: a prefill, then one step a
 * generated token.
 *
 * in   a checkpoint directory
 * out  repeat  phase  step  n_tokens  start_ns  dur_ns  dev_ns
 */
#include <err.h>
#include <inttypes.h>

#include "worker/job.h"

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
write_stamps(const struct run *r)
{
	const struct stamps s = r->o->backend->stamps(r->engine);

	stamps_write(r->o->stamps, &s);
	free(s.ns);
}

int
main(int argc, char *argv[])
{
	struct options o = options_parse(argc, argv);
	struct run r = { 0 };
	struct result result;

	prepare(&r, &o);
	run(&r);
	result = o.backend->result(r.engine);
	if (o.settings != NULL)
		write_settings(&r);
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
	if (o.stamps != NULL)
		write_stamps(&r);
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
