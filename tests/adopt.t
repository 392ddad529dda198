#!/bin/sh
# Captures made elsewhere go through mk/run.mk to a report.
. "${0%/*}/tap.sh"

command -v sqlite3 >/dev/null || skip 'no sqlite3 here'
command -v flock >/dev/null || skip 'no flock here'
cp -R "$top/Makefile" "$top/mk" "$top/tools" "$top/configs" . && cp -a "$build" build
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
ok 'windows of given times'        'cp $R/timeline.tsv before; run BACKEND=adopted WINDOW=0:1000000000 report && ! cmp -s before $R/timeline.tsv && grep -q -- "--window 0:1000000000" $R/windows'
ok 'they are remembered'           'run BACKEND=adopted V=1 report >out && ! grep -q ns-phases out'
ok 'a baseline alone'              'run TAG=b BASELINE=bench.json && grep -q "tok/s" $R.b/report.md'
exits 2 'windows that are not there' 'run BACKEND=adopted RANGES=nothing report' 'ns-phases: '
exits 2 'no such file'             'run TIMELINE=gone.sqlite' 'gone.sqlite: there is no such file'
exits 2 'nothing to adopt'         'run TAG=c BACKEND=adopted report' 'adopt what?'
exits 2 'not a capture'            'run TAG=d TIMELINE=bench.json' 'nsys2tsv: '
exits 2 'a space in its name'      'run TAG=d "TIMELINE=a b"' 'has a space in it'
done_testing
