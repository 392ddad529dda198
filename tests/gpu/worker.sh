#!/bin/sh
# worker.sh [MODEL.yaml...]: how near ns-worker comes to this GPU's ceilings.
# For each shape: a synthetic checkpoint, a decode of 64 tokens after 128, kernel by
# kernel and by what else --step has for the model, and a prefill of 2048.  Bytes and
# flop are what ns-readset predicts, that is, what must be moved and done; times are
# medians of unwatched runs.  DEVICE=cpu and PROMPT=64 make it run anywhere.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
PATH=${NS_BUILD:-$top/build}:$PATH
device=${DEVICE:-cuda} long=${PROMPT:-2048}
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
# must CHECKPOINT PROMPT STEPS COLUMN PHASE: of the phase's middle step.
must() {
	ns-readset -m "$dir/model.kv" -p "$2" -g "$3" --kv-bytes "$kv_bytes" "$dir/tensors.tsv" |
	    awk -F '\t' -v c="$4" -v p="$5" -v s=$(($3 / 2)) '$1 == p && (p == "prefill" || $2 == s) { n += $c } END { printf "%.0f\n", n }'
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
	for step in kernels persistent experts; do
		ns-worker -d "$device" -m "$checkpoint" -p 128 -g 64 -r 3 -w 1 --step $step >"$dir/$step" ||
			rm "$dir/$step"	# said why: not this device, or not this model
	done
	ns-worker -d "$device" -m "$checkpoint" -p "$long" -g 0 -r 5 -w 2 >"$dir/long"
	for row in "decode kernels 128 64 4 $read_rate" "decode persistent 128 64 4 $read_rate" "decode experts 128 64 4 $read_rate" "prefill long $long 0 6 $flop_rate"; do
		# shellcheck disable=SC2086 # words of a row
		set -- $row
		[ -e "$dir/$2" ] || continue
		time=$(median "$dir/$2" "$1") what=$(must "$checkpoint" "$3" "$4" "$5" "$1")
		awk -v m="$model" -v p="$1$(case $2 in persistent) echo ' by one kernel' ;; experts) echo ', experts streamed' ;; esac)" -v t="$time" -v w="$what" -v r="$6" \
		    'BEGIN { OFS = "\t"; print m, p, t, w, sprintf("%.3f", w / (t * 1e-9) / r) }'
	done
done
