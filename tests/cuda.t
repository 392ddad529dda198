#!/bin/sh
# shellcheck disable=SC2016,SC2034,SC2086,SC2120	# commands are evaluated by tap.sh
# The cuda backend without a GPU.
. "${0%/*}/tap.sh"

# shellcheck source=tests/h200.sh
. "$top/tests/h200.sh"
R=runs/qwen.default.cuda
run() { make -f mk/run.mk MODEL=qwen BACKEND=cuda NSYS_SETS=sets TIERS=1 CHECKPOINT=checkpoint "$@" </dev/null; }
# again COMMAND: which captures a run makes now, by ncu and by itself; and whether it failed.
again() { : >asked; "$@" >out 2>err; s=$?; sed 's/^ncu .*ns-calib.*/gate/; s/^ncu .*--set.*@\([a-z]*\).*/kernels-\1/; s/^ns-worker.*--profile$/watched/; s/^ns-worker.*--count .*/inside/; s/^ncu .*--replay-mode.*/phases/; s/^ncu .*/launches/; s/^ns-worker.*/baseline/; s/^ns-calib .*\(gate\|ceilings\|sweep\|canary\).*/\1/' asked | xargs; [ $s -eq 0 ] || echo "failed, status $s"; }
# verdict CHECK PHASE: verdict of that row.
verdict() { awk -F '\t' -v c="$1" -v p="$2" '$1 == c && $2 == p { print $8 }' $R/checks.tsv; }
# told CHECK: does the report name it, in words of its why?
told() { grep -F "$1" $R/report.md; }
# with FILE EXPRESSION: the recording, edited; back: as it was.
with() { cp "recorded/$1" kept && sed -i "$2" "recorded/$1" && rm -rf runs; }
back() { mv kept "recorded/$1"; }

is  'the gate first, then speed, then counters' 'gate ceilings sweep canary baseline canary inside launches' 'again run'
ok  'of the gate nobody misses what it never counted' 'grep -q "^gate: done" err && ! grep "^ns-rollup: .*has no value" err'
ok  'trusted'                        'grep -q "\*\*Trusted\*\*" $R/report.md'
is  'again: nothing'                 ''  'again run'
ok  'a report takes what was captured' 'rm $R/report.md; make -f mk/run.mk MODEL=qwen BACKEND=cuda report && [ -s $R/report.md ]'
exits 2 'but not what is asked for and is not there' 'make -f mk/run.mk MODEL=qwen BACKEND=cuda TIERS=0,1 report' 'timeline.sqlite: not captured yet'
cp -R $R old
# What is in a run that somebody sent is read, not run.
ok  'a run of someone else'          "cp -R $R runs/qwen.default.cuda.odd && cd $R.odd && echo 'workload_x=\$(touch here)' >>baseline.tsv.args &&
	sed -i 's/^ncu=.*/ncu=\$(shell touch here);touch here/' probe.kv && rm workload.kv chip.kv && cd ../.. && make -f mk/run.mk MODEL=qwen BACKEND=cuda TAG=odd report; [ -s $R.odd/workload.kv ] && [ ! -e here ] && [ ! -e $R.odd/here ]"
