#!/bin/sh
# Captures made elsewhere go through mk/run.mk to a report.
. "${0%/*}/tap.sh"

command -v sqlite3 >/dev/null || skip 'no sqlite3 here'
command -v flock >/dev/null || skip 'no flock here'
cp -a "$top/Makefile" "$top/mk" "$top/tools" "$top/configs" . && cp -a "$build" build
sqlite3 t.sqlite <"$data/nsys.sql"
cat >bench.json <<'E2'
[{"build_commit": "b", "model_filename": "m.gguf", "n_prompt": 0, "n_gen": 4, "avg_ns": 4000000, "avg_ts": 1000.0, "samples_ns": [4000000], "samples_ts": [1000.0]}]
E2

run() { make -f mk/run.mk MODEL=someone "$@" </dev/null; }
R=runs/someone.default.adopted

ok 'a timeline to a report'        'run TIMELINE=t.sqlite && [ -s $R/report.html ] && [ -s $R/timeline.tsv ]'
ok 'kernels are those of the file' '[ "$(awk -F "\t" "\$3 == \"kernel\"" $R/work.tsv | wc -l)" -eq "$(sqlite3 t.sqlite "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start > 0 AND \"end\" > start")" ]'
ok 'it says what is absent'        'grep -q "readset.tsv" $R/report.md && grep -q "baseline.tsv" $R/report.md'
ok 'again: nothing'                'run TIMELINE=t.sqlite V=1 >out && ! grep -q "nsys2tsv work" out'
ok 'touched, same bytes: nothing'  'touch t.sqlite; run TIMELINE=t.sqlite V=1 >out && ! grep -q "nsys2tsv work" out'
ok 'another file: all anew'        'sqlite3 t.sqlite "CREATE TABLE x (y); INSERT INTO x VALUES (1)"; run TIMELINE=t.sqlite V=1 >out && grep -q "nsys2tsv work" out'
ok 'without the file: a report'    'rm t.sqlite $R/report.md; run BACKEND=adopted report && [ -s $R/report.md ]'
ok 'windows of given times'        'cp $R/timeline.tsv before; run BACKEND=adopted WINDOW=0:1000000000 report && ! cmp -s before $R/timeline.tsv && [ "$(xargs <$R/windows)" = "--window 0:1000000000" ]'
ok 'they are remembered'           'run BACKEND=adopted V=1 report >out && ! grep -q phases.sh out'
ok 'a baseline alone'              'run TAG=b BASELINE=bench.json && grep -q "tok/s" $R.b/report.md'
# Counters sampled beside a timeline: prefill is [800,1500) with work in 1000 to 1100,
# decode.0 [1500,2500) with work in 2000 to 2260; the other samples are not theirs.
sqlite3 s.sqlite <"$data/nsys.sql"
sqlite3 s.sqlite "DELETE FROM TARGET_INFO_GPU WHERE id = 0; UPDATE TARGET_INFO_GPU SET id = 0; DELETE FROM GPU_METRICS"
type=$(sqlite3 s.sqlite "SELECT typeId FROM TARGET_INFO_GPU_METRICS WHERE metricName = 'dram__bytes_read [sum]' LIMIT 1")
id=$(sqlite3 s.sqlite "SELECT metricId FROM TARGET_INFO_GPU_METRICS WHERE metricName = 'dram__bytes_read [sum]' LIMIT 1")
for s in '0, 1' '500, 10' '1000, 100' '1500, 1000' '2000, 10000' '2500, 100000'; do
	sqlite3 s.sqlite "INSERT INTO GPU_METRICS VALUES (0, ${s%,*}, $type, $id, ${s#*, })"
done
memory() { awk -F'\t' '$3 == "memory" { printf "%s%s %s %s", s, $1, $4, $NF; s = ", " }' "$R.s/hierarchy.tsv"; }
ok 'sampled counters to a report'  'timeout 60 make -f mk/run.mk MODEL=someone TAG=s TIMELINE=s.sqlite </dev/null && [ -s $R.s/report.md ]'
is 'whose chip the capture names'  'sampled_platform=gh100 sampled_platform_why=gpu_0_chip:GH100 sampled_metrics=dram__bytes_read.sum' 'cat $R.s/sampled.kv | tr "\n" " " | sed "s/ \$//"'
is 'bytes of each phase'           'prefill 100 nsys, decode 10000 nsys' memory
ok 'again: nothing more'           'run TAG=s TIMELINE=s.sqlite V=1 >out && ! grep -q "build/nsys2tsv\|build/ns-integrate\|build/ns-rollup" out'
ok 'without the file: the same'    'mv s.sqlite s; rm $R.s/hierarchy.tsv; run TAG=s BACKEND=adopted report'
is 'bytes of each phase, still'    'prefill 100 nsys, decode 10000 nsys' memory
cat >c.csv <<'E2'
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes_read.sum"
"","","","","","","","","","","","byte"
"0","7","p","h","gemv","1","7","(32, 1, 1)","(1, 1, 1)","0","9.0","120"
E2
ok 'replayed ones beside them'     'run TAG=s COUNTERS=c.csv'
is 'both, each by its registry'    'NA 120 ncu, prefill 100 nsys, decode 10000 nsys' memory
ok 'a platform given'              'mv s s.sqlite; run TAG=s PLATFORM=ga100 TIMELINE=s.sqlite && grep -qx "sampled_platform_why=given" $R.s/sampled.kv && grep -qx "name=ga100" $R.s/platform.kv'
ok 'it is remembered'              'run TAG=s BACKEND=adopted report && grep -qx "name=ga100" $R.s/platform.kv'
exits 2 'one that is not there'    'run TAG=s PLATFORM=nope TIMELINE=s.sqlite' 'PLATFORM=nope: there is'
ok 'make -n captures nothing'      'run TAG=n -n TIMELINE=s.sqlite && [ ! -e $R.n ]'
ok 'ranges by a regular expression'  'run BACKEND=adopted "RANGES=^(prefill|decode)" report && [ "$(tail -n 1 $R/windows)" = "^(prefill|decode)" ]'
ok 'are remembered to the letter'  'touch $R/work.tsv; run BACKEND=adopted V=1 report >out && grep -q phases.sh out && [ "$(tail -n 1 $R/windows)" = "^(prefill|decode)" ]'
ok 'and never run'                 'printf "%s\n" --ranges "^x\$(touch ran)\`touch ran\`;touch ran" >$R/windows; touch $R/work.tsv; ! run BACKEND=adopted report && [ ! -e ran ]'
exits 2 'a quote in them'          'run BACKEND=adopted "RANGES=a'"'"'b" report' 'RANGES has a quote in it'
exits 2 'windows that are not there' 'run BACKEND=adopted RANGES=nothing report' 'ns-phases: '
exits 2 'no such file'             'run TIMELINE=gone.sqlite' 'gone.sqlite: there is no such file'
exits 2 'nothing to adopt'         'run TAG=c BACKEND=adopted report' 'adopt what?'
exits 2 'not a capture'            'run TAG=d TIMELINE=bench.json' 'nsys2tsv: '
exits 2 'a space in its name'      'run TAG=d "TIMELINE=a b"' 'has a space in it'
for c in "'" '"' '`' ';' '&' '|' '<' '>' '(' ')' '*' '?' '[' ']' '{' '}' "\\" '$'; do
	exits 2 "a $c in its name" 'run TAG=d "TIMELINE=a${c}touch here${c}b"' 'has a'
	exits 2 "a $c, and no space" 'run TAG=d "TIMELINE=a${c}b"' 'in it: a shell would read it'
done
ok 'nothing of them was run' '[ ! -e here ]'
done_testing
