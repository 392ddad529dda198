#!/bin/sh
# ncu2tsv against libcsv alone and against Python's csv module, over the same bytes.
set -eu
at=${0%/*} build=${NS_BUILD:-build} mib=${1:-200}
bench=$build/bench
mkdir -p "$bench"
trap 'rm -f "$bench/raw.csv"' EXIT
for p in best csv-pass ncu-raw; do
	gcc -O2 -o "$bench/$p" "$at/$p.c" -lcsv
done
"$bench/ncu-raw" "$mib" >"$bench/raw.csv"
metrics=$(for i in 0 9 20 31 42 53 60 66; do printf 'unit__metric_%d.sum ' $i; done | sed 's/ $//; s/ /,/g')

best() { "$bench/best" "$@"; }
ours=$(best 5 "$build/ncu2tsv" --metrics "$metrics" "$bench/raw.csv")
all=$(best 1 "$build/ncu2tsv" "$bench/raw.csv")
pass=$(best 5 "$bench/csv-pass" "$bench/raw.csv")
if command -v python3 >/dev/null; then
	python=$(best 3 python3 "$at/csv-sum.py" "$bench/raw.csv" unit__metric_31.sum)
else
	python='0 0'
fi
echo "$mib $ours $pass $python $all" | awk '
function judge(ok) { if (!ok) failed = 1; return ok ? "" : "  FAILED" }
{
	printf "ncu2tsv, eight metrics of a raw page of %d MiB: %.2f s of CPU, %.1f MiB (at most 32)%s\n", $1, $2, $3 / 1024, judge($3 <= 32768)
	printf "  libcsv alone %.2f s: ratio %.2f (at most 1.3)%s\n", $4, $2 / $4, judge($2 <= 1.3 * $4)
	if ($6 > 0)
		printf "  Python summing one column %.2f s: ratio %.1f (at least 3.5)%s\n", $6, $6 / $2, judge($6 >= 3.5 * $2)
	else
		print "  Python: not here"
	printf "  all metrics: %.2f s, %.1f MiB\n", $8, $9 / 1024
	exit failed
}'
