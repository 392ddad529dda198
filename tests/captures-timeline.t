#!/bin/sh
# The figures of ../shared/captures/README.md through ns-phases and ns-timeline, to
# the nanosecond, one pipeline each.
. "${0%/*}/tap.sh"

captures=$shared/captures/nsys
[ -d "$captures" ] || skip 'no ../shared/captures/nsys here'

# columns A,B,..: these columns of each row, separated by spaces, rows by |.
columns() {
	awk -F'\t' -v want="$1" '
		NR == 1 { n = split(want, w, ","); for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ for (i = 1; i <= n; i++) printf "%s%s", $at[w[i]], i < n ? " " : "|" }'
}
for name in llama-q4-node llama-q4-graph hf-eager; do
	xz -dc "$captures/$name.sqlite.xz" >"$name.sqlite" || exit 1
done
work() { nsys2tsv work "$1.sqlite"; }

# llama.cpp, kernels of the graphs recorded: the last 20 launches.
node() { work llama-q4-node | ns-phases --last-graphs 20; }
is 'node: kernels' '15015' "work llama-q4-node | awk -F'\t' '\$3 == \"kernel\"' | wc -l"
is 'node: graph launches and the kernels of each' '33 455' \
    "work llama-q4-node | awk -F'\t' 'NR > 1 && \$9 != \"NA\" { n[\$9]++ } END { for (i in n) { m++; k = n[i] } print m, k }'"
is 'node: window' '60262344 37184850 23077494 8907 870713 36951668|' \
    'node | ns-timeline --totals | columns wall_ns,busy_ns,idle_ns,n_gaps,largest_gap_ns,sum_kernel_ns'
is 'node: kernels a launch' '9100 20 20 1|' \
    'node | ns-timeline --totals | columns n_kernels,n_launches,n_graph_launches,reliable'
is 'node: steps make up the window' '20 9100 60262344 37184850' \
    "node | ns-timeline | awk -F'\t' 'NR > 1 { n++; k += \$8; w += \$5; b += \$6 } END { print n, k, w, b }'"
is 'node: the gaps one by one' '8907 23077494 870713' \
    "node | ns-timeline --gaps | awk -F'\t' 'NR > 1 { n++; s += \$6; if (\$6 > m) m = \$6 } END { print n, s, m }'"
is 'node: by name' 'mul_mat_vec_q 2260 24871275|k_bin_bcast 1620 3111153|quantize_q8_1 2260 2788979|flash_attn_vec_ext_f32 320 2042988|' \
    'node | ns-timeline --kernels | head -5 | columns name,n_calls,sum_ns'
is 'node: share of the first, of durations and of own time' '0.673076 0.673508' \
    "node | ns-timeline --kernels | awk -F'\t' 'NR > 1 { if (NR == 2) { f = \$4; own = \$8 } s += \$4 } END { printf \"%.6f %.6f\n\", f / s, own }'"
is 'node: own times add up to busy time' 37184850 \
    "node | ns-timeline -f '$top/configs/families.tsv' | awk -F'\t' 'NR > 1 { s += \$5 } END { print s }'"
is 'node: no kernel without a family' '' \
    "node | ns-timeline -f '$top/configs/families.tsv' | grep -w other"

# The same, graphs opaque: the kernels are hidden, not absent.
is 'graph: rows' '33 graph' \
    "work llama-q4-graph | cut -f3 | grep -e kernel -e graph | sort | uniq -c | xargs"
is 'graph: kernels are NA, and why' 'NA NA 20 0 20 graph replays hide their kernels: record with --cuda-graph-trace=node|' \
    'work llama-q4-graph | ns-phases --last-graphs 20 | ns-timeline --totals | columns n_kernels,sum_kernel_ns,n_graph_launches,reliable,why'

# transformers, eager: ranges of another name, kernels by launching call.
nsys2tsv ranges hf-eager.sqlite >ranges.tsv
hf() { work hf-eager | ns-phases -r ranges.tsv --ranges '^(prefill|decode)'; }
is 'hf: prefill' '36662982 2686395 1006 2664027|' \
    'hf | ns-timeline | head -2 | columns wall_ns,busy_ns,n_kernels,sum_kernel_ns'
is 'hf: decode 0 and 1' '0 36062391 2059773 1006 2058077|1 34592243 2066393 1006 2064697|' \
    "hf | ns-timeline | sed -n '1p;3,4p' | columns step,wall_ns,busy_ns,n_kernels,sum_kernel_ns"
is 'hf: nine ranges' 'prefill 1|decode 8|' 'hf | ns-timeline --totals | columns phase,n_windows'

# docs/07-timeline.md prints what its commands print, but for the spacing.
mkdir page && ln -s "$top/configs" ../llama-q4-node.sqlite ../llama-q4-graph.sqlite page
mv page/llama-q4-node.sqlite page/node.sqlite && mv page/llama-q4-graph.sqlite page/graph.sqlite
spaced() { tr -s ' \t' ' ' | sed 's/^ //'; }
sed -n 's/^    //p' "$top/docs/07-timeline.md" | spaced >page/want
sed -n 's/^    \$ //p' "$top/docs/07-timeline.md" | while read -r command; do
	printf '%s\n' "\$ $command"
	(cd page && eval "$command" 2>/dev/null)
done | spaced >page/got
ok 'the page' 'diff -u page/want page/got && [ "$(wc -l <page/got)" -gt 50 ]'

# Rows in any order.
shuffled() { sed -n '1p' "$1"; sed 1d "$1" | sort -t'	' -k8,8 -k2,2r; }
work llama-q4-node >w; node >p
ok 'shuffled before ns-phases' \
    'shuffled w | ns-phases --last-graphs 20 | ns-timeline >a && ns-timeline p | cmp - a'
for mode in '' --totals --gaps --classes --kernels; do
	ok "shuffled before ns-timeline $mode" \
	    "shuffled p | ns-timeline $mode >a && ns-timeline $mode p | cmp - a"
done
done_testing
