/*
 * step-lay.c: what the kernel of a whole step needs of an engine: whether it
 * can take the model, where its words lie, and the tables of the deal.
 */
#include "engine.h"

enum { SPAN = 256 };			/* positions of a unit, at least */

static size_t
region(size_t *at, size_t bytes)
{
	const size_t here = *at;

	*at += (bytes + 255) / 256 * 256;
	return here;
}

/* Bytes of so many columns of x that tiles leave. */
static size_t
pieces(const struct engine *e, size_t cols)
{
	return cols / STEP_ROWS * STEP_PIECE(e->plan.batch, cols);
}

static size_t
context(const struct engine *e)
{
	return e->plan.batch * e->m->q_size / 8 * STEP_CONTEXT(e->plan.batch, e->m->q_size);
}

/* Where a layer's words lie, from where the layer's do. */
struct places {
	size_t	 x, square, qkv, spans, context, x2, square2, act, all;
};

static struct places
places_of(const struct engine *e)
{
	const struct model *m = e->m;
	const size_t batch = e->plan.batch;
	const size_t squares = batch * m->hidden / STEP_ROWS / 4 * STEP_QUAD(batch);
	struct places w = { 0 };

	w.x = region(&w.all, pieces(e, m->hidden));
	w.square = region(&w.all, squares);
	w.qkv = region(&w.all, batch * (m->q_size + 2 * m->kv_size) * sizeof(float));
	w.spans = region(&w.all, batch * m->heads * e->step.n_splits *
	    (m->head_dim + 4) * sizeof(float));
	w.context = region(&w.all, context(e));
	w.x2 = region(&w.all, pieces(e, m->hidden));
	w.square2 = region(&w.all, squares);
	w.act = region(&w.all, pieces(e, m->ffn));
	return w;
}

/* The same product of every layer has the same shape, and the kernel for it. */
static bool
is_even(const struct engine *e)
{
	const struct model *m = e->m;

	for (size_t l = 0; l < m->n_layers; l++)
		if (e->weights.layer[l].router.w != NULL ||
		    e->weights.layer[l].down.cols != m->ffn)
			return false;
	return true;
}

static bool
can(const struct engine *e)
{
	const struct model *m = e->m;
	const struct heads h = { .dim = (uint32_t)m->head_dim,
	    .heads = (uint32_t)m->heads, .kv_heads = (uint32_t)m->kv_heads };

	return e->weights.word != WORD_F32 && e->plan.batch <= STEP_BATCH &&
	    cu_decode_can(e->weights.word, &h) && m->hidden % 32 == 0 &&
	    m->hidden <= STEP_WIDE && m->ffn % 8 == 0 && m->experts == 0 && is_even(e);
}

static struct step_deal
deal_of(const struct engine *e)
{
	const struct model *m = e->m;

	return (struct step_deal){ .n_blocks = e->step.n_blocks, .n_layers = (uint32_t)m->n_layers,
	    .hidden = (uint32_t)m->hidden, .qkv = (uint32_t)(m->q_size + 2 * m->kv_size),
	    .q_size = (uint32_t)m->q_size, .ffn = (uint32_t)m->ffn, .vocab = (uint32_t)m->vocab,
	    .units = (uint32_t)(e->plan.batch * m->kv_heads * e->step.n_splits) };
}

/* Spans of the cache, so that every block has one where they are long. */
static uint32_t
spans(const struct engine *e)
{
	const size_t pairs = e->plan.batch * e->m->kv_heads;
	const size_t most = e->step.n_blocks / pairs;
	size_t n = (e->n_positions + SPAN - 1) / SPAN;

	n = n < most ? n : most;
	n = n < STEP_SPLITS ? n : STEP_SPLITS;
	return n > 1 ? (uint32_t)n : 1;
}

/* Its memory, if the model is one for it; n_blocks is 0 if not. */
void
step_lay(struct engine *e, struct arena *a)
{
	const struct model *m = e->m;
	struct step *s = &e->step;
	struct step_deal d;

	*s = (struct step){ 0 };
	if (e->plan.step != STEP_PERSISTENT || !can(e))
		return;
	*s = (struct step){ .finish = e->finish, .n_layers = (uint32_t)m->n_layers,
	    .n_ops = (uint32_t)m->n_layers * STEP_VOCAB + 1,
	    .hidden = (uint32_t)m->hidden, .q_size = (uint32_t)m->q_size,
	    .group = (uint32_t)(m->heads / m->kv_heads),
	    .under_way = STEP_UNDER_WAY, .low = STEP_LOW(e->plan.batch),
	    .eps = (float)m->arch->norm_eps, .first_norm = e->weights.layer->attn_norm };
	d = deal_of(e);
	s->n_blocks = step_blocks(&d, (uint32_t)e->queue.n_sms);
	s->n_splits = spans(e);
	s->set = (m->n_layers + 1) * places_of(e).all;
	if (s->set > UINT32_MAX || !cu_step_fits(e->weights.word, s, (uint32_t)m->head_dim)) {
		s->n_blocks = 0;
		return;
	}
	s->words = take(a, 2, s->set);
	s->op = take(a, s->n_ops, sizeof *s->op);
	s->part = take(a, (size_t)s->n_blocks * s->n_ops, sizeof *s->part);
	s->heads = take(a, m->n_layers, sizeof *s->heads);
	s->turn = take(a, 2, sizeof *s->turn);
	s->done = s->turn == NULL ? NULL : s->turn + 1;
	s->finish.best = take(a, e->plan.batch * s->n_blocks, sizeof *s->finish.best);
	if (e->plan.keep_stamps)
		e->stamp = take(a, (size_t)s->n_blocks * s->n_ops * STEP_EVENTS, sizeof *e->stamp);
}

