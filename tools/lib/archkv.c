/* archkv.c: a model's shape as settings: the names and values of model.kv. */
#include <err.h>
#include <math.h>
#include <stddef.h>

#include "checkpoint.h"
#include "families.h"

enum kind { COUNT, SIZE, FLAG, REAL, LAYERS, ROPE };	/* SIZE: NA where it is 0 */
static const struct field {
	const char *key;
	enum kind kind;
	size_t at;
} fields[] = {
#define FIELD(kind, name) { #name, kind, offsetof(struct arch, name) }
	FIELD(SIZE, n_layers), FIELD(SIZE, hidden_size), FIELD(SIZE, n_heads),
	FIELD(SIZE, n_kv_heads), FIELD(SIZE, head_dim), FIELD(SIZE, ffn_size),
	FIELD(SIZE, vocab_size), FIELD(SIZE, max_positions),
	FIELD(COUNT, sliding_window), FIELD(LAYERS, window_layers),
	FIELD(FLAG, tied), FIELD(FLAG, qkv_bias), FIELD(FLAG, o_bias),
	FIELD(FLAG, qk_norm), FIELD(REAL, norm_eps), FIELD(REAL, rope_theta),
	FIELD(ROPE, rope), FIELD(REAL, rope_factor), FIELD(REAL, rope_low_freq),
	FIELD(REAL, rope_high_freq), FIELD(REAL, rope_old_context),
	FIELD(COUNT, n_experts), FIELD(COUNT, n_experts_per_token),
	FIELD(COUNT, expert_ffn_size), FIELD(FLAG, norm_topk),
	FIELD(COUNT, sparse_step), FIELD(LAYERS, mlp_only_layers),
#undef FIELD
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

static void
write_layers(struct out *o, const char *key, const struct layers *set)
{
	char text[MAX_LAYERS * 5], *p = text;

	for (unsigned i = 0; i < MAX_LAYERS; i++)
		if (layers_have(set, i))
			p += snprintf(p, sizeof text - (size_t)(p - text),
			    p == text ? "%u" : ",%u", i);
	out_kv(o, key, p == text ? NULL : text);
}

static void
write_field(struct out *o, const struct field *f, const struct arch *a)
{
	const void *p = (const char *)a + f->at;
	uint64_t n;
	double x;

	switch (f->kind) {
	case COUNT:
	case SIZE:
		memcpy(&n, p, sizeof n);
		if (f->kind == SIZE && n == 0)
			out_kv(o, f->key, NULL);
		else
			out_kv_count(o, f->key, n);
		break;
	case FLAG:
		out_kv(o, f->key, *(const bool *)p ? "1" : "0");
		break;
	case REAL:
		memcpy(&x, p, sizeof x);
		out_kv_num(o, f->key, x != 0 ? x : NAN);
		break;
	case LAYERS:
		write_layers(o, f->key, p);
		break;
	case ROPE:
		out_kv(o, f->key, a->rope == ROPE_LLAMA3 ? "llama3" :
		    arch_unsupported(a) == NULL ? "default" : NULL);
		break;
	}
}

void
arch_write(const struct arch *a, struct out *o)
{
	out_kv(o, "architecture", *a->architecture != '\0' ? a->architecture : NULL);
	out_kv(o, "model_type", a->model_type);
	for (size_t i = 0; i < N_FIELDS; i++)
		write_field(o, &fields[i], a);
	out_kv(o, "unsupported", arch_unsupported(a));
}

bool
arch_has_key(const char *key)
{
	static const char *const others[] = { "architecture", "model_type",
	    "unsupported", "dtype", "seed" };

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strcmp(key, others[i]) == 0)
			return true;
	for (size_t i = 0; i < N_FIELDS; i++)
		if (strcmp(key, fields[i].key) == 0)
			return true;
	return false;
}

static void
read_layers(const struct kv *kv, const char *key, struct layers *set)
{
	const char *s = kv_get(kv, key);
	char *end;

	*set = (struct layers){ 0 };
	while (s != NULL && *s != '\0') {
		unsigned long n = strtoul(s, &end, 10);

		if (end == s || n >= MAX_LAYERS || (*end != ',' && *end != '\0'))
			errx(NS_TROUBLE, "%s: %s: not a list of layers: '%s'",
			    kv->path, key, kv_get(kv, key));
		layers_add(set, n);
		s = *end == ',' ? end + 1 : end;
	}
}