rm -rf $R.odd
exits 2 'a baseline that fails'      'echo worker >fault; run workload_prompt_tokens=33' 'baseline: failed'
ok  'keeps the old one, whole'       'rm -f fault; for f in baseline.tsv footprint.tsv routing.tsv canary-before.kv canary-after.kv; do cmp old/$f $R/$f && [ ! $R/$f -nt old/$f ] || exit 1; done'
ok  'and what it left can be cleaned' 'ls $R/*.tmp && make -f mk/run.mk MODEL=qwen BACKEND=cuda clean-analysis && ! ls $R/*.tmp && [ ! -e $R/checks.tsv ]'
is  'again: nothing'                 ''  'rm -f before; again run'
is  'a prompt: not the gate'         'canary baseline canary inside launches' 'again run workload_prompt_tokens=33'
is  'and back'                       'canary baseline canary inside launches' 'again run'
is  'repeats: the baseline alone'    'canary baseline canary' 'again run profile_repeats=6; again run >/dev/null'
ok  'trusted, by its own counters'   'grep -q "\*\*Trusted\*\*" $R/report.md && [ "$(cut -f 1 $R/counters.tsv | sort -u | xargs)" = "cupti source" ]'
ok  'its passes, steps and time'     'grep -q "^counters_n_passes=6" $R/manifest.kv && [ "$(verdict steps decode)" = pass ] && grep -q "^inside	" $R/stages.tsv'
is  'memory alone: the ranges'       inside 'again run TIER1=inside-memory'
ok  'asked so'                       'grep -q "^ns-worker.* --count dram__bytes_read.sum,dram__bytes_write.sum,[^ ]*gpu__time_duration.sum --counters" asked'
is  'and back'                       inside 'again run'
ok  'its metrics, and no repeats'    'grep -q "^ns-worker.* -g 16 -w 1 --count smsp__inst_executed.sum,.*,dram__bytes_read.sum,.* --counters $R/inside.tsv.tmp$" asked'
is  'by ncu, the program once a pass' phases 'again run TIER1=range'
ok  'as the worker has them'         'cut -f 2- $R/hierarchy.tsv | sed "s/ncu$/cupti/" >by-ncu; run >out 2>err; cut -f 2- $R/hierarchy.tsv | cmp by-ncu -'
is  'back and forth: nothing again'  'cupti||ncu' '{ tail -1 $R/counters.tsv; again run TIER1=range; tail -1 $R/counters.tsv; } | cut -f 1 | paste -sd "|"'
ok  'its report elsewhere'           'mv $R/inside.tsv kept && run report >out 2>err && grep -q "^ncu" $R/counters.tsv; s=$?; mv kept $R/inside.tsv; [ $s -eq 0 ]'
ok  'of memory alone'                'again run TIER1=memory >/dev/null; grep -q "^ncu.*app-range --metrics dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors_aperture_peer_lookup_miss.sum,lts__d_decomp_input_sectors.sum,gpu__time_duration.sum " asked'
ok  'kernel by kernel: asked so'     'again run TIER1=kernel >/dev/null; grep -q "^ncu.*--replay-mode kernel" asked; s=$?; again run >/dev/null; [ $s -eq 0 ]'
# Without libcupti ncu counts, unless the worker is told to.
with probe.kv '$acupti_version=NA'
is  'no libcupti: ncu'               'gate ceilings sweep canary baseline canary phases launches' 'again run'
ok  'which is said, and known later' 'grep -q "no libcupti of CUDA 12.6 update 2 or later here: ncu counts" err && grep -q "^phases_csv_tier1=range" $R/manifest.kv'
is  'asked for all the same'         inside 'again run TIER1=inside'
back probe.kv
# How a decode step is cut, in all runs alike.
steps() { grep -e '^ns-worker' -e '^ncu.*ns-worker' asked | sed 's/.*--step \([a-z]*\).*/\1/' | xargs; }
is  'one step for all'               'auto auto auto' 'rm -rf runs; again run >/dev/null; steps'
ok  'what was taken is known'        'grep -q "^worker_kv_step=kernels" $R/manifest.kv && grep -q "^inside_tsv_worker_step=auto" $R/manifest.kv && grep -q "batch 1, decode step kernels" $R/report.md'
is  'another step: all but the gate' 'canary baseline canary inside launches' 'again run STEP=persistent'
is  'asked for'                      'persistent persistent persistent' steps
is  'and back'                       'canary baseline canary inside launches' 'again run'
exits 2 'gone: with its baseline'    'rm $R/worker.kv; run >out; s=$?; echo step=kernels >$R/worker.kv; (exit $s)' "worker.kv is gone: rm $R/baseline.tsv and run again"
# The script that holds both ways side by side, on a GPU.
mkdir tests && cp -R "$top/tests/gpu" tests
inside() { CHECKPOINT=checkpoint NS_BUILD=$dir/build sh tests/gpu/inside.sh configs/models/qwen.yaml >table 2>told; }
is  'both ways: the same, metric by metric' 'all not judged,all same,memory not judged,memory same' \
    "inside; awk -F '\t' '\$1 == \"qwen\" && NF == 8 { print \$2, \$8 }' table | sort -u | paste -sd ,"
is  'both ways: what either took'    'unwatched|inside all|ncu all|inside memory|ncu memory' "awk -F '\t' '\$1 == \"qwen\" && NF == 4 { print \$2 }' table | paste -sd '|'"
ok  'both ways: what there is'       'grep -q gpu_driver_version=580 told'
is  'both ways: one has failed'      '1 1' 'echo permission >fault; inside; echo $? $(grep -c "may not read counters" told | sed s/2/1/); rm -f fault'
ok  'the last step, by its range'    'again run TIER1=range workload_generate_tokens=9 >/dev/null; grep -q "nvtx-include nsbench@prefill/ --nvtx-include nsbench@decode.8/ --replay" asked'
ok  'report elsewhere'               'rm -rf runs && again run >/dev/null && rm -rf bin-gone && mv bin bin-gone && run report >out 2>err; s=$?; mv bin-gone bin; [ $s -eq 0 ]'
ok  'the plan and its passes'        'grep -q "^plan_n_passes=6" $R/manifest.kv && grep -q "^counters_n_passes=6" $R/manifest.kv'

