/*
 * hfconfig.c: config.json of any family under one set of names.  What is
 * absent takes the value that transformers gives it.
 */
#include <err.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>

#include "checkpoint.h"
#include "families.h"

struct config {
	const char *path;
	const json_t *root, *text;	/* the same, unless a text model is nested */
	bool	 strict;		/* a family we know: a wrong type is an error */
};

static void
__attribute__((format(printf, 2, 3)))
unsupported(struct arch *a, const char *fmt, ...)
{
	va_list ap;

	if (*a->unsupported != '\0')
		return;
	va_start(ap, fmt);
	vsnprintf(a->unsupported, sizeof a->unsupported, fmt, ap);
	va_end(ap);
}

/* A string, cut to size, that a terminal may be shown. */
static void
copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from != NULL ? from : "");
	terminal_safe(to);
}

static const json_t *
get(const struct config *c, const char *key)
{
	const json_t *j = json_object_get(c->text, key);

	return json_is_null(j) ? NULL : j;
}

/* Some keys stand beside a nested text model and hold for it. */
static const json_t *
get_outer(const struct config *c, const char *key)
{
	const json_t *j = get(c, key);

	if (j == NULL)
		j = json_object_get(c->root, key);
	return json_is_null(j) ? NULL : j;
}

static uint64_t
count(const struct config *c, const char *key, uint64_t absent)
{
	const json_t *j = get(c, key);

	if (j == NULL)
		return absent;
	if (json_is_integer(j) && json_integer_value(j) >= 0 &&
	    json_integer_value(j) <= SIZE_LIMIT)
		return (uint64_t)json_integer_value(j);
	if (c->strict)
		errx(NS_TROUBLE, "%s: %s: a whole number from 0 to %d was "
		    "expected", c->path, key, SIZE_LIMIT);
	return 0;
}

static uint64_t
need(const struct config *c, const char *key)
{
	if (c->strict && get(c, key) == NULL)
		errx(NS_TROUBLE, "%s: no '%s'", c->path, key);
	return count(c, key, 0);
}

static double
number(const struct config *c, const json_t *in, const char *key, double absent)
{
	const json_t *j = json_object_get(in, key);

	if (j == NULL || json_is_null(j))
		return absent;
	if (!json_is_number(j) && c->strict)
		errx(NS_TROUBLE, "%s: %s: a number was expected", c->path, key);
	return json_is_number(j) ? json_number_value(j) : NAN;
}

static bool
flag(const struct config *c, const json_t *j, const char *key, bool absent)
{
	if (j == NULL)
		return absent;
	if (!json_is_boolean(j) && c->strict)
		errx(NS_TROUBLE, "%s: %s: true or false was expected", c->path, key);
	return json_is_true(j);
}

static void
read_family(struct config *c, struct arch *a, const struct family **family)
{
	const char *type = json_string_value(get(c, "model_type"));
	const char *name = json_string_value(json_array_get(
	    json_object_get(c->root, "architectures"), 0));

	*family = type != NULL ? family_of(type) : NULL;
	if (type == NULL && name != NULL)
		*family = family_named(name);
	if (type == NULL && name == NULL)
		errx(NS_TROUBLE, "%s: neither model_type nor architectures: not "
		    "the config of a Hugging Face model", c->path);
	if (*family != NULL) {
		type = (*family)->model_type;
		name = name != NULL ? name : (*family)->architecture;
		c->strict = true;
	}
	copy(a->model_type, sizeof a->model_type, type);
	copy(a->architecture, sizeof a->architecture, name);
	if (*family == NULL)
		unsupported(a, "model_type '%s' is none of " FAMILIES,
		    a->model_type);
}

