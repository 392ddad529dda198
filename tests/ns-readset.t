#!/bin/sh
. "${0%/*}/tap.sh"

# Hidden size 8, 4 heads and 2 key heads of 2, ffn 16, vocabulary 32, 2-byte
# weights: tensors LAYERS [lm_head].
tensors() {
	printf '%s\n' name role layer expert shape n_elements bytes | paste -s
	row embed NA NA 32x8 256 512
	for l in $(seq 0 $(($1 - 1))); do
		row attn_norm "$l" NA 8 8 16
		row q "$l" NA 8x8 64 128
		row k "$l" NA 4x8 32 64
		row v "$l" NA 4x8 32 64
		row o "$l" NA 8x8 64 128
		row ffn_norm "$l" NA 8 8 16
		row gate "$l" NA 16x8 128 256
		row up "$l" NA 16x8 128 256
		row down "$l" NA 8x16 128 256
	done
	row final_norm NA NA 8 8 16
	[ $# -eq 1 ] || row lm_head NA NA 32x8 256 512
}
row() { printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1.$2" "$@"; }
settings() { printf '%s\n' "$@"; }
predict='ns-readset -m m -p 3 -g 2 -B 2 --kv-bytes 4'
# get PHASE STEP ROLE: read, written and computed.
get() { awk -F '\t' -v k="$1 $2 $3" '$1 " " $2 " " $3 == k { print $4, $5, $6 }'; }

tensors 2 head >t
settings tied=0 sliding_window=0 n_experts=0 >m

# 2 x 3 prompt tokens: 6 rows of 16 bytes; q: 2 layers x 128 bytes, 2 flop x
# 64 x 6 tokens x 2 layers; lm_head: 2 x 256 x 2 sequences; kv: 6 tokens x 2 x
# 4 x 4 bytes x 2 layers; 4 x 8 x (1 + 2 + 3) pairs x 2 sequences x 2 layers.
is 'prefill' "$(tr ' ' '\t' <<'END'
phase step role read_bytes write_bytes flop
prefill 0 embed 96 0 0
prefill 0 attn_norm 32 0 0
prefill 0 q 256 0 1536
prefill 0 k 128 0 768
prefill 0 v 128 0 768
prefill 0 o 256 0 1536
prefill 0 ffn_norm 32 0 0
prefill 0 gate 512 0 3072
prefill 0 up 512 0 3072
prefill 0 down 512 0 3072
prefill 0 final_norm 16 0 0
prefill 0 lm_head 512 0 1024
prefill 0 kv_cache 0 384 768
END
)" "$predict t | sed '/decode/d'"
# 2 tokens a step; kv: 3 then 4 earlier positions, 4 then 5 pairs, x 2 x 2.
is 'decode 0' "$(tr ' ' '\t' <<'END'
decode 0 embed 32 0 0
decode 0 attn_norm 32 0 0
decode 0 q 256 0 512
decode 0 k 128 0 256
decode 0 v 128 0 256
decode 0 o 256 0 512
decode 0 ffn_norm 32 0 0
decode 0 gate 512 0 1024
decode 0 up 512 0 1024
decode 0 down 512 0 1024
decode 0 final_norm 16 0 0
decode 0 lm_head 512 0 1024
decode 0 kv_cache 384 128 512
END
)" "$predict t | grep '^decode	0'"
is 'decode 1: one position more' '512 128 640' "$predict t | get decode 1 kv_cache"
is 'steps'              'prefill 0,decode 0,decode 1,' "$predict t | sed 1d | cut -f 1,2 | uniq | tr '\t\n' ' ,'"
ok 'stdin'              "$predict t >1 && $predict <t | cmp 1 - && $predict - <t | cmp 1 -"
is 'one sequence is the default' '16 0 0' 'ns-readset -m m -p 3 -g 1 --kv-bytes 4 t | get decode 0 embed'
is 'no decode'          prefill "ns-readset -m m -p 3 -g 0 --kv-bytes 4 t | sed 1d | cut -f 1 | uniq"
is 'at most the whole table' '512 0 0' 'ns-readset -m m -p 33 -g 0 --kv-bytes 4 t | get prefill 0 embed'
is 'activations: prefill' '0 768 0' 'ns-readset -m m -p 3 -g 1 -B 2 --kv-bytes 4 --activation-bytes 4 t | get prefill 0 activation'
is 'activations: decode'  '' 'ns-readset -m m -p 3 -g 1 -B 2 --kv-bytes 4 --activation-bytes 4 t | get decode 0 activation'
is 'two-byte cache'     '192 64 512' 'ns-readset -m m -p 3 -g 1 -B 2 --kv-bytes 2 t | get decode 0 kv_cache'
# The rows are read, and then the table once more, as lm_head.
settings tied=1 sliding_window=0 n_experts=0 >tied
tensors 2 >t1
is 'tied: rows'         '32 0 0'     "ns-readset -m tied -p 3 -g 1 -B 2 --kv-bytes 4 t1 | get decode 0 embed"
is 'tied: table'        '512 0 1024' "ns-readset -m tied -p 3 -g 1 -B 2 --kv-bytes 4 t1 | get decode 0 lm_head"
ok 'tied: a stored lm_head is not read as well' 'ns-readset -m tied -p 3 -g 1 --kv-bytes 4 t1 >1 && ns-readset -m tied -p 3 -g 1 --kv-bytes 4 t | cmp 1 -'
exits 2 'neither tied nor lm_head' "$predict t1" 't1: no tensor of role lm_head'
exits 2 'tied, no embed' "grep -v embed t1 >e; ns-readset -m tied -p 3 -g 1 --kv-bytes 4 e" 'e: no tensor of role embed'
# A layer less, as the test of ns-check leaves it out: 1184 bytes and its cache.
sum() { awk -F '\t' '$1 == "decode" { n += $4 } END { print n }'; }
is 'a layer less'       "$((2 * 1184 + (384 + 512) / 2))" \
    "a=\$($predict t | sum); b=\$(grep -v '	1	NA	' t | $predict | sum); echo \$((a - b))"

