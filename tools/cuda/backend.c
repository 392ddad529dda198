/*
 * backend.c: ns-worker's CUDA backend.  A decode step is one graph, whose
 * kernels know from the device where each sequence stands; the host queues a
 * step ahead of the one that it waits for, so that the device never waits.
 */
#include <err.h>
#include <math.h>
#include <unistd.h>

#include "../worker/cpu.h"
#include "engine.h"

enum { CHUNK_ROWS = 4096, SPLIT = 256 };	/* SPLIT: positions a block */

static size_t
smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool
is_mixture(const struct model *m)
{
	return m->experts != 0;
}

/* Blocks for all of the device, each with enough to do. */
static void
lay_split(struct engine *e, struct arena *a)
{
	const struct model *m = e->m;
	const size_t pairs = e->plan.batch * m->kv_heads;
	size_t n = (e->n_positions + SPLIT - 1) / SPLIT;
	size_t most = (size_t)e->queue.n_sms / pairs;

	n = smaller(smaller(n, most > 1 ? most : 1), SPLITS_MAX);
	e->split.n_splits = (uint32_t)n;
	e->split.part = take(a, pairs * n * (m->heads / m->kv_heads),
	    (m->head_dim + 2) * sizeof(float));
	e->split.arrived = take(a, pairs, sizeof(unsigned));
}

static void
lay_route(struct engine *e, struct arena *a, size_t rows)
{
	const struct model *m = e->m;
	const size_t pairs = rows * m->top;

	e->route = (struct route){ .score = take(a, rows * m->experts, sizeof(float)),
	    .chosen = take(a, pairs, sizeof(uint32_t)),
	    .share = take(a, pairs, sizeof(float)),
	    .offset = take(a, 2 * m->experts + 1, sizeof(uint32_t)),
	    .from = take(a, pairs, sizeof(uint32_t)),
	    .where = take(a, pairs, sizeof(uint32_t)),
	    .place = e->finish.place, .batch = e->plan.batch,
	    .experts = m->experts, .top = m->top,
	    .n_layers = m->n_layers, .norm = m->arch->norm_topk };
	if (e->plan.keep_routing)
		e->route.count = take(a, (1 + e->plan.generate) * m->n_layers *
		    m->experts, sizeof(uint32_t));
	if (e->plan.keep_experts)
		e->route.kept = take(a, experts_count(&e->plan, m), sizeof(uint32_t));
	if (e->plan.experts != NULL)
		e->route.told = take(a, experts_count(&e->plan, m), sizeof(uint32_t));
	e->y = take(a, pairs, m->hidden * sizeof(float));
}

/* One row a sequence. */
static void
lay_experts(struct engine *e, struct arena *a)
{
	const struct model *m = e->m;
	const size_t servers = smaller(e->plan.batch * m->top, m->experts);

	e->experts = (struct experts){ .x = e->x, .xn = e->xn, .act = e->act,
	    .server = take(a, servers, sizeof(struct server)),
	    .arrived = take(a, 1, sizeof(unsigned)), .n_servers = (uint32_t)servers,
	    .eps = (float)m->arch->norm_eps, .hidden = (uint32_t)m->hidden };
}

static void
lay_finish(struct engine *e, struct arena *a)
{
	const struct model *m = e->m;
	const size_t batch = e->plan.batch, steps = 1 + e->plan.generate;

	e->n_best_streaming = (m->vocab + GEMV_LOGITS_ROWS - 1) / GEMV_LOGITS_ROWS;
	e->finish = (struct finish){ .x = e->x, .vocab = m->vocab,
	    .hidden = m->hidden, .batch = batch, .n_best = (m->vocab + 4095) / 4096,
	    .embed = e->weights.embed.w,
	    .logits = take(a, batch * m->vocab, sizeof(float)),
	    .best = take(a, batch * e->n_best_streaming, sizeof(unsigned long long)),
	    .token = take(a, steps * batch, sizeof(uint32_t)),
	    .top = take(a, batch, sizeof(float)),
	    .place = take(a, batch, sizeof(struct place)) };
	if (e->plan.keep_logits)
		e->finish.keep = take(a, steps * batch * m->vocab, sizeof(float));
}

