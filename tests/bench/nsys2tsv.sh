#!/bin/sh
# nsys2tsv work against the sqlite3 shell that prints the same rows to the byte,
# on a capture in order of time and on the same one shuffled.
set -eu
at=${0%/*} build=${NS_BUILD:-build} kernels=${1:-2000000}
bench=$build/bench
command -v sqlite3 >/dev/null || { echo 'nsys2tsv: no sqlite3 shell to compare with'; exit 0; }
mkdir -p "$bench"
trap 'rm -f "$bench"/nsys-*.sqlite "$bench"/nsys-*.tsv' EXIT
gcc -O2 -o "$bench/best" "$at/best.c"
rm -f "$bench"/nsys-*.sqlite

{ echo "CREATE TABLE n AS SELECT $kernels AS count;"; cat "$at/nsys2tsv.sql"; } | sqlite3 "$bench/nsys-sorted.sqlite" >/dev/null
sqlite3 "$bench/nsys-shuffled.sqlite" >/dev/null <<END
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
ATTACH '$bench/nsys-sorted.sqlite' AS s;
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds SELECT * FROM s.StringIds;
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME AS SELECT * FROM s.CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY start * 2654435761 % 4294967291;
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL AS SELECT * FROM s.CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start * 40503 % 65521, start;
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY AS SELECT * FROM s.CUPTI_ACTIVITY_KIND_MEMCPY ORDER BY start * 40503 % 65521, start;
END

best() { "$bench/best" "$@"; }
for order in sorted shuffled; do
	db=$bench/nsys-$order.sqlite
	ours=$(best 2 "$build/nsys2tsv" work "$db" 2>"$bench/nsys-said.tsv")
	shell=$(best 2 sqlite3 "$db" ".read $at/nsys2tsv.query")
	"$build/nsys2tsv" work "$db" 2>/dev/null | cksum >"$bench/nsys-ours.tsv"
	sqlite3 "$db" ".read $at/nsys2tsv.query" | cksum >"$bench/nsys-shell.tsv"
	same=1
	cmp -s "$bench/nsys-ours.tsv" "$bench/nsys-shell.tsv" || same=0
	echo "$kernels $order $same $ours $shell" | awk '
	function judge(ok) { if (!ok) failed = 1; return ok ? "" : "  FAILED" }
	{
		printf "nsys2tsv work, %d kernels, %s: %.2f s of CPU, %.1f MiB (at most 64)%s\n", $1, $2, $4, $5 / 1024, judge($5 <= 65536)
		printf "  sqlite3 shell printing the same rows %.2f s: ratio %.2f (at most 1.5)%s\n", $6, $4 / $6, judge($4 <= 1.5 * $6)
		if (!$3)
			printf "  their outputs differ%s\n", judge(0)
		exit failed
	}' || failed=1
done
exit "${failed:-0}"
