#!/bin/sh
. "${0%/*}/tap.sh"
. "$top/tests/safetensors.sh"

one() { printf '{"dtype":"%s","shape":[%s],"data_offsets":[%s]}' "$1" "$2" "$3"; }
bad() { # NAME HEADER BYTES MESSAGE
	st "$2" "$3" >bad.safetensors
	exits 2 "$1" 'ns-discover tensors bad.safetensors' "$4"
}
field() { ns-discover model "$1" 2>err | sed -n "s/^$2=//p"; }
# edit SED: config.json of a copy, in ./m, of the smallest Llama.
edit() { rm -rf m; cp -r small m; sed "$1" small/config.json >m/config.json; }

# The format.
new
tensor a.scalar F32 '' 4
tensor b.empty BF16 0,7 0
tensor c.bool BOOL 3 3
tensor d.nibbles F4 2,3 3
tensor e.six F6_E2M3 4 3
end all.safetensors
cat >want <<'E2'
name	role	layer	expert	dtype	shape	n_elements	bytes	file	offset_bytes
a.scalar	other	NA	NA	F32	scalar	1	4	all.safetensors	AT0
b.empty	other	NA	NA	BF16	0x7	0	0	all.safetensors	AT4
c.bool	other	NA	NA	BOOL	3	3	3	all.safetensors	AT4
d.nibbles	other	NA	NA	F4	2x3	6	3	all.safetensors	AT7
e.six	other	NA	NA	F6_E2M3	4	4	3	all.safetensors	AT10
E2
data=$((8 + ${#head} + 2))
for i in 0 4 7 10; do sed "s/AT$i\$/$((data + i))/" want >w && mv w want; done
ok 'scalar, empty, BOOL, sub-byte'  'ns-discover tensors all.safetensors >out && diff want out'
exits 0 'others are said'           'ns-discover tensors all.safetensors' '5 tensors of role other, 13 bytes'
st "{\"__metadata__\":null,\"z\":$(one U8 2 0,2),\"a\":$(one U8 1 2,3)}      " 3 >f.safetensors
is 'null metadata, blanks behind, by offset' 'z a' "ns-discover tensors f.safetensors | sed 1d | cut -f1 | paste -sd' '"
st '{}' 0 >f.safetensors
is 'no tensors'                      1 "ns-discover tensors f.safetensors | wc -l"
exits 2 'stdout full'                'ns-discover tensors all.safetensors >/dev/full' 'No space left'

printf abc >bad.safetensors
exits 2 'three bytes'   'ns-discover tensors bad.safetensors' '3 bytes: too short'
: >bad.safetensors
exits 2 'empty'         'ns-discover tensors bad.safetensors' '0 bytes: too short'
printf '\377\377\377\377\377\377\377\377{}' >bad.safetensors
exits 2 'length of 2^64-1' 'ns-discover tensors bad.safetensors' 'its header claims 18446744073709551615 bytes, the file has 10'
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n' >bad.safetensors
exits 2 'LFS pointer'   'ns-discover tensors bad.safetensors' "git lfs pull"
bad 'length 0'          ''          0 'a header of 0 bytes'
bad 'not {'             '[1]'       0 "does not begin with '{'"
bad 'blank before {'    ' {}'       0 "does not begin with '{'"
bad 'not JSON'          '{"a":}'    0 'bad.safetensors: header, byte'
bad 'text behind'       '{} x'      0 'header, byte'
bad 'not UTF-8'         "$(printf '{"\377":1}')" 0 'unable to decode byte 0xff'
bad 'metadata a list'   '{"__metadata__":[]}' 0 '__metadata__ is neither'
bad 'duplicate name'    "{\"a\":$(one U8 1 0,1),\"a\":$(one U8 1 0,1)}" 1 'duplicate object key'
bad 'control character' "{\"a\\u001b\":$(one U8 1 0,1)}" 1 'control character'
bad 'not an object'     '{"a":1}'   0 "tensor 'a': no dtype"
bad 'dtype with an escape' "{\"a\":$(one 'F\u001b' 1 0,1)}" 1 "tensor 'a': dtype F?: not a dtype"
bad 'an escape in JSON' "$(printf '{\033}')" 0 "'?'"
bad 'dtype unknown'     "{\"a\":$(one F7 1 0,1)}" 1 "tensor 'a': dtype F7: not a dtype"
bad 'no shape'          '{"a":{"dtype":"U8","data_offsets":[0,1]}}' 1 'a shape of at most 8'
bad 'nine dimensions'   "{\"a\":$(one U8 1,1,1,1,1,1,1,1,1 0,1)}" 1 'a shape of at most 8'
bad 'negative shape'    "{\"a\":$(one U8 -1 0,1)}" 1 "tensor 'a': shape: not a count"
bad 'fraction in shape' "{\"a\":$(one U8 1.0 0,1)}" 1 'shape: not a count'
bad '2^63 in shape'     "{\"a\":$(one U8 9223372036854775808 0,1)}" 1 'too big integer'
bad '2^40 x 2^40'       "{\"a\":$(one U8 1099511627776,1099511627776 0,1)}" 1 'more than 2^64 elements'
bad '2^62 of F32'       "{\"a\":$(one F32 4611686018427387904 0,1)}" 1 'more than 2^64 bits'
bad 'half a byte'       "{\"a\":$(one F4 3 0,1)}" 1 'do not end at a byte'
bad 'no offsets'        '{"a":{"dtype":"U8","shape":[1]}}' 1 'data_offsets of two numbers'
bad 'three offsets'     "{\"a\":$(one U8 1 0,1,1)}" 1 'data_offsets of two numbers'
bad 'text offsets'      "{\"a\":$(one U8 1 '"0",1')}" 1 'data_offsets: not a count'
bad 'reversed'          "{\"a\":$(one U8 1 1,0)}" 1 'data_offsets are reversed: 1, 0'
bad 'beyond the file'   "{\"a\":$(one U8 2 0,2)}" 1 "tensor 'a' ends at byte 2 of 1"
bad 'bytes and shape'   "{\"a\":$(one F16 3 0,5)}" 5 'shape and dtype make 6 bytes, data_offsets 5'
bad 'overlap'           "{\"a\":$(one U8 2 0,2),\"b\":$(one U8 2 1,3)}" 3 "tensor 'b' overlaps another"
bad 'hole'              "{\"a\":$(one U8 1 0,1),\"b\":$(one U8 1 2,3)}" 3 "tensor 'b' leaves a hole before it"
bad 'hole at the start' "{\"a\":$(one U8 1 1,2)}" 2 "tensor 'a' leaves a hole"
bad 'bytes behind'      "{\"a\":$(one U8 1 0,1)}" 4 '3 bytes lie behind the last tensor'

# The directory.
llama small ''
is 'roles'  'embed final_norm attn_norm ffn_norm q k v o gate up down' \
    "ns-discover tensors small | sed 1d | cut -f2 | paste -sd' '"
is 'layers' 'NA NA 0 0 0 0 0 0 0 0 0' "ns-discover tensors small | sed 1d | cut -f3 | paste -sd' '"
is 'a model, settled by family and headers' \
    '11 1 34 136 1 2 2048 1e-06 10000 default F32 0 NA' \
    "for k in n_tensors n_files n_parameters tensor_bytes n_kv_heads head_dim max_positions norm_eps rope_theta rope dtype synthetic seed; do field small \$k; done | paste -sd' '"
exits 2 'no such directory'  'ns-discover model nowhere'   "'nowhere': No such file"
exits 2 'a file'             'ns-discover model want'      'not a directory'
mkdir 'a b' empty bin gguf adapter shards cache cache/snapshots
exits 2 'a space in its path' 'ns-discover model "a b"'    "'a b': a ' ' in its path, which make cannot carry"
exits 2 'an empty directory' 'ns-discover model empty'     'not a Hugging Face model'
touch bin/pytorch_model.bin gguf/q.gguf adapter/adapter_config.json \
    adapter/adapter_model.safetensors shards/model-00001-of-00002.safetensors
exits 2 'only .bin'          'ns-discover model bin'       'safe_serialization=True'
exits 2 'a GGUF'             'ns-discover model gguf'      'GGUF'
exits 2 'a cache'            'ns-discover model cache'     'the directory in its snapshots/'
exits 2 'an adapter'         'ns-discover model adapter'   'merge_and_unload'
exits 2 'shards, no index'   'ns-discover model shards'    'fetch the index too'
exits 2 'what to write'      'ns-discover all small'       "'all': model or tensors was expected"
exits 2 'no operand'         'ns-discover model'           'usage:'
edit 's/"llama"/"llama/'
exits 2 'config not JSON'    'ns-discover model m'         'm/config.json:3:'
rm m/config.json
exits 2 'no config'          'ns-discover model m'         'm/config.json: No such file'
edit '3s/$/"model_type":"x",/'
exits 2 'a key twice'        'ns-discover model m'         'duplicate object key'
printf '[]' >list.json
exits 2 'config a list'      'ns-discover model list.json' 'not a JSON object'
printf '{"a":1}' >other.json
exits 2 'some other JSON'    'ns-discover model other.json' 'neither model_type nor architectures'
printf 'version https://git-lfs.github.com/spec/v1\noid\n' >lfs.json
exits 2 'config an LFS pointer' 'ns-discover model lfs.json' 'git lfs pull'

# What the architecture needs.
edit 's/"hidden_size": 2/"hidden_size": 4/'
exits 2 'a wrong shape'      'ns-discover model m' "tensor 'model.embed_tokens.weight' is 3x2; config.json makes it 3x4"
edit 's/"num_hidden_layers": 1/"num_hidden_layers": 2/'
exits 2 'a missing tensor'   'ns-discover model m' "tensor 'model.layers.1.input_layernorm.weight' is missing"
edit 's/: true/: false/'
exits 2 'untied, no lm_head' 'ns-discover model m' "tensor 'lm_head.weight' is missing"
edit 's/"vocab_size": 3,/"vocab_size": 3/; /tie_word/d'
is 'tied left open, no lm_head: tied' 1 'field m tied'
tensor lm_head.weight F32 3,2 24; end m/model.safetensors
is 'tied left open, an lm_head: not'  0 'field m tied'
cp small/config.json m
exits 0 'tied, and an lm_head: said'  'ns-discover model m' "'lm_head.weight' is stored: 24 bytes that are not used"
is 'tied, and an lm_head: counted'    '1 40 160' "for k in tied n_parameters tensor_bytes; do field m \$k; done | paste -sd' '"
is 'tied, and an lm_head: other'      other "ns-discover tensors m 2>err | sed -n 's/^lm_head.weight	\([a-z_]*\).*/\1/p'"
tensor model.layers.1.self_attn.q_proj.weight F32 2,2 16; end m/model.safetensors
is 'beyond the last layer: other'     '1 other 1' "ns-discover tensors m 2>err | awk -F '\t' '\$3 == 1 { print ++n, \$2, \$3 }'"
ok 'and said'                         'ns-discover tensors m 2>&1 >out | grep -q "model.layers.1.self_attn.q_proj.weight"'
for change in '/"hidden_size/d|no .hidden_size.' 's/"hidden_size": 2/"hidden_size": "2"/|hidden_size: a whole number' \
    's/"hidden_size": 2/"hidden_size": 9223372036854775807/|hidden_size: a whole number' \
    's/"num_hidden_layers": 1/"num_hidden_layers": 4096/|n_layers is 4096: from 1 to 1024' \
    's/"num_attention_heads": 1/"num_attention_heads": 3, "head_dim": 2, "num_key_value_heads": 2/|no multiple of n_kv_heads 2' \
    's/: true/: 1/|tie_word_embeddings: true or false'; do
	edit "${change%|*}"
	ok "config: ${change#*|}" "! ns-discover model m && ns-discover model m 2>&1 | grep -q 'm/config.json: .*${change#*|}'"
done
for change in 's/"llama"/"gemma"/|none of llama' '3s/$/"rope_scaling":{"rope_type":"yarn","factor":4},/|yarn' \
    '3s/$/"quantization_config":{"quant_method":"gptq"},/|quantised by gptq' \
    '3s/$/"mlp_bias":true,/|mlp_bias' '3s/$/"hidden_act":"gelu",/|gelu' \
    '3s/$/"partial_rotary_factor":0.5,/|partial_rotary_factor'; do
	edit "${change%|*}"
	exits 0 "cannot be run: ${change#*|}" 'ns-discover model m' "${change#*|}"
	is "listed all the same: ${change#*|}" 12 'ns-discover tensors m | wc -l'
done
rm -rf m; cp -r small m; sed 's/F32/I32/g' small/model.safetensors >m/model.safetensors
exits 0 'cannot be run: I32'  'ns-discover model m' 'weights of I32 are neither'

# Families and generations of config.json.
shape() { # NAME WANTED KEYS JSON
	printf '{"num_hidden_layers":4,"hidden_size":64,"num_attention_heads":8,"intermediate_size":96,"vocab_size":9,%s}' "$4" >c.json
	is "$1" "$2" "for k in $3; do field c.json \$k; done | paste -sd' '"
}
kv='"num_key_value_heads":2'
shape 'llama: by default'   '8 8 2048 0 0 NA'   'n_kv_heads head_dim max_positions qkv_bias o_bias dtype' '"model_type":"llama"'
shape 'llama: biases'       '1 1'               'qkv_bias o_bias'     '"model_type":"llama","attention_bias":true'
shape 'null is absent'      '8 8 default'       'n_kv_heads head_dim rope' \
    '"model_type":"llama","head_dim":null,"num_key_value_heads":null,"rope_scaling":null'
shape 'by architecture'     'qwen2 1 0'         'model_type qkv_bias o_bias' "$kv,"'"architectures":["Qwen2ForCausalLM"]'
shape 'torch_dtype'         'BF16'              'dtype' '"model_type":"llama","torch_dtype":"bfloat16"'
shape 'torch. before it'    'F16'               'dtype' '"model_type":"llama","torch_dtype":"torch.float16"'
shape 'dtype'               'F32'               'dtype' '"model_type":"llama","dtype":"float32"'
shape 'llama3 rope'         'llama3 8 1 4 64 500' 'rope rope_factor rope_low_freq rope_high_freq rope_old_context rope_theta' \
    '"model_type":"llama","rope_theta":500,"rope_scaling":{"type":"llama3","factor":8,"low_freq_factor":1,"high_freq_factor":4.0,"original_max_position_embeddings":64}'
shape 'rope_parameters'     'default 700'       'rope rope_theta' '"model_type":"llama","rope_parameters":{"rope_type":"default","rope_theta":700.0}'
shape 'rope_parameters, llama3' 'llama3 8 700'  'rope rope_factor rope_theta' \
    '"model_type":"llama","rope_parameters":{"rope_type":"llama3","rope_theta":700,"factor":8,"low_freq_factor":1,"high_freq_factor":4.0,"original_max_position_embeddings":64}'
shape 'mistral: a window'   '8 4096 0,1,2,3'    'n_kv_heads sliding_window window_layers' '"model_type":"mistral"'
shape 'mistral: none'       '0 NA'              'sliding_window window_layers' '"model_type":"mistral","sliding_window":null'
shape 'mixtral'             '4 2 96 1 0 1000000' 'n_experts n_experts_per_token expert_ffn_size norm_topk sliding_window rope_theta' \
    '"model_type":"mixtral","num_local_experts":4'
shape 'qwen2: window unused' '0 NA 1'           'sliding_window window_layers qkv_bias' "$kv,"'"model_type":"qwen2","sliding_window":16,"use_sliding_window":false'
shape 'qwen2: window used'  '16 2,3'            'sliding_window window_layers' "$kv,"'"model_type":"qwen2","sliding_window":16,"use_sliding_window":true,"max_window_layers":2'
shape 'qwen3: layer_types'  '16 1 128 1 0'      'sliding_window window_layers head_dim qk_norm qkv_bias' \
    "$kv,"'"model_type":"qwen3","sliding_window":16,"use_sliding_window":true,"layer_types":["full_attention","sliding_attention","full_attention","full_attention"]'
shape 'qwen3_moe'           '8 2 48 1 2 1,3'    'n_experts n_experts_per_token expert_ffn_size norm_topk sparse_step mlp_only_layers' \
    "$kv,"'"model_type":"qwen3_moe","num_experts":8,"num_experts_per_tok":2,"moe_intermediate_size":48,"norm_topk_prob":true,"decoder_sparse_step":2,"mlp_only_layers":[1,3]'
shape 'qwen3_moe: local experts' '16 8 768 0 1' 'n_experts n_experts_per_token expert_ffn_size norm_topk sparse_step' \
    "$kv,"'"model_type":"qwen3_moe","num_local_experts":16'
shape 'another family: no guesses' 'deepseek_v2 4 NA NA NA' 'model_type n_layers n_kv_heads head_dim rope' '"model_type":"deepseek_v2"'
exits 0 'and said'          'ns-discover model c.json'  "model_type 'deepseek_v2' is none of"
printf '{"model_type":"llama","num_hidden_layers":1,"hidden_size":4,"num_attention_heads":1,"intermediate_size":1,"vocab_size":1,"rope_scaling":{"rope_type":"llama3","factor":8}}' >c.json
exits 2 'half a llama3 rope' 'ns-discover model c.json' 'llama3 rope needs factor'
sed 's/"rope_scaling.*/"num_key_value_heads":0}/' c.json >d.json
exits 2 'no heads'          'ns-discover model d.json'  'n_kv_heads is 0'

# A text model within another, under either prefix.
for prefix in language_model. model.language_model.; do
	rm -rf nested; llama nested "$prefix"
	[ $prefix = language_model. ] || sed -i 's/model\.language_model\.model\./model.language_model.ABCDE./' nested/model.safetensors
	tensor vision_tower.model.layers.0.self_attn.q_proj.weight F32 2 8
	[ $prefix = language_model. ] || head=$(echo "$head" | sed 's/language_model\.model\./language_model./g')
	end nested/model.safetensors
	{ echo '{"architectures":["LlavaForConditionalGeneration"],"model_type":"llava","tie_word_embeddings":true,"dtype":"float32","text_config":'
	sed '/architectures/d; /tie_word/d; s/"vocab_size": 3,/"vocab_size": 3/' small/config.json; echo '}'; } >nested/config.json
	exits 0 "$prefix nested: the rest is other"  'ns-discover tensors nested' '1 tensors of role other, 8 bytes'
	is "$prefix nested: architecture, family, tied, dtype" 'LlavaForConditionalGeneration llama 1 F32' \
	    "for k in architecture model_type tied dtype; do field nested \$k; done | paste -sd' '"
done

# Index and headers, both ways.
mkdir s
cp small/config.json s
new; for part in embed_tokens:3,2:24 norm:2:8 layers.0.input_layernorm:2:8 layers.0.post_attention_layernorm:2:8; do
	shape=${part#*:}; tensor "model.${part%%:*}.weight" F32 "${shape%:*}" "${part##*:}"; done; end s/one.safetensors
new; for part in self_attn.q_proj:2,2:16 self_attn.k_proj:2,2:16 self_attn.v_proj:2,2:16 self_attn.o_proj:2,2:16 mlp.gate_proj:1,2:8 mlp.up_proj:1,2:8 mlp.down_proj:2,1:8; do
	shape=${part#*:}; tensor "model.layers.0.${part%%:*}.weight" F32 "${shape%:*}" "${part##*:}"; done; end s/two.safetensors
index() { # TOTAL: as it should be
	echo "{\"metadata\":{\"total_size\":$1},\"weight_map\":{"
	for f in one two; do ns-discover tensors s/$f.safetensors 2>err | sed "1d; s/	.*//; s/.*/\"&\":\"$f.safetensors\",/"; done | sed '$s/,$//'
	echo '}}'
}
index 136 >good.json
as() { sed "$1" good.json >s/model.safetensors.index.json; }
as ''
is 'shards' '11 2 136' "for k in n_tensors n_files tensor_bytes; do field s \$k; done | paste -sd' '"
is 'shards: nothing to say' '' 'ns-discover tensors s 2>&1 >out'
is 'shards: by file and offset' 'one.safetensors two.safetensors' "sed 1d out | cut -f9 | uniq | paste -sd' '"
as 's/136/0/'
exits 0 'bytes are the headers'     'ns-discover model s' 'total_size is 0, the headers hold 136 bytes'
is 'and not total_size'             136 'field s tensor_bytes'
as '/model.norm/d'
exits 2 'tensor not in the index'   'ns-discover model s' "s/one.safetensors: tensor 'model.norm.weight' is not in the index"
as 's/"model.norm.weight":"one/"model.norm.weight":"two/'
exits 2 'tensor in another shard'   'ns-discover model s' "s/one.safetensors: tensor 'model.norm.weight' is in this file, the index says two.safetensors"
as 's/"model.norm.weight"/"model.more.weight":"two.safetensors",&/'
exits 2 'tensor in no shard'        'ns-discover model s' "s/two.safetensors: tensor 'model.more.weight' is missing; the index says it is here"
as 's/"model.norm.weight"/"model.more.weight":"three.safetensors",&/'
exits 2 'a missing shard'           'ns-discover model s' 's/three.safetensors: missing'
as 's/"model.norm.weight":"one/&\/..\/one/'
exits 2 'a path in the index'       'ns-discover model s' "tensor 'model.norm.weight': not the name of a .safetensors file in the same directory"
as 's/"model.norm.weight":"one.safetensors"/"model.norm.weight":7/'
exits 2 'a number in the index'     'ns-discover model s' 'not the name of a .safetensors file'
as 's/weight_map/map/'
exits 2 'no weight_map'             'ns-discover model s' 'no weight_map'
as '$d'
exits 2 'index cut short'           'ns-discover model s' 's/model.safetensors.index.json:'
as 's/"model.norm.weight"/"model.norm.weight":"two.safetensors",&/'
exits 2 'twice in the index'        'ns-discover model s' 'duplicate object key'
cp s/one.safetensors s/three.safetensors
as 's/"model.norm.weight"/"x":"three.safetensors",&/'
exits 2 'twice in the shards'       'ns-discover model s' 'stands in another file too'

# What people left in public.
if [ -d "$shared/public/safetensors" ]; then
	for f in "$shared"/public/safetensors/*.safetensors; do
		want=$(awk -F '\t' -v f="safetensors/${f##*/}" '$1 == f { print $4 }' "$shared/public/INDEX.tsv")
		case $want in
		MALFORMED*) exits 2 "public: ${f##*/}" 'ns-discover tensors "$f"' "$(echo "$want" | sed 's/.*length \([0-9]*\) .* \([0-9]*\) bytes/header claims \1 bytes, the file has \2/')" ;;
		*) is "public: ${f##*/}" "$(echo "$want" | sed 's/.*tensors \([0-9]*\) .*/\1/')" 'ns-discover tensors "$f" | sed 1d | wc -l' ;;
		esac
	done
	for f in "$shared"/public/configs/*.json; do
		want=$(awk -F '\t' -v f="configs/${f##*/}" '$1 == f { print $4 }' "$shared/public/INDEX.tsv")
		case $want in
		*'= llama|'* | *'= qwen3_moe|'*) is "public: ${f##*/}" NA 'field "$f" unsupported' ;;
		*) exits 0 "public: ${f##*/}" 'ns-discover model "$f"' 'is none of llama' ;;
		esac
	done
else
	skip_one 'public checkpoints' 'no ../shared here'
fi
done_testing
