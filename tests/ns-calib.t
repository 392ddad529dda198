#!/bin/sh
# shellcheck disable=SC2016,SC2034	# commands are evaluated by tap.sh
. "${0%/*}/tap.sh"

# The expected table, by arithmetic: buffers of twice the last level, a reread
# buffer of a sixth of it read twelve times, and a read before each write.
table want <<'E'
kernel rung   direction expected_bytes
read   l2     read      1572864
read   memory read      1572864
read   memory write     0
write  l2     read      1572864
write  memory read      1572864
write  memory write     1572864
copy   l2     read      3145728
copy   memory read      3145728
copy   memory write     1572864
reread l2     read      1572864
reread memory read      131072
reread memory write     0
E
ok    'gate: expected bytes'   'ns-calib gate --last-level-bytes 786432 | diff want -'
exits 0 'gate: nobody counts'  'ns-calib gate --last-level-bytes 786432' 'gate: not under valgrind'
exits 2 'gate: no cache'       'ns-calib gate --last-level-bytes 0'      'a last level of 0 bytes'
exits 2 'gate: absurd cache'   'ns-calib gate --last-level-bytes 99999999999999' 'to 64 GiB were expected'
exits 2 'gate: not a count'    'ns-calib gate --last-level-bytes 1e6'    "not a count: '1e6'"
exits 2 'gate: full disk'      'ns-calib gate --last-level-bytes 786432 >/dev/full' 'No space left'

# What callgrind counted, straight from its dumps: bytes are lines times 64.
counted() {
	cg2tsv --totals "$1" | awk -F '\t' -v OFS='\t' '
		NR > 1 { v[$2, $6] = $7; phase[$2] }
		END {
			print "phase", "rung", "read_bytes", "write_bytes", "source"
			for (p in phase) {
				print p, "l2", 64 * (v[p, "I1mr"] + v[p, "D1mr"] + v[p, "D1mw"]), "NA", "callgrind"
				print p, "memory", 64 * (v[p, "ILmr"] + v[p, "DLmr"] + v[p, "DLmw"]),
				    64 * (v[p, "ILdmr"] + v[p, "DLdmr"] + v[p, "DLdmw"]), "callgrind"
			}
		}'
}
if ! command -v valgrind >/dev/null; then
	skip_one 'gate: under callgrind' 'no valgrind here'
elif grep -q __asan_init "$build/ns-calib"; then
	skip_one 'gate: under callgrind' 'valgrind cannot run an ASan build'
else
	valgrind -q --tool=callgrind --cache-sim=yes --simulate-wb=yes --instr-atstart=no --combine-dumps=yes \
		--I1=32768,8,64 --D1=32768,8,64 --LL=1572864,24,64 --callgrind-out-file=gate.out \
		ns-calib gate --last-level-bytes 1572864 >expected.tsv 2>log
	counted gate.out >measured.tsv 2>/dev/null
	ok 'gate: under callgrind' 'ns-calib judge -t 0.01 -e expected.tsv measured.tsv >gate.tsv && [ $(grep -c "pass$" gate.tsv) -eq 12 ]'
	# A counter that misses half of one direction of one kernel does not pass.
	awk -F '\t' -v OFS='\t' '$1 == "copy" && $2 == "memory" { $4 /= 2 } { print }' measured.tsv >half.tsv
	exits 1 'gate: half the writes lost' 'ns-calib judge -e expected.tsv half.tsv' 'kernel copy: '
	is 'gate: that row and no other' 'copy memory write' 'ns-calib judge -e expected.tsv half.tsv | grep "fail$" | cut -f1-3 | tr "\t" " "'
fi

