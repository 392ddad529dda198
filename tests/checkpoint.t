#!/bin/sh
# tools/lib/checkpoint.h as a worker uses it: mapped data, found by role.
. "${0%/*}/tap.sh"
. "$top/tests/safetensors.sh"

c_program checkpoint tests/checkpoint.c

for m in "$top"/tests/models/*.yaml; do
	name=$(basename "$m" .yaml)
	yaml2kv "$m" | ns-synth - "$name"
	ok "$name: every tensor by role and name" "./checkpoint $name"
done
is 'windows of mistral'          '0 8 0 8'     "./checkpoint mistral | sed -n 's/^layer	//p' | paste -sd' ' | tr '\t' ' '"
is 'experts of qwen3-moe, not layer 1' '1 0 1' "./checkpoint qwen3-moe | sed -n 's/^layer	\(.\).*/\1/p' | paste -sd' '"

# The same checkpoint with a header of 1 byte over a multiple of 8.
cp -r qwen3-moe odd
file=qwen3-moe/model.safetensors
len=$(od -An -tu4 -N4 $file)
{
	length $((len + 1))
	tail -c +9 $file | head -c "$len"
	printf ' '
	tail -c +$((len + 9)) $file
} >odd/model.safetensors
./checkpoint qwen3-moe >even.tsv
exits 0 'a header of an odd size is said'  './checkpoint odd' 'no multiple of 8 bytes: read, not mapped'
ok 'and its tensors are aligned, the same' 'diff even.tsv out'

# Two tensors of which the second cannot be aligned.
llama crooked ''
new
tensor pad U8 1 1
for part in embed_tokens:3,2 norm:2 layers.0.input_layernorm:2 layers.0.post_attention_layernorm:2 \
    layers.0.self_attn.q_proj:2,2 layers.0.self_attn.k_proj:2,2 layers.0.self_attn.v_proj:2,2 \
    layers.0.self_attn.o_proj:2,2 layers.0.mlp.gate_proj:1,2 layers.0.mlp.up_proj:1,2 layers.0.mlp.down_proj:2,1; do
	tensor "model.${part%:*}.weight" F32 "${part#*:}" $((4 * $(echo "${part#*:}" | tr , '*')))
done
end crooked/model.safetensors
exits 2 'a tensor that lies crooked' './checkpoint crooked' "'model.embed_tokens.weight' is not aligned to its 4-byte elements"
sed 's/"llama"/"gemma"/' crooked/config.json >c && mv c crooked/config.json
exits 2 'a model that cannot be run' './checkpoint crooked' "model_type 'gemma' is none of"
done_testing
