#!/bin/sh
# shellcheck disable=SC2119,SC2120 # functions whose arguments are given through eval
. "${0%/*}/tap.sh"

table metrics.tsv <<'T'
quantity rung      direction metric factor tier role  note
bytes    memory    read      mr     1      1    value -
bytes    memory    write     mw     1      1    value -
bytes    l2        read      lr     32     1    value -
bytes    registers both      sp     32     1    value -
requests l2        both      lq     1      1    value -
hits     l2        both      lh     1      1    value -
time     NA        NA        t      1      1    value -
activity NA        NA        act    1      1    value -
cycles   NA        NA        cyc    1      1    value -
T
table items.tsv <<'T'
item                  metric factor note
occupancy             occ    0.01   -
occupancy_limit       best   0.01   -
limit_registers       byreg  1      -
limit_shared          bysh   1      -
limit_warps           byw    1      -
limit_blocks          byb    1      -
registers             regs   1      -
shared_static         shs    1      -
shared_dynamic        shd    1      -
waves                 wav    1      -
sms                   sms    1      -
issue                 iss    0.01   -
stall.long_scoreboard s_long 1      data_from_L1,_L2_or_memory
stall.barrier         s_bar  1      other_warps
stall.wait            s_wait 1      a_latency
stall.drain           s_dr   1      its_stores
T
sed -i 's/_/ /g; s/occupancy limit/occupancy_limit/; s/limit \([rswb]\)/limit_\1/; s/shared \([sd]\)/shared_\1/; s/long scoreboard/long_scoreboard/; s/s \(long\|bar\|wait\|dr\)/s_\1/' items.tsv
table chosen.tsv <<'T'
phase  rank step kernel name grid  block   registers shared_bytes n_launches sum_ns own_ns mean_ns share_ratio
decode 1    3    _Zk    k<1> 256x1x1 128x1x1 40      96           10         2000   2000   200     0.5
T
# The launch, as a metric and its value a line.
cat >launch <<'T'
mr 8000
mw 0
lr 500
sp 0
lq 500
lh 100
t 100
act 10
cyc 100
occ 40
best 50
byreg 4
bysh 4
byw 8
byb 32
regs 40
shs 32
shd 64
wav 0.5
sms 132
iss 30
s_long 6
s_bar 2
s_wait 1.5
s_dr 0.5
T
# counters [LAUNCH [KERNEL [GRID]]]: that launch, edited by $change (awk), as counters.tsv.
change=1
counters() {
	printf 'source\tphase\tstep\tlaunch\tkernel\tmetric\tvalue\tgrid\tblock\n'
	awk "$change" launch | awk -v OFS='\t' -v l="${1:-5.0}" -v k="${2:-_Zk}" -v g="${3:-256x1x1}" \
	    '{ print "ncu", "decode", 3, l, k, $1, $2, g, "128x1x1" }'
}
printf '%s\n' memory_read_bytes_per_s=100e9 memory_write_bytes_per_s=50e9 memory_copy_bytes_per_s=80e9 l2_read_bytes_per_s=400e9 >ceilings.kv
detail() { ns-detail -m metrics.tsv -d items.tsv -c ceilings.kv --chosen chosen.tsv "$@"; }
# of COLUMN...: of the one kernel.
of() { detail | awk -F '\t' -v want="$*" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ n = split(want, w, " "); for (i = 1; i <= n; i++) printf "%s%s", $at[w[i]], i < n ? " " : "\n" }'; }
# after CHANGE COLUMN...: the same of a launch that is changed.
after() { change=$1; shift; counters | of "$@"; change=1; }
reads() { is "reading: $1" "$3" "after '$2' reading"; }

