#!/bin/sh
# Other people's exports: each is read with the sums that were worked out for it, or refused with its reason.
. "${0%/*}/tap.sh"

p=$shared/public
[ -s "$p/EXPECT.nsys.tsv" ] || skip 'no ../shared/public'

# sums FILE: the columns of EXPECT.nsys.tsv from kernels to nvtx, then the kernel with most time.
sums() {
	nsys2tsv meta "$1" >meta.kv 2>/dev/null
	nsys2tsv work "$1" 2>/dev/null | awk -F'\t' -v OFS='\t' '
	function rows(t) { return meta["rows_" t] == "NA" ? "absent" : meta["rows_" t] }
	function sum(t, x) { return rows(t) == "absent" ? "absent" : n[t] == 0 ? "null" : sprintf("%.0f", x) }
	FILENAME == "meta.kv" { i = index($0, "="); meta[substr($0, 1, i - 1)] = substr($0, i + 1); next }
	FNR > 1 {
		n[$3]++; ns[$3] += $2 - $1; bytes[$3] += $17
		if (n[$3] == 1) first[$3] = $1
		if ($2 > last[$3]) last[$3] = $2
		if ($3 == "kernel") { calls[$12]++; spent[$12] += $2 - $1 }
	}
	END {
		for (k in spent) if (top == "" || spent[k] > spent[top] || (spent[k] == spent[top] && k < top)) top = k
		print meta["schema"], rows("kernel"), sum("kernel", ns["kernel"]), sum("kernel", first["kernel"]),
		    sum("kernel", last["kernel"]), rows("copy"), sum("copy", bytes["copy"]), sum("copy", ns["copy"]),
		    rows("set"), sum("set", bytes["set"]), rows("api"), rows("sync"), rows("nvtx"),
		    top == "" ? "-" : top, top == "" ? "-" : calls[top], top == "" ? "-" : sprintf("%.0f", spent[top])
	}' meta.kv -
}
# shellcheck disable=SC2094

tail -n +2 "$p/EXPECT.nsys.tsv" >expect
while IFS= read -r line; do
	file=$(printf '%s' "$line" | cut -f 1)
	want=$(printf '%s' "$line" | cut -f 2- | sed 's/^-	/NA	/')
	is "$file" "$want" 'sums "$p/nsys_sqlite/$file"'
done <expect
ok 'every file has its row' '[ "$(ls "$p/nsys_sqlite" | wc -l)" -eq "$(wc -l <expect)" ]'
for f in "$p"/nsys_csv/*.csv; do
	exits 2 "$(basename "$f")" 'nsys2tsv work "$f"' 'not an SQLite file: nsys stats CSV; it holds sums without times; export it again'
done

# One oddity each, with the figures of INDEX.tsv.
s=$p/nsys_sqlite
lines() { wc -l | tr -d ' '; }
is 'two processes, two GPUs' '0 1' "nsys2tsv work \$s/GindaChen*h100_2gpu_1s.sqlite | awk -F'\t' 'NR > 1 { print \$4 }' | sort -u | tr '\n' ' ' | sed 's/ \$//'"
is 'NVTX text by id'         0    "nsys2tsv ranges \$s/brycelelbach*.sqlite | cut -f 5 | grep -c '^NA\$'"
is 'NVTX: a domain by name'  17   "nsys2tsv ranges \$s/hpcgroup*saxpy*.sqlite | cut -f 4 | grep -c '^MPI\$'"
is 'NVTX: a thread name is no range' 0 "nsys2tsv ranges \$s/D-W*.sqlite 2>/dev/null | tail -n +2 | lines"
is 'names without a row: the next best' elementwise_add \
	"nsys2tsv work --name demangled \$s/GindaChen*healthy_1pct.6d01e5a7.sqlite | sed -n 2p | cut -f 12"
exits 0 'no version table'   'nsys2tsv work $s/bwyogatama*.sqlite' 'no schema version in this export'
ok 'nothing was written beside them' '[ "$(ls "$s" | lines)" -eq "$(lines <expect)" ]'
done_testing
