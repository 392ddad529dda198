#!/bin/sh
# worker.sh [MODEL.yaml...]: how near ns-worker comes to this GPU's ceilings.
# For each shape: a synthetic checkpoint, a decode of 64 tokens after 128, kernel by
# kernel and by what else --step has for the model, and a prefill of 2048.  Bytes and
# flop are what ns-readset predicts, that is, what must be moved and done; times are
# medians of unwatched runs.  BATCH='1 32' decodes for so many sequences each,
# STEPS=auto as ns-worker does it by itself; DEVICE=cpu and PROMPT=64 make it run anywhere.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
PATH=${NS_BUILD:-$top/build}:$PATH
device=${DEVICE:-cuda} long=${PROMPT:-2048} batches=${BATCH:-1} steps=${STEPS:-kernels persistent experts}
[ "$device" != cpu ] || steps=auto
[ $# -gt 0 ] || set -- "$top/configs/models/qwen.yaml" "$top/configs/models/llama-1b.yaml" "$top/configs/models/qwen-7b.yaml" "$top/configs/models/moe-7b.yaml"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# setting FILE NAME
setting() { sed -n "s/^$2=//p" "$1"; }
# median FILE PHASE: of dur_ns; the first steps of a repeat are still warming up.
median() {
	awk -F '\t' -v p="$2" 'NR > 1 && $2 == p && (p == "prefill" || $3 > 2) { print $6 }' "$1" |
	    sort -n | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'
}
# must BATCH PROMPT STEPS COLUMN PHASE: of the phase's middle step.
must() {
	ns-readset -m "$dir/model.kv" -B "$1" -p "$2" -g "$3" --kv-bytes "$kv_bytes" "$dir/tensors.tsv" |
	    awk -F '\t' -v c="$4" -v p="$5" -v s=$(($3 / 2)) '$1 == p && (p == "prefill" || $2 == s) { n += $c } END { printf "%.0f\n", n }'
}
# row PHASE BATCH PROMPT STEPS COLUMN RATE [STEP]: of the model, by its times.
row() {
	time=$(median "$dir/times" "$1") what=$(must "$2" "$3" "$4" "$5" "$1")
	case $2 in 1) as='' ;; *) as=", batch $2" ;; esac
	case ${7-} in persistent) as="$as, by one kernel" ;; experts) as="$as, experts streamed" ;; esac
	awk -v m="$model" -v p="$1$as" -v t="$time" -v w="$what" -v r="$6" \
	    'BEGIN { OFS = "\t"; print m, p, t, w, sprintf("%.3f", w / (t * 1e-9) / r) }'
}

ns-calib -d "$device" ceilings >"$dir/ceilings"
read_rate=$(setting "$dir/ceilings" memory_read_bytes_per_s)
printf 'model\tphase\tdur_ns\tmust\tof_ceiling_ratio\n'
for yaml; do
	model=$(basename "$yaml" .yaml) checkpoint=$dir/checkpoint
	rm -rf "$checkpoint"
	yaml2kv "$yaml" | ns-synth - "$checkpoint"
	ns-discover model "$checkpoint" >"$dir/model.kv"
	ns-discover tensors "$checkpoint" >"$dir/tensors.tsv"
	dtype=$(setting "$dir/model.kv" dtype | tr '[:upper:]' '[:lower:]')
	kv_bytes=2
	[ "$dtype" != f32 ] && [ "$device" != cpu ] || kv_bytes=4
	flop_rate=$(setting "$dir/ceilings" "gemm_${dtype}_flop_per_s")
	[ "${flop_rate:-NA}" != NA ] || flop_rate=$(setting "$dir/ceilings" gemm_f32_flop_per_s)
	for batch in $batches; do
		for step in $steps; do
			ns-worker -d "$device" -m "$checkpoint" -p 128 -g 64 -B "$batch" -r 3 -w 1 --step "$step" >"$dir/times" ||
				continue	# said why: not this device, or not this model
			row decode "$batch" 128 64 4 "$read_rate" "$step"
		done
	done
	ns-worker -d "$device" -m "$checkpoint" -p "$long" -g 0 -r 5 -w 2 >"$dir/times"
	row prefill 1 "$long" 0 6 "$flop_rate"
done
