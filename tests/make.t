#!/bin/sh
# What a run makes again and what it keeps.  valgrind is tests/fake/valgrind,
# which logs; everything else is real, on the tiny model.
. "${0%/*}/tap.sh"

command -v flock >/dev/null || skip 'no flock here'
cp -a "$top/Makefile" "$top/mk" "$top/tools" "$top/configs" . && cp -a "$build" build
cp -R "$data/callgrind-tiny" recorded && mkdir bin && cp "$top/tests/fake/valgrind" bin
PATH=$dir/bin:$PATH
: >captures

# nvcc by another name: here a script that calls it.
nvcc=$(command -v nvcc || { [ ! -x /usr/local/cuda/bin/nvcc ] || echo /usr/local/cuda/bin/nvcc; })
if [ -n "$nvcc" ]; then
	mkdir other && printf '#!/bin/sh\nexec %s "$@"\n' "$nvcc" >other/nvcc && chmod +x other/nvcc
	ok 'the same nvcc by another name: nothing is compiled' 'PATH=$dir/other:$PATH make -n all >out && ! grep -e "-c -o" out'
else
	skip_one 'the same nvcc by another name' 'no nvcc'
fi

R=runs/tiny.default.cpu
quietly() { make -f mk/run.mk PROFILE=quick BACKEND=cpu "$@" </dev/null; }
run() { quietly V=1 "$@"; }
# taken N: so many captures by valgrind so far.
taken() { [ "$(wc -l <captures)" -eq "$1" ] || { echo "captures: $(cat captures)"; false; }; }
# Every file one age, so that only what a test touches is newer.
touched() { find . -type f -exec touch -d 2020-01-01 {} + && { [ $# -eq 0 ] || touch "$@"; }; }
# redone FILE / kept FILE: did the last run, whose words are in out, make it?
redone() { grep -qF "mv $R/$1.tmp $R/$1" out; }
kept() { ! redone "$1"; }
why() { quietly why "$@"; }

ok 'a run captures the gate and the model' 'run >out 2>&1 && taken 2 && redone baseline.tsv && redone report.html'
ok 'the report is there, and trusted'      'grep -q "^> \*\*Trusted\*\*" $R/report.md && grep -q "Synthetic weights" $R/report.md'
ok 'again: nothing'                        '[ -z "$(why)" ] && run >out && taken 2 && kept baseline.tsv && kept hierarchy.tsv'
ok 'a touched filter: from it on'          'touched tools/ns-roofline.c; run >out && taken 2 && redone roofline.tsv && redone report.md && kept hierarchy.tsv && kept baseline.tsv'
ok 'a touched header: all analysis'        'touched tools/lib/intern.h; run >out && taken 2 && redone counters.tsv && redone hierarchy.tsv && kept baseline.tsv'
ok 'a touched worker, same bytes: kept'    'touched tools/ns-worker.c; run >out && taken 2 && kept baseline.tsv'
ok 'touched configs, same values: kept'    'touched configs/*/*.yaml; run >out && taken 2 && kept baseline.tsv'
ok 'a touched checkpoint: kept'            'touched checkpoints/tiny/*; run >out && taken 2 && kept baseline.tsv'
ok 'a metric: rollup and on'               'touched configs/platforms/cpu/metrics.tsv; run >out && taken 2 && redone hierarchy.tsv && kept counters.tsv && kept baseline.tsv'
ok 'top_kernels: the report alone'         'touched; run profile_top_kernels=3 >out && taken 2 && redone report.md && kept hierarchy.tsv && kept checks.tsv'
sed -i 's/^top_kernels:.*/top_kernels: 3/' configs/profiles/quick.yaml
ok 'written down: nothing'                 'run >out && [ -z "$(why)" ] && kept report.md'
ok 'why names the parameter'               'why workload_prompt_tokens=33 >out; grep -q "^$R/worker.callgrind: due to: changed/workload_prompt_tokens$" out && grep -q "^$R/baseline.tsv: due to: changed/workload_prompt_tokens$" out && ! grep gate out'
state() { find runs checkpoints build -type f -printf '%p %T@ %s\n' | sort; }
ok 'a dry run leaves no trace'             'state >before; run -n workload_prompt_tokens=33 >out 2>&1; redone baseline.tsv && state | cmp - before && [ -z "$(why)" ]'
ok 'no more steps counted than there are' 'run -n workload_generate_tokens=2 >out 2>&1; grep -q -- "-g 2 -w 0 -r 1" out'
ok 'report never captures'                 'run report workload_prompt_tokens=33 >out && taken 2 && kept baseline.tsv'
ok 'report needs no profiler'              'mv bin/valgrind gone; run report profile_top_kernels=4 >out; s=$?; mv gone bin/valgrind; [ $s -eq 0 ] && redone report.md'
ok 'report says what is missing'           'mv $R/worker.callgrind keep; touched; ! run report >out 2>err && grep -q "not captured yet" err && taken 2'
ok 'and a run captures it'                 'run >out && taken 3 && tail -1 captures | grep worker'
ok 'a failed capture keeps the old one'    'cp $R/worker.callgrind keep; touch fail; ! run profile_counted_steps=3 >out 2>&1; rm fail; cmp keep $R/worker.callgrind && grep -q "counted_steps=4" $R/worker.callgrind.args'
ok 'and is tried again'                    'run profile_counted_steps=3 >out && taken 4 && kept baseline.tsv'
ok 'a killed capture keeps the old one'    'cp $R/worker.callgrind keep; touch wait; rm -f waiting; setsid make -f mk/run.mk PROFILE=quick BACKEND=cpu profile_counted_steps=2 >out 2>&1 </dev/null & pid=$!; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -e waiting ] && break; sleep 1; done; kill -KILL -$pid; wait $pid; rm -f wait; [ -e waiting ] && cmp keep $R/worker.callgrind && grep -q "counted_steps=3" $R/worker.callgrind.args'
ok 'and is made again'                     'run profile_counted_steps=2 >out && taken 5'
ok 'steps counted again, as written'       'run >out && taken 6'
ok 'generate_tokens: the baseline alone'   'run workload_generate_tokens=8 >out && taken 6 && redone baseline.tsv && redone readset.tsv'
ok 'a prompt: all but the gate'            'run workload_generate_tokens=8 workload_prompt_tokens=33 >out && taken 7 && redone baseline.tsv && ! grep "gate: started" out'
sed -i 's/^prompt_tokens:.*/prompt_tokens: 33/; s/^generate_tokens:.*/generate_tokens: 8/' configs/workloads/default.yaml
ok 'another worker: its captures'          'touched; sed -i "s/purpose = \"run a model/purpose = \"run some model/" tools/ns-worker.c; run >out && taken 8 && redone baseline.tsv && tail -1 captures | grep worker'
ok 'another cache: gate and worker'        'run platform_ll=33554432,16,64 >out; taken 10 && kept baseline.tsv'
sed -i 's/^ll: .*/ll: 33554432,16,64/' configs/platforms/cpu/platform.yaml
ok 'a model of another shape'              'sed -i "s/^seed: 1/seed: 2/" configs/models/tiny.yaml; run >out && taken 11 && redone baseline.tsv && grep "synth" out'
ok 'under -j the same'                     'rm -rf runs; run -j4 >out 2>&1 && taken 13 && [ -z "$(why)" ]'
ok 'a copy is reported elsewhere'          'cp -a runs there && rm -rf runs checkpoints && mv there runs && run report profile_top_kernels=5 >out && taken 13 && redone report.md'
ok 'clean-analysis keeps captures'         'run clean-analysis && [ ! -e $R/report.md ] && [ -e $R/worker.callgrind ] && run report >out && taken 13'
exits 2 'a failing gate stops the run'     'mv recorded/gate.callgrind gate; cp recorded/worker.callgrind recorded/gate.callgrind; rm -rf runs; run >out' 'the gate failed'
ok 'and captures nothing'                  'mv gate recorded/gate.callgrind; taken 14 && [ ! -e $R/baseline.tsv ] && [ ! -e $R/gate.tsv ]'
exits 2 'the way to what is missing'       'run report TAG=other' 'BACKEND=cpu TAG=other'
exits 2 'no such model'                    'run MODEL=nope' 'there is no configs/models/nope.yaml; there is'
exits 2 'no such checkpoint'               'run CHECKPOINT=nowhere' 'CHECKPOINT=nowhere: there is no such directory'
exits 2 'a file as the checkpoint'         'run CHECKPOINT=Makefile' 'CHECKPOINT=Makefile: there is no such directory'
exits 2 'a checkpoint with a space'        'run "CHECKPOINT=a b"' "has a space in it"
exits 2 'an empty checkpoint'              'rm -rf runs; mkdir empty; run CHECKPOINT=empty' 'ns-discover: '
ok 'whose reason stands alone'             '! grep "^cat:" err'
# Progress with no pause between its lines: the end is still said last.
ok 'a stage ends with its end'             'mkdir fast && ln -s "$(command -v true)" fast/sleep && PATH=$dir/fast:$PATH mk/stage.sh a f cksum tools/*.c >out 2>err && [ "$(sed -n "1s/ .*//p" err)" = a: ] && tail -n 1 err | grep -q "^a: done" && [ -s f ]'
ok 'a stage that takes too long'   '! STAGE_TIMEOUT=1 mk/stage.sh slow g sleep 30 2>err && grep -q "slow: stopped after 1 s: what it had captured is lost" err && grep -q profile_stage_timeout_seconds err && [ ! -e g ]'
ok 'its own status is kept'        'STAGE_TIMEOUT=9 mk/stage.sh bad g sh -c "exit 3" 2>err; [ $? -eq 3 ]'
done_testing
