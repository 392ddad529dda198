/*
 * step: a decode step as one kernel, on random weights of a model's shape, by
 * each of the choices that change none of its arithmetic: how long it takes,
 * and whether its logits are those of the first choice, bit for bit.
 *
 *	step NAME BATCH TOKENS STAMPS <model.kv
 *
 * in	a shape as settings; TOKENS positions are in the cache
 * out	model batch tokens blocks under_way low step_us least_us read_ratio logits
 *
 * A row a choice: the median and the least of repeats in turns, and what share
 * of a plain read's rate, in the same run, the bytes that a step must read came
 * at.  STAMPS gets the stamps of the fastest.
 */
#include <err.h>
#include <math.h>
#include <stdlib.h>

#include "engine.h"
#include "calib.h"

enum { WARM = 3, STEPS = 24, REPEATS = 5, BEFORE = 8, CHECKED = 2, CHOICES = 16 };
enum { ROWS = 1 + WARM + STEPS };	/* of tokens, after the prompt's */

struct choice {
	uint32_t under_way, low;
	cudaGraphExec_t graph;
	double	 us[REPEATS];
	bool	 same;
};

struct bench {
	struct engine *e;
	size_t	 bytes;			/* of memory, all of it random */
	cudaEvent_t begun, ended;
	float	*logits;		/* on the device: of rows that are checked */
	struct choice choice[CHOICES];
	size_t	 n_choices;
};

/* ---- a model that is nowhere */

static struct weight
weight(const struct model *m, const void *data, size_t rows, size_t cols)
{
	return (struct weight){ data, m->arch->dtype, rows, cols, -1, 0 };
}

static struct weight
vector(const struct model *m, bool there, size_t n)
{
	return weight(m, there ? m : NULL, 1, n);
}

static struct layer
layer(const struct model *m)
{
	const struct arch *a = m->arch;
	const size_t d = m->hidden;
	struct layer l = { .attn_norm = vector(m, true, d), .ffn_norm = vector(m, true, d),
	    .q = weight(m, m, m->q_size, d), .k = weight(m, m, m->kv_size, d),
	    .v = weight(m, m, m->kv_size, d), .o = weight(m, m, d, m->q_size),
	    .q_bias = vector(m, a->qkv_bias, m->q_size), .k_bias = vector(m, a->qkv_bias, m->kv_size),
	    .v_bias = vector(m, a->qkv_bias, m->kv_size), .o_bias = vector(m, a->o_bias, d),
	    .q_norm = vector(m, a->qk_norm, m->head_dim), .k_norm = vector(m, a->qk_norm, m->head_dim),
	    .ffn = xalloc(1, sizeof *l.ffn) };

	*l.ffn = (struct ffn){ weight(m, m, m->ffn, d), weight(m, m, m->ffn, d),
	    weight(m, m, d, m->ffn) };
	return l;
}

static void
shape(struct model *m, const struct arch *a)
{
	if (arch_unsupported(a) != NULL || a->n_experts != 0 || a->dtype == DT_F32)
		errx(NS_TROUBLE, "one kernel a step is for dense models of bf16 or f16");
	*m = (struct model){ .arch = a, .hidden = a->hidden_size, .heads = a->n_heads,
	    .kv_heads = a->n_kv_heads, .head_dim = a->head_dim, .vocab = a->vocab_size,
	    .n_layers = a->n_layers, .q_size = a->n_heads * a->head_dim,
	    .kv_size = a->n_kv_heads * a->head_dim, .ffn = a->ffn_size };
	m->embed = weight(m, m, m->vocab, m->hidden);
	m->lm_head = weight(m, a->tied ? (const void *)m : a, m->vocab, m->hidden);
	m->layer = xalloc(m->n_layers, sizeof *m->layer);
	for (size_t l = 0; l < m->n_layers; l++)
		m->layer[l] = layer(m);
}

/* What a step at the n-th position must read. */
static double
bytes_of_step(const struct model *m, size_t batch, double n)
{
	const double qkv = (double)(m->q_size + 2 * m->kv_size);
	const double each = (double)m->hidden * (qkv + (double)m->q_size + 3.0 * (double)m->ffn);

	return 2 * ((double)m->n_layers * (each + 2 * (double)(batch * m->kv_size) * n) +
	    (double)m->vocab * (double)m->hidden);
}

/* ---- the engine around it */

static void
lay(struct engine *e, struct arena *a)
{
	const struct model *m = e->m;
	const size_t batch = e->plan.batch, half = m->head_dim / 2 * sizeof(float);

	weights_lay(&e->weights, m, a);
	e->kv = take(a, 2 * m->n_layers * e->n_positions, batch * m->kv_size * 2);
	e->cos = take(a, e->n_positions, half);
	e->sin = take(a, e->n_positions, half);
	e->finish = (struct finish){ .vocab = m->vocab, .hidden = m->hidden, .batch = batch,
	    .embed = e->weights.embed.w,
	    .token = take(a, ROWS + 1, batch * sizeof(uint32_t)),
	    .top = take(a, batch, sizeof(float)),
	    .place = take(a, batch, sizeof(struct place)) };
	step_lay(e, a);
}

