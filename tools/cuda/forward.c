/* forward.c: the kernels of a prefill and of a decode step, in order. */
#include "engine.h"

static void
gemm(struct engine *e, const struct gemm *g)
{
	if (!blas_gemm(e->blas, e->queue.stream, e->weights.word, g))
		cu_gemm(&e->queue, e->weights.word, g);
}

static void
through(struct engine *e, const struct matrix *w, const void *x, void *out,
    enum gemm_out to, size_t rows)
{
	gemm(e, &(struct gemm){ .x = x, .w = w->w, .out = out, .m = rows,
	    .n = w->rows, .k = w->cols, .to = to });
}

/* Of x, to which the parts of a product are added first. */
static void
norm(struct engine *e, float *x, const float *weight, size_t rows)
{
	cu_norm(&e->queue, e->weights.word, e->xn, x, (struct addends){ e->parts, e->n_parts },
	    weight, (float)e->m->arch->norm_eps, e->m->hidden, rows);
	e->n_parts = 0;
}

/* Of a row a sequence; false: not one for cu_wide. */
static bool
wide(struct engine *e, const struct matrix *w, const void *x, void *out, enum wide_to to,
    size_t *n_parts)
{
	return cu_wide(&e->queue, e->weights.word, &(struct wide){ .w = w->w, .x = x,
	    .out = out, .logits = e->finish.keep == NULL ? NULL :
	    (void *)(uintptr_t)e->finish.logits, .batch = (uint32_t)e->plan.batch,
	    .rows = (uint32_t)w->rows, .cols = (uint32_t)w->cols, .to = to }, n_parts);
}

/* e->x += x through w, at once or by the norm that follows. */
static void
add(struct engine *e, const struct matrix *w, const void *x, const float *bias,
    uint32_t first, size_t rows)
{
	if (first != AT_PLACE || bias != NULL ||
	    !wide(e, w, x, e->parts, WIDE_PARTS, &e->n_parts))
		gemm(e, &(struct gemm){ .x = x, .w = w->w, .out = e->x, .bias = bias,
		    .m = rows, .n = w->rows, .k = w->cols, .to = OUT_ADD });
}

/* xn of a row a sequence through w, in f32. */
static struct addends
project(struct engine *e, const struct matrix *w)
{
	struct addends a = { .part = e->parts };

	if (wide(e, w, e->xn, e->parts, WIDE_PARTS, &a.n))
		return a;
	through(e, w, e->xn, e->qkv, OUT_F32, e->plan.batch);
	return (struct addends){ e->qkv, 1 };
}

/* x += attention(norm x): rows of any number. */
static void
attend(struct engine *e, size_t l, uint32_t first, size_t rows)
{
	const struct device_layer *w = &e->weights.layer[l];
	const enum word word = e->weights.word;
	const struct queue *q = &e->queue;
	const struct heads h = heads_of(e, l);

	norm(e, e->x, w->attn_norm, rows);
	if (first == AT_PLACE && cu_decode_can(word, &h)) {
		cu_decode(q, word, &h, &e->split, project(e, &w->qkv), e->context);
	} else {
		through(e, &w->qkv, e->xn, e->qkv, OUT_WORD, rows);
		cu_rope(q, word, &h, e->qkv, e->q, first, rows);
		if (first != AT_PLACE && cu_flash_can(word, &h))
			cu_flash(q, word, &h, e->q, e->context, first, rows);
		else
			cu_attention(q, word, &h, e->q, e->context, first, rows);
	}
	add(e, &w->o, e->context, w->o_bias, first, rows);
}

/* The experts' scores of normed x: near ties are decided in f32. */
static void
rate(struct engine *e, const struct device_layer *w, float *score, size_t rows)
{
	if (e->weights.word == WORD_F32)
		through(e, &w->router, e->xn, score, OUT_F32, rows);
	else
		cu_router(&e->queue, e->weights.word, &(struct router){
		    .w = w->router.w, .x = e->x, .norm = w->ffn_norm,
		    .eps = (float)e->m->arch->norm_eps, .score = score, .rows = rows,
		    .experts = e->m->experts, .hidden = e->m->hidden });
}

static struct route
route_of(const struct engine *e, size_t l, uint32_t first, size_t rows)
{
	struct route r = e->route;

	r.rows = rows;
	r.layer = l;
	r.first = first;
	if (r.told != NULL)
		r.told += l * e->n_positions * e->plan.batch * r.top;
	if (r.kept != NULL)
		r.kept += l * e->n_positions * e->plan.batch * r.top;
	return r;
}

struct experts
experts_of(const struct engine *e, size_t l)
{
	const struct device_layer *w = &e->weights.layer[l];
	struct experts a = e->experts;

	a.router = w->router.w;
	a.gate_up = w->gate_up.w;
	a.down = w->down.w;
	a.ffn = (uint32_t)w->down.cols;
	a.norm = w->ffn_norm;
	a.route = route_of(e, l, AT_PLACE, e->plan.batch);
	return a;
}

