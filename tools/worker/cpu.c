/*
 * cpu.c: the reference backend.  Rows are ordered by position, then by
 * sequence, so that a step's keys and values, and the last position's rows,
 * lie side by side.  Few buffers, touched often: what memory sees is weights.
 */
#include <err.h>
#include <math.h>
#include <omp.h>

#include "cpu.h"
#include "worker.h"

struct cpu {
	const struct model *m;
	struct threads *threads;
	struct plan plan;
	size_t	 n_positions, width;	/* prompt + generate; of scratch */
	float	*x, *h;			/* [row][hidden] */
	float	*scratch;		/* [row][width] */
	float	*kv;			/* [layer][2][pos][seq][kv_head][dim] */
	float	*score;			/* [thread][group][pos] */
	struct rope_table rope;
	struct routes routes;
	uint32_t *token;		/* [1 + generate][seq] */
	float	*top;			/* [seq] logit of the newest token */
	float	*logits;		/* [1 + generate][seq][vocab], if kept */
	uint32_t *routing;		/* [1 + generate][layer][expert], if kept */
	uint32_t *experts;		/* [layer][pos][seq][top], if kept */
};

/* Elements of each buffer, for that model and plan. */
struct sizes {
	size_t	 x, scratch, kv, score, routes, chosen, rope, token, logits, routing,
	    experts;
};

static size_t
times(size_t a, size_t b)
{
	size_t n;

	if (!mul_ok(a, b, &n) || n > SIZE_MAX / 64)
		errx(NS_TROUBLE, "%zu x %zu elements: more than any machine "
		    "holds; ask for fewer tokens or sequences", a, b);
	return n;
}

static size_t
width(const struct model *m)
{
	return m->q_size > m->ffn ? m->q_size : m->ffn;
}

static struct sizes
sizes(const struct model *m, const struct plan *p)
{
	const size_t rows = times(p->prompt, p->batch);
	const size_t n_positions = p->prompt + p->generate;
	const size_t steps = times(1 + p->generate, p->batch);

	return (struct sizes){
		.x = times(rows, m->hidden),
		.scratch = times(rows, width(m)),
		.kv = times(times(2 * m->n_layers, m->kv_size),
		    times(n_positions, p->batch)),
		.score = times(times((size_t)omp_get_max_threads(),
		    m->heads / m->kv_heads), n_positions),
		.routes = times(rows, m->experts),
		.chosen = times(rows, m->top),
		.rope = times(n_positions, m->head_dim / 2),
		.token = steps,
		.logits = p->keep_logits ? times(steps, m->vocab) : 0,
		.routing = p->keep_routing ? times(1 + p->generate,
		    times(m->n_layers, m->experts)) : 0,
		.experts = p->keep_experts ? experts_count(p, m) : 0,
	};
}

static uint64_t
cpu_need(const struct model *m, const struct plan *p)
{
	const struct sizes s = sizes(m, p);

	return sizeof(float) * (2 * s.x + s.scratch + s.kv + s.score +
	    s.routes + 2 * s.chosen + 2 * s.rope + s.token + s.logits +
	    s.routing + s.experts);
}

/* On a cache line's edge, so that a buffer takes no line more than it must. */
static void *
lines(size_t n, size_t size)
{
	size_t bytes = (times(n, size) + 63) / 64 * 64;
	void *p = aligned_alloc(64, bytes != 0 ? bytes : 64);

	if (p == NULL)
		err(NS_TROUBLE, "%zu bytes", bytes);
	return p;
}

