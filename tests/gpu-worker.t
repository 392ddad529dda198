#!/bin/sh
# ns-worker --device cuda against --device cpu: logits of a prefill and after 64
# decode steps, on synthetic checkpoints of every architecture, small ones and
# ones wide enough for every kernel.
. "${0%/*}/tap.sh"
command -v ns-synth >/dev/null || skip 'ns-synth is not built'

yaml2kv "$top/tests/models/qwen3.yaml" | ns-synth - probe || exit 1
ns-worker -d cuda -m probe -r 1 -w 0 >probe.tsv 2>probe.err || {
	grep -q -e 'no device' -e 'without nvcc' probe.err && skip "$(sed 's/ns-worker: //' probe.err)"
	sed 's/^/# /' probe.err
	echo "not ok 1 - ns-worker --device cuda runs"
	echo 1..1
	exit 1
}

steps=64 cases=${NS_GPU_CASES:-1x1 17x8 512x1 512x8 17x20}	# prompt x batch
models=${NS_GPU_MODELS:-llama llama3 mistral mixtral qwen2 qwen3 qwen3-moe}
# synth NAME YAML DTYPE [SETTING=VALUE...]: a checkpoint, some settings replaced.
synth() {
	out=$1 yaml=$top/tests/models/$2.yaml dtype=$3
	shift 3
	rm -rf "$out"
	for s in max_positions=1024 "$@"; do printf '%s: %s\n' "${s%%=*}" "${s#*=}"; done >new
	{ grep -v -E "^($(cut -d: -f1 new | paste -sd '|')):" "$yaml"; cat new; } |
	    yaml2kv - | ns-synth --dtype "$dtype" - "$out" || { echo "not ok - $out"; exit 1; }
}
# row FILE NUMBER ROWS VOCABULARY: of logits, as many as sequences.
rows() { tail -c +$(($2 * $3 * $4 * 4 + 1)) "$1" | head -c $(($3 * $4 * 4)); }
# fed FILE LENGTH: what each sequence had been fed when its last logits came.
fed() { awk -F '\t' -v n="$2" 'NR > 1 && $2 < n { print $4 }' "$1"; }

# moved GOT WANTED: choices of experts that are not among the wanted, and of how many.
moved() { awk -F '\t' 'FNR == 1 { next } FNR == NR { wanted[$1, $2, $3, $5]; next } { all++; n += !(($1, $2, $3, $5) in wanted) } END { print n + 0, all + 0 }' "$2" "$1"; }
# near TOLERANCE MOVED ALL: every sequence of errors is, and no more than 2 % of the
# choices have moved, in f32 none.
near() {
	sort -g -k 2 errors | awk -v t="$1" -v moved="$2" -v all="$3" '{ worst = $2 }
		END { exit !(NR > 0 && worst <= t && moved <= (t > 1e-3 ? all / 50 : 0)) }'
}
cpu() { ns-worker -g 0 -r 1 -w 0 "$@" >/dev/null; }
# same MODEL VOCABULARY TOLERANCE [--step KIND]: in all cases.  Where two experts are all but equal,
# 16-bit words decide otherwise than f32 ones, and then everything differs: the
# reference is told whom the device chose, and what it would have chosen is counted.
same() {
	for c in $cases; do
		p=${c%x*} b=${c#*x} moved='0 0' dump=${4:+$4 $5} told=''
		[ "${5:-kernels}" = kernels ] || [ "$b" -le 8 ] || continue
		all=$((p + steps))
		case $model in *moe | mixtral) dump="$dump --dump-experts got.x" told='--experts got.x' ;; esac
		# shellcheck disable=SC2086 # options
		ns-worker -d cuda -m "$1" -p "$p" -g "$steps" -B "$b" -r 1 -w 0 --dump-logits got.f32 --dump-tokens got.tsv $dump >/dev/null &&
		    fed got.tsv "$p" >first && fed got.tsv "$all" >last &&
		    cpu -m "$1" -p "$p" -B "$b" --tokens first --dump-logits first.f32 $told &&
		    cpu -m "$1" -p "$all" -B "$b" --tokens last --dump-logits last.f32 $told || return 1
		if [ -n "$told" ]; then
			cpu -m "$1" -p "$all" -B "$b" --tokens last --dump-experts own.x || return 1
			moved=$(moved got.x own.x)
		fi
		rows got.f32 0 "$b" "$2" >a && rows got.f32 "$steps" "$b" "$2" >z
		{ "$top/tests/compare-logits" "$2" first.f32 a "$3" || [ $? -eq 1 ]; } >errors &&
		    { "$top/tests/compare-logits" "$2" last.f32 z "$3" || [ $? -eq 1 ]; } >>errors || return 1
		worst=$(sort -g -k 2 errors | tail -n 1 | cut -f 2)
		# shellcheck disable=SC2086 # two numbers
		near "$3" $moved || { echo "prompt $p, batch $b, moved $moved:"; cat errors; return 1; }
		echo "# $model $1 ${5-}, prompt $p, batch $b: relative error at most $worst, choices moved $moved" >&3
	done
}
exec 3>&1
for model in $models; do
	window=0
	[ "$model" = mistral ] && window=100
	for dtype in f32 bf16 f16; do
		case $dtype in f32) tolerance=1e-4 ;; *) tolerance=2e-2 ;; esac
		synth "m-$dtype" "$model" "$dtype"
		ok "$model, $dtype: within $tolerance" "same m-$dtype 320 $tolerance"
		synth "w64-$dtype" "$model" "$dtype" hidden_size=256 n_heads=14 n_kv_heads=2 head_dim=64 ffn_size=712 vocab_size=1001 "sliding_window=$window"
		ok "$model, $dtype, heads of 64: within $tolerance" "same w64-$dtype 1001 $tolerance"
	done
	synth w128 "$model" bf16 hidden_size=512 n_heads=8 n_kv_heads=4 head_dim=128 ffn_size=1000 vocab_size=1000 "sliding_window=$window"
	ok "$model, bf16, heads of 128: within 2e-2" "same w128 1000 2e-2"
	case $model in *moe | mixtral) kinds=experts ;; *) kinds='kernels persistent' ;; esac
	for step in $kinds; do
		if [ "$step" = kernels ] || ns-worker -d cuda -m w128 -p 1 -g 1 -r 1 -w 0 --step "$step" >/dev/null 2>log; then
			ok "$model, bf16, heads of 64, --step $step" "same w64-bf16 1001 2e-2 --step $step"
			ok "$model, bf16, heads of 128, --step $step" "same w128 1000 2e-2 --step $step"
			ok "$model, f16, heads of 64, --step $step" "same w64-f16 1001 2e-2 --step $step"
		else
			skip_one "$model, bf16, --step $step" "$(head -n 1 log)"
		fi
	done