# ---- one launch, by arithmetic
is 'whose it is'   'decode 1 3 _Zk k<1> 256x1x1 128x1x1 0.5 10 200 1' 'counters | of phase rank step kernel name grid block share_ratio n_launches launch_ns n_profiled'
is 'bytes'         '8000 0 8000 16000 NA 16000 NA NA 0' 'counters | of memory_read_bytes memory_write_bytes memory_bytes l2_read_bytes l2_write_bytes l2_bytes registers_read_bytes registers_write_bytes registers_bytes'
is 'hits'          '0.2 NA' 'counters | of l2_hit_ratio l1_hit_ratio'
# 8000 bytes in 100 ns are 80 GB/s of 100 read; 16000 are 160 of 400
is 'rates'         '80000000000 read 0.8 160000000000 0.4' 'counters | of memory_bytes_per_s memory_ceiling of_memory_ceiling_ratio l2_bytes_per_s of_l2_ceiling_ratio'
is 'its place'     '0.4 0.5 registers,shared 40 96 256 132 0.5' 'counters | of occupancy_ratio occupancy_limit_ratio limited_by n_registers block_shared_bytes n_blocks n_sms n_waves'
is 'what is used'  '0.1 0.3 NA' 'counters | of tensor_ratio issue_ratio flop'
is 'stalls are of all stalls' 'long_scoreboard 0.6 barrier 0.2 wait 0.15' 'counters | of stall_1 stall_1_ratio stall_2 stall_2_ratio stall_3 stall_3_ratio'
is 'a stall of 0 is none' 'barrier 1 NA NA' "after '/s_/ && !/s_bar/ { \$2 = 0 } 1' stall_1 stall_1_ratio stall_2 stall_2_ratio"
is 'nothing is missing' '0 13' 'counters | of n_missing n_total'
is 'half read, half written: of a copy' 'copy 1' "after '/^mw/ { \$2 = 4000 } /^mr/ { \$2 = 4000 } 1' memory_ceiling of_memory_ceiling_ratio"
is 'written: of a write' 'write 0.4' "after '/^mw/ { \$2 = 2000 } /^mr/ { \$2 = 0 } 1' memory_ceiling of_memory_ceiling_ratio"

# ---- several launches of one shape: means
is 'means of what was profiled' '2 6000 150 0.3' \
	'{ counters; change="/^mr/ { \$2 = 4000 } /^t / { \$2 = 200 } /^occ/ { \$2 = 20 } 1"; counters 5.1 | sed 1d; } | of n_profiled memory_bytes dur_ns occupancy_ratio'
is 'ratios are of sums' 0.25 \
	'{ counters; change="/^lq/ { \$2 = 1500 } /^lh/ { \$2 = 400 } 1"; counters 5.1 | sed 1d; } | of l2_hit_ratio'
is 'other shapes, phases and kernels are others' 1 \
	'{ counters; counters 5.1 _Zk 8x1x1; counters 5.2 _Zother; counters 5.3 | sed s/decode/prefill/; change="/^shd/ { \$2 = 1 } 1"; counters 5.4; } | awk "NR == 1 || !/^source/" | of n_profiled'
is 'a shape whose shared memory is not told' 1 "after '!/^sh/' n_profiled"

# ---- missing
is 'NA is missing'       'NA NA 8000 1 13' "after '/^t / { \$2 = \"NA\" } 1' dur_ns memory_bytes_per_s memory_bytes n_missing n_total"
is 'more hits than lookups'  NA      "after '/^lh/ { \$2 = 501 } 1' l2_hit_ratio"
is 'as many'             1           "after '/^lh/ { \$2 = 500 } 1' l2_hit_ratio"
is 'a metric not there'  'NA NA 1'   "after '!/^lh/' l2_hit_ratio l1_hit_ratio n_missing"
is 'an unlisted limit'   'warps'     "after '!/^by(reg|sh)/' limited_by"
is 'no limit known'      NA          "after '!/^by/' limited_by"
is 'no ceilings'         '80000000000 NA' 'counters | { detail() { ns-detail -m metrics.tsv -d items.tsv --chosen chosen.tsv; }; of memory_bytes_per_s of_memory_ceiling_ratio; }'
is 'no stalls'           'NA NA'     "after '!/^s_/' stall_1 stall_1_ratio"