static bool
read_flag(const struct kv *kv, const char *key)
{
	const char *s = kv_need(kv, key);

	if (strcmp(s, "1") == 0 || strcmp(s, "true") == 0)
		return true;
	if (strcmp(s, "0") != 0 && strcmp(s, "false") != 0)
		errx(NS_TROUBLE, "%s: %s: 0 or 1 was expected, found '%s'",
		    kv->path, key, s);
	return false;
}

static enum rope
read_rope(const struct kv *kv, const char *key)
{
	const char *s = kv_need(kv, key);

	if (strcmp(s, "llama3") == 0)
		return ROPE_LLAMA3;
	if (strcmp(s, "default") != 0)
		errx(NS_TROUBLE, "%s: %s: default or llama3 was expected, found "
		    "'%s'", kv->path, key, s);
	return ROPE_DEFAULT;
}

static void
read_field(const struct kv *kv, const struct field *f, struct arch *a)
{
	void *p = (char *)a + f->at;

	if (kv_get(kv, f->key) == NULL)
		return;
	switch (f->kind) {
	case COUNT:
	case SIZE:
		*(uint64_t *)p = kv_count(kv, f->key);
		break;
	case FLAG:
		*(bool *)p = read_flag(kv, f->key);
		break;
	case REAL:
		*(double *)p = kv_num(kv, f->key);
		break;
	case LAYERS:
		read_layers(kv, f->key, p);
		break;
	case ROPE:
		*(enum rope *)p = read_rope(kv, f->key);
		break;
	}
}

static void
set_window(struct arch *a, const struct kv *kv)
{
	if (kv_get(kv, "window_layers") == NULL && a->sliding_window != 0)
		for (uint64_t i = 0; i < a->n_layers && i < MAX_LAYERS; i++)
			layers_add(&a->window_layers, i);
}

static void
set_dtype(struct arch *a, const struct kv *kv)
{
	const char *s = kv_get(kv, "dtype");

	a->dtype = DT_COUNT;
	if (s != NULL && !dtype_parse(s, &a->dtype))
		errx(NS_TROUBLE, "%s: dtype: '%s' is not known", kv->path, s);
}

/* What is absent takes the family's value, as in config.json. */
void
arch_read(struct arch *a, const struct kv *kv)
{
	const char *name = kv_need(kv, "architecture");
	const struct family *f = family_named(name);
	const char *why = kv_get(kv, "unsupported");

	*a = (struct arch){ 0 };
	if (why != NULL)
		errx(NS_TROUBLE, "%s: not a model that can be run here: %s",
		    kv->path, why);
	if (f == NULL && kv_get(kv, "model_type") != NULL)
		f = family_of(kv_get(kv, "model_type"));
	if (f == NULL)
		errx(NS_TROUBLE, "%s: architecture '%s' is none of the families "
		    FAMILIES, kv->path, name);
	snprintf(a->architecture, sizeof a->architecture, "%s", f->architecture);
	snprintf(a->model_type, sizeof a->model_type, "%s", f->model_type);
	a->max_positions = f->max_positions;
	a->norm_eps = f->norm_eps;
	a->rope_theta = f->rope_theta;
	a->qkv_bias = f->qkv_bias;
	a->qk_norm = f->qk_norm;
	a->norm_topk = f->norm_topk;
	a->sparse_step = 1;
	for (size_t i = 0; i < N_FIELDS; i++)
		read_field(kv, &fields[i], a);
	if (a->n_kv_heads == 0)
		a->n_kv_heads = a->n_heads;
	if (a->head_dim == 0 && a->n_heads != 0)
		a->head_dim = a->hidden_size / a->n_heads;
	if (a->n_experts != 0 && a->expert_ffn_size == 0)
		a->expert_ffn_size = a->ffn_size;
	if (kv_get(kv, "seed") != NULL)
		a->seed = kv_count(kv, "seed");
	set_window(a, kv);
	set_dtype(a, kv);
	arch_check(a, kv->path);
}
