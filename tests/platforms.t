#!/bin/sh
# Each platform's registry against CUPTI's lists of what its chips count.
. "${0%/*}/tap.sh"

platforms=$top/configs/platforms
tab='	'
# column FILE NAME: that column, without its header.
column() { awk -F '\t' -v want="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == want) c = i; next } { print $c }' "$1"; }
# bare: metrics as CUPTI's lists have them, without .sum; those that ncu alone knows are left out.
bare() { sed 's/\.\(sum\|ratio\|avg\.pct_of_peak_sustained_active\)$//' | grep -v -e '^launch__' -e '^sm__maximum_warps_per_active_cycle_pct$' | sort -u; }
chips() { yaml2kv "$platforms/$1/platform.yaml" | sed -n 's/^chips=//p' | tr ',' ' '; }

# Where NVIDIA's own lists are at hand: ../shared, and ncu for the chips it knows.
lists() {	# PLATFORM CHIP range|pm FILE
	list=$shared/metrics/$2.$3.tsv
	[ -e "$list" ] || { skip_one "$1: $4 on $2" "no $2.$3.tsv in ../shared"; return; }
	cut -f 2 "$list" | sort -u >known
	column "$platforms/$1/$4" metric | bare >ours
	is "$1: every metric of $4 is on $2" '' 'comm -23 ours known'
}
ncu_knows() {
	command -v ncu >/dev/null || { skip_one "$1: ncu on $2" 'no ncu here'; return; }
	ncu --query-metrics --chips "$(echo "$2" | tr '[:upper:]' '[:lower:]')" 2>err |
	    awk '/^[a-z].*__/ { print $1 }' | sort -u >known
	[ -s known ] || { skip_one "$1: ncu on $2" "this ncu does not know $2"; return; }
	column "$platforms/$1/metrics.tsv" metric | bare >ours
	is "$1: ncu lists every metric on $2" '' 'comm -23 ours known'
}
n_gpus=0
for m in "$platforms"/*/metrics.tsv; do
	p=${m%/*} p=${p##*/}
	is "$p: its name"              "$p" "yaml2kv $platforms/$p/platform.yaml | sed -n 's/^name=//p'"
	ok "$p: ns-rollup takes it"    "printf 'source\tphase\tstep\tlaunch\tkernel\tmetric\tvalue\n' | ns-rollup -m $m"
	is "$p: every row has a note"  '' "column $m note | grep -n '^NA\$'"
	is "$p: no row stands twice"   '' "cut -f 1-4,7 $m | sort | uniq -d"
	is "$p: tiers are 0 to 3"      '' "column $m tier | grep -vx '[0-3]'"
	is "$p: sectors are 32 bytes"  '' \
	    "awk -F '\t' '\$1 == \"bytes\" && \$4 ~ /sectors/ && \$5 != 32 && \$5 != -32 { print \$4, \$5 }
	    \$1 == \"bytes\" && \$4 ~ /bytes/ && \$5 != 1 && \$5 != -1 { print \$4, \$5 }' $m"
	[ -e "$platforms/$p/samples.tsv" ] || continue
	n_gpus=$((n_gpus + 1))
	ok "$p: ns-rollup takes its samples" \
	    "printf 'source\tphase\tstep\tlaunch\tkernel\tmetric\tvalue\n' | ns-rollup -m $platforms/$p/samples.tsv"
	is "$p: every rung"            'l1 l2 memory registers shared xbar' \
	    "awk -F '\t' '\$1 == \"bytes\" && \$7 == \"value\" { print \$2 }' $m | sort -u | tr '\n' ' ' | sed 's/ \$//'"
	# A rung is read and written, or says that its counter cannot tell them apart.
	is "$p: every rung both ways"  '' \
	    "awk -F '\t' '\$1 == \"bytes\" && \$7 == \"value\" { way[\$2] = way[\$2] \$3 }
	    END { for (r in way) if (way[r] !~ /both/ && !(way[r] ~ /read/ && way[r] ~ /write/)) print r }' $m"
	is "$p: hits of l1 and l2"     'l1 l2' "awk -F '\t' '\$1 == \"hits\" { print \$2 }' $m | sort -u | tr '\n' ' ' | sed 's/ \$//'"
	is "$p: time, activity and cycles once each" 'activity cycles time' \
	    "awk -F '\t' '\$1 ~ /^(activity|cycles|time)\$/ { print \$1 }' $m | sort | tr '\n' ' ' | sed 's/ \$//'"
	is "$p: memory, sentinels and time are tier 1" '' \
	    "awk -F '\t' '(\$7 == \"sentinel\" || \$1 == \"time\" || \$2 == \"memory\" && \$7 == \"value\") && \$6 != 1' $m"
	ok "$p: a sentinel"            "awk -F '\t' '\$7 == \"sentinel\" { n++ } END { exit n == 0 }' $m"
	is "$p: parents of tensor operations only" '' "column $m metric | grep -E 'tensor.*(sparsity|_op_)'"
	is "$p: patched code is tier 2" '' "awk -F '\t' '\$4 ~ /_sass_/ && \$6 < 2 { print \$4 }' $m"
	d=$platforms/$p/detail.tsv
	table chosen.tsv <<-T
	phase rank step kernel name grid block shared_bytes n_launches mean_ns share_ratio
	T
	ok "$p: ns-detail takes its detail" \
	    "printf 'source\tphase\tstep\tlaunch\tkernel\tmetric\tvalue\tgrid\tblock\n' | ns-detail -m $m -d $d --chosen chosen.tsv"
	is "$p: every item has a note" '' "column $d note | grep -n '^NA\$'"
	is "$p: the facts of a launch" 13 "column $d item | grep -vc '^stall\.'"
	is "$p: stalls of warps that were not issued" '' "awk -F '\t' '\$1 ~ /^stall/ && \$2 !~ substr(\$1, 7)' $d"
	for chip in $(chips "$p"); do
		[ -e "$shared/metrics/$chip.range.tsv" ] || [ "$chip" = "$(chips "$p" | cut -d ' ' -f 1)" ] || continue
		lists "$p" "$chip" range metrics.tsv
		lists "$p" "$chip" pm samples.tsv
		lists "$p" "$chip" range detail.tsv
		ncu_knows "$p" "$chip"
	done
