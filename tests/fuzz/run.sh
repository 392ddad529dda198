#!/bin/sh
# run.sh TOOL SECONDS: fuzz it.  Seeds are files with a byte of options (octal) before them.
set -eu
tool=$1 seconds=$2
top=$(cd "$(dirname "$0")/../.." && pwd)
shared=${NS_SHARED:-$top/../shared}
corpus=$top/build/fuzz/$tool.corpus
mkdir -p "$corpus"
options='0 1 7' size=24000
case $tool in
nsys2tsv)
	options='0 1 2 3 4 5 10 20 40' size=64000
	for f in "$top"/tests/data/nsys*.sql; do	# in small pages, so that a file is small
		db=$corpus.${f##*/} && rm -f "$db" && sqlite3 -cmd 'PRAGMA page_size = 512' "$db" <"$f"
	done
	set -- "$top"/tests/data/nsys*.sql "$corpus".*.sql "$shared"/public/nsys_sqlite/*healthy_j* ;;
ncu2tsv) set -- "$top"/tests/data/ncu/* "$shared"/public/ncu_csv/* "$shared"/captures/ncu/*.csv ;;
*) echo "$tool: no seeds known" >&2; exit 2 ;;
esac
i=0
for f in "$@"; do
	[ -f "$f" ] || continue
	for o in $options; do
		{ printf '%b' "\\0$o"; head -c "$size" "$f"; } >"$corpus/seed.$i.$o"
	done
	i=$((i + 1))
done
dict=$top/tests/fuzz/$tool.dict
[ -f "$dict" ] || dict=
cd "$top/build/fuzz"
export ASAN_OPTIONS=detect_leaks=0	# the way out, longjmp, leaves crumbs
exec "./$tool" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -detect_leaks=0 \
	-max_len=$((size + 8768)) -print_final_stats=1 ${dict:+-dict="$dict"} "$corpus"