# A window of 3 positions, its own included: 2 earlier ones are read.
# Prefill of 5: 1 + 2 + 3 + 3 + 3 = 12 pairs a layer.
settings tied=0 sliding_window=3 n_experts=0 >w
win='ns-readset -m w -p 5 -g 2 --kv-bytes 4 t'
is 'window: decode'     "$((2 * 2 * 32)) 64 $((4 * 8 * 3 * 2))"   "$win | get decode 1 kv_cache"
is 'window: prefill'    "0 $((5 * 64)) $((4 * 8 * 12 * 2))"       "$win | get prefill 0 kv_cache"
is 'window: not yet full' "$((1 * 2 * 32)) 64 $((4 * 8 * 2 * 2))" "ns-readset -m w -p 1 -g 1 --kv-bytes 4 t | get decode 0 kv_cache"
settings tied=0 sliding_window=3 window_layers=1,7 n_experts=0 >w
is 'window: of layer 1 only' "$(((6 + 2) * 32)) 64 $((4 * 8 * (7 + 3)))" "$win | get decode 1 kv_cache"
settings tied=0 sliding_window=3 window_layers=a >w
exits 2 'window: not a list' "$win" "w: window_layers: not a list of layers: 'a'"

# Biases and norms of heads are read, and cost no work that counts.
{ cat t; row q_bias 0 NA 8 8 16; row k_norm 1 NA 2 2 4; } >tb
is 'bias, head norm'    '16 0 0,4 0 0,' "$predict tb >1; { get decode 0 q_bias <1; get decode 0 k_norm <1; } | tr '\n' ,"
{ cat t; row other NA NA 5x2 10 40; row other NA NA 2 2 8; } >unused
exits 0 'other: said'   "$predict unused" 'unused: 2 tensors of role other, 48 bytes, are taken as never read: other.NA ...'
ok 'other: not counted' "$predict unused 2>/dev/null >1; $predict t | cmp 1 -"

# 4 experts of 128 elements a matrix, 256 bytes, 2 a token; one layer.
{ tensors 1 head | grep -v '	gate\|	up\|	down'
  row router 0 NA 4x8 32 64
  for e in 0 1 2 3; do
	row expert_gate 0 "$e" 16x8 128 256
	row expert_up 0 "$e" 16x8 128 256
	row expert_down 0 "$e" 8x16 128 256
  done; } >moe
{ tensors 1 head | grep -v '	gate\|	up\|	down'
  row router 0 NA 4x8 32 64
  row expert_gate 0 NA 4x16x8 512 1024
  row expert_up 0 NA 4x16x8 512 1024
  row expert_down 0 NA 4x8x16 512 1024; } >fused