/* Everything on the device, in one allocation. */
static void
lay(struct engine *e, struct arena *a)
{
	const struct model *m = e->m;
	const size_t batch = e->plan.batch, qkv = m->q_size + 2 * m->kv_size;
	size_t rows, pairs, w;

	weights_lay(&e->weights, m, a);
	w = e->weights.word_bytes;
	e->chunk = CHUNK_ROWS / batch < 1 ? 1 : smaller(e->plan.prompt, CHUNK_ROWS / batch);
	rows = e->chunk * batch;
	pairs = is_mixture(m) && m->top > 1 ? rows * m->top : rows;
	e->x = take(a, rows, m->hidden * sizeof(float));
	e->xn = take(a, rows, m->hidden * w);
	e->q = take(a, rows, m->q_size * w);
	e->context = take(a, rows, m->q_size * w);
	e->qkv = take(a, rows > 2 * batch ? rows : 2 * batch, qkv * w);
	e->gate_up = take(a, pairs, 2 * m->ffn * w);
	e->act = take(a, pairs, m->ffn * w);
	if (batch >= WIDE_LEAST && batch <= WIDE_MOST)
		e->parts = take(a, WIDE_SPANS * batch, (m->hidden > qkv ? m->hidden : qkv) *
		    sizeof(float));
	e->kv = take(a, 2 * m->n_layers * e->n_positions, batch * m->kv_size * w);
	e->cos = take(a, e->n_positions, m->head_dim / 2 * sizeof(float));
	e->sin = take(a, e->n_positions, m->head_dim / 2 * sizeof(float));
	e->prompt = take(a, e->plan.prompt * batch, sizeof(uint32_t));
	e->workspace = take(a, 1, BLAS_WORKSPACE);
	lay_finish(e, a);
	lay_split(e, a);
	if (is_mixture(m)) {
		lay_route(e, a, rows);
		lay_experts(e, a);
	}
	step_lay(e, a);
}

/* The step that is tried where none is asked for; what it cannot do kernels do. */
static enum step_cut
best_step(const struct model *m)
{
	return is_mixture(m) ? STEP_EXPERTS : STEP_PERSISTENT;
}

static struct engine
start(const struct model *m, const struct plan *p)
{
	const struct cudaDeviceProp prop = device_open();
	struct engine e = { .m = m, .plan = *p, .n_positions = p->prompt + p->generate,
	    .queue.n_sms = prop.multiProcessorCount, .queue.overlap = prop.major >= 9 };

	if (p->step == STEP_AUTO)
		e.plan.step = best_step(m);
	return e;
}

static uint64_t
cuda_need(const struct model *m, const struct plan *p)
{
	struct engine e = start(m, p);
	struct arena a = { 0 };

	lay(&e, &a);
	weights_free(&e.weights);
	return a.used > m->bytes ? a.used - m->bytes : 0;
}

static void
copy_rope(struct engine *e)
{
	const size_t n = e->n_positions * (e->m->head_dim / 2) * sizeof(float);
	struct rope_table t;

	rope_open(&t, e->m->arch, e->n_positions);
	device_check(cudaMemcpy(e->cos, t.cos, n, cudaMemcpyHostToDevice), "rope");
	device_check(cudaMemcpy(e->sin, t.sin, n, cudaMemcpyHostToDevice), "rope");
	rope_close(&t);
}

/* Can the kernels for one sequence take this model? */
static bool
can_stream(const struct engine *e)
{
	const struct model *m = e->m;
	const struct heads h = { .dim = (uint32_t)m->head_dim,
	    .heads = (uint32_t)m->heads, .kv_heads = (uint32_t)m->kv_heads };
	bool can = e->weights.word != WORD_F32 && e->plan.batch == 1 &&
	    cu_decode_can(e->weights.word, &h) && m->hidden % 8 == 0 &&
	    m->hidden <= GEMV_COLS && m->q_size <= GEMV_COLS;

	for (size_t l = 0; l < m->n_layers; l++)
		can = can && (e->weights.layer[l].router.w != NULL ||
		    (e->weights.layer[l].down.cols % 8 == 0 &&
		    e->weights.layer[l].down.cols <= GEMV_COLS));
	return can;
}

/* Can the kernels for few rows of experts, where they are wanted? */
static bool
can_stream_experts(const struct engine *e)
{
	bool can = e->plan.step == STEP_EXPERTS && is_mixture(e->m);

	for (size_t l = 0; l < e->m->n_layers; l++) {
		const struct experts a = experts_of(e, l);

		can = can && (a.router == NULL || cu_experts_can(e->weights.word, &a));
	}
	return can;
}

static enum step_cut
cuda_step(void *v)
{
	const struct engine *e = v;

	return e->stepping ? STEP_PERSISTENT :
	    e->streaming_experts ? STEP_EXPERTS : STEP_KERNELS;
}

