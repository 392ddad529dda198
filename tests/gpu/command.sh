#!/bin/sh
# command.sh [MODEL]: ns-worker as any command (CMD=) against ns-worker as our own
# (BACKEND=cuda), tier 0 of both, on a GPU: the bytes of each phase and rung.  As it
# is; by its CUDA graph launches; between cudaProfilerStart and Stop; within an NVTX
# range.  One table; exit 1 if bytes of memory differ by more than 1 %.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/../.."
model=${1:-qwen} status=0
ours=runs/$model.default.cuda

make -s >&2
make -f mk/run.mk MODEL="$model" BACKEND=cuda TIERS=0 >&2 || status=1
# shellcheck source=/dev/null
. "./$ours/workload.kv"
# shellcheck disable=SC2154	# workload.kv has them
worker="build/ns-worker -d cuda -m checkpoints/$model -p $prompt_tokens -g $generate_tokens -B $batch -s $seed -w 1 -r 1"

# as HOW OPTIONS...: a run of its own, and its bytes over ours.
as() {
	how=$1
	shift
	make -f mk/run.mk MODEL="$model" TAG="$how" CHECKPOINT="checkpoints/$model" "$@" >&2 || status=1
	awk -F '\t' -v OFS='\t' -v how="$how" '
	FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; file++; next }
	$at["source"] != "nsys" { next }
	{ key = $at["phase"] OFS $at["rung"]; v = $at["bytes"] }
	file == 1 { ours[key] = v; next }
	{ ratio = v == "NA" || ours[key] + 0 == 0 ? "NA" : v / ours[key]; print how, key, ours[key], v, ratio }
	key ~ /memory/ && (ratio == "NA" || ratio > 1.01 || ratio < 0.99) { bad = 1 }
	END { exit bad || file < 2 }' "$ours/hierarchy.tsv" "runs/$model.default.command.$how/hierarchy.tsv" || status=1
}
printf 'how\tphase\trung\tours_bytes\tcommand_bytes\tratio\n'
as whole   CMD="$worker"
as graphs  CMD="$worker" LAST_GRAPHS="$generate_tokens"
as profile CMD="$worker --profile" CAPTURE_RANGE=cudaProfilerApi
as range   CMD="$worker" CAPTURE_RANGE=repeat.0@nsbench
exit $status
