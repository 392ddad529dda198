#!/bin/sh
# Other people's llama-bench files: every repetition, and the speeds that the files
# state themselves out of the rows.
. "${0%/*}/tap.sh"

[ -d "$shared/public/llama_bench" ] || skip "no $shared/public"

# speeds FILE: tokens a second of each entry, from the rows; stated FILE: as it says.
speeds() {
	llb2tsv --all "$1" | awk -F '\t' 'NR > 1 {
		if (NR > 2 && $9 != was) { printf "%.4f\n", s / n; s = n = 0 }
		s += 1e9 * $4 / $6; n++; was = $9
	} END { printf "%.4f\n", s / n }'
}
stated() { grep -o '"avg_ts": [0-9.]*' "$1" | awk '{ printf "%.4f\n", $2 }'; }
samples() { grep -o '"samples_ns": \[[^]]*' "$1" | tr -cd ',[' | wc -c; }

for f in "$shared"/captures/llama_bench/* "$shared"/public/llama_bench/*; do
	name=${f##*/}
	case $name in
	*_results.jsonl)
		exits 2 "$name" "llb2tsv '$f'" "bench_raw: llama-bench's own object lies under it" ;;
	*)
		is "$name: repetitions" "$(samples "$f")" "llb2tsv --all '$f' | tail -n +2 | wc -l"
		is "$name: speeds"      "$(stated "$f")"  "speeds '$f'" ;;
	esac
done

# The figures of captures/README.md, rounded as there.
speed() { speeds "$shared/captures/llama_bench/$1" | awk '{ printf "%.2f\n", $1 }' | paste -sd ' '; }
is 'a1'  448.33            'speed a1.json'
is 'b'   384.05            'speed b.json'
is 'a2'  477.26            'speed a2.json'
is 'f16' '35144.77 330.07' 'speed f16.json'
done_testing
