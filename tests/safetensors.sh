# shellcheck shell=sh
# Sourced by tests that need safetensors files, good and bad.

# length N: the eight bytes before a header of N < 65536.
# shellcheck disable=SC2059 # the format is made of octal escapes alone
length() { printf "\\$(printf %03o $(($1 % 256)))\\$(printf %03o $(($1 / 256)))\0\0\0\0\0\0"; }

# st HEADER BYTES: a file of that header and so many bytes of zeros.
st() {
	length ${#1}
	printf %s "$1"
	head -c "$2" /dev/zero
}

# A header tensor by tensor: new; tensor NAME DTYPE SHAPE BYTES ...; end FILE.
new() { head='' at=0; }
tensor() {
	head="$head${head:+,}\"$1\":{\"dtype\":\"$2\",\"shape\":[$3],\"data_offsets\":[$at,$((at + $4))]}"
	at=$((at + $4))
}
end() { st "{$head}" "$at" >"$1"; }

# llama DIR PREFIX: the smallest Llama, its names prefixed, and its config.
llama() {
	mkdir "$1"
	new
	tensor "$2model.embed_tokens.weight" F32 3,2 24
	tensor "$2model.norm.weight" F32 2 8
	for part in input_layernorm:2 post_attention_layernorm:2 \
	    self_attn.q_proj:2,2 self_attn.k_proj:2,2 self_attn.v_proj:2,2 \
	    self_attn.o_proj:2,2 mlp.gate_proj:1,2 mlp.up_proj:1,2 mlp.down_proj:2,1; do
		shape=${part#*:}
		tensor "$2model.layers.0.${part%:*}.weight" F32 "$shape" \
		    $((4 * $(echo "$shape" | tr , '*')))
	done
	end "$1/model.safetensors"
	cat >"$1/config.json" <<-END
		{
		"architectures": ["LlamaForCausalLM"],
		"model_type": "llama",
		"num_hidden_layers": 1,
		"hidden_size": 2,
		"num_attention_heads": 1,
		"intermediate_size": 1,
		"vocab_size": 3,
		"tie_word_embeddings": true
		}
	END
}
