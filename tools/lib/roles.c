/* roles.c: which tensors a family's checkpoints hold, by what name and shape. */
#include <ctype.h>
#include <err.h>

#include "checkpoint.h"

static const char *const role_names[ROLE_COUNT] = {
	"embed", "attn_norm", "q", "k", "v", "o", "q_bias", "k_bias", "v_bias",
	"o_bias", "q_norm", "k_norm", "ffn_norm", "gate", "up", "down",
	"router", "expert_gate", "expert_up", "expert_down", "final_norm",
	"lm_head", "other",
};

/* Names; within a layer where layered, and an expert's where after is set. */
static const struct naming {
	enum role role;
	bool layered, mixtral;
	const char *before, *after;
} namings[] = {
	{ ROLE_EMBED, false, false, "embed_tokens.weight", NULL },
	{ ROLE_FINAL_NORM, false, false, "norm.weight", NULL },
	{ ROLE_ATTN_NORM, true, false, "input_layernorm.weight", NULL },
	{ ROLE_Q, true, false, "self_attn.q_proj.weight", NULL },
	{ ROLE_K, true, false, "self_attn.k_proj.weight", NULL },
	{ ROLE_V, true, false, "self_attn.v_proj.weight", NULL },
	{ ROLE_O, true, false, "self_attn.o_proj.weight", NULL },
	{ ROLE_Q_BIAS, true, false, "self_attn.q_proj.bias", NULL },
	{ ROLE_K_BIAS, true, false, "self_attn.k_proj.bias", NULL },
	{ ROLE_V_BIAS, true, false, "self_attn.v_proj.bias", NULL },
	{ ROLE_O_BIAS, true, false, "self_attn.o_proj.bias", NULL },
	{ ROLE_Q_NORM, true, false, "self_attn.q_norm.weight", NULL },
	{ ROLE_K_NORM, true, false, "self_attn.k_norm.weight", NULL },
	{ ROLE_FFN_NORM, true, false, "post_attention_layernorm.weight", NULL },
	{ ROLE_GATE, true, false, "mlp.gate_proj.weight", NULL },
	{ ROLE_UP, true, false, "mlp.up_proj.weight", NULL },
	{ ROLE_DOWN, true, false, "mlp.down_proj.weight", NULL },
	{ ROLE_ROUTER, true, false, "mlp.gate.weight", NULL },
	{ ROLE_EXPERT_GATE, true, false, "mlp.experts.", ".gate_proj.weight" },
	{ ROLE_EXPERT_UP, true, false, "mlp.experts.", ".up_proj.weight" },
	{ ROLE_EXPERT_DOWN, true, false, "mlp.experts.", ".down_proj.weight" },
	{ ROLE_ROUTER, true, true, "block_sparse_moe.gate.weight", NULL },
	{ ROLE_EXPERT_GATE, true, true, "block_sparse_moe.experts.", ".w1.weight" },
	{ ROLE_EXPERT_UP, true, true, "block_sparse_moe.experts.", ".w3.weight" },
	{ ROLE_EXPERT_DOWN, true, true, "block_sparse_moe.experts.", ".w2.weight" },
};
enum { N_NAMINGS = sizeof namings / sizeof *namings };

const char *
role_name(enum role r)
{
	return role_names[r];
}

/* If *s begins with prefix, step over it. */
static bool
skip(const char **s, const char *prefix)
{
	size_t n = strlen(prefix);

	if (strncmp(*s, prefix, n) != 0)
		return false;
	*s += n;
	return true;
}

/* A number of at most six digits without leading zeros. */
static bool
skip_index(const char **s, int *n)
{
	const char *p = *s;

	*n = 0;
	while (isdigit((unsigned char)*p) && p - *s < 6)
		*n = 10 * *n + *p++ - '0';
	if (p == *s || (**s == '0' && p - *s > 1))
		return false;
	*s = p;
	return true;
}

static bool
matches(const struct naming *m, const char *s, int *expert)
{
	*expert = -1;
	if (m->after == NULL)
		return strcmp(s, m->before) == 0;
	return skip(&s, m->before) && skip_index(&s, expert) &&
	    strcmp(s, m->after) == 0;
}

/*
 * A text model within another (text_config) has its names prefixed
 * language_model., before or behind model., as transformers versions went.
 */
void
tensor_role(struct tensor *t)
{
	const char *s = t->name;
	int layer = -1, expert;
	bool layered;

	t->role = ROLE_OTHER;
	t->layer = t->expert = -1;
	skip(&s, "language_model.");
	if (strcmp(s, "lm_head.weight") == 0)
		t->role = ROLE_LM_HEAD;
	if (!skip(&s, "model."))
		return;
	skip(&s, "language_model.");
	layered = skip(&s, "layers.");
	if (layered && !(skip_index(&s, &layer) && skip(&s, ".")))
		return;
	for (size_t i = 0; i < N_NAMINGS; i++) {
		const struct naming *m = &namings[i];

		if (m->layered == layered && matches(m, s, &expert)) {
			t->role = m->role;
			t->layer = layer;
			t->expert = expert;
			return;
		}
	}
}

