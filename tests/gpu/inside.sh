#!/bin/sh
# inside.sh [MODEL.yaml...]: what ns-worker --count counts against what ncu counts
# of the same ranges, and what either costs in wall time.
#
# First tests/gpu/ranges.c, which writes 1 GiB twice and counts that, call by call; if
# it fails so does the rest, and its lines say where.  Then for each shape: a synthetic
# checkpoint (or CHECKPOINT=DIR); the worker unwatched; all metrics of tier 1, then
# those of memory, by ncu --replay-mode app-range and by the worker itself.  Two
# tables: every metric, and every wall time as a multiple of the unwatched worker's
# (the aim: at most 10 for all, 3 for memory).  Last, unless shapes were named, the
# whole of tier 1 so: make -f mk/run.mk MODEL=qwen TIERS=1 TIER1=inside.
#
# Exit 1 if a metric differs by more than 1 % of itself and of the most that its
# phase has of that unit, or if a capture failed; times, cycles and passes are shown,
# not judged.  Facts and messages go to standard error.
#
#	NCU=ncu  PLATFORM=  PROMPT=128  GENERATE=16  CHECKPOINT=
set -eu
export LC_ALL=C
top=$(cd "$(dirname "$0")/../.." && pwd)
PATH=${NS_BUILD:-$top/build}:$PATH
ncu=${NCU:-ncu} prompt=${PROMPT:-128} generate=${GENERATE:-16} whole=
[ $# -gt 0 ] || { whole=1; set -- "$top/configs/models/qwen.yaml" "$top/configs/models/qwen-7b.yaml"; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
status=0

ns-probe >"$dir/probe"
platform=${PLATFORM:-$(sed -n 's/^platform=//p' "$dir/probe")}
registry=$top/configs/platforms/$platform/metrics.tsv
[ -e "$registry" ] || { echo "inside.sh: no $registry: PLATFORM=NAME says another" >&2; exit 2; }
# metrics CONDITION: of the registry, as mk/backend-cuda.mk chooses them.
metrics() { awk -F '\t' "NR > 1 && (\$6 <= 1 && ($1)) && !seen[\$4]++ { print \$4 }" "$registry" | paste -sd ,; }
all=$(metrics 1) memory=$(metrics '$2 == "memory" && $7 != "witness" || $1 == "time"')

# ways WAY...: known work, counted: what of it, or all that was said, and whether it went well.
ways() {
	for way; do
		# shellcheck disable=SC2046 # a metric a word
		if timeout 60 "$dir/ranges" "$way" $(echo "$memory" | tr , ' ') >"$dir/calls"; then
			awk -F '\t' 'NF == 4' "$dir/calls" >&2
		else
			cat "$dir/calls" >&2
			return 1
		fi
	done
}
grep -E '^(gpu|gpu_why|gpu_chip|gpu_mig|gpu_(driver|cuda)_version|gpu_n_processes|ncu_version|platform|profilers|counters_(permitted|why))=' "$dir/probe" >&2 || true
find -L /usr/local/cuda* /usr/lib -maxdepth 6 -name 'libcupti.so*' >&2 2>/dev/null || true
if (cd "$top" && "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -Itools/lib tests/gpu/ranges.c tools/lib/library.c -ldl -o "$dir/ranges"); then
	ways user || { status=1; ways auto || true; ways kernel || true; }
fi

# timed WHAT COMMAND...: its wall time into $dir/times.
timed() {
	what=$1
	shift
	start=$(date +%s%N)
	"$@" >"$dir/out" || return
	printf '%s\t%s\n' "$what" $(($(date +%s%N) - start)) >>"$dir/times"
}
worker() { timeout 300 ns-worker -d cuda -m "$checkpoint" -p "$prompt" -g "$generate" -w 1 "$@"; }
# by_ncu NAME METRICS, by_worker NAME METRICS: into NAME.ncu, NAME.cupti.
by_ncu() {
	timed "ncu $1" timeout 300 "$ncu" --target-processes all --clock-control none --cache-control none --csv --page raw \
	    --print-units base --print-fp --log-file "$dir/csv" --nvtx --nvtx-include nsbench@prefill/ \
	    --nvtx-include "nsbench@decode.$((generate - 1))/" --replay-mode app-range --metrics "$2" \
	    "$(command -v ns-worker)" -d cuda -m "$checkpoint" -p "$prompt" -g "$generate" -w 1 -r 1 --profile &&
	ncu2tsv --metrics "$2,profiler__replayer_passes" "$dir/csv" >"$dir/$1.ncu"
}
by_worker() {
	timed "inside $1" worker --count "$2" --counters "$dir/$1.cupti"
}
# compare MODEL KIND: both tables joined by phase and metric; exit 1 if one differs.
compare() {
	awk -F '\t' -v OFS='\t' -v model="$1" -v kind="$2" '
	FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; file++; next }
	{ key = $at["phase"] OFS $at["metric"]; v = $at["value"]; u = $at["phase"] $at["unit"] }
	file == 1 { ncu[key] = v; if (v != "NA" && v > most[u]) most[u] = v; next }
	!(key in ncu) { print model, kind, key, "NA", v, "NA", "missing by ncu"; bad = 1; next }
	{
		n = ncu[key]
		delete ncu[key]
		away = v > n ? v - n : n - v
		verdict = "differs"
		if (v == "NA" || n == "NA")
			verdict = "missing"
		else if (key ~ /duration|cycles|passes/)
			verdict = "not judged"
		else if (away <= 0.01 * n)
			verdict = "same"
		else if (away <= 0.01 * most[u])
			verdict = "little"
		bad = bad || verdict == "differs" || verdict == "missing"
		print model, kind, key, n, v, (n > 0 ? v / n : "NA"), verdict
	}
	END { for (k in ncu) { print model, kind, k, ncu[k], "NA", "NA", "missing inside"; bad = 1 }; exit bad }' "$dir/$2.ncu" "$dir/$2.cupti"
}

printf 'model\tkind\tphase\tmetric\tncu\tinside\tratio\tverdict\n'
for yaml; do
	model=$(basename "$yaml" .yaml) checkpoint=${CHECKPOINT:-$dir/checkpoint}
	if [ -z "${CHECKPOINT-}" ]; then
		rm -rf "$checkpoint"
		yaml2kv "$yaml" | ns-synth - "$checkpoint"
	fi
	worker -r 1 >/dev/null		# the page cache has the checkpoint now
	timed unwatched worker -r 1
	for kind in all memory; do
		case $kind in all) list=$all ;; *) list=$memory ;; esac
		by_worker $kind "$list" && by_ncu $kind "$list" && compare "$model" $kind || status=1
	done
	awk -F '\t' -v OFS='\t' -v m="$model" '$1 == "unwatched" { base = $2 }
		{ print m, $1, $2, sprintf("%.2f", $2 / base) }' "$dir/times" >>"$dir/walls"
	rm "$dir/times"
done
printf '\nmodel\twhat\tdur_ns\tof_unwatched_ratio\n'
cat "$dir/walls"

if [ "$whole" ]; then
	run=runs/qwen.default.cuda.inside
	cd "$top"
	rm -rf $run
	make -f mk/run.mk MODEL=qwen BACKEND=cuda TAG=inside TIERS=1 TIER1=inside >&2 || status=1
	for table in stages checks; do
		printf '\n'
		cat $run/$table.tsv || status=1
	done
fi
exit $status
