#!/bin/sh
# run.sh TOOL SECONDS: fuzz it.  Seeds are files with a byte of options before them.
set -eu
tool=$1 seconds=$2
top=$(cd "$(dirname "$0")/../.." && pwd)
shared=${NS_SHARED:-$top/../shared}
corpus=$top/build/fuzz/$tool.corpus
mkdir -p "$corpus"
case $tool in
ncu2tsv) set -- "$top"/tests/data/ncu/* "$shared"/public/ncu_csv/* "$shared"/captures/ncu/*.csv ;;
*) echo "$tool: no seeds known" >&2; exit 2 ;;
esac
i=0
for f in "$@"; do
	[ -f "$f" ] || continue
	for options in 0 1 7; do
		{ printf '%b' "\\0$options"; head -c 24000 "$f"; } >"$corpus/seed.$i.$options"
	done
	i=$((i + 1))
done
dict=$top/tests/fuzz/$tool.dict
[ -f "$dict" ] || dict=
cd "$top/build/fuzz"
export ASAN_OPTIONS=detect_leaks=0	# the way out, longjmp, leaves crumbs
exec "./$tool" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -detect_leaks=0 \
	-max_len=32768 -print_final_stats=1 ${dict:+-dict="$dict"} "$corpus"
