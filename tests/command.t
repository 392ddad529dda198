#!/bin/sh
# shellcheck disable=SC2015,SC2016,SC2034,SC2046,SC2086,SC2120	# commands are evaluated by tap.sh
# A program that is not ours, from CMD to a report: what runs, how often, and what of
# it is believed.
. "${0%/*}/tap.sh"

# shellcheck source=tests/h200.sh
. "$top/tests/h200.sh"
command -v sqlite3 >/dev/null || skip 'no sqlite3 here'
# Of another program: the same phases as ranges of its own, and graph launches.
sql() { for s in timeline a b; do sqlite3 recorded/$s.sqlite "$1"; done; }
sql "UPDATE NVTX_EVENTS SET text = 'theirs' WHERE text = 'nsbench' AND eventType = 75"
cat >bin/prog <<'T'
#!/bin/sh
{ printf '%s|' "$@"; env | grep '^SECRET=' || echo; } >>calls
[ ! -e prints ] || cat prints
[ ! -e breaks ] || eval "$(cat breaks)"
T
chmod +x bin/prog
cat >bench.json <<'T'
[{"build_commit": "b", "model_filename": "m.gguf", "n_prompt": 32, "n_gen": 0, "avg_ns": 2000000, "avg_ts": 16000.0, "samples_ns": [2000000], "samples_ts": [16000.0]},
 {"build_commit": "b", "model_filename": "m.gguf", "n_prompt": 0, "n_gen": 16, "avg_ns": 16000000, "avg_ts": 1000.0, "samples_ns": [16000000], "samples_ts": [1000.0]}]
T

R=runs/llama.default.command
run() { make -f mk/run.mk MODEL=llama NSYS_SETS=sets "$@" </dev/null; }
report() { run BACKEND=command "$@" report; }
# ran COMMAND: how often the program ran, and what was captured.
ran() { : >calls; : >captures; : >asked; "$@" >out 2>said || echo "failed, status $?"; echo $(wc -l <calls) $(cut -d ' ' -f 1 captures); }
check() { awk -F '\t' -v c="$1" -v p="$2" '$1 == c && $2 == p { print $8 }' $R/checks.tsv; }
phases() { awk -F '\t' 'NR > 1 { n[$1]++ } END { for (p in n) print p, n[p] }' $R/timeline.tsv | sort | paste -sd ','; }
# moved PHASE N: did as many bytes come from memory as N steps read, to 1 %?  One reads
# the weights, 1192099840 bytes but for the embedding, and a little cache.
moved() { awk -F '\t' -v p="$1" -v n="$2" '$1 == p && $3 == "memory" { r = $4 / (1192099840 * n) - 1 } END { exit !(r != "" && r < 0.01 && r > -0.01) }' $R/hierarchy.tsv; }

