#!/bin/sh
# Tier 0 through make, with tests/fake/nsys for nsys: what it captures, in what ways
# nsys fails, and what is said about it.
. "${0%/*}/tap.sh"

command -v sqlite3 >/dev/null || skip 'no sqlite3 here'
command -v flock >/dev/null || skip 'no flock here'
cp -a "$top/Makefile" "$top/mk" "$top/tools" "$top/configs" . && cp -a "$build" build
mkdir -p nsight/GpuMetrics recorded bin && cp "$top/tests/fake/nsys" nsight/ && cp "$top/tests/fake/gnuplot" bin
PATH=$dir/bin:$PATH
printf 'version: 5\nmetricSets:\n- alias: gh100\n  chips: [GH100]\n' >nsight/GpuMetrics/gh100.config

# A backend with nothing but tier 0, and a program that does nothing.
cat >mk/backend-stub.mk <<'E2'
platform       := gh100
chip_name      := GH100
chip_nsys      := nsight/nsys
tiers          := 0
counted        := none
watched_sum    := build/watched.sum
watched_after  :=
watched_args   := workload_seed
watched        := build/watched --profile
include mk/tier0.mk
captures := $(tier0_captures)
gives    := $(tier0_gives)
build/watched: ;
E2
printf '#!/bin/sh\n[ ! -e fail ] || ! grep -qx worker fail\n' >build/watched && chmod +x build/watched

# prefill is [800,1500) with work in 1000 to 1100, decode.0 [1500,2500) with work in
# 2000 to 2260: of samples 1, 10, 100, ... every 500 they have the third and the fifth.
sqlite3 recorded/base.sqlite <"$data/nsys.sql"
sqlite3 recorded/base.sqlite "DELETE FROM TARGET_INFO_GPU WHERE id = 0; UPDATE TARGET_INFO_GPU SET id = 0; DELETE FROM DIAGNOSTIC_EVENT"

