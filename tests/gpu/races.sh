#!/bin/sh
# races.sh: what racecheck and initcheck say of the kernel of a whole decode step,
# and what they can see at all: of kernels that order their threads as it does
# (races.cu), right ones and wrong ones.  A table of hazards, or of uninitialised
# reads, by kernel; a right one that has any is the tool's mistake; + where the tool
# stopped at its limit.  The prompt is one token and two are generated, which keeps
# what is said below that, and short of prefill.  Half a minute.
#
#	PATH=FOLDER:$PATH sh tests/gpu/races.sh	# by a compute-sanitizer of another version
#
# build/gpu-races, if it is there, is races.cu compiled; else nvcc does that.
# WORKER=FILE is another ns-worker: of one that was made with
# NVCCFLAGS='-O3 -std=c++17 -DEACH_LANE_ARRIVES' racecheck can follow the order.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${NS_BUILD:-$top/build}
PATH=$build:$PATH
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# under TOOL [OPTION...] COMMAND: leaves what the tool says.
under() {
	tool=$1
	shift
	timeout 25 compute-sanitizer --tool "$tool" --print-limit 0 --show-backtrace no "$@" >"$dir/said" 2>"$dir/err" ||
		echo "races.sh: $tool: status $?: $(tail -n 1 "$dir/err")" >&2
}
# count KERNEL: what it has of what was said, + if there was more; NA if the tool came to no end.
count() {
	awk -v kernel="$1" '
		function name(line) { sub(/.* at (void )?/, "", line); sub(/[<(+].*/, "", line); return line }
		/ hazards?\]/ && name($0) == kernel { match($0, /\[[0-9]+/); n += substr($0, RSTART + 1, RLENGTH - 1) }
		/Uninitialized/ { next_is_where = 1 }
		next_is_where && / at / { n += name($0) == kernel; next_is_where = 0 }
		/Maximum number of hazards/ { more = "+" }
		/ SUMMARY: / { ended = 1 }
		END { print ended ? n + 0 more : "NA" }' "$dir/said"
}
row() { printf '%s\t%s\t%s\t%s\n' "$tool" "$1" "$2" "$(count "$3")"; }

compute-sanitizer --version | grep -i '^version' >&2
races=$build/gpu-races
[ -x "$races" ] || {
	races=$dir/races
	nvcc -std=c++17 -O3 -arch=native -lineinfo -I"$top/tools/lib" -I"$top/tools/cuda" -o "$races" "$top/tests/gpu/races.cu"
}
{ grep -v -E '^(hidden_size|ffn_size|n_heads|n_kv_heads|head_dim|dtype):' "$top/tests/models/qwen3.yaml"
  printf '%s\n' 'hidden_size: 512' 'ffn_size: 1000' 'n_heads: 8' 'n_kv_heads: 4' 'head_dim: 128' 'dtype: bf16'; } |
	yaml2kv - | ns-synth --dtype bf16 - "$dir/model"
# step BATCH TOOL [OPTION...]
step() {
	batch=$1
	shift
	under "$@" "${WORKER:-ns-worker}" -d cuda -m "$dir/model" -p 1 -g 2 -B "$batch" -r 1 -w 0 --step persistent
}

printf 'tool\twhat\tright\tfound\n'
under racecheck "$races"
for k in by_warp by_name by_two_names by_arrivals by_one_arrival by_copy by_ring; do row $k yes $k; done
for k in by_nothing by_copy_unawaited; do row $k no $k; done
for batch in 1 3; do
	step $batch racecheck
	row "step, batch $batch" yes step
done
under initcheck "$races"
row of_written yes of_written
row of_unwritten no of_unwritten
for batch in 1 3; do
	step $batch initcheck
	row "step, batch $batch" yes step
	row "rope, batch $batch" yes rope
done