static void
bench_open(struct bench *b, const struct model *m, size_t batch, size_t tokens)
{
	const struct cudaDeviceProp prop = device_open();
	struct engine *e = b->e = xalloc(1, sizeof *e);
	struct arena a = { 0 };

	*e = (struct engine){ .m = m, .n_positions = tokens + ROWS,
	    .plan = { .prompt = tokens, .generate = ROWS, .batch = batch,
	    .step = STEP_PERSISTENT, .keep_stamps = true },
	    .queue.n_sms = prop.multiProcessorCount };
	lay(e, &a);
	b->bytes = a.used / CU_PIECE * CU_PIECE;
	device_check(cudaMalloc((void **)&a.base, a.used), "memory for the model");
	cu_calib_values(NULL, e->weights.word == WORD_F16 ? CU_F16 : CU_BF16, a.base,
	    a.used / 2, 1);
	e->memory = a.base;
	a.used = 0;
	lay(e, &a);
	device_check(cudaMemset(e->finish.token, 0, (ROWS + 1) * batch * sizeof(uint32_t)), "tokens");
	if (!step_open(e))
		errx(NS_TROUBLE, "one kernel a step: not with this model, batch and device");
	device_check(cudaStreamCreateWithFlags(&e->queue.stream, cudaStreamNonBlocking), "stream");
	device_check(cudaMalloc((void **)&b->logits, (2 + CHECKED) * batch * m->vocab *
	    sizeof(float)), "memory for logits");
	device_check(cudaEventCreate(&b->begun), "event");
	device_check(cudaEventCreate(&b->ended), "event");
	device_check(cudaDeviceSynchronize(), "setting up");
}

/* Bytes a second of a plain read of the same memory, walked the fastest way. */
static double
read_rate(const struct bench *b)
{
	uint32_t *sum;
	double best = 0;

	device_check(cudaMalloc((void **)&sum, CU_SUMS * sizeof *sum), "memory");
	for (int i = 0; i < 4 * REPEATS; i++) {
		const struct walk w = { .deep = i & 1, .once = i & 2,
		    .n_sms = (unsigned)b->e->queue.n_sms };
		float ms;

		device_check(cudaEventRecord(b->begun, b->e->queue.stream), "event");
		cu_calib_read(b->e->queue.stream, w, b->e->memory, b->bytes, 1, sum);
		device_check(cudaEventRecord(b->ended, b->e->queue.stream), "event");
		device_check(cudaEventSynchronize(b->ended), "reading");
		device_check(cudaEventElapsedTime(&ms, b->begun, b->ended), "event");
		best = fmax(best, (double)b->bytes / (ms * 1e-3));
	}
	device_check(cudaFree(sum), "memory");
	return best;
}

/* ---- steps by a choice */

static struct step
step_by(const struct engine *e, const struct choice *c)
{
	struct step s = e->step;

	s.under_way = c->under_way;
	s.low = c->low;
	return s;
}

/* All sequences where the prompt ends. */
static void
begin(const struct engine *e)
{
	cu_place(&e->queue, e->finish.place, e->plan.batch, (uint32_t)e->plan.prompt, 1);
}

static void
launch(const struct engine *e, const struct step *s, int n)
{
	for (int i = 0; i < n; i++)
		cu_step(&e->queue, e->weights.word, s, (uint32_t)e->m->head_dim);
	device_check(cudaGetLastError(), "a step");
}

static void
record(const struct engine *e, struct choice *c)
{
	const struct step s = step_by(e, c);
	cudaStream_t stream = e->queue.stream;
	cudaGraph_t g;

	device_check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "graph");
	launch(e, &s, 1);
	device_check(cudaStreamEndCapture(stream, &g), "graph");
	device_check(cudaGraphInstantiate(&c->graph, g, 0), "graph");
	device_check(cudaGraphDestroy(g), "graph");
}

static void
add_choice(struct bench *b, uint32_t under_way, uint32_t low)
{
	struct choice *c = &b->choice[b->n_choices++];

	c->under_way = under_way;
	c->low = low;
	record(b->e, c);
}

/* The first is the kernel as it is. */
static void
choose(struct bench *b)
{
	const struct step *own = &b->e->step;

	add_choice(b, own->under_way, own->low);
	for (uint32_t n = 1; n <= own->n_stages; n++) {
		if (n != own->under_way)
			add_choice(b, n, own->low);
		if (n != own->low)
			add_choice(b, own->under_way, n);
	}
}

