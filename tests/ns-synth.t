#!/bin/sh
. "${0%/*}/tap.sh"

models=$top/tests/models
field() { ns-discover model "$1" 2>err | sed -n "s/^$2=//p"; }
fields() { d=$1; shift; for k; do field "$d" "$k"; done | paste -sd' '; }
# payload FILE ...: the data of safetensors files, without their headers.
payload() {
	for f; do
		tail -c +$(($(od -An -tu4 -N4 "$f") + 9)) "$f"
	done
}
sum() { sha256sum <"$1" | cut -c1-16; }
for m in "$models"/*.yaml; do
	yaml2kv "$m" >"$(basename "$m" .yaml).kv"
done

# The parameters, by hand: embedding (and head), then each layer's attention,
# feed-forward, router, norms and biases, then the last norm.
embed=$((320 * 64)) attn=$((2 * 64 * 64 + 2 * 32 * 64)) ffn=$((3 * 160 * 64)) norms=128
wide=$((2 * 128 * 64 + 2 * 64 * 64 + 2 * 32))
while read -r name sum; do
	# shellcheck disable=SC2004 # it is an expression, not a number
	sum=$(($sum))
	ok "$name: is made"      "ns-synth $name.kv $name"
	is "$name: parameters"   "$sum $((4 * sum)) 1 7" "fields $name n_parameters tensor_bytes synthetic seed"
	is "$name: what was asked is what is read" '' \
	    "ns-discover model $name.kv | grep -v '^[ntf].*_\|^synthetic\|^seed\|^fingerprint' >a; ns-discover model $name | grep -v '^[ntf].*_\|^synthetic\|^seed\|^fingerprint' | diff a -"
done <<-END
	llama     2*embed+2*(attn+ffn+norms)+64
	llama3    embed+2*(attn+ffn+norms)+64
	mistral   2*embed+2*(attn+ffn+norms)+64
	mixtral   2*embed+2*(attn+4*ffn+4*64+norms)+64
	qwen2     embed+2*(attn+ffn+norms+128)+64
	qwen3     2*embed+2*(wide+ffn+norms)+64
	qwen3-moe 2*embed+2*(wide+8*3*48*64+8*64+norms)+wide+ffn+norms+64
END
is 'Mixtral names its experts so' 'model.layers.1.block_sparse_moe.experts.3.w2.weight' \
    "ns-discover tensors mixtral | awk '\$2 == \"expert_down\" && \$3 == 1 && \$4 == 3 { print \$1 }'"
is 'layer 1 of qwen3-moe is dense' '3' "ns-discover tensors qwen3-moe | grep -c 'layers.1.mlp'"

# Shapes that are published, to the last parameter.
while read -r name sum; do
	yaml2kv "$top/configs/models/$name.yaml" >"$name.kv"
	is "$name: parameters of the real one" "$sum" "field $name.kv n_parameters"
done <<-END
	qwen      596049920
	llama-1b  1235814400
	qwen-7b   7615616512
END
for name in tiny moe-tiny; do
	yaml2kv "$top/configs/models/$name.yaml" >"$name.kv"
	ok "$name: a decode step reads more than 24 MiB" "ns-discover tensors $name.kv | awk -F '\t' '
	    NR > 1 && (\$4 == \"NA\" || \$4 < 4) { n += \$8 } END { exit !(n > 1.5 * 24 * 1024 * 1024) }'"
	ok "$name: and all of it is under 250 MB" "[ $(field $name.kv tensor_bytes) -lt 250000000 ]"
done

# The bytes: recorded, and confirmed by another program in another language.
is 'f32, the same anywhere'   bf6d9a07d6b11af6 'sum qwen2/model.safetensors'
ns-synth --dtype f16 qwen2.kv h
is 'f16, the same anywhere'   594ec57d3ca52014 'sum h/model.safetensors'
ns-synth --dtype bf16 qwen2.kv b
is 'bf16, the same anywhere'  7acf5bd05b3352ec 'sum b/model.safetensors'
is 'bf16: half the bytes'     "$((2 * 107072)) BF16" 'fields b tensor_bytes dtype'
is 'header of a multiple of 8' 0 'echo $(($(od -An -tu4 -N4 b/model.safetensors) % 8))'
ns-synth -s 8 qwen2.kv other
ok 'another seed, other bytes' '! cmp -s qwen2/model.safetensors other/model.safetensors'
ok 'from standard input'      'ns-synth - piped/ <qwen2.kv && cmp qwen2/model.safetensors piped/model.safetensors'
ok 'without a seed it is 1'   'grep -v seed qwen2.kv | ns-synth - one && [ "$(field one seed)" = 1 ]'
ok 'from the model.kv of another' 'ns-discover model qwen3-moe >m.kv && ns-synth m.kv copy && diff -r qwen3-moe copy'

ok 'sharded'                  'ns-synth --shard-bytes 200000 qwen3-moe.kv shards'
is 'sharded: files'           '7 1178112' 'fields shards n_files tensor_bytes'
ok 'sharded: no file over its size' '[ -z "$(find shards -name "*.safetensors" -size +210000c)" ]'
ok 'sharded: the same data'   'payload shards/*.safetensors >a && payload qwen3-moe/model.safetensors | cmp a'
ok 'a tensor over the size stands alone' 'ns-synth --shard-bytes 1 llama.kv alone && [ "$(field alone n_files)" = 21 ]'

# What is there is kept, or refused.
touch -d @1 qwen2/config.json
exits 0 'the same again: nothing to do' 'ns-synth qwen2.kv qwen2' 'qwen2: is there, made with these parameters'
is 'and nothing done'         1 'stat -c %Y qwen2/config.json'
exits 2 'another seed'        'ns-synth -s 9 qwen2.kv qwen2' 'not made with these parameters: remove it'
exits 2 'another dtype'       'ns-synth --dtype f16 qwen2.kv qwen2' 'not made with these'
mkdir theirs && touch theirs/x
exits 2 'a directory of others' 'ns-synth qwen2.kv theirs' 'not made with these'
ok 'which stays as it is'     '[ "$(ls theirs)" = x ]'
exits 2 'a file'              'ns-synth qwen2.kv qwen2.kv' 'not made with these'
truncate -s -1 piped/model.safetensors
exits 2 'the same, cut short' 'ns-synth qwen2.kv piped' 'cut short'

bad() { # NAME SED MESSAGE
	sed "$2" qwen3-moe.kv >bad.kv
	exits 2 "$1" 'ns-synth bad.kv new' "$3"
	ok "$1: nothing left" '[ ! -e new ] && [ ! -e new.part ]'
}
bad 'unknown setting'   's/hidden_size/hiden_size/'      "'hiden_size' is no setting"
bad 'no layers'         '/n_layers/d'                    'n_layers is 0'
bad 'not a count'       's/n_heads=.*/n_heads=4.5/'      "n_heads: not a count: '4.5'"
bad 'not a flag'        's/tied=.*/tied=maybe/'          "tied: 0 or 1 was expected, found 'maybe'"
bad 'not a list'        's/mlp_only_layers=.*/mlp_only_layers=1,x/' "mlp_only_layers: not a list of layers"
bad 'an odd head'       's/head_dim=.*/head_dim=31/'     'head_dim 31 is odd'
bad 'too many experts'  's/per_token=.*/per_token=9/'    'n_experts_per_token is 9'
bad 'huge'              's/vocab_size=.*/vocab_size=9223372036854775807/' 'vocab_size is 9223372036854775807'
bad 'another family'    's/Qwen3Moe/Gemma/'              "architecture 'GemmaForCausalLM' is none of"
bad 'no architecture'   '/architecture/d'                "no 'architecture'"
bad 'no dtype'          '/dtype/d'                       'dtype is not set: f32, f16 or bf16'
bad 'another dtype'     's/dtype=.*/dtype=i8/'           'dtype I8: f32, f16 or bf16'
bad 'another rope'      '$a rope=yarn'                   "rope: default or llama3 was expected, found 'yarn'"
bad 'half a rope'       '$a rope=llama3'                 'llama3 rope needs factor'
bad 'what the family cannot' '$a qkv_bias=1'             'a Qwen3MoeForCausalLM cannot have qkv_bias=1'
bad 'a seed too large'  's/seed=.*/seed=9223372036854775808/' 'out of range'
printf 'tied=1' >bad.kv
exits 2 'settings cut short'  'ns-synth bad.kv new'  'last line cut short'
exits 2 'no settings'         'ns-synth none.kv new' 'none.kv: No such file'
exits 2 'one operand'         'ns-synth qwen2.kv'    'usage:'
exits 2 'a bad seed'          'ns-synth -s x qwen2.kv new' "--seed: not a count: 'x'"
exits 2 'a bad dtype'         'ns-synth --dtype x qwen2.kv new' "--dtype: 'x' is not known"
exits 2 'shards of 0 bytes'   'ns-synth --shard-bytes 0 qwen2.kv new' 'out of range'
exits 2 'no parent directory' 'ns-synth qwen2.kv no/such/place' 'No such file'
exits 2 'a space in the path' 'ns-synth qwen2.kv "a b"' "a ' ' in its path"
ok 'none of it left' '[ ! -e new ] && [ ! -e new.part ] && [ ! -e "a b" ] && [ ! -e "a b.part" ]'