static void
read_rope(const struct config *c, struct arch *a, double theta)
{
	const json_t *r = get(c, "rope_parameters");
	const char *type;
	char shown[32];

	if (r == NULL)
		r = get(c, "rope_scaling");
	a->rope_theta = number(c, r, "rope_theta",
	    number(c, c->text, "rope_theta", theta));
	type = json_string_value(json_object_get(r, "rope_type"));
	if (type == NULL)
		type = json_string_value(json_object_get(r, "type"));
	if (number(c, r, "partial_rotary_factor",
	    number(c, c->text, "partial_rotary_factor", 1)) != 1)
		unsupported(a, "partial_rotary_factor is not 1");
	if (r == NULL || (type != NULL && strcmp(type, "default") == 0))
		return;
	if (type == NULL || strcmp(type, "llama3") != 0) {
		copy(shown, sizeof shown, type != NULL ? type : "not named");
		unsupported(a, "rope type '%s' is neither default nor llama3",
		    shown);
		return;
	}
	a->rope = ROPE_LLAMA3;
	a->rope_factor = number(c, r, "factor", NAN);
	a->rope_low_freq = number(c, r, "low_freq_factor", NAN);
	a->rope_high_freq = number(c, r, "high_freq_factor", NAN);
	a->rope_old_context = number(c, r, "original_max_position_embeddings",
	    NAN);
}

/* A list of layer numbers into a set. */
static void
read_layers(const struct config *c, const struct arch *a, const char *key,
    struct layers *set)
{
	const json_t *list = get(c, key), *j;
	size_t i;

	json_array_foreach(list, i, j) {
		json_int_t n = json_is_integer(j) ? json_integer_value(j) : -1;

		if (n >= 0 && n < (json_int_t)a->n_layers && n < MAX_LAYERS)
			layers_add(set, (uint64_t)n);
		else if (c->strict)
			errx(NS_TROUBLE, "%s: %s: layers from 0 to %llu were "
			    "expected", c->path, key,
			    (unsigned long long)a->n_layers - 1);
	}
}

static void
read_window(const struct config *c, struct arch *a, const struct family *f)
{
	const json_t *types = get(c, "layer_types");
	uint64_t from = 0, window = 0;

	if (f->window_option && !flag(c, get(c, "use_sliding_window"),
	    "use_sliding_window", false))
		return;
	/* An explicit null is no window; an absent key is the family's. */
	if (json_object_get(c->text, "sliding_window") == NULL)
		window = f->window;
	a->sliding_window = window = count(c, "sliding_window", window);
	if (f->window_layers)
		from = count(c, "max_window_layers", 28);
	for (uint64_t i = 0; window != 0 && i < a->n_layers && i < MAX_LAYERS; i++) {
		const char *type = json_string_value(json_array_get(types, i));

		if (!f->window_layers || type == NULL ? i >= from :
		    strcmp(type, "sliding_attention") == 0)
			layers_add(&a->window_layers, i);
	}
}

static void
read_experts(const struct config *c, struct arch *a, const struct family *f)
{
	a->sparse_step = 1;
	if (f != NULL && !f->moe)
		return;
	a->n_experts = count(c, "num_experts", count(c, "num_local_experts",
	    f != NULL ? f->n_experts : 0));
	if (a->n_experts == 0)
		return;
	a->n_experts_per_token = count(c, "num_experts_per_tok",
	    f != NULL ? f->n_experts_per_token : 0);
	a->expert_ffn_size = count(c, "moe_intermediate_size",
	    f != NULL && f->expert_ffn_size != 0 ? f->expert_ffn_size :
	    a->ffn_size);
	a->norm_topk = flag(c, get(c, "norm_topk_prob"), "norm_topk_prob",
	    f != NULL && f->norm_topk);
	a->sparse_step = count(c, "decoder_sparse_step", 1);
	read_layers(c, a, "mlp_only_layers", &a->mlp_only_layers);
}

/* What would change the arithmetic and is not done here. */
static void
read_rest(const struct config *c, struct arch *a)
{
	const char *act = json_string_value(get(c, "hidden_act"));
	const json_t *q = get_outer(c, "quantization_config");
	char shown[32];

	if (q != NULL) {
		copy(shown, sizeof shown,
		    json_string_value(json_object_get(q, "quant_method")));
		unsupported(a, "its weights are quantised%s%s",
		    *shown != '\0' ? " by " : "", shown);
	}
	if (act != NULL && strcmp(act, "silu") != 0) {
		copy(shown, sizeof shown, act);
		unsupported(a, "hidden_act '%s' is not silu", shown);
	}
	if (flag(c, get(c, "mlp_bias"), "mlp_bias", false))
		unsupported(a, "mlp_bias is true");
}