# All tiers: nsys runs the program three times.  top_kernels is what was recorded.
is  'tiers 0, 1 and 2'               'watched watched watched kernels-prefill kernels-decode' 'again run TIERS=0,1,2 profile_top_kernels=3'
is  'as many kernels'                'pass pass'  'for p in prefill decode; do verdict kernels $p; done | xargs'
is  'by whomever they were counted'  'cupti ncu' 'for t in inside range; do run TIERS=0,1,2 TIER1=$t profile_top_kernels=3 >out 2>err; for s in cupti ncu; do [ "$(awk -F "\t" "\$1 ~ /^sampled/ && \$8 == \"pass\"" $R/checks.tsv | wc -l)" -gt 9 ] && grep -q "than $s counted" $R/checks.tsv && grep -q "counted by $s" $R/report.md && echo $s; done; done | xargs; run TIERS=0,1,2 profile_top_kernels=3 >out 2>err'
is  'as many bytes, at every rung'   '2 na 14 pass'   'grep ^sampled $R/checks.tsv | cut -f 8 | sort | uniq -c | xargs'
is  'single kernels'                 6    'awk -F "\t" "NR > 1" $R/detail.tsv | wc -l'
is  'again: nothing'                 ''   'again run TIERS=0,1,2 profile_top_kernels=3'
exits 2 'tier 3 without tier 2'      'run TIERS=0,3 >out' 'tier 3 takes the kernels that tier 2 chooses'
ok  'tier 3: both phases, and their tables' 'run -n TIERS=0,1,2,3 profile_top_kernels=3 >out 2>err && [ $(grep -c -- "--section SourceCounters --section LaunchStats -f -o" out) -eq 2 ] && grep -q "ns-source --kernels -p decode" out'
(cd recorded && printf '%s\n' *) | sed 's/^[ab]\.sqlite/sampled-&/' >captured
is  'clean-analysis, of fewer tiers: nothing but captures stays' 'chip.kv' 'run TIERS=1 clean-analysis; (cd $R && printf "%s\n" *) | grep -vxF -f captured | grep -v "^inside\.tsv\|^worker\.kv\|^stamps\.tsv\|nsys-rep$\|log$"'
is  'one set again'                  watched 'again run TIERS=0,1 set_b=dram__bytes_read.sum'
rm -rf $R/sampled-b.sqlite.args

# What an H200 shows of witnesses.
is  'the aperture is no measure'     'na na' 'for d in read write; do verdict derivation.lts__t_sectors_aperture_device_op_${d}_lookup_miss.sum NA; done | xargs'
ok  'which the report says'          'told "1.5 times the bytes of memory, read"'

# Faults, and whom the verdict names.
with phases.csv 's/"no such"/&/'
sentinel=$(awk -F '","' 'NR > 0 && /"ID"/ { for (i = 1; i <= NF; i++) if ($i == "lts__t_sectors_aperture_peer_lookup_miss.sum") print i }' recorded/phases.csv)
awk -F '","' -v OFS='","' -v s="$sentinel" '/nsbench:decode/ { $s = "77" } 1' kept >recorded/phases.csv
exits 2 'a sentinel'                 'run >out' 'sentinel.lts__t_sectors_aperture_peer_lookup_miss.sum: fail'
ok  'by name in the report'          'told "Not trusted" && told "must be 0 and is 2464 in decode"'
back phases.csv
with phases.csv "s/\"no such\"/&/"
read=$(awk -F '","' '/"ID"/ { for (i = 1; i <= NF; i++) if ($i == "dram__bytes_read.sum") print i }' kept)
awk -F '","' -v OFS='","' -v s="$read" '/nsbench:decode/ { $s = "n/a" } 1' kept >recorded/phases.csv
ok  'a metric without a value'       'run >out 2>err; told "values at memory are missing"'
is  'is a warning'                   warn 'verdict missing.memory decode'
back phases.csv
with tensors.tsv ''; mv recorded/tensors.tsv x; awk -F '\t' '!/layers\.(3|4)\./' kept >checkpoints/tensors.tsv
exits 2 'predicted bytes 5 % off'    'run >out' 'predicted_read: fail: decode: memory delivers'
ok  'and what that means'            'told "a tensor is executed and not predicted"'
back tensors.tsv; cp recorded/tensors.tsv checkpoints/
with canary-after.kv 's/canary_gemv_bytes_per_s=.*/canary_gemv_bytes_per_s=3000000000000/'
ok  'a throttled canary'             'run >out 2>err; told "every speed in it is inconclusive"'
back canary-after.kv
rm -rf runs
exits 2 'a wrong platform'           'run PLATFORM=gb10 >out' "no metric 'lts__t_sectors_op_read.sum'"
ok  'captures nothing'               '[ ! -e $R/gate.csv ] && [ ! -e $R/baseline.tsv ]'
with gate.csv ''; awk -F '","' -v OFS='","' -v s="$(awk -F '","' '/"ID"/ { for (i = 1; i <= NF; i++) if ($i == "dram__bytes_read.sum") print i }' kept)" '/nsbench:copy/ { $s = "2,100,000,000" } 1' kept >recorded/gate.csv
exits 2 'a gate that fails'          ': >asked; run >out' 'the gate failed'
ok  'nothing after it'               '[ ! -e $R/baseline.tsv ] && ! grep -q "^ns-worker" asked'
back gate.csv

