/* families.h: what the model families differ in, and what a model may be. */
#ifndef FAMILIES_H
#define FAMILIES_H

#include "checkpoint.h"

/* Policy: no size of a model is larger, so that no product of two overflows. */
enum { SIZE_LIMIT = 1 << 27, CONFIG_LIMIT = 64 << 20 };

#define FAMILIES "llama, mistral, mixtral, qwen2, qwen3, qwen3_moe"

/* With the values that transformers takes where config.json is silent. */
struct family {
	const char *model_type, *architecture;
	uint64_t n_kv_heads;		/* 0: n_heads */
	uint64_t head_dim;		/* 0: hidden_size / n_heads */
	uint64_t max_positions, window;
	double	 norm_eps, rope_theta;
	bool	 qkv_bias, qk_norm;
	bool	 bias_option;		/* attention_bias: on q, k, v and o */
	bool	 window_option;		/* only if use_sliding_window is true */
	bool	 window_layers;		/* by layer_types or max_window_layers */
	bool	 moe, norm_topk;
	uint64_t n_experts, n_experts_per_token;
	uint64_t expert_ffn_size;	/* 0: ffn_size */
};
const struct family *family_of(const char *model_type);		/* or NULL */
const struct family *family_named(const char *architecture);	/* or NULL */

void	layers_add(struct layers *, uint64_t);
bool	layers_have(const struct layers *, uint64_t);
enum dtype dtype_of_torch(const char *);	/* "bfloat16", "torch.float16" */
void	arch_check(const struct arch *, const char *where);	/* dies */

#endif