static void
read_arch(struct config *c, struct arch *a)
{
	const struct json_t *tied, *mark = json_object_get(c->root, "nsbench");
	const char *dtype;
	const struct family *f;

	read_family(c, a, &f);
	a->n_layers = need(c, "num_hidden_layers");
	a->hidden_size = need(c, "hidden_size");
	a->n_heads = need(c, "num_attention_heads");
	a->n_kv_heads = count(c, "num_key_value_heads", f == NULL ? 0 :
	    f->n_kv_heads != 0 ? f->n_kv_heads : a->n_heads);
	a->head_dim = count(c, "head_dim", f == NULL || a->n_heads == 0 ? 0 :
	    f->head_dim != 0 ? f->head_dim : a->hidden_size / a->n_heads);
	a->ffn_size = need(c, "intermediate_size");
	a->vocab_size = need(c, "vocab_size");
	a->max_positions = count(c, "max_position_embeddings",
	    f != NULL ? f->max_positions : 0);
	a->norm_eps = number(c, c->text, "rms_norm_eps",
	    f != NULL ? f->norm_eps : NAN);
	tied = get_outer(c, "tie_word_embeddings");
	a->tied = flag(c, tied, "tie_word_embeddings", false);
	a->tied_unsaid = tied == NULL;
	a->o_bias = f != NULL && f->bias_option &&
	    flag(c, get(c, "attention_bias"), "attention_bias", false);
	a->qkv_bias = a->o_bias || (f != NULL && f->qkv_bias);
	a->qk_norm = f != NULL && f->qk_norm;
	if (f != NULL)
		read_window(c, a, f);
	read_experts(c, a, f);
	read_rope(c, a, f != NULL ? f->rope_theta : NAN);
	read_rest(c, a);
	dtype = json_string_value(get_outer(c, "dtype"));
	if (dtype == NULL)
		dtype = json_string_value(get_outer(c, "torch_dtype"));
	a->dtype = dtype_of_torch(dtype);
	a->synthetic = json_is_true(json_object_get(mark, "synthetic"));
	a->seed = (uint64_t)json_integer_value(json_object_get(mark, "seed"));
}

static char *
slurp(const char *path, size_t *len)
{
	static const char lfs[] = "version https://git-lfs";
	FILE *fp = fopen(path, "rb");
	char *s = NULL;
	size_t cap = 0, got;

	if (fp == NULL)
		err(NS_TROUBLE, "%s", path);
	*len = 0;
	do {
		s = xgrow(s, &cap, *len + 4096, 1);
		got = fread(s + *len, 1, 4096, fp);
		*len += got;
	} while (got != 0 && *len < CONFIG_LIMIT);
	if (ferror(fp))
		err(NS_TROUBLE, "%s", path);
	fclose(fp);
	if (*len >= CONFIG_LIMIT)
		errx(NS_TROUBLE, "%s: over %d bytes: not a config", path,
		    CONFIG_LIMIT);
	if (*len > sizeof lfs && memcmp(s, lfs, sizeof lfs - 1) == 0)
		errx(NS_TROUBLE, "%s: a Git LFS pointer: run 'git lfs pull' in "
		    "its directory", path);
	return s;
}

void
config_read(const char *path, struct arch *a, uint64_t *fingerprint)
{
	static const char *const nested[] = { "text_config", "language_config",
	    "llm_config" };
	struct config c = { .path = path };
	json_error_t e;
	json_t *root;
	size_t len;
	char *text = slurp(path, &len);

	*a = (struct arch){ .dtype = DT_COUNT };
	if ((root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e)) == NULL)
		errx(NS_TROUBLE, "%s:%d:%d: %s", path, e.line, e.column,
		    terminal_safe(e.text));
	if (!json_is_object(root))
		errx(NS_TROUBLE, "%s: not a JSON object", path);
	c.root = c.text = root;
	for (size_t i = 0; i < sizeof nested / sizeof *nested; i++)
		if (json_is_object(json_object_get(root, nested[i])))
			c.text = json_object_get(root, nested[i]);
	read_arch(&c, a);
	if (*a->unsupported == '\0')
		arch_check(a, path);
	if (fingerprint != NULL)
		fnv(fingerprint, text, len);
	json_decref(root);
	free(text);
}
