/* arch.c: a model's shape: its families, its settings, whether it can be. */
#include <err.h>
#include <math.h>
#include <stddef.h>

#include "checkpoint.h"
#include "families.h"

static const struct family families[] = {
	{ .model_type = "llama", .architecture = "LlamaForCausalLM",
	  .max_positions = 2048, .norm_eps = 1e-6, .rope_theta = 1e4,
	  .bias_option = true },
	{ .model_type = "mistral", .architecture = "MistralForCausalLM",
	  .n_kv_heads = 8, .max_positions = 131072, .window = 4096,
	  .norm_eps = 1e-6, .rope_theta = 1e4 },
	{ .model_type = "mixtral", .architecture = "MixtralForCausalLM",
	  .n_kv_heads = 8, .max_positions = 131072,
	  .norm_eps = 1e-5, .rope_theta = 1e6, .moe = true, .norm_topk = true,
	  .n_experts = 8, .n_experts_per_token = 2 },
	{ .model_type = "qwen2", .architecture = "Qwen2ForCausalLM",
	  .n_kv_heads = 32, .max_positions = 32768, .window = 4096,
	  .norm_eps = 1e-6, .rope_theta = 1e4, .qkv_bias = true,
	  .window_option = true, .window_layers = true },
	{ .model_type = "qwen3", .architecture = "Qwen3ForCausalLM",
	  .n_kv_heads = 32, .head_dim = 128, .max_positions = 32768,
	  .window = 4096, .norm_eps = 1e-6, .rope_theta = 1e4, .qk_norm = true,
	  .bias_option = true, .window_option = true, .window_layers = true },
	{ .model_type = "qwen3_moe", .architecture = "Qwen3MoeForCausalLM",
	  .n_kv_heads = 4, .max_positions = 32768, .window = 4096,
	  .norm_eps = 1e-6, .rope_theta = 1e4, .qk_norm = true,
	  .bias_option = true, .window_option = true, .moe = true,
	  .n_experts = 128, .n_experts_per_token = 8, .expert_ffn_size = 768 },
};
enum { N_FAMILIES = sizeof families / sizeof *families };

const struct family *
family_of(const char *model_type)
{
	for (size_t i = 0; i < N_FAMILIES; i++)
		if (strcmp(families[i].model_type, model_type) == 0)
			return &families[i];
	return NULL;
}

const struct family *
family_named(const char *architecture)
{
	for (size_t i = 0; i < N_FAMILIES; i++)
		if (strcmp(families[i].architecture, architecture) == 0)
			return &families[i];
	return NULL;
}

void
layers_add(struct layers *s, uint64_t i)
{
	s->bit[i / 64] |= UINT64_C(1) << i % 64;
}

bool
layers_have(const struct layers *s, uint64_t i)
{
	return i < MAX_LAYERS && (s->bit[i / 64] >> i % 64 & 1) != 0;
}

enum dtype
dtype_of_torch(const char *s)
{
	static const struct { const char *torch; enum dtype dtype; } names[] = {
		{ "float32", DT_F32 }, { "float16", DT_F16 },
		{ "bfloat16", DT_BF16 }, { "float64", DT_F64 },
	};

	if (s != NULL && strncmp(s, "torch.", 6) == 0)
		s += 6;
	for (size_t i = 0; s != NULL && i < sizeof names / sizeof *names; i++)
		if (strcmp(s, names[i].torch) == 0)
			return names[i].dtype;
	return DT_COUNT;
}

bool
arch_layer_is_moe(const struct arch *a, uint64_t layer)
{
	return a->n_experts != 0 && a->sparse_step != 0 &&
	    (layer + 1) % a->sparse_step == 0 &&
	    !layers_have(&a->mlp_only_layers, layer);
}

uint64_t
arch_window(const struct arch *a, uint64_t layer)
{
	return layers_have(&a->window_layers, layer) ? a->sliding_window : 0;
}

const char *
arch_unsupported(const struct arch *a)
{
	return *a->unsupported != '\0' ? a->unsupported : NULL;
}

static void
size_in(const char *where, const char *name, uint64_t n, uint64_t from,
    uint64_t to)
{
	if (n < from || n > to)
		errx(NS_TROUBLE, "%s: %s is %llu: from %llu to %llu was expected",
		    where, name, (unsigned long long)n, (unsigned long long)from,
		    (unsigned long long)to);
}

static void
check_experts(const struct arch *a, const char *where)
{
	size_in(where, "n_experts", a->n_experts, 1, MAX_EXPERTS);
	size_in(where, "n_experts_per_token", a->n_experts_per_token, 1,
	    a->n_experts);
	size_in(where, "expert_ffn_size", a->expert_ffn_size, 1, SIZE_LIMIT);
	size_in(where, "sparse_step", a->sparse_step, 1, SIZE_LIMIT);
	size_in(where, "n_layers x n_experts", a->n_layers * a->n_experts, 1,
	    1 << 18);
}

void
arch_check(const struct arch *a, const char *where)
{
	size_in(where, "n_layers", a->n_layers, 1, MAX_LAYERS);
	size_in(where, "hidden_size", a->hidden_size, 1, SIZE_LIMIT);
	size_in(where, "n_heads", a->n_heads, 1, SIZE_LIMIT);
	size_in(where, "n_kv_heads", a->n_kv_heads, 1, a->n_heads);
	size_in(where, "head_dim", a->head_dim, 2, SIZE_LIMIT);
	size_in(where, "n_heads x head_dim", a->n_heads * a->head_dim, 2,
	    SIZE_LIMIT);
	size_in(where, "ffn_size", a->ffn_size, 1, SIZE_LIMIT);
	size_in(where, "vocab_size", a->vocab_size, 1, SIZE_LIMIT);
	size_in(where, "max_positions", a->max_positions, 1, SIZE_LIMIT);
	if (a->n_heads % a->n_kv_heads != 0)
		errx(NS_TROUBLE, "%s: n_heads %llu is no multiple of n_kv_heads "
		    "%llu", where, (unsigned long long)a->n_heads,
		    (unsigned long long)a->n_kv_heads);
	if (a->head_dim % 2 != 0)
		errx(NS_TROUBLE, "%s: head_dim %llu is odd: rope turns pairs",
		    where, (unsigned long long)a->head_dim);
	if (!(a->norm_eps >= 0 && a->norm_eps < 1))
		errx(NS_TROUBLE, "%s: norm_eps: from 0 to 1 was expected", where);
	if (!(a->rope_theta > 0 && isfinite(a->rope_theta)))
		errx(NS_TROUBLE, "%s: rope_theta: over 0 was expected", where);
	if (a->rope == ROPE_LLAMA3 && !(a->rope_factor > 0 &&
	    a->rope_low_freq > 0 && a->rope_high_freq > a->rope_low_freq &&
	    a->rope_old_context > 0))
		errx(NS_TROUBLE, "%s: llama3 rope needs factor, low_freq_factor, "
		    "a higher high_freq_factor and "
		    "original_max_position_embeddings", where);
	if (a->n_experts != 0)
		check_experts(a, where);
}