# judge
table expected.tsv <<'E'
kernel rung   direction expected_bytes
read   memory read      1000
read   memory write     0
write  memory read      0
write  memory write     2000
idle   memory read      0
E
table hierarchy.tsv <<'E'
phase step rung   read_bytes write_bytes source
read  NA   memory 1010       9           ncu
write NA   memory 0          1980        ncu
write NA   l2     7          7           ncu
idle  NA   memory 0          0           ncu
E
table gate.want <<'E'
kernel rung   direction source expected_bytes measured_bytes error_ratio tolerance_ratio verdict
read   memory read      ncu    1000           1010           0.01        0.01            pass
read   memory write     ncu    0              9              0.009       0.01            pass
write  memory read      ncu    0              0              0           0.01            pass
write  memory write     ncu    2000           1980           -0.01       0.01            pass
idle   memory read      ncu    0              0              0           0.01            pass
E
judge() { ns-calib judge -e expected.tsv "$@"; }
edit() { sed "$@" hierarchy.tsv; }
failed() { edit "$1" | judge ${2:+"-t$2"} 2>log | awk -F '\t' '$9 == "fail" { print $1, $3, $4, $6, $7 }'; }
ok    'judge: all pass'        'judge hierarchy.tsv | diff gate.want -'
ok    'judge: standard input'  'judge - <hierarchy.tsv | diff gate.want - && judge <hierarchy.tsv | diff gate.want -'
is    'judge: too much'        'read read ncu 1011 0.011'    'failed s/1010/1011/'
is    'judge: too little'      'write write ncu 1979 -0.0105' 'failed s/1980/1979/'
is    'judge: where nothing should move' 'read write ncu 11 0.011' 'failed "s/	9	/	11	/"'
is    'judge: tolerance'       ''                            'failed s/1010/1100/ 0.1'
is    'judge: moved, nothing expected' 'idle read ncu 1 NA'  'failed "/^idle/s/	0	/	1	/"'
is    'judge: NA'              'read read ncu NA NA'         'failed s/1010/NA/'
is    'judge: no such rung'    'read read NA NA NA
read write NA NA NA'                                         'failed /^read/s/memory/l1/'
is    'judge: header only'     5                             'failed 1!d | wc -l'
is    'judge: two sources, one wrong' 'read read nsys 2000 1' 'failed "/^read/{p;s/1010/2000/;s/ncu/nsys/;}"'
exits 1 'judge: says what'     'edit s/1010/1500/ | judge'   'gate: kernel read: 1500 bytes read at memory, not 1000'
exits 1 'judge: says what is absent' 'edit /^idle/d | judge' 'gate: kernel idle: no read bytes of memory were measured'
exits 2 'judge: no -e'         'ns-calib judge hierarchy.tsv'  '-e FILE is needed'
exits 2 'judge: empty'         'judge </dev/null'            'stdin: empty'
exits 2 'judge: nothing to judge' 'head -1 expected.tsv >h; ns-calib judge -e h hierarchy.tsv' 'h: no rows'
exits 2 'judge: ragged'        '{ cat hierarchy.tsv; echo x; } | judge' 'stdin:6: 1 fields, the header has 6'
exits 2 'judge: missing column' 'cut -f1-4 hierarchy.tsv | judge' "stdin: no column 'write_bytes'"
exits 2 'judge: bad number'    'edit s/1010/many/ | judge'   "read_bytes: not a number: 'many'"
exits 2 'judge: cut'           'head -c 100 hierarchy.tsv | judge' 'last line cut short'
exits 2 'judge: a steps table' 'edit 2s/NA/0/ | judge'       'stdin:2: step: a row of one step'
exits 2 'judge: bad direction' 'sed s/write/up/ expected.tsv >e; ns-calib judge -e e hierarchy.tsv' 'direction: read or write was expected'
exits 2 'judge: full disk'     'judge hierarchy.tsv >/dev/full' 'No space left'
exits 2 'judge: two files'     'judge hierarchy.tsv x'       'usage:'

# The gate of an H200, as ncu counted it: DRAM counters are right in every direction.
gh100=$top/configs/platforms/gh100/metrics.tsv h200=$data/h200-gate
counted_h200() { cat "$@" | ncu2tsv 2>/dev/null; }
judge_h200() { ns-rollup -m "$1" 2>/dev/null | ns-calib judge -e "$h200/expected.tsv"; }
failed_h200() { awk -F '\t' '$9 == "fail" { printf "%s %s %.2f\n", $1, $3, $6 / $5 }'; }
ok 'H200: all is right'        'counted_h200 $h200/memory.csv $h200/l2.csv | judge_h200 $gh100 >gate.tsv && [ $(grep -c "pass$" gate.tsv) -eq 16 ]'
ok 'H200: in three passes too' 'counted_h200 $h200/all.csv | judge_h200 $gh100 >gate.tsv && [ $(grep -c "pass$" gate.tsv) -eq 16 ]'
ok 'H200: one pass'            'counted_h200 $h200/memory.csv $h200/l2.csv $h200/aperture.csv | awk -F "\t" "\$6 ~ /replayer_passes/ { n++; bad += \$7 != 1 } END { exit n != 12 || bad }"'
# What a GB10 has instead: 1.5 times the reads, none of the writes.
sed 's/dram__bytes_read/lts__t_sectors_aperture_device_op_read_lookup_miss/
	s/dram__bytes_write/lts__t_sectors_aperture_device_op_write_lookup_miss/' "$gh100" |
	awk -F '\t' -v OFS='\t' 'NR == 1 || $2 == "memory" && $7 == "value" { if ($4 ~ /aperture/) $5 = 32; print }' >aperture.tsv