done

# Long enough for several spans of positions.
synth long qwen2 bf16 hidden_size=512 n_heads=16 n_kv_heads=2 head_dim=128 ffn_size=1000 vocab_size=1000
spans() {
	ns-worker -d cuda -m long -p 1000 -g 8 -B "$1" --step "$2" -r 1 -w 0 --dump-logits one.f32 --dump-tokens one.tsv >/dev/null &&
	fed one.tsv 1008 >all &&
	ns-worker -d cuda -m long -p 1008 -g 0 --tokens all -B "$1" -r 1 -w 0 --dump-logits two.f32 >/dev/null &&
	rows one.f32 8 "$1" 1000 >a && "$top/tests/compare-logits" 1000 two.f32 a 2e-2
}
for batch in 1 2; do
	for step in auto kernels; do
		ok "decode after 1000 positions, batch $batch, --step $step: as their prefill" "spans $batch $step"
	done
done

# The same seed, the same tokens; the tables.
ns-worker -d cuda -m w128 -p 40 -g 20 -B 3 -r 2 -w 1 --dump-tokens a.tsv --dump-logits a.f32 --footprint f.tsv --routing r.tsv --loading l.tsv >b.tsv
ns-worker -d cuda -m w128 -p 40 -g 20 -B 3 -r 1 -w 0 --profile --dump-tokens b --dump-logits b.f32 >/dev/null
ok 'same seed, same tokens, to the bit' 'cmp a.tsv b && cmp a.f32 b.f32'
ok 'baseline: a device time in every row' "awk -F '\t' 'NR > 1 && !(\$7 > 0) { exit 1 } END { exit NR != 43 }' b.tsv"
ok 'loading: all weights, in some time' "awk -F '\t' -v size=\$(stat -c %s w128/model.safetensors) 'NR == 2 && \$1 <= size && \$1 > size - 65536 && \$2 > 0 && \$3 > 0 { n++ } END { exit n != 1 }' l.tsv"
is 'footprint: its sources' '6 allocator 6 driver 6 process 6 system' 'tail -n +2 f.tsv | cut -f 2 | sort | uniq -c | xargs'

# Counted from within: the same tokens, and a number for each range and metric.
if ns-worker -d cuda -m w128 -p 40 -g 20 -B 3 -w 1 --count gpu__time_duration.sum,smsp__inst_executed.sum --counters c.tsv --dump-tokens b >d.tsv 2>log; then
	ok 'counted: the same tokens' 'cmp a.tsv b'
	is 'counted: the prefill and the last step' '6 0 2' "awk -F '\t' 'NR > 1 { all++; less += !(\$7 > 0); n[\$2, \$3] } END { print all, less + 0, ((\"prefill\", 0) in n) + ((\"decode\", 19) in n) }' c.tsv"
	ok 'counted: in as many repeats as passes' "[ \$((\$(awk -F '\t' '\$6 == \"profiler__replayer_passes\" { print \$7; exit }' c.tsv) * 21 + 1)) -eq \$(wc -l <d.tsv) ]"
elif grep -q -e 'no libcupti' -e 'allow-counters' -e 'another profiler holds' log; then
	skip_one 'counted from within' "$(head -n 1 log)"
else
	ok 'counted from within' 'cat log; false'
fi
# A step's stamps: of every kind of op, and x there after all have left it.
if ns-worker -d cuda -m long -p 40 -g 20 -r 1 -w 0 --step persistent --stamps s.tsv >d.tsv 2>log; then
	is 'stamps: of all kinds of ops' 'attend down gate out qkv vocab' "awk -F '\t' 'NR > 1 && \$5 == \"left\" { print \$3 }' s.tsv | sort -u | xargs"
	ok 'stamps: where the time goes' "ns-stamps s.tsv | awk -F '\t' 'NR > 1 && !(\$5 > 0 && (NR == 2 || \$8 >= 0)) { exit 1 } END { exit NR != 7 }'"
elif grep -q -e '--step persistent: not' log; then
	skip_one 'stamps of a step' "$(head -n 1 log)"
else
	ok 'stamps of a step' 'cat log; false'
fi
synth moe mixtral bf16
ns-worker -d cuda -m moe -p 17 -g 5 -B 2 -r 1 -w 0 --routing gpu.tsv >/dev/null
ok 'routing: every token served' "awk -F '\t' 'NR > 1 { n[\$1 \$2 \$3] += \$5 } END { for (i in n) { k++; if (n[i] != (i ~ /prefill/ ? 68 : 4)) exit 1 } exit k != 12 }' gpu.tsv"
done_testing