# ---- readings: the first rule that fits
slow='/^t / { $2 = 1000 }'		# 8 GB/s: no ceiling is near
reads 'at a ceiling'     1 'reads memory at 80 % of the read ceiling'
reads 'of writing'       '/^mw/ { $2 = 4000 } /^mr/ { $2 = 0 } 1' 'writes memory at 80 % of the write ceiling'
reads 'of both'          '/^mw/ { $2 = 3000 } /^mr/ { $2 = 3000 } 1' 'moves memory at 75 % of the copy ceiling'
reads 'tensor cores'     "$slow /^act/ { \$2 = 78 } 1" 'tensor-bound: the pipe is active 78 % of the time'
reads 'L2'               '/^mr/ { $2 = 100 } /^lr/ { $2 = 1000 } 1' 'reads L2 at 80 % of its ceiling'
reads 'issue slots'      "$slow /^iss/ { \$2 = 61 } 1" 'issue-bound: 61 % of the issue slots are used'
reads 'memory comes before all' '/^act/ { $2 = 90 } /^iss/ { $2 = 90 } 1' 'reads memory at 80 % of the read ceiling'
reads 'waits for memory' "$slow 1" 'waits for data from memory: 60 % of stalls are long scoreboard, at 40 % occupancy, limited by registers and shared memory'
reads 'waits for L2'     "$slow /^mr/ { \$2 = 7999 } 1" 'waits for data from L2: 60 % of stalls are long scoreboard, at 40 % occupancy, limited by registers and shared memory'
reads 'from where is not known' "$slow !/^lr/" 'waits for data from L1, L2 or memory: 60 % of stalls are long scoreboard, at 40 % occupancy, limited by registers and shared memory'
reads 'waits for others' "$slow /^s_bar/ { \$2 = 12 } 1" 'waits for other warps: 60 % of stalls are barrier, at 40 % occupancy, limited by registers and shared memory'
reads 'far below its limit' "$slow /^occ/ { \$2 = 34 } 1" 'waits for data from memory: 60 % of stalls are long scoreboard, at 34 % occupancy'
reads 'without a limit'  "$slow /^best/ { \$2 = 100 } /^occ/ { \$2 = 90 } 1" 'waits for data from memory: 60 % of stalls are long scoreboard, at 90 % occupancy'
reads 'occupancy unknown' "$slow !/^occ/" 'waits for data from memory: 60 % of stalls are long scoreboard'
reads 'spills'           '/^sp/ { $2 = 1 } 1' 'reads memory at 80 % of the read ceiling; spills registers'
reads 'nothing known'    '/^regs/' NA
reads 'too few blocks'   "$slow /^sms/ { \$2 = 300 } 1" 'too small for the GPU: 256 blocks on 300 SMs; waits for data from memory: 60 % of stalls are long scoreboard, at 40 % occupancy, limited by registers and shared memory'
reads 'just enough blocks' "$slow /^sms/ { \$2 = 280 } 1" 'waits for data from memory: 60 % of stalls are long scoreboard, at 40 % occupancy, limited by registers and shared memory'

# ---- what was asked for and is not there
lacking='counters 5.0 _Zother | detail'
exits 2 'a kernel is missing'   "$lacking" 'of 1 kernels that were asked for ncu profiled 0; missing:'
ok 'by name'                    'grep -q "decode 1: _Zk grid 256x1x1 block 128x1x1" err'
ok 'and what is there instead'  'grep -q "profiled instead: decode _Zother grid 256x1x1" err'
ok 'and what to do'             'grep -q "same program, same options?" err'
ok 'and no table'               '[ ! -s out ]'
exits 0 'taken in part'         "$lacking --partial" 'missing:'
is 'is NA'                      'NA 0 NA' 'counters 5.0 _Zother | { detail() { ns-detail -m metrics.tsv -d items.tsv --chosen chosen.tsv --partial; }; of memory_bytes n_profiled reading; }'
exits 2 'no launch at all'      'counters | sed 1q | detail' 'profiled 0'
is 'one phase alone'            '' 'counters | sed s/decode/prefill/ | detail -p prefill | sed 1d'

