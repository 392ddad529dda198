#!/bin/sh
# peers.sh: ns-worker beside llama.cpp and transformers, on this GPU, in one run.
#
# The peers are not here and are not fetched: llama-bench is looked for on PATH or
# in LLAMA_BENCH, transformers in PYTHON (python3); who is absent is left out, with
# a word.  Weights are random, made for the run in TMPDIR, up to 15 GB of them, or
# those of CHECKPOINTS/MODEL-DTYPE (ns-synth --dtype DTYPE) where it is there.
#
# out  model  what  peer  theirs  ours  ratio  wanted
#      decode and prefill in tokens a second, medians of repeats; logits: relative
#      L2 of the peer's and of our own bf16 from the peer's float32.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
PATH=${NS_BUILD:-$top/build}:$PATH
llama=${LLAMA_BENCH:-$(command -v llama-bench || true)} python=${PYTHON:-python3}
device=${DEVICE:-cuda} repeats=${REPEATS:-5} long=${PROMPT:-2048} short=${GENERATE:-128}
HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1
export HF_HUB_OFFLINE TRANSFORMERS_OFFLINE
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

say() { printf '%s\n' "peers.sh: $*" >&2; }
middle() { sort -g | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'; }
# rate PHASE: tokens a second of a repeat, the middle one, out of baseline.tsv.
rate() {
	awk -F '\t' -v p="$1" 'NR > 1 && $2 == p { n[$1] += $4; t[$1] += $6 }
		END { for (r in t) print n[r] * 1e9 / t[r] }' | middle
}
worker() { ns-worker -d "$device" "$@"; }
# row MODEL WHAT PEER THEIRS OURS WANTED
row() {
	awk -v OFS='\t' -v m="$1" -v w="$2" -v p="$3" -v t="$4" -v o="$5" -v x="$6" 'BEGIN {
		print m, w, p, sprintf("%.5g", t), sprintf("%.5g", o), sprintf("%.3g", o / t), x }'
}
# have MODEL DTYPE: a checkpoint of that shape.
have() {
	checkpoint=${CHECKPOINTS:-/nowhere}/$1-$2
	[ ! -d "$checkpoint" ] || return 0
	checkpoint=$dir/$1-$2 yaml=$top/configs/models/$1.yaml
	[ ! -d "$checkpoint" ] || return 0
	[ -e "$yaml" ] || yaml=$top/tests/gpu/$1.yaml
	yaml2kv "$yaml" | ns-synth --dtype "$2" - "$checkpoint"
}
forget() { rm -rf "$dir/$1-$2"; }

# The same number of tokens from an empty cache, and the same prompt.
against_llama() {
	have "$1" f16
	gguf=${CHECKPOINTS:-/nowhere}/$1.gguf
	if [ ! -e "$gguf" ]; then
		gguf=$dir/model.gguf
		"$top/tests/gpu/f16-gguf.py" "$checkpoint" "$gguf"
	fi
	"$llama" -m "$gguf" -p "$long" -n "$short" -ngl 999 -fa 1 -ub 512,2048 -r "$repeats" -o json >"$dir/llama.json" 2>"$dir/err" || {
		cat "$dir/err" >&2
		return 1
	}
	rm -f "$dir/model.gguf"
	for test in tg:decode pp:prefill; do
		name=${test%:*} phase=${test#*:}
		[ "$name" = tg ] && name=tg$short || name=pp$long
		for n in 512 2048; do
			llb2tsv --test "$name" --where n_ubatch=$n "$dir/llama.json" | rate "$phase"
		done | sort -g | tail -n 1 >"$dir/llama.$phase"
	done
	for dtype in f16 bf16; do
		have "$1" $dtype
		worker -m "$checkpoint" -p 1 -g "$short" -r "$repeats" -w 1 >"$dir/decode"
		worker -m "$checkpoint" -p "$long" -g 0 -r "$repeats" -w 2 >"$dir/prefill"
		row "$1 $dtype" decode 'llama.cpp f16' "$(cat "$dir/llama.decode")" "$(rate decode <"$dir/decode")" '>=1.5'
		row "$1 $dtype" prefill 'llama.cpp f16' "$(cat "$dir/llama.prefill")" "$(rate prefill <"$dir/prefill")" '>=1'
		forget "$1" $dtype
	done
}
# theirs N WHAT: of the Nth checkpoint.
theirs() { awk -F '\t' -v n="$1" -v w="$2" '$1 == w && ++i == n { print $2 }' "$dir/theirs"; }
# against_transformers MODEL:WANTED...
against_transformers() {
	: >"$dir/ours"
	: >"$dir/pairs"
	awk 'BEGIN { for (i = 0; i < 17; i++) print (7 + 13 * i + i * i) * 97 % 300 }' >"$dir/tokens"
	for m; do
		have "${m%:*}" bf16
		worker -m "$checkpoint" -p 128 -g 64 -r "$repeats" -w 1 | rate decode >>"$dir/ours"
		worker -m "$checkpoint" --tokens "$dir/tokens" -g 0 -r 1 -w 0 --dump-logits "$dir/${m%:*}.f32" >"$dir/ignored"
		printf '%s\0%s\0' "$checkpoint" "$dir/${m%:*}.f32" >>"$dir/pairs"
	done
	xargs -0 "$python" "$top/tests/gpu/peers.py" "$dir/tokens" <"$dir/pairs" >"$dir/theirs" 2>"$dir/err" || {
		say "transformers: $(tail -n 1 "$dir/err")"
		return 0
	}
	n=0
	for m; do
		n=$((n + 1))
		row "${m%:*} bf16" decode 'transformers bf16' "$(theirs $n decode)" "$(sed -n "${n}p" "$dir/ours")" ">=${m#*:}"
		row "${m%:*} bf16" logits 'transformers f32' "$(theirs $n theirs)" "$(theirs $n ours)" 'ours <=0.02'
	done
}

printf 'model\twhat\tpeer\ttheirs\tours\tratio\twanted\n'
if [ -n "$llama" ]; then
	for m in ${LLAMA_MODELS:-llama-3.75b qwen-3b}; do against_llama "$m"; done
else
	say 'no llama-bench: set LLAMA_BENCH'
fi
# shellcheck disable=SC2086 # a list
against_transformers ${TRANSFORMERS_MODELS:-qwen:10 qwen-7b:3}
