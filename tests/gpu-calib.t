#!/bin/sh
# shellcheck disable=SC2016,SC2034	# commands are evaluated by tap.sh
# ns-calib on a GPU: that counters count what its kernels move.
. "${0%/*}/tap.sh"

nvidia-smi -L >/dev/null 2>&1 || skip 'no GPU here'
! ns-calib -d cuda canary --seconds 0.01 2>&1 >/dev/null | grep -q 'without nvcc' || skip 'built without CUDA'

value() { sed -n "s/^$2=//p" "$1"; }
expected() { awk -v k="$1" -v r="$2" -v d="$3" '$1 == k && $2 == r && $3 == d { print $4 }' gate.expected.tsv; }
positive() { awk -F = -v k="$2" '$1 == k && $2 > 1e6 { ok = 1 } END { exit !ok }' "$1"; }

exits 0 'gate: nobody counts'      'ns-calib -d cuda gate >gate.expected.tsv' 'no profiler listens'
is  'gate: a row a rung and direction' 17 'wc -l <gate.expected.tsv'
is  'gate: copies as much as it reads' "$(expected copy memory read)" 'expected copy memory write'
is  'gate: rereads 50 times'       "$((50 * $(expected reread memory read)))" 'expected reread l2 read'
exits 2 'gate: full disk'          'ns-calib -d cuda gate >/dev/full' 'No space left'

ok  'ceilings'                     'ns-calib -d cuda ceilings --seconds 0.5 >c.kv 2>ceilings.log'
for k in memory_read memory_write memory_copy l2_read; do
	ok "ceilings: $k"          'positive c.kv ${k}_bytes_per_s'
done
for k in f32 f16; do
	ok "ceilings: GEMM of $k or the reason" 'positive c.kv gemm_${k}_flop_per_s || grep -q gemm: ceilings.log'
done
ok  'ceilings: beyond the L2'      '[ $(value c.kv working_set_bytes) -ge $((16 * $(value c.kv last_level_bytes))) ]'
ok  'gate: beyond the L2'          '[ $(expected read memory read) -ge $((4 * $(value c.kv last_level_bytes))) ]'
ok  'gate: reread inside it'       '[ $(expected reread memory read) -le $(($(value c.kv last_level_bytes) / 2)) ]'
ok  'sweep'                        'ns-calib -d cuda sweep --seconds 0.5 >s.tsv'
is  'sweep: ascending'             ''  'for k in read copy; do grep ^$k s.tsv | cut -f2 | sort -cnu 2>&1; done'
ok  'canary'                       'ns-calib -d cuda canary --seconds 0.1 >c.kv && positive c.kv canary_gemv_bytes_per_s && positive c.kv canary_copy_bytes_per_s'

# A few counters at a time, so that nothing is run twice.
table registry.tsv <<'T'
quantity rung   direction metric                                 factor tier role  note
bytes    memory read      dram__bytes_read.sum                   1      1    value -
bytes    memory write     dram__bytes_write.sum                  1      1    value -
bytes    l2     read      lts__t_sectors_srcunit_tex_op_read.sum 32     1    value -
bytes    l2     write     lts__t_sectors_srcunit_tex_op_write.sum 32    1    value -
T
count() {
	ncu --clock-control none --cache-control none --csv --page raw --metrics "$2" --nvtx --nvtx-include nsbench@read/ \
		--nvtx-include nsbench@reread/ --nvtx-include nsbench@write/ --nvtx-include nsbench@copy/ \
		--log-file "$1.csv" ns-calib -d cuda gate >"$1.expected.tsv"
}
judge() { ncu2tsv "$1.csv" | ns-rollup -m registry.tsv | ns-calib judge -e "$1.$2.tsv"; }
if ! command -v ncu >/dev/null; then
	skip_one 'gate: counted' 'no ncu here'
elif ! count memory dram__bytes_read.sum,dram__bytes_write.sum || ! ncu2tsv memory.csv >/dev/null 2>&1; then
	skip_one 'gate: counted' 'ncu cannot count here, or there is no dram__'
else
	count l2 lts__t_sectors_srcunit_tex_op_read.sum,lts__t_sectors_srcunit_tex_op_write.sum
	for rung in memory l2; do
		awk -v r=$rung 'NR == 1 || $2 == r' $rung.expected.tsv >$rung.want.tsv
		ok "gate: $rung as counted" 'judge $rung want >$rung.gate.tsv && [ $(grep -c "pass$" $rung.gate.tsv) -eq 8 ]'
	done
fi
done_testing