static void *
cpu_open(const struct model *m, const struct plan *p)
{
	const struct sizes s = sizes(m, p);
	const size_t rows = p->prompt * p->batch;
	struct cpu *c = xalloc(1, sizeof *c);

	*c = (struct cpu){ .m = m, .plan = *p, .width = width(m),
	    .n_positions = p->prompt + p->generate,
	    .x = lines(s.x, sizeof *c->x), .h = lines(s.x, sizeof *c->h),
	    .scratch = lines(s.scratch, sizeof *c->scratch),
	    .kv = lines(s.kv, sizeof *c->kv),
	    .score = lines(s.score, sizeof *c->score),
	    .token = xalloc(s.token, sizeof *c->token),
	    .top = xalloc(p->batch, sizeof *c->top) };
	c->routes = (struct routes){
	    .score = lines(s.routes, sizeof *c->routes.score),
	    .chosen = lines(s.chosen, sizeof *c->routes.chosen),
	    .share = lines(s.chosen, sizeof *c->routes.share),
	    .row = lines(rows, sizeof *c->routes.row),
	    .row_share = lines(rows, sizeof *c->routes.row_share) };
	if (p->keep_logits)
		c->logits = lines(s.logits, sizeof *c->logits);
	if (p->keep_routing)
		c->routing = xalloc(s.routing, sizeof *c->routing);
	if (p->keep_experts)
		c->experts = xalloc(s.experts, sizeof *c->experts);
	rope_open(&c->rope, m->arch, c->n_positions);
	c->threads = threads_open();
	return c;
}

/* x += attention(h), and the rows' keys and values into the cache. */
static void
attend(struct cpu *c, size_t l, size_t first, size_t n_pos)
{
	struct threads *t = c->threads;
	const struct model *m = c->m;
	const struct layer *w = &m->layer[l];
	const size_t batch = c->plan.batch, rows = n_pos * batch;
	const size_t all = c->n_positions * batch * m->kv_size;
	float *k = c->kv + 2 * l * all, *v = k + all;
	float *k_new = k + first * batch * m->kv_size;
	float *v_new = v + first * batch * m->kv_size, *q = c->scratch;

	product(t, &(struct product){ .w = &w->q, .bias = &w->q_bias, .x = c->h,
	    .out = q, .n = rows });
	product(t, &(struct product){ .w = &w->k, .bias = &w->k_bias, .x = c->h,
	    .out = k_new, .n = rows });
	product(t, &(struct product){ .w = &w->v, .bias = &w->v_bias, .x = c->h,
	    .out = v_new, .n = rows });
	if (w->q_norm.data != NULL) {
		rms_norm(t, q, q, &w->q_norm, m->arch->norm_eps, rows * m->heads);
		rms_norm(t, k_new, k_new, &w->k_norm, m->arch->norm_eps,
		    rows * m->kv_heads);
	}
	rope(t, &(struct turn){ .table = &c->rope, .x = q, .first = first,
	    .n_pos = n_pos, .batch = batch, .heads = m->heads });
	rope(t, &(struct turn){ .table = &c->rope, .x = k_new, .first = first,
	    .n_pos = n_pos, .batch = batch, .heads = m->kv_heads });
	attention(t, &(struct attention){ .q = q, .k = k, .v = v,
	    .score = c->score, .first = first, .n_pos = n_pos, .batch = batch,
	    .heads = m->heads, .kv_heads = m->kv_heads, .dim = m->head_dim,
	    .window = arch_window(m->arch, l), .n_positions = c->n_positions });
	product(t, &(struct product){ .w = &w->o, .bias = &w->o_bias, .x = q,
	    .out = c->x, .n = rows, .add = true });
}

/* The greatest logit so far of each sequence; the first of equals. */
static void
scan(struct cpu *c, size_t step, const float *logit, size_t first, size_t n)
{
	for (size_t s = 0; s < c->plan.batch; s++)
		for (size_t i = 0; i < n; i++)
			if (logit[s * n + i] > c->top[s]) {
				c->top[s] = logit[s * n + i];
				c->token[step * c->plan.batch + s] =
				    (uint32_t)(first + i);
			}
}

/*
 * The last position's rows through the lm_head, as many vocabulary entries at
 * a time as fit the scratch; each sequence's best is its next token.
 */