done
is 'seven platforms with a GPU' 7 'echo $n_gpus'

# What must hold of the two that a project like this meets first.
row() { awk -F '\t' -v m="$2" '$4 == m { print $1, $2, $3, $5, $7 }' "$platforms/$1/metrics.tsv"; }
is 'gb10: reads are missed sectors of system memory' 'bytes memory read 32 value' \
    'row gb10 lts__t_sectors_aperture_sysmem_op_read_lookup_miss.sum'
is 'gb10: writes too'           'bytes memory write 32 value' 'row gb10 lts__t_sectors_aperture_sysmem_op_write_lookup_miss.sum'
is 'gb10: device memory is a sentinel' 'bytes memory both 32 sentinel' 'row gb10 lts__t_sectors_aperture_device_lookup_miss.sum'
is 'gb10: peer memory is a sentinel'   'bytes memory both 32 sentinel' 'row gb10 lts__t_sectors_aperture_peer_lookup_miss.sum'
is 'gb10: nothing at the memory itself' '' "column $platforms/gb10/metrics.tsv metric | grep -E '^(dram|fbpa|ctc)__'"
is 'gh100: apertures only as witnesses' 'witness witness' \
    "grep aperture_device $platforms/gh100/metrics.tsv | cut -f 7 | tr '\n' ' ' | sed 's/ \$//'"
is 'two partitions: never lts__t_sectors itself' '' \
    "for p in gh100 ga100 gb100 gb110; do column $platforms/\$p/metrics.tsv metric; done | grep -E '^lts__t_sectors(_op|_lookup|\.)'"
is 'gb202: other names for memory' 'bytes memory read 1 value' 'row gb202 dram__bytes_op_read.sum'

# Derived pages and records.
ok 'docs/02 is up to date: make docs' \
    "(cd $top && awk -f docs/02-metric-reference.awk configs/platforms/*/*.tsv) | diff $top/docs/02-metric-reference.md -"
for p in gb10 gh100 ga100 ad10x gb100 gb110 gb202; do
	plan=$platforms/$p/plan.tsv
	is "$p: a plan for each chip" "$(chips "$p")" "column $plan chip | uniq | tr '\n' ' ' | sed 's/ \$//'"
	awk -F '\t' '$6 <= 1 { print $4 }' "$platforms/$p/metrics.tsv" | sort -u >ours
	for chip in $(chips "$p"); do
		is "$p: the plan of $chip has each metric once" '' \
		    "awk -F '\t' -v c=$chip '\$1 == c { print \$4 }' $plan | sort | diff ours -"
	done
done
done_testing