cp recorded/timeline.sqlite kept
sqlite3 recorded/timeline.sqlite "UPDATE NVTX_EVENTS SET end = NULL WHERE text = 'decode.15' OR textId = (SELECT id FROM StringIds WHERE value = 'decode.15')"
rm -rf runs
exits 2 'a range that was not closed' 'run TIERS=0 >out' 'never closed: range decode.15'
ok  'leaves nothing of itself'       '[ ! -e $R/timeline.sqlite ] && [ ! -e $R/timeline.tmp ]'
head -c 200000 kept >recorded/timeline.sqlite
exits 2 'a timeline cut short'       'run TIERS=0 >out' 'nothing of this capture is kept'
mv kept recorded/timeline.sqlite

# Captures that are none.
rm -rf runs; run >out 2>&1
run TIER1=range >out 2>&1
cp $R/phases.csv whole
fault() { echo "$1" >fault; shift; "$@" workload_prompt_tokens=40; s=$?; rm -f fault; return $s; }
exits 2 'ncu has no permission'      'fault permission run TIER1=range >out' 'ERR_NVGPUCTRPERM'
ok  'with its remedy'                'grep -q "write .options nvidia NVreg_RestrictProfilingToAdminUsers=0. to" err'
exits 2 'the worker has none'        'fault permission run >out' 'this user may not read counters'
ok  'with the other way'             'grep -q "^TIER1=range has ncu count instead" err && ! fault permission run TIER1=inside-memory >out 2>err && grep -q "^TIER1=memory has ncu" err'
exits 2 'ncu finds no range'         'fault "no phases" run TIER1=range >out' 'No kernels were profiled'
exits 2 'a capture cut short'        'fault "cut phases" run TIER1=range >out' 'phases.csv.tmp'
exits 2 'a range is not there'       'fault "half phases" run TIER1=range >out' "no range 'decode.15'; nearest: prefill"
ok  'the old one is kept'            'cmp whole $R/phases.csv'
exits 2 'a stage that takes too long' 'echo wait >fault; : >asked; run workload_prompt_tokens=41 profile_stage_timeout_seconds=1 >out' 'stopped after 1 s'
rm -f fault

# Guards.
with probe.kv 's/^gpu_busy_percent=.*/gpu_busy_percent=60/'
exits 2 'a busy GPU'                 'run >out' '60 % busy'
exits 0 'is what you say it is'      'run GUARD= >out' ''
back probe.kv
with probe.kv 's/^counters_permitted=.*/counters_permitted=0/'
exits 2 'closed counters'            'run >out' 'setup/allow-counters.sh'
back probe.kv
with probe.kv 's/^profilers=.*/profilers=nsys:31/'
exits 2 'another profiler'           'run >out' 'another profiler is running'
back probe.kv
with probe.kv 's/^gpu=.*/gpu=NA/; s/^gpu_why=.*/gpu_why=no_driver/'
exits 2 'no GPU'                     'run >out' 'no GPU here (no_driver): BACKEND=cpu measures ns-worker without one'
back probe.kv
with probe.kv 's/^platform=.*/platform=cpu/; s/^platform_why=.*/platform_why=chip_GB999_has_no_platform_yet/'
exits 2 'a chip without a platform'  'run >out' 'this GPU is not known (chip_GB999_has_no_platform_yet): PLATFORM=NAME'
ok  'counted as another'             'run PLATFORM=gh100 >out 2>err'
back probe.kv
exits 2 'a tier that is none'        'run TIERS=0,7 >out' 'TIERS=0,7'
exits 2 'a TIER1 that is none'       'run TIER1=x >out' 'TIER1=x'
exits 2 'a STEP that is none'        'run STEP=x >out' 'STEP=x: auto, kernels, experts or persistent was expected'
done_testing
