/* model.c: tensors.tsv and model.kv, as far as a prediction needs them. */
#include <err.h>

#include "readset.h"

const struct role roles[N_ROLES] = {
	[R_EMBED] = { "embed", USE_ROWS },
	{ "attn_norm", USE_VECTOR },
	[R_Q] = { "q", USE_MATMUL },
	[R_K] = { "k", USE_MATMUL },
	[R_V] = { "v", USE_MATMUL },
	{ "o", USE_MATMUL },
	{ "q_bias", USE_VECTOR },
	{ "k_bias", USE_VECTOR },
	{ "v_bias", USE_VECTOR },
	{ "o_bias", USE_VECTOR },
	{ "q_norm", USE_VECTOR },
	{ "k_norm", USE_VECTOR },
	{ "ffn_norm", USE_VECTOR },
	[R_GATE] = { "gate", USE_MATMUL },
	{ "up", USE_MATMUL },
	{ "down", USE_MATMUL },
	{ "router", USE_MATMUL },
	[R_EXPERT_GATE] = { "expert_gate", USE_EXPERT },
	{ "expert_up", USE_EXPERT },
	{ "expert_down", USE_EXPERT },
	{ "final_norm", USE_VECTOR },
	[R_LM_HEAD] = { "lm_head", USE_HEAD },
	[R_CACHE] = { "kv_cache", USE_CACHE },
	[R_ACTIVATION] = { "activation", USE_CACHE },
};

struct columns {
	size_t name, role, layer, expert, shape, n_elements, bytes;
};
struct unused {
	uint64_t n, bytes;
	char	*first;
};

static size_t
role_of(const struct tsv *t, size_t col)
{
	for (size_t i = 0; i < R_CACHE; i++)
		if (strcmp(roles[i].name, t->val[col]) == 0)
			return i;
	tsv_die(t, col, "unknown role '%s'", t->val[col]);
}

static uint64_t
width_of(const struct tsv *t, size_t col)
{
	char *s = t->val[col], *x = strchr(s, 'x');
	uint64_t n;

	if (strcmp(s, "scalar") == 0)
		return 1;
	if (x != NULL)
		*x = '\0';
	if (!parse_count(s, &n) || n == 0)
		tsv_die(t, col, "not a shape: '%s'", s);
	return n;
}

static void
read_tensor(struct model *m, const struct tsv *t, const struct columns *c,
    struct unused *unused)
{
	struct tensor n = { .layer = 0, .expert = NO_EXPERT };

	if (strcmp(t->val[c->role], "other") == 0) {
		if (unused->n++ == 0)
			unused->first = xstrdup(tsv_text(t, c->name));
		unused->bytes = plus(unused->bytes, tsv_count(t, c->bytes));
		return;
	}
	n.role = role_of(t, c->role);
	if (!tsv_is_na(t, c->layer))
		n.layer = tsv_count(t, c->layer);
	if (!tsv_is_na(t, c->expert))
		n.expert = tsv_count(t, c->expert);
	n.width = width_of(t, c->shape);
	n.n_elements = tsv_count(t, c->n_elements);
	n.bytes = tsv_count(t, c->bytes);
	if (roles[n.role].use == USE_ROWS && n.bytes % n.width != 0)
		tsv_die(t, c->bytes, "%llu bytes are not %llu whole rows",
		    (unsigned long long)n.bytes, (unsigned long long)n.width);
	if (roles[n.role].use == USE_EXPERT) {
		m->moe = true;
		if (m->n_experts == 0)
			tsv_die(t, c->role, "an expert, and yet %s has no "
			    "n_experts", m->kv.path);
		if (n.expert == NO_EXPERT ? n.width != m->n_experts :
		    n.expert >= m->n_experts)
			tsv_die(t, n.expert == NO_EXPERT ? c->shape : c->expert,
			    "%s has %llu experts", m->kv.path,
			    (unsigned long long)m->n_experts);
	}
	m->tensor = xgrow(m->tensor, &m->cap, m->n + 1, sizeof *m->tensor);
	m->tensor[m->n++] = n;
}

static void
read_tensors(struct model *m, const char *path)
{
	struct unused unused = { 0 };
	struct columns c;
	struct tsv t;
	bool head = false;

	tsv_open(&t, path);
	c.name = tsv_col(&t, "name");
	c.role = tsv_col(&t, "role");
	c.layer = tsv_col(&t, "layer");
	c.expert = tsv_col(&t, "expert");
	c.shape = tsv_col(&t, "shape");
	c.n_elements = tsv_col(&t, "n_elements");
	c.bytes = tsv_col(&t, "bytes");
	while (tsv_next(&t))
		read_tensor(m, &t, &c, &unused);
	for (size_t i = 0; i < m->n; i++)
		head |= m->tensor[i].role == (m->tied ? R_EMBED : R_LM_HEAD);
	if (!head)
		errx(NS_TROUBLE, "%s: no tensor of role %s: nothing gives the "
		    "logits", t.name, m->tied ? "embed, which is the lm_head too" :
		    "lm_head, and the model is not tied");
	if (unused.n > 0)
		warnx("%s: %llu tensors of role other, %llu bytes, are taken as "
		    "never read: %s%s", t.name, (unsigned long long)unused.n,
		    (unsigned long long)unused.bytes, unused.first,
		    unused.n > 1 ? " ..." : "");
	free(unused.first);
	tsv_close(&t);
}

static uint64_t
count_or_0(const struct kv *kv, const char *key)
{
	return kv_get(kv, key) != NULL ? kv_count(kv, key) : 0;
}

static bool
flag(const struct kv *kv, const char *key)
{
	const char *s = kv_need(kv, key);

	if (strcmp(s, "0") != 0 && strcmp(s, "1") != 0)
		errx(NS_TROUBLE, "%s: %s: 0 or 1 was expected, found '%s'",
		    kv->path, key, s);
	return *s == '1';
}

void
model_read(struct model *m, const char *kv, const char *tensors)
{
	*m = (struct model){ 0 };
	kv_read(&m->kv, kv);
	m->tied = flag(&m->kv, "tied");
	m->window = count_or_0(&m->kv, "sliding_window");
	m->window_layers = kv_get(&m->kv, "window_layers");
	m->n_experts = count_or_0(&m->kv, "n_experts");
	m->n_chosen = count_or_0(&m->kv, "n_experts_per_token");
	if (m->n_experts > 0 && (m->n_chosen == 0 || m->n_chosen > m->n_experts))
		errx(NS_TROUBLE, "%s: n_experts_per_token is %llu of %llu "
		    "experts", kv, (unsigned long long)m->n_chosen,
		    (unsigned long long)m->n_experts);
	read_tensors(m, tensors);
}

/* The list has at most one number a layer and is short. */
uint64_t
model_window(const struct model *m, uint64_t layer)
{
	const char *s = m->window_layers;

	if (m->window == 0 || s == NULL)
		return m->window;
	for (; *s != '\0'; s += *s == ',') {
		char *end;

		if (strtoull(s, &end, 10) == layer)
			return m->window;
		if (end == s || (*end != ',' && *end != '\0'))
			errx(NS_TROUBLE, "%s: window_layers: not a list of "
			    "layers: '%s'", m->kv.path, m->window_layers);
		s = end;
	}
	return 0;
}

void
model_free(struct model *m)
{
	free(m->tensor);
	kv_free(&m->kv);
}