# ---- from a command to a report
is 'alone, for the timeline, for each set' '4 timeline a b' 'ran run "CMD=prog -p 32"'
is 'the gate, ceilings and canaries'  'gate ceilings sweep canary canary' 'sed "s/.*ns-calib.* \(gate\|ceilings\|sweep\|canary\).*/\1/" asked | xargs'
is 'its words'                        '-p|32|' 'sort -u calls'
is 'phases by ranges of theirs'       'decode 16,prefill 1' phases
ok 'bytes of both, sampled'           'moved prefill 1 && moved decode 16 && [ "$(cut -f 16 $R/hierarchy.tsv | sort -u | xargs)" = "nsys source" ]'
ok 'the whole ladder'                 'cut -f 3 $R/hierarchy.tsv | sort -u | xargs | grep -q "l1 l2 memory registers rung shared"'
ok 'what ran, and how long alone'     'grep -qx "prog -p 32" $R/command.txt && grep -q "^Measured: .prog -p 32., [0-9.]* m\?s alone; on NVIDIA H200" $R/report.md'
is 'sets agree, the canary stood'     'pass pass' 'echo $(check canary.canary_copy_bytes_per_s NA) $(check sets.dram__bytes_read.sum decode)'
ok 'without a prediction no verdict'  'grep -q "\*\*Inconclusive\*\*: measured bytes could not be held against a prediction" $R/report.md'
ok 'no speed in tokens'               'grep -q "no tokens a second: command.out is not of llama-bench -o json" said && [ "$(wc -l <$R/baseline.tsv)" -eq 1 ]'
is 'again: nothing'                   0 'ran run "CMD=prog -p 32"'
is 'why: nothing'                     '' 'run "CMD=prog -p 32" why'
is 'another command: what depends on it' 'command.txt sampled-a.sqlite sampled-b.sqlite timeline.sqlite' 'run "CMD=prog -p 33" why | sed -n "s|^$R/\(.*\): due to: changed/command$|\1|p" | sort | xargs'
is 'captured again, not the gate'     '4 timeline a b' 'ran run "CMD=prog -p 33"'
ok 'it was not'                       '! grep -q "gate\|ceilings" asked'
is 'another program by that name: again' '4 timeline a b' 'echo : >>bin/prog; ran run "CMD=prog -p 33"'
is 'its script too'                   '4 timeline a b' 'echo prog x >script; run "CMD=sh script" >out 2>&1; echo prog y >script; ran run "CMD=sh script"'
is 'a part of it, as nsys is told'    '3 timeline a b' 'ran run "CMD=sh script" CAPTURE_RANGE=cudaProfilerApi'
is 'make -n runs nothing'             0 'ran run -n "CMD=prog -p 34"'
ok 'and leaves nothing'               'run -n TAG=n "CMD=prog x" >out && [ ! -e $R.n ]'
ok 'a report needs no tool of a GPU'  'mv bin/nsys bin/ncu .; mv build/ns-probe away; rm $R/hierarchy.tsv $R/timeline.tsv; report >out 2>err; s=$?; mv away build/ns-probe; mv nsys ncu bin; [ $s -eq 0 ] && [ -s $R/hierarchy.tsv ]'

# ---- quoting: the program gets what it gets when a shell reads the same line
same() {	# same NAME <LINE
	line=$(cat)
	: >calls
	sh -c "$line" >/dev/null 2>&1 </dev/null
	sort -u calls >wanted
	: >calls
	run TAG=q "CMD=$line" >out 2>err && [ -s wanted ] && sort -u calls | diff wanted - >log &&
		[ "$(cat $R.q/command.txt)" = "$line" ] && [ -z "$(run TAG=q "CMD=$line" why)" ]
	set -- $? "$1"
	[ "$1" -eq 0 ] || cat out err log | sed 's/^/# /'
	result "$@"
}
same 'quotes and dollars' <<'T'
x=1; prog "a  b" 'c "d' \'\" "$x" '$x' $(($$ > 1)) "${x}y" `echo z` "it's"
T
same 'what make would read' <<'T'
X=a\ b prog '$(MAKE)' '$@ $< ${R}' "#" %x a,b c:d e=f ',)' '(,' '~' che*nt && : \\ # prog not
T
same 'what a remembered value would not hold' <<'T'
prog 'é' "%s\n" '*' '?' "	tab" =x | cat >/dev/null
T
exits 2 'more than one line'   'run "CMD=prog
a"' 'CMD has more than one line'
exits 2 'none'                  'run BACKEND=command' 'CMD= is empty'
exits 2 'beside a capture made elsewhere' 'run "CMD=prog" TIMELINE=x.sqlite' 'which?'
exits 2 'a baseline made elsewhere' 'run "CMD=prog" BASELINE=bench.json' 'llama-bench -o json'
exits 2 'other tiers'           'run "CMD=prog" TIERS=0,2' 'of a command there is tier 0 alone'

# ---- its environment
ok 'little of the environment'  'SECRET=x run TAG=e "CMD=prog" >out 2>err && ! grep -q SECRET calls'
is 'what it needs: captured again' '4 timeline a b' 'SECRET=x NSYS_KEEP=SECRET ran run TAG=e "CMD=prog"'
is 'the same everywhere'        '|SECRET=x' 'sort -u calls'
is 'another value: again'       '4 timeline a b' 'SECRET=y ran run TAG=e "CMD=prog" NSYS_KEEP=SECRET'
is 'the same: nothing'          0 'SECRET=y ran run TAG=e "CMD=prog" NSYS_KEEP=SECRET'
ok 'its value is nowhere'       'SECRET=hush run TAG=e "CMD=prog" NSYS_KEEP=SECRET >out 2>err; ! grep -rl hush $R.e'
exits 2 'no name'               'run TAG=e "CMD=prog" "NSYS_KEEP=A;B"' 'names of variables were expected'