/* x += the experts' sum of norm x */
static void
mix(struct engine *e, size_t l, uint32_t first, size_t rows)
{
	const struct device_layer *w = &e->weights.layer[l];
	const size_t pairs = rows * e->m->top, ffn = w->down.cols;
	const enum word word = e->weights.word;
	const struct route r = route_of(e, l, first, rows);
	struct gemm g = { .x = e->xn, .w = w->gate_up.w, .out = e->gate_up,
	    .m = pairs, .n = w->gate_up.rows, .k = w->gate_up.cols,
	    .offset = r.offset, .from = r.from, .groups = e->m->experts };

	if (first == AT_PLACE && e->streaming_experts) {
		const struct experts a = experts_of(e, l);

		cu_experts(&e->queue, word, &a);
		return;
	}
	norm(e, e->x, w->ffn_norm, rows);
	rate(e, w, e->route.score, rows);
	cu_route(&e->queue, &r);
	gemm(e, &g);
	cu_silu(&e->queue, word, e->act, e->gate_up, ffn, pairs);
	g = (struct gemm){ .x = e->act, .w = w->down.w, .out = e->y, .m = pairs,
	    .n = w->down.rows, .k = ffn, .to = OUT_F32, .offset = r.offset,
	    .groups = e->m->experts };
	gemm(e, &g);
	cu_gather(&e->queue, e->x, e->y, &r, e->m->hidden);
}

/* x += ffn(norm x) */
static void
feed(struct engine *e, size_t l, uint32_t first, size_t rows)
{
	const struct device_layer *w = &e->weights.layer[l];

	if (w->router.w != NULL) {
		mix(e, l, first, rows);
		return;
	}
	norm(e, e->x, w->ffn_norm, rows);
	if (first != AT_PLACE || !wide(e, &w->gate_up, e->xn, e->act, WIDE_SILU, NULL)) {
		through(e, &w->gate_up, e->xn, e->gate_up, OUT_WORD, rows);
		cu_silu(&e->queue, e->weights.word, e->act, e->gate_up, w->down.cols, rows);
	}
	add(e, &w->down, e->act, NULL, first, rows);
}

/* The next tokens out of the last rows of x. */
static void
choose(struct engine *e, float *last)
{
	struct finish f = e->finish;

	norm(e, last, e->weights.final_norm, e->plan.batch);
	if (!wide(e, &e->weights.lm_head, e->xn, f.best, WIDE_BEST, &f.n_best)) {
		through(e, &e->weights.lm_head, e->xn, (void *)(uintptr_t)f.logits, OUT_F32,
		    e->plan.batch);
		cu_best(&e->queue, &f);
	}
	cu_finish(&e->queue, e->weights.word, &f);
}

void
forward_prefill(struct engine *e)
{
	const size_t batch = e->plan.batch, prompt = e->plan.prompt;
	size_t rows = 0;

	cu_place(&e->queue, e->finish.place, batch, (uint32_t)prompt - 1, 0);
	for (size_t first = 0; first < prompt; first += e->chunk) {
		rows = batch * (prompt - first < e->chunk ? prompt - first : e->chunk);
		cu_embed(&e->queue, e->weights.word, e->x, e->weights.embed.w,
		    e->prompt + first * batch, e->m->hidden, rows);
		for (size_t l = 0; l < e->m->n_layers; l++) {
			attend(e, l, (uint32_t)first, rows);
			feed(e, l, (uint32_t)first, rows);
		}
	}
	choose(e, e->x + (rows - batch) * e->m->hidden);
}

/* A product of the streaming kernels; norm, if given, is of x. */
static void
stream(struct engine *e, const struct matrix *w, const float *norm_weight,
    struct gemv g)
{
	/* Unscaled, h may be more than an F16 holds. */
	const bool fused = e->weights.word == WORD_BF16;

	g.w = w->w;
	g.cols = (uint32_t)w->cols;
	g.rows = (uint32_t)(g.to == GEMV_SILU ? w->rows / 2 : w->rows);
	g.eps = (float)e->m->arch->norm_eps;
	if (norm_weight != NULL && fused) {
		g.h = e->x;
		g.norm = norm_weight;
	} else if (norm_weight != NULL) {
		norm(e, e->x, norm_weight, e->plan.batch);
		g.x = e->xn;
	}
	cu_gemv(&e->queue, e->weights.word, &g);
}

static void
stream_layer(struct engine *e, size_t l)
{
	const struct device_layer *w = &e->weights.layer[l];
	const struct heads h = heads_of(e, l);

	stream(e, &w->qkv, w->attn_norm, (struct gemv){ .out = e->qkv, .to = GEMV_F32 });
	cu_decode(&e->queue, e->weights.word, &h, &e->split, (struct addends){ e->qkv, 1 },
	    e->context);
	stream(e, &w->o, NULL, (struct gemv){ .x = e->context, .out = e->x,
	    .bias = w->o_bias, .to = GEMV_ADD });
	if (w->router.w != NULL) {
		mix(e, l, AT_PLACE, e->plan.batch);
		return;
	}
	stream(e, &w->gate_up, w->ffn_norm, (struct gemv){ .out = e->act,
	    .to = GEMV_SILU });
	stream(e, &w->down, NULL, (struct gemv){ .x = e->act, .out = e->x,
	    .to = GEMV_ADD });
}

void
forward_decode(struct engine *e)
{
	struct finish f = e->finish;

	if (e->stepping) {
		cu_step(&e->queue, e->weights.word, &e->step, (uint32_t)e->m->head_dim);
		return;
	}
	if (!e->streaming) {
		for (size_t l = 0; l < e->m->n_layers; l++) {
			attend(e, l, AT_PLACE, e->plan.batch);
			feed(e, l, AT_PLACE, e->plan.batch);
		}
		choose(e, e->x);
		return;
	}
	for (size_t l = 0; l < e->m->n_layers; l++)
		stream_layer(e, l);
	f.n_best = e->n_best_streaming;
	stream(e, &e->weights.lm_head, e->weights.final_norm,
	    (struct gemv){ .out = (void *)(uintptr_t)f.logits, .best = f.best,
	    .to = GEMV_LOGITS });
	cu_finish(&e->queue, e->weights.word, &f);
}