settings tied=0 n_experts=4 n_experts_per_token=2 >mm
moe='ns-readset -m mm -p 3 -g 1 -B 2 --kv-bytes 4'
table r <<'END'
phase step layer expert n_tokens
prefill 0 0 0 6
prefill 0 0 3 5
prefill 0 0 1 1
decode 0 0 2 2
decode 0 0 1 2
END
# 6 tokens x 2 on 3 experts; 2 tokens x 2 on 2 experts; 2 flop x 128 each.
is 'routed: prefill'    "$((3 * 256)) 0 $((2 * 128 * 12))" "$moe --routing r moe | get prefill 0 expert_up"
is 'routed: decode'     "$((2 * 256)) 0 $((2 * 128 * 4))"  "$moe --routing r moe | get decode 0 expert_down"
is 'the router is always read' '64 0 384'                  "$moe --routing r moe | get prefill 0 router"
ok 'fused: the same'    "$moe --routing r moe >1 && $moe --routing r fused | cmp 1 -"
# Else 4 (1 - (1 - 2/4)^n) experts: 3.9375 for 6 tokens, 3 for 2.
is 'odds: prefill'      "1008 0 $((2 * 128 * 12))" "$moe moe 2>/dev/null | get prefill 0 expert_up"
is 'odds: decode'       "768 0 $((2 * 128 * 4))"   "$moe moe 2>/dev/null | get decode 0 expert_gate"
ok 'odds: fused'        "$moe moe >1 && $moe fused | cmp 1 -"
exits 0 'odds: said'    "$moe moe" 'no routing: the bytes of experts are those expected if all 4 are equally likely'
exits 0 'routing without a row is none' "head -1 r >e; $moe --routing e moe" 'no routing'
exits 2 'routing: another run' "sed '2s/6\$/7/' r >e; $moe --routing e moe" 'e: prefill step 0, layer 0: the experts served 13 tokens, the workload has 12'
exits 2 'routing: a step is absent' "grep -v decode r >e; $moe --routing e moe" 'e: decode step 0, layer 0: the experts served 0 tokens'
exits 2 'routing: twice' "sed -n '1,2p;2p' r >e; $moe --routing e moe" 'e: prefill step 0, layer 0, expert 0 stands twice'
exits 2 'routing: phase' "sed 's/decode/d/' r >e; $moe --routing e moe" "e:5: phase: prefill or decode was expected, found 'd'"
exits 2 'experts in a dense model' "$predict moe" 'moe:12: role: an expert, and yet m has no n_experts'
exits 2 'expert out of range' "sed 's/	3	16x8/	4	16x8/' moe >e; $moe e" 'e:21: expert: mm has 4 experts'
exits 2 'fused: other number' "sed 's/4x16x8/5x16x8/' fused >e; $moe e" 'e:12: shape: mm has 4 experts'
exits 2 'too many chosen' "sed 's/=2/=5/' mm >mx; ns-readset -m mx -p 1 -g 1 --kv-bytes 4 moe" 'mx: n_experts_per_token is 5 of 4'

# Bad input.
exits 2 'no workload'       'ns-readset -m m t'              '-m, -p, -g and --kv-bytes are needed'
exits 2 'no prompt'         'ns-readset -m m -p 0 -g 1 --kv-bytes 4 t' '--prompt-tokens: at least 1'
exits 2 'not a count'       'ns-readset -m m -p 3 -g x --kv-bytes 4 t' "--generate-tokens: not a count: 'x'"
exits 2 'two files'         "$predict t t"                   'usage: ns-readset'
exits 2 'empty'             "$predict </dev/null"            'stdin: empty: no header line'
exits 2 'header only'       "head -1 t | $predict"           'stdin: no tensor of role lm_head'
exits 2 'ragged row'        "{ cat t; echo x; } | $predict"  'stdin:23: 1 fields, the header has 7'
exits 2 'missing column'    "cut -f 1-6 t | $predict"        "stdin: no column 'bytes'"
exits 2 'NA'                "sed '4s/128\$/NA/' t | $predict" "stdin:4: bytes: not a count: 'NA'"
exits 2 'bad number'        "sed '4s/128\$/1e3/' t | $predict" "stdin:4: bytes: not a count: '1e3'"
exits 2 'bad shape'         "sed '4s/8x8/x8/' t | $predict"  "stdin:4: shape: not a shape: ''"
exits 2 'unknown role'      "sed '4s/	q	/	qkv	/' t | $predict" "stdin:4: role: unknown role 'qkv'"
exits 2 'half a row'        "sed '2s/512/511/' t | $predict" 'stdin:2: bytes: 511 bytes are not 32 whole rows'
exits 2 'cut last line'     "printf %s \"\$(cat t)\" | $predict" 'stdin:22: last line cut short'
exits 2 'no such file'      "$predict nofile"                'nofile: No such file'
exits 2 'full disk'         "$predict t >/dev/full"          'stdout: No space left'
exits 2 'tied is not said'  "settings n_experts=0 >e; ns-readset -m e -p 1 -g 1 --kv-bytes 4 t" "e: no 'tied'"
exits 2 'a product of 65 bits' "ns-readset -m m -p 9223372036854775807 -g 0 -B 3 --kv-bytes 4 t" 'more than 64 bits'
exits 2 'a sum of 65 bits'  "sed 's/	128\$/	18446744073709551615/' t | $predict" 'more than 64 bits'
done_testing
