/* model.c: find every weight, and be sure that it has the shape it must have. */
#include <err.h>
#include <inttypes.h>

#include "model.h"

#define NONE SIZE_MAX	/* no layer, no expert */
enum { VECTOR = 0 };	/* instead of rows */

static const struct tensor *
tensor(const struct checkpoint *c, enum role role, size_t layer, size_t expert)
{
	int l = layer == NONE ? -1 : (int)layer, e = expert == NONE ? -1 : (int)expert;
	const struct tensor *t = checkpoint_find(c, role, l, e);

	if (t == NULL)
		errx(NS_TROUBLE, "%s: no tensor '%s'", c->dir,
		    tensor_name(&c->arch, role, l, e));
	return t;
}

/* The weight of that role, rows x cols or a vector of cols. */
static struct weight
find(const struct checkpoint *c, enum role role, size_t layer, size_t expert,
    uint64_t rows, uint64_t cols)
{
	const struct tensor *t = tensor(c, role, layer, expert);
	const unsigned n_dims = rows == VECTOR ? 1 : 2;

	if (t->dtype != DT_F32 && t->dtype != DT_F16 && t->dtype != DT_BF16)
		errx(NS_TROUBLE, "%s: %s is %s: ns-worker runs F32, F16 and "
		    "BF16 weights", c->dir, t->name, dtype_name(t->dtype));
	if (t->n_dims != n_dims || t->dim[n_dims - 1] != cols ||
	    (rows != VECTOR && t->dim[0] != rows))
		errx(NS_TROUBLE, "%s: %s has not the shape that config.json "
		    "gives it, %" PRIu64 " x %" PRIu64, c->dir, t->name,
		    rows == VECTOR ? 1 : rows, cols);
	return (struct weight){ checkpoint_data(c, t), t->dtype,
	    rows == VECTOR ? 1 : rows, cols, c->fd[t->file], t->offset };
}

static void
load_ffn(const struct checkpoint *c, const struct model *m, size_t l,
    struct layer *layer)
{
	const uint64_t d = m->hidden, f = c->arch.expert_ffn_size;

	if (!arch_layer_is_moe(&c->arch, l)) {
		layer->ffn = xalloc(1, sizeof *layer->ffn);
		*layer->ffn = (struct ffn){
		    find(c, ROLE_GATE, l, NONE, c->arch.ffn_size, d),
		    find(c, ROLE_UP, l, NONE, c->arch.ffn_size, d),
		    find(c, ROLE_DOWN, l, NONE, d, c->arch.ffn_size) };
		return;
	}
	layer->router = find(c, ROLE_ROUTER, l, NONE, m->experts, d);
	layer->ffn = xalloc(m->experts, sizeof *layer->ffn);
	for (size_t e = 0; e < m->experts; e++)
		layer->ffn[e] = (struct ffn){
		    find(c, ROLE_EXPERT_GATE, l, e, f, d),
		    find(c, ROLE_EXPERT_UP, l, e, f, d),
		    find(c, ROLE_EXPERT_DOWN, l, e, d, f) };
}

/* gate and up are read in one pass, row beside row. */
static void
check_pairs(const struct checkpoint *c, const struct layer *layer, size_t n)
{
	for (size_t e = 0; e < n; e++)
		if (layer->ffn[e].gate.dtype != layer->ffn[e].up.dtype)
			errx(NS_TROUBLE, "%s: gate and up of a layer differ in "
			    "dtype (%s, %s)", c->dir,
			    dtype_name(layer->ffn[e].gate.dtype),
			    dtype_name(layer->ffn[e].up.dtype));
}

static void
load_layer(const struct checkpoint *c, const struct model *m, size_t l)
{
	struct layer *w = &m->layer[l];
	const uint64_t d = m->hidden, q = m->q_size, kv = m->kv_size;

	w->attn_norm = find(c, ROLE_ATTN_NORM, l, NONE, VECTOR, d);
	w->q = find(c, ROLE_Q, l, NONE, q, d);
	w->k = find(c, ROLE_K, l, NONE, kv, d);
	w->v = find(c, ROLE_V, l, NONE, kv, d);
	w->o = find(c, ROLE_O, l, NONE, d, q);
	if (c->arch.qkv_bias) {
		w->q_bias = find(c, ROLE_Q_BIAS, l, NONE, VECTOR, q);
		w->k_bias = find(c, ROLE_K_BIAS, l, NONE, VECTOR, kv);
		w->v_bias = find(c, ROLE_V_BIAS, l, NONE, VECTOR, kv);
	}
	if (c->arch.o_bias)
		w->o_bias = find(c, ROLE_O_BIAS, l, NONE, VECTOR, d);
	if (c->arch.qk_norm) {
		w->q_norm = find(c, ROLE_Q_NORM, l, NONE, VECTOR, m->head_dim);
		w->k_norm = find(c, ROLE_K_NORM, l, NONE, VECTOR, m->head_dim);
	}
	w->ffn_norm = find(c, ROLE_FFN_NORM, l, NONE, VECTOR, d);
	load_ffn(c, m, l, w);
	check_pairs(c, w, w->router.data != NULL ? m->experts : 1);
}

/* A tensor that has no role is left out of the arithmetic: say so. */
static void
warn_unused(const struct checkpoint *c)
{
	const struct tensor *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < c->n_tensors; i++)
		if (c->tensor[i].role == ROLE_OTHER && n++ == 0)
			first = &c->tensor[i];
	if (n != 0)
		warnx("%s: %zu tensors are not used, the first is %s", c->dir,
		    n, first->name);
}

void
model_open(struct model *m, const struct checkpoint *c)
{
	const struct arch *a = &c->arch;
	const char *why = arch_unsupported(a);

	if (why != NULL)
		errx(NS_TROUBLE, "%s: ns-worker cannot run this model: %s",
		    c->dir, why);
	*m = (struct model){ .arch = a, .bytes = c->bytes,
	    .hidden = a->hidden_size, .heads = a->n_heads,
	    .kv_heads = a->n_kv_heads, .head_dim = a->head_dim,
	    .vocab = a->vocab_size, .n_layers = a->n_layers,
	    .experts = a->n_experts, .top = a->n_experts_per_token };
	if (!mul_ok(m->heads, m->head_dim, &m->q_size) ||
	    !mul_ok(m->kv_heads, m->head_dim, &m->kv_size))
		errx(NS_TROUBLE, "%s: config.json: the heads overflow", c->dir);
	m->layer = xalloc(m->n_layers, sizeof *m->layer);
	m->embed = find(c, ROLE_EMBED, NONE, NONE, m->vocab, m->hidden);
	for (size_t l = 0; l < m->n_layers; l++) {
		bool moe = arch_layer_is_moe(a, l);
		size_t f = moe ? a->expert_ffn_size : a->ffn_size;

		load_layer(c, m, l);
		m->ffn = f > m->ffn ? f : m->ffn;
	}
	m->final_norm = find(c, ROLE_FINAL_NORM, NONE, NONE, VECTOR, m->hidden);
	m->lm_head = a->tied ? m->embed :
	    find(c, ROLE_LM_HEAD, NONE, NONE, m->vocab, m->hidden);
	warn_unused(c);
}

void
model_close(struct model *m)
{
	for (size_t l = 0; l < m->n_layers; l++)
		free(m->layer[l].ffn);
	free(m->layer);
	*m = (struct model){ 0 };
}