# ---- failures leave what was there
run "CMD=prog 1" >out 2>&1 && cp -a $R old
whole() { for f in command.txt command.out command.log canary-before.kv canary-after.kv timeline.sqlite sampled-a.sqlite sampled-b.sqlite; do
	cmp old/$f $R/$f && cmp old/$f.args $R/$f.args 2>/dev/null || [ ! -e old/$f.args ] || return 1; done; }
fails() {	# fails NAME WHAT_IT_DOES MESSAGE [OPTION]
	echo "$2" >breaks
	: >calls
	exits 2 "$1" "run 'CMD=prog 2' ${4-} >out" "$3"
	rm breaks
	ok "$1: the old captures are whole" whole
}
fails 'it fails'         'echo so it said >&2; exit 3'    'so it said'
fails 'says its status'  'exit 3'                         'baseline: failed after'
fails 'and the environment' 'exit 3'                      'NSYS_KEEP="NAME NAME" for more'
fails 'it is killed'     'kill -9 $$'                     'status 137'
fails 'it hangs'         'sleep 7777 & sleep 7777'        'baseline: stopped after 1 s' profile_stage_timeout_seconds=1
ok 'and leaves no process' '! grep -lsazx "777[7]" /proc/[0-9]*/cmdline'
fails 'it is not there'  'exit 127'                       'status 127'
echo '[ "$(wc -l <calls)" -lt 2 ] || { echo not here >&2; exit 4; }' >breaks
exits 2 'it fails under nsys'    ': >calls; run "CMD=prog 2" >out' 'not here'
exits 2 'and nsys does not mind' 'echo deaf >fail; run "CMD=prog 2" >out; s=$?; rm fail; (exit $s)' 'what nsys watched failed'
ok 'the old timeline is whole'   'cmp old/timeline.sqlite $R/timeline.sqlite && cmp old/timeline.sqlite.args $R/timeline.sqlite.args && [ ! -e $R/timeline.tmp ]'
rm breaks
is 'then it runs on from there'  '3 timeline a b' 'ran run "CMD=prog 2"'
echo norange >fail
exits 2 'nsys leaves nothing'    'run "CMD=prog 3" >out' 'nsys left no report'
ok 'whatever it does not call'   '! grep -q cudaProfilerStart err'
exits 2 'or no such range'       'run "CMD=prog 3" CAPTURE_RANGE=mine@app >out' 'does the program open a range mine@app?'
rm fail

# ---- phases
mv recorded/timeline.sqlite kept
cp kept recorded/timeline.sqlite; for s in a b; do cp recorded/$s.sqlite kept.$s; done
sql "DELETE FROM NVTX_EVENTS"
ok 'no ranges, 16 graph launches' 'run TAG=w "CMD=prog" >out 2>err && grep -q "no range named prefill or decode.N, no 20 launches of a CUDA graph: the whole capture is one phase" err'
R=$R.w
is 'the whole is one'           'all 1' phases
ok 'its bytes'                  'moved all 17'
ok 'said in the report'         'grep -q "whole capture" $R/report.md'
is 'launches, if asked for'     'decode 16' 'report TAG=w LAST_GRAPHS=16 >out 2>err; phases'
ok 'of the sets too'            'moved decode 16 && ! moved all 17'
is 'remembered'                 'decode 16' 'rm $R/timeline.tsv; report TAG=w >out 2>err; phases'
ok 'over another capture too'   'run TAG=w "CMD=prog x" >out 2>err; [ "$(phases)" = "decode 16" ] && [ "$(xargs <$R/windows)" = "--last-graphs 16" ]'
exits 2 'not so many'           'report TAG=w LAST_GRAPHS=17 >out' 'ns-phases: '
is 'a window'                   'window 1' 'report TAG=w WINDOW=0:10000000000 >out 2>err; phases'
is 'no capture for that'        0 'ran run TAG=w "CMD=prog x"'
ok 'an unknown range is told before the sets are captured' '! run TAG=r "CMD=prog" RANGES=nothing >out 2>err; R=runs/llama.default.command.r; [ -e $R/timeline.sqlite ] && [ ! -e $R/sampled-a.sqlite ] && grep -q "^ns-phases: " err'
# What was found is no more than that: ranges of a newer program are found too.
run TAG=f "CMD=prog" >out 2>err
mv recorded/timeline.sqlite bare; cp kept recorded/timeline.sqlite; for s in a b; do cp kept.$s recorded/$s.sqlite; done
R=runs/llama.default.command.f
is 'the whole'                  'all 1' phases
is 'then ranges'                'decode 16,prefill 1' 'run TAG=f "CMD=prog x" >out 2>err; phases'
ok 'of the sets too'            'moved prefill 1 && moved decode 16'
mv bare recorded/timeline.sqlite; R=$R.w
sql "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY; DELETE FROM CUPTI_ACTIVITY_KIND_MEMSET"
exits 2 'nothing on the GPU'    'run TAG=o "CMD=prog" >out' 'nsys saw no work on the GPU'
mv kept recorded/timeline.sqlite; for s in a b; do mv kept.$s recorded/$s.sqlite; done