exits 1 'H200: misses of the device aperture are not bytes' \
	'counted_h200 $h200/aperture.csv | judge_h200 aperture.tsv' 'gate: kernel read: 3019948160 bytes read at memory, not 2013265920'
is  'H200: reads 1.5 times, writes not at all' 'read read 1.50
write write 0.00
copy read 1.50
copy write 0.00
reread read 1.50'              'counted_h200 $h200/aperture.csv | judge_h200 aperture.tsv 2>/dev/null | grep "	memory	" | failed_h200'

# CUDA, where there is none: says what to do.
if nvidia-smi -L >/dev/null 2>&1; then
	skip_one 'cuda: no driver' 'there is a GPU: gpu-calib.t'
elif ns-calib -d cuda canary 2>&1 | grep -q 'without nvcc'; then
	exits 2 'cuda: built without' 'ns-calib -d cuda gate' 'install the CUDA toolkit'
else
	for c in gate ceilings sweep canary; do
		exits 2 "cuda: $c without a device" 'ns-calib -d cuda $c' 'ns-calib: --device cuda: no '
	done
fi
exits 2 'no such device'       'ns-calib -d tpu gate'          "no device 'tpu': cpu or cuda"

# The rates: that they are there and sane, not what they are.
positive() { awk -F = -v k="$2" '$1 == k && $2 > 1e6 { ok = 1 } END { exit !ok }' "$1"; }
ok 'canary'                    'ns-calib canary --seconds 0.01 >c.kv && positive c.kv canary_gemv_bytes_per_s && positive c.kv canary_copy_bytes_per_s'
ok 'ceilings'                  'ns-calib ceilings --seconds 0.01 >c.kv 2>ceilings.log'
for k in memory_read memory_write memory_copy l2_read; do
	ok "ceilings: $k"      'positive c.kv ${k}_bytes_per_s'
done
ok 'ceilings: no half precision' 'grep -qx gemm_f16_flop_per_s=NA c.kv && grep -qx gemm_bf16_flop_per_s=NA c.kv'
ok 'ceilings: GEMM or the reason' 'positive c.kv gemm_f32_flop_per_s || grep -q gemm: ceilings.log'
ok 'ceilings: beyond the cache' '. ./c.kv && [ $working_set_bytes -ge $((4 * last_level_bytes)) ] || grep -q "caches may serve" ceilings.log'
ok 'sweep'                     'ns-calib sweep --seconds 0.01 >s.tsv'
is 'sweep: from 16 KiB'        '16384 16384'  'awk "\$2 == 16384" s.tsv | cut -f2 | xargs'
ok 'sweep: to the whole'       '. ./c.kv && awk -v max=$working_set_bytes "NR > 1 && \$2 > max * 0.99 { n++ } END { exit n != 2 }" s.tsv'
is 'sweep: ascending'          ''     'for k in read copy; do grep ^$k s.tsv | cut -f2 | sort -cnu 2>&1; done'

# A BLAS that is wrong, and one that crashes: no figure, and it is said.
blas() {
	mkdir -p "$1" && echo "#include <stdlib.h>
	char *openblas_get_corename(void) { return \"Fake\"; }
	void cblas_sgemm(int o, int ta, int tb, int m, int n, int k, float al, const float *a, int la, const float *b, int lb, float be, float *c, int lc);
	void cblas_sgemm(int o, int ta, int tb, int m, int n, int k, float al, const float *a, int la, const float *b, int lb, float be, float *c, int lc)
	{ $2; }" | cc -w -shared -fPIC -O1 -o "$1/libopenblas.so.0" -x c -
}
if blas wrong 'c[0] = 1' && blas crash 'abort()'; then
	for b in wrong crash; do
		exits 0 "GEMM: $b" 'LD_LIBRARY_PATH=$dir/$b ns-calib ceilings --seconds 0.01' 'gemm: wrong results or a crash'
		is "GEMM: $b is NA" 'gemm_f32_flop_per_s=NA' 'grep ^gemm_f32_flop out'
	done
else
	skip_one 'GEMM: wrong' 'no C compiler here'
fi
exits 2 'no command'           'ns-calib'                      'usage:'
exits 2 'another command'      'ns-calib gates'                "'gates': gate, judge"
exits 2 'seconds'              'ns-calib canary --seconds -1'  'more than 0 was expected'
exits 2 'canary: full disk'    'ns-calib canary --seconds 0.01 >/dev/full' 'No space left'
done_testing
