/* config.c: the config.json of a shape, in the words of its family. */
#include <err.h>
#include <jansson.h>

#include "synth.h"

static void
set(json_t *o, const char *key, json_t *value)
{
	if (json_object_set_new(o, key, value) != 0)
		errx(NS_TROUBLE, "config.json: %s: out of memory", key);
}

static void
set_count(json_t *o, const char *key, uint64_t n)
{
	set(o, key, json_integer((json_int_t)n));
}

static bool
family_is(const struct arch *a, const char *model_type)
{
	return strcmp(a->model_type, model_type) == 0;
}

static void
set_rope(json_t *o, const struct arch *a)
{
	json_t *r = json_null();

	set(o, "rope_theta", json_real(a->rope_theta));
	if (a->rope == ROPE_LLAMA3) {
		r = json_object();
		set(r, "rope_type", json_string("llama3"));
		set(r, "factor", json_real(a->rope_factor));
		set(r, "low_freq_factor", json_real(a->rope_low_freq));
		set(r, "high_freq_factor", json_real(a->rope_high_freq));
		set_count(r, "original_max_position_embeddings",
		    (uint64_t)a->rope_old_context);
	}
	set(o, "rope_scaling", r);
}

static void
set_window(json_t *o, const struct arch *a)
{
	bool some = a->sliding_window != 0;
	uint64_t first = 0;

	if (family_is(a, "llama"))
		return;
	set(o, "sliding_window", some ?
	    json_integer((json_int_t)a->sliding_window) : json_null());
	if (family_is(a, "mistral") || family_is(a, "mixtral"))
		return;
	while (first < a->n_layers && arch_window(a, first) == 0)
		first++;
	set(o, "use_sliding_window", json_boolean(some));
	set_count(o, "max_window_layers", first);
}

static void
set_experts(json_t *o, const struct arch *a)
{
	bool mixtral = family_is(a, "mixtral");
	json_t *dense = json_array();

	set_count(o, mixtral ? "num_local_experts" : "num_experts", a->n_experts);
	set_count(o, "num_experts_per_tok", a->n_experts_per_token);
	if (mixtral) {
		json_decref(dense);
		return;
	}
	for (uint64_t i = 0; i < a->n_layers; i++)
		if ((a->mlp_only_layers.bit[i / 64] >> i % 64 & 1) != 0)
			json_array_append_new(dense, json_integer((json_int_t)i));
	set(o, "mlp_only_layers", dense);
	set_count(o, "moe_intermediate_size", a->expert_ffn_size);
	set_count(o, "decoder_sparse_step", a->sparse_step);
	set(o, "norm_topk_prob", json_boolean(a->norm_topk));
}

static const char *
torch_name(enum dtype d)
{
	return d == DT_F32 ? "float32" : d == DT_F16 ? "float16" : "bfloat16";
}

static json_t *
config(const struct arch *a, uint64_t shard_bytes)
{
	json_t *o = json_object(), *mark = json_object(), *names = json_array();

	json_array_append_new(names, json_string(a->architecture));
	set(o, "architectures", names);
	set(o, "model_type", json_string(a->model_type));
	set_count(o, "num_hidden_layers", a->n_layers);
	set_count(o, "hidden_size", a->hidden_size);
	set_count(o, "num_attention_heads", a->n_heads);
	set_count(o, "num_key_value_heads", a->n_kv_heads);
	set_count(o, "head_dim", a->head_dim);
	set_count(o, "intermediate_size", a->ffn_size);
	set_count(o, "vocab_size", a->vocab_size);
	set_count(o, "max_position_embeddings", a->max_positions);
	set(o, "hidden_act", json_string("silu"));
	set(o, "rms_norm_eps", json_real(a->norm_eps));
	set(o, "tie_word_embeddings", json_boolean(a->tied));
	set(o, "attention_bias", json_boolean(a->o_bias));
	set_rope(o, a);
	set_window(o, a);
	if (a->n_experts != 0)
		set_experts(o, a);
	set_count(o, "bos_token_id", 0);
	set_count(o, "eos_token_id", a->vocab_size - 1);
	set(o, "torch_dtype", json_string(torch_name(a->dtype)));
	set(mark, "synthetic", json_true());
	set_count(mark, "seed", a->seed);
	set_count(mark, "shard_bytes", shard_bytes);
	set(o, "nsbench", mark);
	return o;
}

char *
synth_config(const struct arch *a, uint64_t shard_bytes)
{
	json_t *o = config(a, shard_bytes);
	char *text = json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	char *line;

	if (text == NULL)
		errx(NS_TROUBLE, "config.json: out of memory");
	line = xasprintf("%s\n", text);
	free(text);
	json_decref(o);
	return line;
}
