#!/bin/sh
# ns-phases | ns-timeline: rows a second of CPU, at N and at ten times N rows.
# shellcheck disable=SC2094
set -eu
at=${0%/*} build=${NS_BUILD:-build} rows=${1:-2000000}
bench=$build/bench
mkdir -p "$bench"
trap 'rm -f "$bench"/timeline.*' EXIT
for p in cpu work-rows; do
	gcc -O2 -o "$bench/$p" "$at/$p.c"
done

# pipe ROWS: CPU seconds of both together, peak KiB of the larger.
pipe() {
	rm -f "$bench"/timeline.[ab]
	"$bench/work-rows" "$1" |
	    "$bench/cpu" "$bench/timeline.a" "$build/ns-phases" --last-graphs 20 2>"$bench/timeline.err" |
	    "$bench/cpu" "$bench/timeline.b" "$build/ns-timeline" >"$bench/timeline.out"
	[ "$(wc -l <"$bench/timeline.out")" -eq 21 ] || { echo "timeline.sh: 20 steps expected" >&2; exit 1; }
	cat "$bench"/timeline.[ab] | awk '{ s += $1; if ($2 > m) m = $2 } END { print s, m }'
}
one=$(pipe "$rows")
ten=$(pipe $((10 * rows)))
if command -v sqlite3 >/dev/null; then
	sql=$("$bench/work-rows" "$rows" | "$bench/cpu" /dev/stderr sqlite3 :memory: \
	    '.mode tabs' '.import /dev/stdin work' 'select sum(end_ns - start_ns) from work' 2>&1 >/dev/null)
else
	sql='0 0'
fi
echo "$rows $one $ten $sql" | awk '
function judge(ok) { if (!ok) failed = 1; return ok ? "" : "  FAILED" }
{
	printf "ns-phases | ns-timeline, %.0f million rows: %.2f s of CPU, %.1f million rows a second (at least 2)%s\n", $1 / 1e6, $2, $1 / $2 / 1e6, judge($1 / $2 >= 2e6)
	printf "  %.0f million rows: %.2f s, %.2f times the time for ten times the rows (at most 12)%s\n", $1 / 1e5, $4, $4 / $2, judge($4 <= 12 * $2)
	printf "  peak memory %.1f and %.1f MiB (at most 32)%s\n", $3 / 1024, $5 / 1024, judge($5 <= 32768)
	if ($6 > 0)
		printf "  sqlite3 reading the same %.0f million rows and summing one column: %.2f s, %.1f times as long\n", $1 / 1e6, $6, $6 / $2
	exit failed
}'