# ---- its speed, and what it must move
R=runs/llama.default.command.s
cp bench.json prints
ok 'llama-bench told its speed' 'run TAG=s "CMD=prog -o json" >out 2>err && grep -q "^speed  *prefill 16,\?000 tok/s, decode 1000 tok/s" out'
is 'the one of the run alone'   2 'echo "[]" >prints; run TAG=s "CMD=prog -o json" >out 2>err; grep -c "^0" $R/baseline.tsv'
cp recorded/baseline.tsv prints
ok 'as ns-worker would'         'run TAG=s "CMD=prog" CHECKPOINT=checkpoint >out 2>err; cmp prints $R/baseline.tsv && [ -s $R/roofline.tsv ]'
is 'what must move, did'        'pass pass' 'echo $(check predicted_read decode) $(check read_ceiling decode)'
ok 'trusted'                    'grep -q "\*\*Trusted\*\*" $R/report.md'
ok 'launches alone: trusted, but for the prefill' 'report TAG=s LAST_GRAPHS=16 >out 2>err; [ "$(check predicted_read decode) $(check steps prefill)" = "pass warn" ] && grep -q "\*\*Trusted\*\*" $R/report.md'
ok 'and ranges again'           'report TAG=s "RANGES=^(prefill|decode)" >out 2>err; [ "$(check steps prefill)" = pass ]'
is 'again: nothing'             0 'ran run TAG=s "CMD=prog" CHECKPOINT=checkpoint'
ok 'its report elsewhere'       'rm $R/readset.tsv $R/report.md; report TAG=s >out 2>err && grep -q "\*\*Trusted\*\*" $R/report.md'
ok 'another workload: told by the bytes' '! run TAG=s "CMD=prog" CHECKPOINT=checkpoint workload_prompt_tokens=4000 >out 2>err; [ "$(check predicted_read decode)" = fail ]'
is 'without a checkpoint no prediction' na 'run TAG=s "CMD=prog" >out 2>err; check predicted_read NA'

# ---- what is in a run that somebody sent is read, not run
ok 'a run of someone else' 'cd $R && for f in *.args command.txt command.kv windows chip.kv; do echo "command=\$(touch here);touch here" >>$f; done && rm command.kv chip.kv &&
	sed -i "s/^nsys=.*/nsys=\$(shell touch here);touch here/" probe.kv && printf "%s\n" --ranges "\$(touch here)" >windows && cd "$dir" && { report TAG=s; report TAG=s RANGES=decode; }; [ -s $R/command.kv ] && [ ! -e here ] && [ ! -e $R/here ]'

# ---- what a GPU is to show, with stand-ins: ns-worker as a command moves what it moves as our own
sql "UPDATE NVTX_EVENTS SET text = 'nsbench' WHERE text = 'theirs' AND eventType = 75"
mkdir -p tests/gpu && cp "$top/tests/gpu/command.sh" tests/gpu
ok 'tests/gpu/command.sh'       'MAKEFLAGS=NSYS_SETS=sets tests/gpu/command.sh tiny >table 2>err </dev/null || { tail err; false; }'
is 'in four ways, both phases but of launches' 'graphs 1,profile 2,range 2,whole 2' 'awk "\$3 == \"memory\" && \$6 == 1 { n[\$1]++ } END { for (h in n) print h, n[h] }" table | sort | paste -sd ,'
done_testing