# What ends it early leaves nothing.
exits 2 'a file size limit'   '(ulimit -f 200; ns-synth qwen3-moe.kv new)' 'File size limit'
ok 'leaves nothing'           '[ ! -e new ] && [ ! -e new.part ]'
mkdir tmpfs
if unshare -rm sh -c 'mount -t tmpfs -o size=600k none tmpfs' 2>log; then
	full='mount -t tmpfs -o size=600k none tmpfs && cp qwen2.kv tmpfs && ns-synth qwen3-moe.kv tmpfs/new; s=$?; ls tmpfs >left; exit $s'
	exits 2 'a full disk, foreseen' 'unshare -rm sh -c "$full"' 'the checkpoint needs 12'
	is 'leaves nothing'             qwen2.kv 'cat left'
else
	skip_one 'a full disk, foreseen' 'no mount here'
fi
mkdir new.part && echo 1 >new.part/rest
exits 2 'another at work'     'flock new.part ns-synth qwen2.kv new' 'another ns-synth is writing it'
ok 'rests of a killed one'    'ns-synth qwen2.kv new && diff -r qwen2 new && [ ! -e new.part ]'

# interrupt SIGNAL: what it ends with, sent while the first file is written.
interrupt() {
	ns-synth llama-1b.kv big 2>err &
	while [ ! -s big.part/model.safetensors ] && kill -0 $! 2>log; do sleep 0.01; done
	kill -"$1" $! 2>log
	wait $!
	echo $?
}
interrupt TERM >out 2>log
if grep -q 'are free' err; then
	skip_one 'interrupted' 'less than 3 GB free here'
else
	is 'TERM: ended by it'    143 'cat out'
	is 'TERM: nothing left'   '' 'find . -maxdepth 1 -name "big*"'
	is 'HUP: ended by it'     129 'interrupt HUP'
	is 'HUP: nothing left'    '' 'find . -maxdepth 1 -name "big*"'
	is 'KILL: ended by it'    137 'interrupt KILL'
	ok 'KILL: the rest goes next time' 'flock big.part ns-discover --version && ns-synth llama.kv big && [ ! -e big.part ]'
fi
done_testing