static void
head(struct cpu *c, size_t step, const float *h)
{
	const struct weight *w = &c->m->lm_head;
	const size_t batch = c->plan.batch, row = w->cols *
	    dtype_bits(w->dtype) / 8;

	for (size_t s = 0; s < batch; s++)
		c->top[s] = -INFINITY;
	for (size_t i = 0; i < w->rows; i += c->width) {
		size_t n = i + c->width < w->rows ? c->width : w->rows - i;
		struct weight part = *w;

		part.data = (const char *)w->data + i * row;
		part.rows = n;
		product(c->threads, &(struct product){ .w = &part, .x = h,
		    .out = c->scratch, .n = batch });
		scan(c, step, c->scratch, i, n);
		for (size_t s = 0; c->logits != NULL && s < batch; s++)
			memcpy(c->logits + (step * batch + s) * w->rows + i,
			    c->scratch + s * n, n * sizeof *c->logits);
	}
}

/* Positions first .. first + n_pos - 1; the next token is that of step. */
static void
forward(struct cpu *c, const uint32_t *token, size_t first, size_t n_pos,
    size_t step)
{
	struct threads *t = c->threads;
	const struct model *m = c->m;
	const double eps = m->arch->norm_eps;
	const size_t batch = c->plan.batch, rows = n_pos * batch;
	float *last = c->x + (rows - batch) * m->hidden;

	embed(c->x, &m->embed, token, rows);
	for (size_t l = 0; l < m->n_layers; l++) {
		const struct layer *w = &m->layer[l];
		const size_t at = (l * c->n_positions + first) * batch * m->top;

		c->routes.told = c->plan.experts != NULL ? c->plan.experts + at : NULL;
		rms_norm(t, c->h, c->x, &w->attn_norm, eps, rows);
		attend(c, l, first, n_pos);
		rms_norm(t, c->h, c->x, &w->ffn_norm, eps, rows);
		ffn(t, c->x, c->h, c->scratch, w, m, &c->routes,
		    c->routing == NULL ? NULL : c->routing +
		    (step * m->n_layers + l) * m->experts, rows);
		if (c->experts != NULL && w->router.data != NULL)
			memcpy(c->experts + at, c->routes.chosen, rows * m->top *
			    sizeof *c->experts);
	}
	rms_norm(t, c->h, last, &m->final_norm, eps, batch);
	head(c, step, c->h);
}

static void
cpu_prefill(void *v, const uint32_t *token)
{
	struct cpu *c = v;

	forward(c, token, 0, c->plan.prompt, 0);
}

static void
cpu_decode(void *v, size_t step)
{
	struct cpu *c = v;

	forward(c, c->token + step * c->plan.batch, c->plan.prompt + step, 1,
	    step + 1);
}

static struct result
cpu_result(void *v)
{
	const struct cpu *c = v;

	for (size_t s = 0; s < c->plan.batch; s++)
		if (!isfinite(c->top[s]))
			errx(NS_TROUBLE, "the logits are not finite: the "
			    "weights are broken, or not what config.json says");
	return (struct result){ c->token, c->logits, c->routing, c->experts };
}

static void
cpu_close(void *v)
{
	struct cpu *c = v;

	threads_close(c->threads);
	free(c->x);
	free(c->h);
	free(c->scratch);
	free(c->kv);
	free(c->score);
	free(c->routes.score);
	free(c->routes.chosen);
	free(c->routes.share);
	free(c->routes.row);
	free(c->routes.row_share);
	free(c->token);
	free(c->top);
	free(c->logits);
	free(c->routing);
	free(c->experts);
	rope_close(&c->rope);
	free(c);
}

const struct backend backend_cpu = {
	.name = "cpu",
	.available = memory_available,
	.need = cpu_need,
	.open = cpu_open,
	.prefill = cpu_prefill,
	.decode = cpu_decode,
	.result = cpu_result,
	.close = cpu_close,
};
