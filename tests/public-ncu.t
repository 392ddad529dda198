#!/bin/sh
# Other people's captures: each read with the sums of EXPECT.ncu.tsv, which were
# computed elsewhere, or refused for the reason that fits.
. "${0%/*}/tap.sh"

[ -d "$shared/public/ncu_csv" ] || skip "no $shared/public"
public=$shared/public captures=$shared/captures/ncu

# figures FILE: rows launches kernels NAs gpu-time, from the table; a value that
# is a word has no row, and is counted in the file itself.
figures() {
	words=$(grep -c '"CachePreferNone"' "$1")
	ncu2tsv "$1" 2>err | awk -F '\t' -v words="$words" 'NR == 1 {
		for (i = 1; i <= NF; i++) c[$i] = i
		next
	} {
		n++
		launch[$c["launch"]]; kernel[$c["kernel"]]
		na += $c["value"] == "NA"
		if ($c["metric"] == "gpu__time_duration.sum") { any = 1; t += $c["value"] }
	} END {
		print n + words, length(launch), length(kernel), na + 0, any ? sprintf("%.3f", t) : "-"
	}'
}

tab=$(printf '\t')
while IFS=$tab read -r file page _ _ _ rows _ launches kernels na time; do
	[ "$page" = page ] && continue
	is "$file" "$rows $launches $kernels $na $time" "figures '$public/ncu_csv/$file'"
done <"$public/EXPECT.ncu.tsv"
is 'every file is expected' "$(find "$public/ncu_csv" -type f | wc -l)" \
	"tail -n +2 '$public/EXPECT.ncu.tsv' | wc -l"

for f in "$public"/nsys_csv/*.csv; do
	exits 2 "${f##*/}" "ncu2tsv '$f'" 'a table of nsys stats, not of ncu: nsys2tsv reads the export'
done
for f in "$public"/nsys_sqlite/*.sqlite; do
	exits 2 "${f##*/}" "ncu2tsv '$f'" 'nsys2tsv'
done
for f in "$public"/llama_bench/*.jsonl; do
	exits 2 "${f##*/}" "ncu2tsv '$f'" "JSON, not ncu's CSV"
done

# metric FILE PHASE-STEP-KERNEL METRIC: the values.
metric() {
	ncu2tsv --metrics "$3" "$1" 2>/dev/null |
		awk -F '\t' -v who="$2" '$2 " " $3 " " $5 == who { print $7 }' | paste -sd ' '
}
is 'app-range: read'   993457152  'metric $captures/hf-app-range.raw.csv "decode 2 decode.2" dram__bytes_read.sum'
is 'app-range: write'  8898816    'metric $captures/hf-app-range.raw.csv "decode 2 decode.2" dram__bytes_write.sum'
is 'app-range: rows'   '1 prefill 0 prefill
1 decode 2 decode.2'              "ncu2tsv --metrics dram__bytes_read.sum \$captures/hf-app-range.raw.csv |
	tail -n +2 | cut -f 2,3,5 | tr '\\t' ' ' | sed 's/^/1 /'"
is 'graphs'            '2218931968 2218780928' \
	'metric $captures/llama-q4-graph.raw.csv "NA NA graph" dram__bytes_read.sum'
is 'graphs given a phase' '2218931968 2218780928' \
	'ncu2tsv -p decode --metrics dram__bytes_read.sum $captures/llama-q4-graph.raw.csv | awk "/^ncu\tdecode\tNA/ { print \$7 }" | paste -sd " "'
is 'range: read'       1073748992 'metric $captures/stream-range.raw.csv "NA NA gate" dram__bytes_read.sum'
is 'range: write'      515793408  'metric $captures/stream-range.raw.csv "NA NA gate" dram__bytes_write.sum'
is 'range: L2 misses'  50335206   'metric $captures/stream-range.raw.csv "NA NA gate" lts__t_sectors_aperture_device_lookup_miss.sum'
is 'app-range: steps'  '0 1 2 3 4 5 6 7 8 9' \
	'ncu2tsv --metrics gpu__time_duration.sum $captures/stream-app-range.raw.csv | awk "/\tdecode\t/ { print \$3 }" | paste -sd " "'
if command -v xz >/dev/null; then
	xz -dc "$captures/stream-application.details.csv.xz" >details.csv
	is 'application: launches' 212 'ncu2tsv details.csv 2>/dev/null | tail -n +2 | cut -f 4 | sort -u | wc -l'
	is 'application: no range is a phase but decode' 'NA decode' \
		'ncu2tsv details.csv 2>/dev/null | tail -n +2 | cut -f 2 | sort -u | paste -sd " "'
else
	skip_one 'application: launches' 'no xz'
fi

exits 2 'no kernels'  'ncu2tsv $captures/no-kernels-profiled.csv'  'No kernels were profiled'
exits 2 'its remedy'  'ncu2tsv $captures/no-kernels-profiled.csv'  "needs a trailing slash"
exits 2 'no ranges'   'ncu2tsv $captures/no-ranges-profiled.csv'   'No ranges were profiled'
exits 2 'unsupported' 'ncu2tsv $captures/range-unsupported-api.csv' 'Unsupported API during capture (cuKernelSetAttribute)'
exits 2 'its remedy'  'ncu2tsv $captures/range-unsupported-api.csv' '--replay-mode app-range'
done_testing