static cudaGraph_t
record(struct engine *e)
{
	cudaStream_t s = e->queue.stream;
	cudaGraph_t g;

	device_check(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal), "graph");
	forward_decode(e);
	device_check(cudaGetLastError(), "a kernel of decode");
	device_check(cudaStreamEndCapture(s, &g), "graph");
	return g;
}

/* Recorded, the products are known; those that a trial changes, from the start. */
static void
record_graph(struct engine *e)
{
	cudaGraph_t g = record(e);

	if (blas_tune(e->blas, e->queue.stream)) {
		device_check(cudaGraphDestroy(g), "graph");
		g = record(e);
	}
	device_check(cudaGraphInstantiate(&e->graph, g, 0), "graph");
	device_check(cudaGraphDestroy(g), "graph");
	device_check(cudaGraphUpload(e->graph, e->queue.stream), "graph");
}

static void *
cuda_open(const struct model *m, const struct plan *p)
{
	struct engine *e = xalloc(1, sizeof *e);
	struct arena a = { 0 };

	*e = start(m, p);
	lay(e, &a);
	device_check(cudaMalloc(&e->memory, a.used), "memory for the model");
	a = (struct arena){ .base = e->memory };
	lay(e, &a);
	device_check(cudaStreamCreateWithFlags(&e->queue.stream,
	    cudaStreamNonBlocking), "stream");
	e->begun = xalloc(1 + p->generate, sizeof(cudaEvent_t));
	e->ended = xalloc(1 + p->generate, sizeof(cudaEvent_t));
	for (size_t i = 0; i <= p->generate; i++) {
		device_check(cudaEventCreate(&e->begun[i]), "event");
		device_check(cudaEventCreate(&e->ended[i]), "event");
	}
	e->loaded = weights_load(&e->weights, m);
	copy_rope(e);
	device_check(cudaMemset(e->split.arrived, 0, p->batch * m->kv_heads *
	    sizeof(unsigned)), "memory");
	if (e->route.count != NULL)
		device_check(cudaMemset(e->route.count, 0, (1 + p->generate) *
		    m->n_layers * m->experts * sizeof(uint32_t)), "memory");
	if (e->route.told != NULL)
		device_check(cudaMemcpy((void *)(uintptr_t)e->route.told, p->experts,
		    experts_count(p, m) * sizeof(uint32_t), cudaMemcpyHostToDevice), "experts");
	if (e->experts.arrived != NULL)
		device_check(cudaMemset(e->experts.arrived, 0, sizeof(unsigned)), "memory");
	e->blas = blas_open(e->workspace, BLAS_WORKSPACE);
	e->stepping = step_open(e);
	e->streaming = can_stream(e);
	e->streaming_experts = can_stream_experts(e);
	if (p->step != STEP_AUTO && p->step != cuda_step(e))
		errx(NS_TROUBLE, "--step %s: not with this model, batch and "
		    "device; see ns-worker(1), or leave the option out",
		    step_words[p->step]);
	record_graph(e);
	device_check(cudaDeviceSynchronize(), "setting up");
	return e;
}

static struct loaded
cuda_loaded(void *v)
{
	return ((struct engine *)v)->loaded;
}

static void
finish_step(struct engine *e, size_t i)
{
	device_check(cudaEventSynchronize(e->ended[i]), i == 0 ? "prefill" : "decode");
}

static void
cuda_prefill(void *v, const uint32_t *token)
{
	struct engine *e = v;
	cudaStream_t s = e->queue.stream;
	const struct queue queue = e->queue;

	device_check(cudaMemcpyAsync(e->prompt, token, e->plan.prompt *
	    e->plan.batch * sizeof *token, cudaMemcpyHostToDevice, s), "prompt");
	device_check(cudaEventRecord(e->begun[0], s), "event");
	e->queue.overlap = false;
	forward_prefill(e);
	e->queue = queue;
	device_check(cudaGetLastError(), "a kernel of prefill");
	device_check(cudaEventRecord(e->ended[0], s), "event");
	e->launched = 0;
	finish_step(e, 0);
}