# ---- what is refused
exits 2 'empty'                 'detail </dev/null'                      'stdin'
exits 2 'a ragged row'          'counters | sed "3s/\t128x1x1//" | detail' 'stdin:3'
exits 2 'a column missing'      'counters | cut -f 1-8 | detail'         'block'
exits 2 'a bad number'          'counters | sed "3s/\t0\t/\tx\t/" | detail' 'stdin:3: value'
exits 2 'a metric twice'        '{ counters; counters | sed -n 2p; } | detail' "stdin:27: metric: 'mr' a second time for launch 5.0"
exits 2 'a last line cut short' 'counters | head -c -1 | detail'         'stdin'
exits 2 'an unknown item'       'sed "s/^waves/wave/" items.tsv >i; counters | ns-detail -m metrics.tsv -d i --chosen chosen.tsv' "i:11: item: unknown: 'wave'"
exits 2 'an item twice'         'sed "s/^waves/sms/" items.tsv >i; counters | ns-detail -m metrics.tsv -d i --chosen chosen.tsv' "'sms' stands twice"
exits 2 'a stall twice'         'sed "s/stall.wait/stall.drain/" items.tsv >i; counters | ns-detail -m metrics.tsv -d i --chosen chosen.tsv' "'stall.drain' stands twice"
exits 2 'an item without factor' 'sed "s/0.01/NA/" items.tsv >i; counters | ns-detail -m metrics.tsv -d i --chosen chosen.tsv' 'factor: NA'
exits 2 'a rank that is none'   'sed "s/1\t3/inf\t3/" chosen.tsv >c; counters | ns-detail -m metrics.tsv -d items.tsv --chosen c' "rank: not a number: 'inf'"
exits 2 'nothing chosen'        'counters | ns-detail -m metrics.tsv -d items.tsv --chosen nowhere' 'nowhere: no such file: ns-choose makes it'
exits 2 'no registry'           'counters | ns-detail -d items.tsv --chosen chosen.tsv' 'usage'
exits 2 'a full disk'           'counters | detail >/dev/full'           'stdout'

# ---- real captures: MODEL=qwen on an H200
if command -v xz >/dev/null; then
	h=$data/h200-kernels p=$top/configs/platforms/gh100
	xz -dc "$h/phased.tsv.xz" | ns-choose -k 100 >real.tsv
	cat "$h"/kernels-*.csv | ncu2tsv >real.counters 2>err
	printf '%s\n' memory_read_bytes_per_s=4.31e12 >real.kv
	real() { ns-detail -m "$p/metrics.tsv" -d "$p/detail.tsv" -c real.kv --chosen real.tsv real.counters; }
	ok 'H200: every shape was profiled once' 'real >real.detail && awk -F "\t" "NR > 1 && \$11 != 1 { exit 1 }" real.detail && [ "$(wc -l <real.detail)" -eq 23 ]'
	# weights of gate and up, once: 2 x 3072 x 1024 bf16; of qkv 4096 x 1024, of the output head 151936 x 1024
	is 'H200: weights are read once, within 0.5 %' 'ok ok ok' 'awk -F "\t" "
		\$5 == \"gemv<__nv_bfloat16, true, true, 2>\" { want = 2 * 3072 * 1024 * 2 }
		\$5 == \"gemv<__nv_bfloat16, true, false, 1>\" { want = 4096 * 1024 * 2 }
		\$5 == \"gemv<__nv_bfloat16, true, false, 2>\" { want = 151936 * 1024 * 2 }
		want { x = \$28 / want; print (x > 0.995 && x < 1.005 ? \"ok\" : x); want = 0 }" real.detail | paste -sd " "'
	# 311195136 + 2405376 bytes in 76416 ns
	is 'H200: the output head' 'reads memory at 95 % of the read ceiling' 'grep "9496x1x1" real.detail | sed "s/.*\t//"'
	is 'H200: attention of a step' 'too small for the GPU: 8 blocks on 132 SMs; waits for data from memory: 34 % of stalls are long scoreboard, at 12 % occupancy, limited by registers and shared memory' \
	    'grep "decode<__nv" real.detail | sed "s/.*\t//"'
	is 'H200: every needed counter is there' 0 'awk -F "\t" "NR > 1 { n += \$(NF - 2) } END { print n }" real.detail'
else
	skip_one 'H200' 'no xz here'
fi
done_testing