const char *
tensor_name(const struct arch *a, enum role role, int layer, int expert)
{
	static char buf[96];
	bool mixtral = strcmp(a->model_type, "mixtral") == 0;
	size_t n = 0;

	snprintf(buf, sizeof buf, "%s", role == ROLE_LM_HEAD ?
	    "lm_head.weight" : role_names[role]);
	for (size_t i = 0; i < N_NAMINGS; i++) {
		const struct naming *m = &namings[i];

		/* Mixtral's own names stand last, and so win for Mixtral. */
		if (m->role != role || (m->mixtral && !mixtral))
			continue;
		n = (size_t)snprintf(buf, sizeof buf, "model.");
		if (m->layered)
			n += (size_t)snprintf(buf + n, sizeof buf - n,
			    "layers.%d.", layer);
		if (m->after == NULL)
			snprintf(buf + n, sizeof buf - n, "%s", m->before);
		else
			snprintf(buf + n, sizeof buf - n, "%s%d%s", m->before,
			    expert, m->after);
	}
	return buf;
}

static void
shape(const struct arch *a, struct tensor *t)
{
	uint64_t h = a->hidden_size, q = a->n_heads * a->head_dim;
	uint64_t kv = a->n_kv_heads * a->head_dim;
	uint64_t ffn = t->expert >= 0 ? a->expert_ffn_size : a->ffn_size;
	const struct { uint64_t out, in; } shapes[ROLE_COUNT] = {
		[ROLE_EMBED] = { a->vocab_size, h },
		[ROLE_LM_HEAD] = { a->vocab_size, h },
		[ROLE_ATTN_NORM] = { h, 0 }, [ROLE_FFN_NORM] = { h, 0 },
		[ROLE_FINAL_NORM] = { h, 0 },
		[ROLE_Q] = { q, h }, [ROLE_K] = { kv, h }, [ROLE_V] = { kv, h },
		[ROLE_O] = { h, q },
		[ROLE_Q_BIAS] = { q, 0 }, [ROLE_K_BIAS] = { kv, 0 },
		[ROLE_V_BIAS] = { kv, 0 }, [ROLE_O_BIAS] = { h, 0 },
		[ROLE_Q_NORM] = { a->head_dim, 0 }, [ROLE_K_NORM] = { a->head_dim, 0 },
		[ROLE_GATE] = { ffn, h }, [ROLE_UP] = { ffn, h },
		[ROLE_DOWN] = { h, ffn },
		[ROLE_ROUTER] = { a->n_experts, h },
		[ROLE_EXPERT_GATE] = { ffn, h }, [ROLE_EXPERT_UP] = { ffn, h },
		[ROLE_EXPERT_DOWN] = { h, ffn },
	};

	t->dim[0] = shapes[t->role].out;
	t->dim[1] = shapes[t->role].in;
	t->n_dims = t->dim[1] != 0 ? 2 : 1;
	t->n_elements = t->dim[0] * (t->dim[1] != 0 ? t->dim[1] : 1);
	if (a->dtype != DT_COUNT)
		t->bytes = t->n_elements * dtype_bits(a->dtype) / 8;
}

static void
need(const struct arch *a, struct tensor_list *l, enum role role, int layer,
    int expert)
{
	struct tensor *t;

	l->tensor = xgrow(l->tensor, &l->cap, l->n + 1, sizeof *l->tensor);
	t = &l->tensor[l->n++];
	*t = (struct tensor){ .role = role, .layer = layer, .expert = expert,
	    .dtype = a->dtype,
	    .name = xstrdup(tensor_name(a, role, layer, expert)) };
	shape(a, t);
}

static void
need_layer(const struct arch *a, struct tensor_list *l, int i)
{
	need(a, l, ROLE_ATTN_NORM, i, -1);
	for (enum role r = ROLE_Q; r <= ROLE_O; r++)
		need(a, l, r, i, -1);
	for (enum role r = ROLE_Q_BIAS; a->qkv_bias && r <= ROLE_V_BIAS; r++)
		need(a, l, r, i, -1);
	if (a->o_bias)
		need(a, l, ROLE_O_BIAS, i, -1);
	for (enum role r = ROLE_Q_NORM; a->qk_norm && r <= ROLE_K_NORM; r++)
		need(a, l, r, i, -1);
	need(a, l, ROLE_FFN_NORM, i, -1);
	if (!arch_layer_is_moe(a, (uint64_t)i)) {
		for (enum role r = ROLE_GATE; r <= ROLE_DOWN; r++)
			need(a, l, r, i, -1);
		return;
	}
	need(a, l, ROLE_ROUTER, i, -1);
	for (int e = 0; e < (int)a->n_experts; e++)
		for (enum role r = ROLE_EXPERT_GATE; r <= ROLE_EXPERT_DOWN; r++)
			need(a, l, r, i, e);
}

void
arch_tensors(const struct arch *a, struct tensor_list *l)
{
	need(a, l, ROLE_EMBED, -1, -1);
	for (int i = 0; i < (int)a->n_layers; i++)
		need_layer(a, l, i);
	need(a, l, ROLE_FINAL_NORM, -1, -1);
	if (!a->tied)
		need(a, l, ROLE_LM_HEAD, -1, -1);
}

void
tensor_list_free(struct tensor_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->tensor[i].name);
	free(l->tensor);
	*l = (struct tensor_list){ 0 };
}