/* Watched, a step is queued when its range is open; else one step ahead. */
static void
cuda_decode(void *v, size_t step)
{
	struct engine *e = v;
	cudaStream_t s = e->queue.stream;
	const size_t end = smaller(step + (e->plan.watched ? 1 : 2), e->plan.generate);

	for (; e->launched < end; e->launched++) {
		if (e->plan.watched || e->launched == 0)
			device_check(cudaEventRecord(e->begun[e->launched + 1], s), "event");
		device_check(cudaGraphLaunch(e->graph, s), "decode");
		device_check(cudaEventRecord(e->ended[e->launched + 1], s), "event");
	}
	finish_step(e, step + 1);
}

/* Of the prefill, then of each step: from its start, or where the last ended. */
static uint64_t
cuda_device_ns(void *v, size_t i)
{
	struct engine *e = v;
	const bool follows = i > 1 && !e->plan.watched;
	float ms;

	device_check(cudaEventElapsedTime(&ms, follows ? e->ended[i - 1] :
	    e->begun[i], e->ended[i]), "event");
	return (uint64_t)((double)ms * 1e6);
}

static void *
fetch(const void *from, size_t n, size_t size)
{
	void *p = xalloc(n, size);

	device_check(cudaMemcpy(p, from, n * size, cudaMemcpyDeviceToHost), "results");
	return p;
}

static struct result
cuda_result(void *v)
{
	struct engine *e = v;
	const size_t steps = 1 + e->plan.generate, batch = e->plan.batch;
	float *top = fetch(e->finish.top, batch, sizeof *top);

	for (size_t s = 0; s < batch; s++)
		if (!isfinite(top[s]))
			errx(NS_TROUBLE, "the logits are not finite: the "
			    "weights are broken, or not what config.json says");
	free(top);
	e->result.token = fetch(e->finish.token, steps * batch, sizeof(uint32_t));
	if (e->plan.keep_logits)
		e->result.logits = fetch(e->finish.keep, steps * batch *
		    e->m->vocab, sizeof(float));
	if (e->plan.keep_routing && is_mixture(e->m))
		e->result.routing = fetch(e->route.count, steps * e->m->n_layers *
		    e->m->experts, sizeof(uint32_t));
	if (e->route.kept != NULL)
		e->result.experts = fetch(e->route.kept, experts_count(&e->plan, e->m),
		    sizeof(uint32_t));
	return e->result;
}

/* The last step again, from where it began: the same word by word. */
static void
repeat_last(struct engine *e, const struct step *s)
{
	const size_t generate = e->plan.generate;

	cu_place(&e->queue, e->finish.place, e->plan.batch,
	    (uint32_t)(e->plan.prompt + generate - 1), (uint32_t)generate);
	cu_step(&e->queue, e->weights.word, s, (uint32_t)e->m->head_dim);
}

/* Of a step that follows others, as those that are measured do. */
static struct stamps
cuda_stamps(void *v)
{
	enum { BEFORE = 8 };
	struct engine *e = v;
	struct step s = e->step;

	s.stamp = e->stamp;
	for (int i = 0; i < BEFORE; i++)
		repeat_last(e, &s);
	device_check(cudaMemsetAsync(s.stamp, 0, (size_t)s.n_blocks * s.n_ops *
	    STEP_EVENTS * sizeof *s.stamp, e->queue.stream), "stamps");
	repeat_last(e, &s);
	device_check(cudaStreamSynchronize(e->queue.stream), "the step with stamps");
	return step_stamps(&s);
}

static void
cuda_close(void *v)
{
	struct engine *e = v;

	for (size_t i = 0; i <= e->plan.generate; i++) {
		cudaEventDestroy(e->begun[i]);
		cudaEventDestroy(e->ended[i]);
	}
	cudaGraphExecDestroy(e->graph);
	blas_close(e->blas);
	cudaStreamDestroy(e->queue.stream);
	cudaFree(e->memory);
	weights_free(&e->weights);
	free(e->begun);
	free(e->ended);
	free((void *)(uintptr_t)e->result.token);
	free((void *)(uintptr_t)e->result.logits);
	free((void *)(uintptr_t)e->result.routing);
	free((void *)(uintptr_t)e->result.experts);
	free(e);
}

const struct backend backend_cuda = {
	.name = "cuda",
	.available = device_available,
	.need = cuda_need,
	.open = cuda_open,
	.loaded = cuda_loaded,
	.prefill = cuda_prefill,
	.decode = cuda_decode,
	.device_ns = cuda_device_ns,
	.step = cuda_step,
	.used = device_used,
	.watched = watch_wanted,
	.range = watch_range,
	.profile = watch_profile,
	.counter = &watch_counter,
	.result = cuda_result,
	.stamps = cuda_stamps,
	.close = cuda_close,
};