/* The logits of the first steps, on the host. */
static float *
logits(const struct bench *b, const struct choice *c)
{
	const struct engine *e = b->e;
	const size_t row = e->plan.batch * e->m->vocab;
	struct step s = step_by(e, c);
	float *got = xalloc(CHECKED * row, sizeof *got);

	s.finish.keep = b->logits;
	begin(e);
	launch(e, &s, CHECKED);
	device_check(cudaStreamSynchronize(e->queue.stream), "a step");
	device_check(cudaMemcpy(got, b->logits + row, CHECKED * row * sizeof *got,
	    cudaMemcpyDeviceToHost), "logits");
	return got;
}

static bool
are_numbers(const float *f, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(f[i]))
			return false;
	return true;
}

static bool
check(struct bench *b)
{
	const size_t n = CHECKED * b->e->plan.batch * b->e->m->vocab;
	float *first = logits(b, &b->choice[0]);
	bool right = are_numbers(first, n);

	for (size_t i = 0; i < b->n_choices; i++) {
		float *got = logits(b, &b->choice[i]);

		b->choice[i].same = memcmp(got, first, n * sizeof *got) == 0;
		right = right && b->choice[i].same;
		free(got);
	}
	free(first);
	return right;
}

static double
microseconds(const struct bench *b, const struct choice *c)
{
	const struct engine *e = b->e;
	float ms;

	begin(e);
	for (int i = 0; i < WARM + STEPS; i++) {
		if (i == WARM)
			device_check(cudaEventRecord(b->begun, e->queue.stream), "event");
		device_check(cudaGraphLaunch(c->graph, e->queue.stream), "a step");
	}
	device_check(cudaEventRecord(b->ended, e->queue.stream), "event");
	device_check(cudaEventSynchronize(b->ended), "steps");
	device_check(cudaEventElapsedTime(&ms, b->begun, b->ended), "event");
	return (double)ms * 1e3 / STEPS;
}

static int
by_value(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static void
measure(struct bench *b)
{
	for (int r = 0; r < REPEATS; r++)
		for (size_t i = 0; i < b->n_choices; i++)
			b->choice[i].us[r] = microseconds(b, &b->choice[i]);
	for (size_t i = 0; i < b->n_choices; i++)
		qsort(b->choice[i].us, REPEATS, sizeof *b->choice[i].us, by_value);
}

static const struct choice *
fastest(const struct bench *b)
{
	const struct choice *best = &b->choice[0];

	for (size_t i = 1; i < b->n_choices; i++)
		if (b->choice[i].us[REPEATS / 2] < best->us[REPEATS / 2])
			best = &b->choice[i];
	return best;
}

static void
write_stamps(const struct bench *b, const char *path)
{
	const struct engine *e = b->e;
	struct step s = step_by(e, fastest(b));
	struct stamps all;

	s.stamp = e->stamp;
	begin(e);
	launch(e, &s, BEFORE);
	device_check(cudaMemsetAsync(s.stamp, 0, (size_t)s.n_blocks * s.n_ops * STEP_EVENTS *
	    sizeof *s.stamp, e->queue.stream), "stamps");
	launch(e, &s, 1);
	device_check(cudaStreamSynchronize(e->queue.stream), "the step with stamps");
	all = step_stamps(&s);
	stamps_write(path, &all);
	free(all.ns);
}

static void
write_rows(const struct bench *b, const char *name, double rate)
{
	const struct plan *p = &b->e->plan;
	const double bytes = bytes_of_step(b->e->m, p->batch, (double)p->prompt + WARM + STEPS / 2.0);

	for (size_t i = 0; i < b->n_choices; i++) {
		const struct choice *c = &b->choice[i];

		printf("%s\t%zu\t%zu\t%u\t%u\t%u\t%.1f\t%.1f\t%.3f\t%s\n", name, p->batch, p->prompt,
		    b->e->step.n_blocks, c->under_way, c->low, c->us[REPEATS / 2], c->us[0],
		    bytes / (c->us[REPEATS / 2] * 1e-6) / rate, c->same ? "same" : "differ");
	}
}

int
main(int argc, char *argv[])
{
	struct bench b = { 0 };
	struct kv settings = { 0 };
	struct arch arch;
	struct model m;
	double rate;
	bool right;

	if (argc != 5)
		errx(NS_TROUBLE, "usage: step NAME BATCH TOKENS STAMPS <model.kv");
	kv_read(&settings, NULL);
	arch_read(&arch, &settings);
	shape(&m, &arch);
	bench_open(&b, &m, opt_count("batch", argv[2]), opt_count("tokens", argv[3]));
	rate = read_rate(&b);
	choose(&b);
	right = check(&b);
	measure(&b);
	write_rows(&b, argv[1], rate);
	write_stamps(&b, argv[4]);
	return right ? NS_OK : NS_NO;
}
