#!/bin/sh
# The figures of ../shared/captures/README.md that nsys2tsv alone can give.
. "${0%/*}/tap.sh"

[ -d "$shared/captures/nsys" ] || skip 'no ../shared/captures'
command -v xz >/dev/null || skip 'no xz here'
for c in llama-q4-node llama-q4-graph hf-eager ladder-a ladder-b; do
	xz -dc "$shared/captures/nsys/$c.sqlite.xz" >$c.sqlite
	nsys2tsv work $c.sqlite >$c.work 2>/dev/null
	nsys2tsv ranges $c.sqlite >$c.ranges 2>/dev/null
	nsys2tsv samples $c.sqlite >$c.samples 2>/dev/null
done

# busy START END: of the union of the work on standard input clipped to the window, its
# gaps: busy, idle, how many gaps, the largest.
busy() {
	awk -F'\t' -v from="$1" -v to="$2" '
	function gap(d) { if (d > 0) { n++; if (d > max) max = d } }
	BEGIN { at = from }
	FNR > 1 && $1 < to && $2 > from {
		s = $1 < from ? from : $1; e = $2 > to ? to : $2
		if (s > at) gap(s - at)
		if (e > at) { busy += e - (s > at ? s : at); at = e }
	}
	END { gap(to - at); printf "%.0f %.0f %d %.0f\n", busy, to - from - busy, n, max }'
}

# A llama.cpp decode with the kernels of its graphs.
w=llama-q4-node.work
is 'node: kernels'      15015 "awk -F'\t' '\$3 == \"kernel\"' $w | wc -l | tr -d ' '"
is 'node: graph launches, kernels each' '33 455' \
	"awk -F'\t' '\$3 == \"kernel\" && \$9 != \"NA\" { n[\$9]++ } END { for (g in n) { k++; each[n[g]] } for (e in each) print k, e }' $w"
awk -F'\t' '$3 == "kernel" && !seen[$9]++ { print $9 }' $w | tail -20 >last
awk -F'\t' 'NR == FNR { last[$1]; next } $3 == "kernel" && $9 in last' last $w >kernels
window() { awk -F'\t' 'NR == 1 { s = $1 } $2 > e { e = $2 } END { print s, e }' kernels; }
is 'node: last 20 launches' 60262344 'window | awk "{ print \$2 - \$1 }"'
# shellcheck disable=SC2046
is 'node: busy, idle, gaps, the largest' '37184850 23077494 8907 870713' "busy $(window) <$w"
is 'node: sum of kernels' 36951668 "awk -F'\t' '{ s += \$2 - \$1 } END { print s }' kernels"
for k in 'mul_mat_vec_q 2260 24871275' 'k_bin_bcast 1620 3111153' 'quantize_q8_1 2260 2788979' \
	'flash_attn_vec_ext_f32 320 2042988'; do
	is "node: ${k%% *}" "$k" "awk -F'\t' -v k=${k%% *} '\$12 == k { n++; s += \$2 - \$1 } END { print k, n, s }' kernels"
done
total() { awk -F'\t' -v m="$1" '$3 == m && $5 != "NA" { s += $5 } END { printf "%.0f\n", s }' "$2"; }
is 'node: DRAM bytes read'    73245387520 "total 'DRAM Read Bytes [Bytes]' llama-q4-node.samples"
is 'node: DRAM bytes written' 5341263616  "total 'DRAM Write Bytes [Bytes]' llama-q4-node.samples"
is 'node: graph trace' 'node'  "nsys2tsv meta llama-q4-node.sqlite | sed -n 's/^graph_trace=//p'"

# The same with opaque graphs: hidden is not absent.
kinds() { cut -f 3 "$1" | grep -v kind | sort | uniq -c | awk '{ printf "%s%s %d", s, $2, $1; s = " " }'; }
is 'graph: kinds'       'copy 311 graph 33 set 3' 'kinds llama-q4-graph.work'
is 'graph: each has its launch' 33 "awk -F'\t' '\$3 == \"graph\" && \$7 != \"NA\" && \$9 == \$8' llama-q4-graph.work | wc -l | tr -d ' '"
is 'graph: trace'       'graph' "nsys2tsv meta llama-q4-graph.sqlite | sed -n 's/^graph_trace=//p'"

# Eager PyTorch: what was launched within a range, and the GPU's work within it.
range() { awk -F'\t' -v r="$1" '$5 == r { print $1, $2 }' hf-eager.ranges; }
launched() {	# wall, kernels, their sum
	range "$1" >r
	read -r s e <r
	awk -F'\t' -v s="$s" -v e="$e" '$3 == "kernel" && $7 != "NA" && $7 >= s && $7 < e { n++; t += $2 - $1 }
	    END { print e - s, n, t }' hf-eager.work
}
is 'eager: ranges'      'prefill decode/0 decode/1 decode/2 decode/3 decode/4 decode/5 decode/6 decode/7' \
	"tail -n +2 hf-eager.ranges | cut -f 5 | tr '\n' ' ' | sed 's/ $//'"
is 'eager: prefill'     '36662982 1006 2664027' 'launched prefill'
is 'eager: decode/0'    '36062391 1006 2058077' 'launched decode/0'
is 'eager: decode/1'    '34592243 1006 2064697' 'launched decode/1'
for r in 'prefill 2686395' 'decode/0 2059773' 'decode/1 2066393'; do
	# shellcheck disable=SC2046
	is "eager: busy in ${r% *}" "${r#* }" "busy $(range "${r% *}") <hf-eager.work | cut -d ' ' -f 1"
done
exits 0 'eager: lost events are said' 'nsys2tsv work hf-eager.sqlite' 'nsys said: Not all CUDA events'

# Sampled counters of known traffic: a sample counts the period that begins at its time.
# 4 x 1 GiB read, the same copied, 200 x 20 MiB read: in sectors of 32 bytes, and one more a kernel.
sampled() {
	awk -F'\t' -v m="$2" '
	FILENAME ~ /ranges/ { if (FNR > 1 && $5 != "shm") { name[++r] = $5; from[r] = $1; to[r] = $2 }; next }
	index(FILENAME, "work") { if ($3 == "kernel" && $7 != "NA") for (i = 1; i <= r; i++) if ($7 >= from[i] && $7 < to[i]) {
		if (!(i in s) || $1 < s[i]) s[i] = $1; if ($2 > e[i]) e[i] = $2 }; next }
	$3 == m && $5 != "NA" { for (i = 1; i <= r; i++) if ($1 + $6 > s[i] && $1 <= e[i]) v[i] += $5 }
	END { for (i = 1; i <= r; i++) printf "%s%s %.0f", (i > 1 ? " " : ""), name[i], v[i]; print "" }' \
	    "$1.ranges" "$1.work" "$1.samples"
}
known='read4G 134217732 copy4G 268435460 l2read 131072200'
for c in ladder-a ladder-b; do
	is "$c: L2 sectors, to the sector, in three rounds" "$known $known $known" "sampled $c 'lts__t_sectors_srcunit_tex [sum]'"
done
is 'ladder-a: L1 sectors' "$known $known $known" "sampled ladder-a 'l1tex__t_sectors [sum]'"
is 'ladder-b: what was cut and restored'  61 "cut -f 7 ladder-b.samples | grep -c restored"
exits 0 'ladder-b: it is said' 'nsys2tsv samples ladder-b.sqlite' 'mem_shared [sum]: 61 samples lacked 2^24'
done_testing
