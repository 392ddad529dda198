#!/bin/sh
# verify-gb10.sh [--platform NAME] [DIR]: what nobody has measured on a GB10
# yet, measured, as a form to send in.  Runs ns-calib's gate under ncu, as
# often as the platform's metrics take passes; minutes, nothing is installed.
# The form goes to standard output; all it is made from stays in DIR
# (runs/verify-NAME).  Exit 0: the gate passed; 1: it did not, which is an
# answer too; 2: trouble.
set -eu
export LC_ALL=C

say() { echo "verify-gb10.sh: $*" >&2; }
die() { say "$@"; exit 2; }
usage() { echo "usage: $0 [--platform NAME] [DIR]" >&2; exit 2; }

cd "$(dirname "$0")/.."
build=${NS_BUILD:-build}
platform=gb10 dir=''
while [ $# -gt 0 ]; do
	case $1 in
	--platform) [ $# -gt 1 ] || usage; shift; platform=$1 ;;
	-*)         usage ;;
	*)          [ -z "$dir" ] || usage; dir=$1 ;;
	esac
	shift
done
dir=${dir:-runs/verify-$platform}
p=configs/platforms/$platform
[ -e "$p/samples.tsv" ] || die "no platform '$platform' with a GPU in configs/platforms"
for tool in ns-probe ns-plan ns-calib ncu2tsv ns-rollup yaml2kv; do
	[ -x "$build/$tool" ] || die "$build/$tool is missing: run make first"
done
command -v ncu >/dev/null || die 'no ncu here: it comes with the CUDA toolkit (nsight-compute)'
mkdir -p "$dir"

"$build/ns-probe" >"$dir/probe.kv"
value() { sed -n "s/^$1=//p" "$dir/$2"; }
found=$(value platform probe.kv) chip=$(value gpu_chip probe.kv)
[ "$found" = "$platform" ] || die "this machine is platform '$found' ($(value platform_why probe.kv)): --platform $found?"
"$build/ns-probe" --require counters >/dev/null || exit 2

# Every metric of tier 1; CUPTI plans them, or the recorded plan does.
"$build/ns-plan" -m "$p/metrics.tsv" --chip "$chip" --recorded "$p/plan.tsv" >"$dir/plan.tsv"
n_metrics=$(sed 1d "$dir/plan.tsv" | wc -l)
n_passes=$(awk -F '\t' 'NR > 1 { n = $2 + $3 - 1 } END { print n }' "$dir/plan.tsv")

# A name that this ncu does not know would end the run: leave it out and say so.
ncu --query-metrics --chips "$(echo "$chip" | tr '[:upper:]' '[:lower:]')" 2>/dev/null |
	awk '/^[a-z0-9]+__/ { print $1 }' >"$dir/ncu-knows" || :
awk -F '\t' 'FNR == NR { known[$1]; n++; next }
	FNR > 1 { m = $4; sub(/\.[a-z]+$/, "", m); if (n > 0 && !(m in known)) print $4 }' \
	"$dir/ncu-knows" "$dir/plan.tsv" >"$dir/unknown"
metrics=$(sed 1d "$dir/plan.tsv" | cut -f 4 | grep -vxF -f "$dir/unknown" | paste -s -d , -)

say "gate: $n_metrics metrics in $n_passes passes"
ncu --csv --page raw --print-units base --log-file "$dir/gate.csv" --replay-mode app-range \
	--cache-control none --clock-control none --nvtx \
	--nvtx-include nsbench@read/ --nvtx-include nsbench@write/ \
	--nvtx-include nsbench@copy/ --nvtx-include nsbench@reread/ \
	--metrics "$metrics" "$build/ns-calib" -d cuda gate >"$dir/gate.out" 2>"$dir/gate.err" || {
	for f in "$dir/gate.err" "$dir/gate.csv"; do tail -n 5 "$f" >&2 || :; done
	die "ncu failed; $dir/gate.csv and gate.err say why"
}
# Each pass ran the program: what it expects stands once a pass.
awk 'NR == 1 || !/^kernel\t/ && !seen[$0]++' "$dir/gate.out" >"$dir/gate.expected.tsv"

"$build/ncu2tsv" "$dir/gate.csv" >"$dir/counters.tsv" 2>"$dir/counters.err" || {
	cat "$dir/counters.err" >&2
	exit 2
}
"$build/ns-rollup" -m "$p/metrics.tsv" "$dir/counters.tsv" >"$dir/hierarchy.tsv" 2>"$dir/missing"
"$build/ns-rollup" -m "$p/metrics.tsv" --terms "$dir/counters.tsv" >"$dir/terms.tsv" 2>/dev/null
"$build/yaml2kv" "$p/platform.yaml" >"$dir/platform.kv"
rc=0
"$build/ns-calib" judge -e "$dir/gate.expected.tsv" -t "$(value gate_tolerance_ratio platform.kv)" \
	"$dir/hierarchy.tsv" >"$dir/gate.tsv" 2>/dev/null || rc=$?
[ "$rc" -le 1 ] || die "cannot judge $dir/hierarchy.tsv"

# ---- the form

# rows FILE CONDITION COLUMN ...: these columns, as a Markdown table.
rows() {
	file=$1 condition=$2
	shift 2
	awk -F '\t' -v want="$*" '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(want, w, " ")
		for (i = 1; i <= n; i++) { printf "| %s ", w[i]; rule = rule "|---" }
		print "|\n" rule "|" }
	NR > 1 && ('"$condition"') { for (i = 1; i <= n; i++) printf "| %s ", $at[w[i]]; print "|" }' "$dir/$file"
}
cat <<END
# nsbench on $platform: what was measured

## 1. The machine
\`\`\`
$(grep -E '^(gpu|gpu_chip|gpu_chip_source|gpu_cc|gpu_n_sms|gpu_l2_bytes|gpu_integrated|gpu_driver_version|gpu_cuda_version|gpu_sm_clock_hz|gpu_sm_clock_max_hz|gpu_throttle|memory_bytes|ncu_version|nsys_version|counters_why|kernel)=' "$dir/probe.kv")
\`\`\`

## 2. The gate: does each direction count what is known to move?
Verdict: $([ "$rc" -eq 0 ] && echo pass || echo fail)

$(rows gate.tsv 1 kernel rung direction expected_bytes measured_bytes error_ratio verdict)

## 3. Sentinels: is there traffic where there must be none?
$(rows terms.tsv '$at["role"] == "sentinel"' phase metric value n_missing)

## 4. Witnesses: what do other counters say of the same bytes?
$(rows terms.tsv '$at["role"] == "witness" && $at["n_missing"] < $at["n_total"]' phase rung direction metric value)

## 5. Every rung
$(rows hierarchy.tsv 1 phase rung read_bytes write_bytes bytes hit_ratio n_missing n_total)

## 6. Does ncu record every metric of the registry?
Planned: $n_metrics metrics in $n_passes passes by $(sed -n '2s/.*\t//p' "$dir/plan.tsv"). Not known to this ncu:
\`\`\`
$(grep . "$dir/unknown" || echo none)
\`\`\`
Without a value:
\`\`\`
$(sed -n 's/^ns-rollup: //p' "$dir/missing" | grep . || echo none)
\`\`\`
END
exit "$rc"
