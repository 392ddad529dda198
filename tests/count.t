#!/bin/sh
# tools/cuda/count.h: counters over ranges of a run that is repeated: against a
# libcupti that knows what was done, and the host half of the real one.
. "${0%/*}/tap.sh"

c_program count tests/count.c tools/cuda/count.c tools/worker/counters.c
for l in fake: old:-DOLD; do
	mkdir ${l%:*}
	${CC:-cc} -shared -fPIC ${l#*:} -I"$top/tools/lib" -o ${l%:*}/libcupti.so.13 "$top/tests/fake/cupti.c" 2>log || skip 'no C compiler here'
done
# count FAULT LIST [STEPS]: with the fake; rows: phase, step, metric, value and unit, a line each.
count() { FAKE_CUPTI=$1 LD_LIBRARY_PATH=$dir/fake ./count run "$2" got.tsv "${3-3}" "${4-}"; }
rows() { awk -F '\t' 'NR > 1 { print $2, $3, $6, $7, $8 }' got.tsv | paste -sd ,; }
five=a__bytes.sum,b__duration.sum,c__sectors.sum,d__ops.sum,e__inst.sum

# Metric k, of pass k / 2, is k + 1 times what that pass did: 1000 or step 2, and its number.
is 'five metrics, two a pass' '3 passes' "count '' $five"
is 'each from its pass, of its range' \
    "prefill 0 a__bytes.sum 1000 byte,prefill 0 b__duration.sum 2000 ns,prefill 0 c__sectors.sum 3003 sector,prefill 0 d__ops.sum 4004 NA,prefill 0 e__inst.sum 5010 inst,prefill 0 profiler__replayer_passes 3 pass,\
decode 2 a__bytes.sum 2 byte,decode 2 b__duration.sum 4 ns,decode 2 c__sectors.sum 9 sector,decode 2 d__ops.sum 12 NA,decode 2 e__inst.sum 20 inst,decode 2 profiler__replayer_passes 3 pass" rows
is 'header' 'source phase step launch kernel metric value unit why' "head -1 got.tsv | tr '\t' ' '"
is 'source, launch and kernel' 'cupti 0 prefill,cupti 1 decode.2' "sed 1d got.tsv | cut -f 1,4,5 | uniq | tr '\t' ' ' | paste -sd ,"
is 'ns-rollup reads it' 'decode 4,prefill 2000' "printf 'quantity\trung\tdirection\tmetric\tfactor\ttier\trole\nbytes\tmemory\tread\ta__bytes.sum\t2\t1\tvalue\n' >m && \
    ns-rollup -m m got.tsv | awk -F '\t' '\$3 == \"memory\" { print \$1, \$4 }' | sort | paste -sd ,"
is 'one metric, one pass' '1 passes' "count '' a__bytes.sum"
is 'no decode steps: one range' 'prefill 0 a__bytes.sum 1000 byte,prefill 0 profiler__replayer_passes 1 pass' "count '' a__bytes.sum 0 >out; rows"
is 'a wavefront is a bare count' NA "count '' a__wavefronts.sum >out; sed -n 2p got.tsv | cut -f 8"
is 'no number is NA, and why' 'NA nan,2000 NA' "count nan a__bytes.sum,b >out; sed -n 2,3p got.tsv | cut -f 7,9 | tr '\t' ' ' | paste -sd ,"

# What can go wrong, and what then is to be done.
rm -f got.tsv
exits 2 'not permitted'      "count privileges $five"   "the device's counters: libcupti 42 says INSUFFICIENT_PRIVILEGES (35): this user may not read counters: setup/allow-counters.sh"
exits 2 'not permitted, at last' "count start $five"    'starting a pass: libcupti 42 says INSUFFICIENT_PRIVILEGES (35): this user may not'
exits 2 'another profiler'   "count busy $five"         'HARDWARE_BUSY (26): another profiler holds the counters'
exits 2 'who knows'          "count unknown $five"      'taking the counters: libcupti 42 says UNKNOWN (999): is another profiler running'
exits 2 'no driver'          "count driver $five"       'starting libcupti: libcupti 42 says UNKNOWN (999)'
exits 2 'half a libcupti'    "count nvperf $five"       'NOT_INITIALIZED (15): libnvperf_host.so was not found'
exits 2 'no memory'          "count memory $five"       'memory for the counters: libcupti 42 says OUT_OF_MEMORY (8): no memory is left for the counters'
exits 2 'blocks of another version' "count parameter $five" 'INVALID_PARAMETER (1): this libcupti takes other parameters: CUDA 12.6 update 2 to 13.5'
exits 2 'a virtual GPU'      "count virtual $five"      'this device does not count: it is a virtual GPU'
exits 2 'a chip too new'     "count chip $five"         'libcupti 42 cannot plan for chip FAKE'
exits 2 'patched code'       "count '' a,smsp__sass_b.sum" "'smsp__sass_b.sum' is counted by patched code, not by the device: leave it to ncu"
exits 2 'no such metric'     "count '' a,no_such.sum,b" "chip FAKE has no metric 'no_such.sum'"
exits 2 'not together'       "count apart a,b"          'does not count these 2 metrics in one run'
exits 2 'a range dropped'    "count dropped $five"      '1 ranges were dropped'
exits 2 'a range lost'       "count lost $five"         '1 of 2 ranges were counted'
exits 2 'a range counted twice' "count twice $five"     'libcupti has counted range prefill twice'
exits 2 'a range of others'  "count other $five"        "libcupti has counted range 'other', which was not opened"
exits 2 'other ranges in another pass' "count '' $five 3 astray" 'range decode.2 in one pass is decode.3 in another'
exits 2 'a range too many'   "count '' $five 3 more"    'range more is more than the 2 of a pass'
exits 2 'passes without end' "count endless $five"      'planned 3 passes and wants more than 6'
exits 2 'metrics: nameless'  "count '' a,,b"            "a metric without a name in 'a,,b'"
exits 2 'metrics: twice'     "count '' a,b,a"           "'a' stands twice"
ok      'no table then'      '[ ! -e got.tsv ]'
exits 2 'an old libcupti'    'LD_LIBRARY_PATH=old ./count open a' 'libcupti 42 has no cupti'
exits 2 'a full disk'        "FAKE_CUPTI= LD_LIBRARY_PATH=fake ./count run a - 1 >/dev/full" 'stdout: No space left'
exits 2 'no such folder'     "FAKE_CUPTI= LD_LIBRARY_PATH=fake ./count run a none/x 1" 'none/x.tmp: No such file'

# tests/gpu/ranges.c, which says of each call how it went: the order is that of ns-worker.
mkdir cuda
for f in Init CtxSetCurrent MemAlloc_v2 ModuleLoadData ModuleGetFunction StreamCreate LaunchKernel StreamBeginCapture_v2 \
    StreamEndCapture GraphInstantiateWithFlags GraphLaunch CtxSynchronize; do
	echo "int cu$f() { return 0; }"
done >cuda.c
echo 'int cuDriverGetVersion(int *v) { *v = 13000; return 0; } int cuDevicePrimaryCtxRetain(void **c) { *c = c; return 0; }' >>cuda.c
${CC:-cc} -std=gnu11 -shared -fPIC -w -o cuda/libcuda.so.1 cuda.c
ok 'ranges: builds by itself' "(cd $top && ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Itools/lib tests/gpu/ranges.c tools/lib/library.c -ldl -o $dir/ranges)"
ranges() { FAKE_CUPTI=$1 LD_LIBRARY_PATH=$dir/fake:$dir/cuda ./ranges user a__bytes.sum b c; }
is 'ranges: each call, pass by pass' '2 2 2 2 4 2 1 3' "ranges '' >calls; for c in Start Stop 'all passes' GetCounterAvailability PushRange 'GetRangeInfo' 'planned' '	graph	'; do grep -c \"\$c\" calls; done | xargs"
is 'ranges: the chip, and what libcupti it is' 'FAKE 42 13000' "sed -n 's/.*chip name	//p; s/.*libcupti	//p; s/.*of the driver	//p' calls | sort -r | xargs"
is 'ranges: the last line is the call that failed' 'user cuptiProfilerGetCounterAvailability INSUFFICIENT_PRIVILEGES' "ranges privileges >calls; [ \$? -eq 1 ] && tail -1 calls | xargs"
exits 2 'ranges: no such way' './ranges x a' 'usage: ranges user|auto|kernel METRIC...'

# The real one: each call is there, and passes are as ns-plan has them.
if ! ./count passes GH100 gpu__time_duration.sum >out 2>err; then
	skip_one 'the real libcupti' "$(grep -o 'no libcupti' err || echo 'beside a sanitizer')"
	done_testing
fi
if [ -e /dev/nvidiactl ]; then
	skip_one 'the real libcupti without a driver' 'there is a driver'
else
	exits 2 'no call is missing, and without a driver it says so' './count open gpu__time_duration.sum' 'starting libcupti: '
fi
for p in gb10:GB20B gh100:GH100; do
	chip=${p#*:} registry=$top/configs/platforms/${p%:*}/metrics.tsv
	all=$(awk -F '\t' 'NR > 1 && $6 <= 1 && !seen[$4]++ { print $4 }' "$registry" | paste -sd ,)
	planned=$(ns-plan -m "$registry" --chip "$chip" --one-pass 2>&1 | sed -n 's/.* take \([0-9]*\) passes.*/\1/p')
	is "$chip: all metrics, in passes" "$planned" "./count passes $chip $all | cut -d ' ' -f 1"
	ok "$chip: an image for each pass" "./count passes $chip $all | awk '{ exit !(\$2 > 1024 * \$1) }'"
	exits 1 "$chip: a metric that is none" "./count passes $chip no_such.sum" ''
done
done_testing