run() { timeout 100 make -f mk/run.mk BACKEND=stub "$@" </dev/null; }
R=runs/tiny.default.stub
: >captures
# taken: the captures since it was last asked, each set and rate.
taken() { tr '\n' ' ' <captures | sed 's/ $//'; : >captures; }
# sum PHASE METRIC [FILE]: its sum, or why it has none.
sum() { awk -F '\t' -v p="$1" -v m="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["phase"] == p && $at["metric"] == m { print ($at["value"] != "NA" ? $at["value"] : $at["why"]) }' "${3:-$R/sampled.tsv}"; }

ok 'a run: the timeline and both sets'  'run >out 2>&1'
is 'each once, at the profile'\''s rate' 'timeline none a 100000 b 100000' taken
ok 'a timeline, and a report'           '[ -s $R/timeline.tsv ] && [ -s $R/report.html ]'
is 'a counter of set a'                 100   'sum prefill l1tex__t_sectors.sum'
is 'a counter of set b'                 10000 'sum decode sm__inst_executed_realtime.sum'
is 'one that is in both, once'          10000 'sum decode dram__bytes_read.sum'
is 'bytes of each phase'                'prefill 100 nsys, decode 10000 nsys' \
    "awk -F'\t' '\$3 == \"memory\" { printf \"%s%s %s %s\", s, \$1, \$4, \$NF; s = \", \" }' $R/hierarchy.tsv"
is 'the sets agree'                     '0' "awk -F'\t' '\$1 == \"decode\" && \$3 == \"dram__bytes_read.sum\" { print \$13 }' $R/sampling.tsv"
ok 'the evidence is kept'               'for f in timeline sampled-a sampled-b; do [ -s $R/$f.sqlite ] && [ -s $R/$f.nsys-rep ] && [ -e $R/$f.sqlite.log ] || echo tmp; done >out; cat out; [ ! -s out ] && ls $R | grep -c "tmp\|sets" | grep -x 0'
ok 'what it was made with, and how'     'grep -qx profile_sampling_hz=100000 $R/sampled-a.sqlite.args && grep -qx sampled_hz=100000 $R/sampled-a.sqlite.args && grep -q "^set_b=.*l1tex__data_pipe" $R/sampled-b.sqlite.args && grep -q sampled_a_sqlite_sampled_hz=100000 $R/manifest.kv'
ok 'and how long it took'               'grep -q "^sampled-b	" $R/stages.tsv'
ok 'an environment without secrets'     'grep -q ^PATH= environment.a && ! grep -q SECRET environment.a'
ok 'but what is asked for'              'SECRET=x NSYS_KEEP=SECRET run TAG=k >out 2>&1; : >captures; grep -qx SECRET=x environment.a && rm -r $R.k'
ok 'again: nothing'                     'run >out 2>&1; [ -z "$(taken)" ] && [ -z "$(run why)" ]'
ok 'the report needs no nsys'           'rm $R/hierarchy.tsv $R/sampled.tsv; run NSYS=gone report >out 2>&1 && [ -z "$(taken)" ] && [ "$(sum decode dram__bytes_read.sum)" = 10000 ]'
ok 'make -n takes nothing'              'run -n workload_seed=2 >out 2>&1 && [ -z "$(taken)" ]'
ok 'why names the value'                'run why profile_sampling_hz=50000 >out; [ "$(grep -c "sampled-..sqlite: due to: changed/profile_sampling_hz" out)" -eq 2 ] && ! grep timeline out'
ok 'another set: that alone'            'sed -i "/tensor_cycles/d" configs/platforms/gh100/samples.tsv; run >out 2>&1; [ "$(taken)" = "b 100000" ]'
ok 'clean-analysis keeps captures'      'run clean-analysis && [ -e $R/sampled-a.sqlite ] && [ ! -e $R/work.tsv ] && [ ! -e $R/sampled-a.tsv ] && run report >out 2>&1 && [ -z "$(taken)" ]'
ok 'without tier 0: none of it'         'sed -i "s/^tiers.*/tiers := 1 2/" mk/backend-stub.mk; run TAG=x -n >out 2>&1; s=$?; sed -i "s/^tiers.*/tiers := 0/" mk/backend-stub.mk; [ $s -eq 0 ] && ! grep -q nsys.sh out'

# Counters that overflow: negative, and not in the way that can be mended.
slow() { run profile_sampling_hz=20000 "$@"; }
echo 'l1tex__t_sectors 100000' >overflow
ok 'an overflow: faster and faster'     'slow >out 2>loud'
is 'until there is none'                'a 20000 a 50000 a 100000 b 20000' taken
is 'the rate is on record'              'sampled_hz=100000 sampled_hz=20000' 'tail -qn 1 $R/sampled-[ab].sqlite.args | tr "\n" " " | sed "s/ $//"'
ok 'it says so'                         'grep -q "l1tex__t_sectors has no sum in phase decode, step 0: overflow in 1 of" loud && grep -q "set a again, faster than 50000" loud'
is 'a sum at last'                      10000 'sum decode l1tex__t_sectors.sum'
echo 'l1tex__t_sectors 300000' >overflow
ok 'an overflow at any rate'            'run workload_seed=3 >out 2>err && [ "$(taken)" = "timeline none a 100000 a 200000 b 100000" ]'
ok 'is said'                            'grep -q "set a: counters overflow at 200000 samples a second, and nsys can do no more" err'
is 'has no number'                      'overflow in 1 of 1 samples' 'sum decode l1tex__t_sectors.sum'
is 'where it does not, it has'          100 'sum prefill l1tex__t_sectors.sum'
echo 'dram__bytes_read 300000' >overflow
ok 'an overflow in both sets'           'run workload_seed=4 >out 2>&1; : >captures; [ "$(sum decode dram__bytes_read.sum)" = "overflow in 1 of 1 samples" ]'
rm overflow

# Samples that are lost: nsys says so.
echo 100000 >lossy
ok 'lost samples: slower'               'run workload_seed=7 >out 2>loud'
is 'once'                               'timeline none a 100000 a 50000 b 100000 b 50000' taken
ok 'it says so'                         'grep -q "Sampling buffer overflow: samples came faster than they were read" loud && grep -q "set a again, slower than 100000" loud'
is 'the rate is on record'              'sampled_hz=50000' 'tail -n 1 $R/sampled-a.sqlite.args'
is 'a sum'                              10000 'sum decode l1tex__t_sectors.sum'
echo 'l1tex__t_sectors 60000' >overflow
ok 'too slow, and too fast'             'run workload_seed=8 >out 2>loud'
is 'between those there is none'        'timeline none a 100000 a 50000 b 100000 b 50000' taken
ok 'is said'                            'grep -q "set a: counters overflow at 50000 samples a second, and nsys can do no more" loud'
is 'and has no number'                  'overflow in 1 of 1 samples' 'sum decode l1tex__t_sectors.sum'
rm overflow lossy

is 'a rate that nsys does not have' '' 'for hz in 9 200001 1e5 99999999999999999999; do run profile_sampling_hz=$hz >out 2>err; [ $? -eq 2 ] && grep -q "nsys samples from 10 to 200000 times" err || echo $hz; done; : >captures'

# The ways in which nsys fails, most of them with status 0.
rm -rf $R
run >out 2>&1 && : >captures
cp $R/sampled-a.sqlite keep
fails() {	# fails NAME REASON [REMEDY]
	echo "$1" >fail
	exits 2 "$1" 'run workload_seed=9' "$2"
	[ -z "${3-}" ] || ok "$1: what to do" 'grep -qF -e "$3" err'
	rm -f fail
	ok "$1: the old capture stays" 'cmp keep $R/sampled-a.sqlite && grep -qx workload_seed=1 $R/sampled-a.sqlite.args'
}
fails twopass   'Metric config can not be scheduled in a single pass' 'give some of its metrics to another set in samples.tsv'
fails skip      'Skipping metric l1tex__t_sectors.sum (not available)' "is this the chip's platform?"
fails notable   'no counter of set a is in the capture, and nsys does not say why' '--gpu-metrics-devices=help'
fails lost      'samples were dropped' 'samples are lost even at 1000 a second'
fails privilege 'for administrators only' './setup/allow-counters.sh'
fails nolibdw   'could not import what it recorded' 'apt install libdw1'
fails norange   'nsys left no report' 'cudaProfilerStart'
fails worker    'ended with status 3'
ok 'worker: its words are kept' 'grep -q "target application exited" $R/sampled-a.sqlite.failed.log'
fails export    'could not export'
fails empty     'could not export'
echo wait >fail
ok 'too slow: stopped, and nsys with it' '! run workload_seed=9 profile_stage_timeout_seconds=1 >out 2>err; grep -q "sampled-a: stopped after 1 s" err && cmp keep $R/sampled-a.sqlite && [ ! -e $R/sampled-a.tmp ]'
ok 'killed: the old one stays' 'rm -f waiting; setsid make -f mk/run.mk BACKEND=stub workload_seed=9 >out 2>&1 </dev/null & pid=$!; for i in 1 2 3 4 5 6 7 8 9 10; do [ -e waiting ] && break; sleep 1; done; kill -KILL -$pid; wait $pid; [ -e waiting ] && cmp keep $R/sampled-a.sqlite && grep -qx workload_seed=1 $R/sampled-a.sqlite.args'
rm -f fail
ok 'and is made again'      ': >captures; run workload_seed=9 >out 2>&1; [ "$(taken)" = "a 100000 b 100000" ]'
ok 'no nsys'                '! run NSYS=nowhere workload_seed=5 >out 2>err && grep -q "nowhere: not found" err'
ok 'no metric sets'         'mv nsight/GpuMetrics away; ! run NSYS_SETS=nowhere workload_seed=9 profile_sampling_hz=50000 >out 2>err; s=$?; mv away nsight/GpuMetrics; [ $s -eq 0 ] && grep -q "nowhere: No such file" err'
ok 'sets said to be elsewhere' 'mv nsight/GpuMetrics away; run NSYS_SETS=away workload_seed=9 profile_sampling_hz=50000 >out 2>&1; s=$?; mv away nsight/GpuMetrics; : >captures; [ $s -eq 0 ]'
ok 'a set that is none for this chip' 'sed -i "s/GH100/GA100/" nsight/GpuMetrics/gh100.config; ! run workload_seed=6 >out 2>err; s=$?; sed -i "s/GA100/GH100/" nsight/GpuMetrics/gh100.config; [ $s -eq 0 ] && grep -q "no set is for chip GH100" err'
if ns-plan -m configs/platforms/gh100/samples.tsv --sampling --chip GH100 --set a >/dev/null 2>&1; then
	ok 'two passes are refused beforehand' 'cp configs/platforms/gh100/samples.tsv s; sed -i "s/	b	/	a	/; s/	a,b	/	a	/" configs/platforms/gh100/samples.tsv; : >captures; ! run TAG=t >out 2>err; [ "$(taken)" = "timeline none" ]; t=$?; mv s configs/platforms/gh100/samples.tsv; [ $t -eq 0 ] && grep -q "does not fit one pass" err'
else
	skip_one 'two passes are refused beforehand' 'no libcupti here'
fi

# A GB10: bytes of memory are sectors that the L2 missed, the ladder in one set but for L1.
sed -i 's/= gh100/= gb10/; s/= GH100/= GB20B/' mk/backend-stub.mk
sed 's/GH100/GB20B/' nsight/GpuMetrics/gh100.config >nsight/GpuMetrics/gb20b.config
ok 'gb10'                      ': >captures; run TAG=g >out 2>err && [ "$(taken)" = "timeline none a 100000 b 100000" ]'
is 'gb10: memory, sectors of 32 bytes' 'prefill 3200 3200, decode 320000 320000' \
    "awk -F'\t' '\$3 == \"memory\" { printf \"%s%s %s %s\", s, \$1, \$4, \$5; s = \", \" }' $R.g/hierarchy.tsv"
is 'gb10: L2, shared memory' '320000 1280000' "awk -F'\t' '\$1 == \"decode\" && \$3 == \"l2\" { r = \$4 } \$1 == \"decode\" && \$3 == \"shared\" { s = \$6 } END { print r, s }' $R.g/hierarchy.tsv"
sed -i 's/= gb10/= gh100/; s/= GB20B/= GH100/' mk/backend-stub.mk

# Known traffic, recorded on an H200: FACTS.md H9.  Its first ranges take the names of phases.
if [ -e "$shared/captures/nsys/ladder-a.sqlite.xz" ] && command -v xz >/dev/null; then
	for s in a b; do
		xz -dc "$shared/captures/nsys/ladder-$s.sqlite.xz" >recorded/$s.sqlite
		sqlite3 recorded/$s.sqlite "
			INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) SELECT min(start), 75, 'nsbench', globalTid, 7 FROM NVTX_EVENTS;
			UPDATE NVTX_EVENTS SET domainId = 7, text = CASE text WHEN 'read4G' THEN 'prefill' WHEN 'copy4G' THEN 'decode.0' WHEN 'l2read' THEN 'decode.1' ELSE 'decode.2' END
			WHERE eventType = 59 AND start < (SELECT start FROM NVTX_EVENTS WHERE text = 'read4G' ORDER BY 1 LIMIT 1 OFFSET 1)"
	done
	cp "$top/configs/platforms/gh100/samples.tsv" configs/platforms/gh100/
	sed -i '/tensor_cycles\|sm__cycles_elapsed/d' configs/platforms/gh100/samples.tsv	# as they were recorded
	ok 'the ladder'            'run TAG=l >out 2>err'
	L=$R.l
	is 'read 4 GiB: L2'        134217732 'sum prefill lts__t_sectors_srcunit_tex.sum $L/sampled.tsv'
	is 'read 4 GiB: L1'        134217732 'sum prefill l1tex__t_sectors.sum $L/sampled.tsv'
	is 'copy, L2 and within L2, L2' '268435460 131072200 1' 'sum decode lts__t_sectors_srcunit_tex.sum $L/sampled.tsv | tr "\n" " " | sed "s/ $//"'
	is 'shared memory, where nsys cuts its values short' '131132 847800 211382194' \
	    'sum decode l1tex__data_pipe_lsu_wavefronts_mem_shared.sum $L/sampled.tsv | tr "\n" " " | sed "s/ $//"'
	ok 'the edges are known'   'awk -F"\t" "NR > 1 && \$5 != \"NA\" && \$7 != 0 { bad = 1 } END { exit bad }" $L/sampling.tsv'
else
	skip_one 'the ladder' 'no ../shared/captures'
fi
done_testing