static void
put(const void *to, const void *from, size_t bytes)
{
	device_check(cudaMemcpy((void *)(uintptr_t)to, from, bytes,
	    cudaMemcpyHostToDevice), "the step's tables");
}

/* The five of a layer, whose words begin at at. */
static void
fill_layer(struct step_op *op, const struct engine *e, uint32_t l, size_t at)
{
	const struct device_layer *w = &e->weights.layer[l];
	const struct places p = places_of(e);
	const float *next = l + 1 < e->step.n_layers ? w[1].attn_norm :
	    e->weights.final_norm;
	const struct matrix *m[] = { &w->qkv, &w->o, &w->gate_up, &w->down };
	const enum step_kind kind[] = { STEP_QKV, STEP_OUT, STEP_GATE, STEP_DOWN };
	const size_t x[] = { p.x, p.context, p.x2, p.act };
	const size_t square[] = { p.square, 0, p.square2, 0 };
	const size_t out[] = { p.qkv, p.x2, p.act, p.all + p.x };
	const size_t out_square[] = { 0, p.square2, 0, p.all + p.square };

	for (size_t i = 0; i < 4; i++) {
		const uint32_t halves = kind[i] == STEP_GATE ? 2 : 1;

		op[kind[i]] = (struct step_op){ .w = m[i]->w, .cols = (uint32_t)m[i]->cols,
		    .rows = (uint32_t)m[i]->rows / halves, .halves = halves,
		    .kind = kind[i], .layer = l, .x = (uint32_t)(at + x[i]),
		    .x_bytes = (uint32_t)(kind[i] == STEP_OUT ? context(e) :
		    pieces(e, m[i]->cols)),
		    .square = (uint32_t)(at + square[i]), .out = (uint32_t)(at + out[i]),
		    .out_square = (uint32_t)(at + out_square[i]) };
	}
	op[STEP_QKV].bias = w->qkv_bias;
	op[STEP_OUT].bias = w->o_bias;
	op[STEP_OUT].norm = w->ffn_norm;
	op[STEP_DOWN].norm = next;
	op[STEP_ATTEND] = (struct step_op){ .kind = STEP_ATTEND, .layer = l,
	    .x = (uint32_t)(at + p.qkv), .x_bytes = (uint32_t)(e->plan.batch *
	    w->qkv.rows * sizeof(float)), .square = (uint32_t)(at + p.spans),
	    .out = (uint32_t)(at + p.context) };
}

static void
fill_ops(const struct engine *e)
{
	const struct step *s = &e->step;
	const struct places p = places_of(e);
	const size_t last = s->n_layers * p.all;
	struct step_op *op = xalloc(s->n_ops, sizeof *op);
	struct heads *h = xalloc(s->n_layers, sizeof *h);

	for (uint32_t l = 0; l < s->n_layers; l++) {
		fill_layer(op + l * STEP_VOCAB, e, l, l * p.all);
		h[l] = heads_of(e, l);
		h[l].bias = NULL;
	}
	op[s->n_ops - 1] = (struct step_op){ .w = e->weights.lm_head.w,
	    .cols = s->hidden, .rows = (uint32_t)e->m->vocab, .halves = 1,
	    .kind = STEP_VOCAB, .layer = s->n_layers - 1, .x = (uint32_t)(last + p.x), .x_bytes =
	    (uint32_t)pieces(e, s->hidden),
	    .square = (uint32_t)(last + p.square) };
	put(s->op, op, s->n_ops * sizeof *op);
	put(s->heads, h, s->n_layers * sizeof *h);
	free(op);
	free(h);
}

/* The tables, and words that nobody has written; false: no deal. */
static bool
fill(const struct engine *e)
{
	const struct step *s = &e->step;
	const struct step_deal d = deal_of(e);
	struct step_part *part = xalloc((size_t)s->n_blocks * s->n_ops, sizeof *part);
	const bool dealt = step_deal(&d, part);

	if (dealt) {
		put(s->part, part, (size_t)s->n_blocks * s->n_ops * sizeof *part);
		fill_ops(e);
		device_check(cudaMemset(s->words, 0xff, 2 * s->set), "memory");
		device_check(cudaMemset(s->turn, 0, 2 * sizeof *s->turn), "memory");
	}
	free(part);
	return dealt;
}

/* What has been noted of a step, on the host. */
struct stamps
step_stamps(const struct step *s)
{
	static const char *const kind[] = { "qkv", "attend", "out", "gate", "down", "vocab" };
	static const char *const event[STEP_EVENTS] = { "asked", "arrived", "weights",
	    "multiplied", "scaled", "summed", "left" };
	const size_t n = (size_t)s->n_blocks * s->n_ops * STEP_EVENTS;
	struct stamps all = { .n_blocks = s->n_blocks, .n_ops = s->n_ops, .kind = kind,
	    .n_kinds = sizeof kind / sizeof *kind, .event = event, .n_events = STEP_EVENTS,
	    .ns = xalloc(n, sizeof *all.ns) };

	device_check(cudaMemcpy(all.ns, s->stamp, n * sizeof *all.ns,
	    cudaMemcpyDeviceToHost), "stamps");
	return all;
}

/* Once the weights have been laid: is a step one kernel? */
bool
step_open(struct engine *e)
{
	return e->step.n_blocks != 0 && fill(e);
}
