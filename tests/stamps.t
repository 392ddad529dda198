#!/bin/sh
# shellcheck disable=SC2016,SC2086	# commands are evaluated by tap.sh
# What a decode step that is one kernel notes, in a run: mk/stamps.mk on recordings of an
# H200.  Which step the worker took says ./step, what it noted tests/data/stamps-h200.tsv.
. "${0%/*}/tap.sh"

# shellcheck source=tests/h200.sh
. "$top/tests/h200.sh"
mkdir worker && mv build/ns-worker worker
cat >build/ns-worker <<'T'
#!/bin/sh
worker/ns-worker "$@" || exit
for word; do
	case $last in
	--settings) echo "step=$(cat step)" >"$word" ;;
	--stamps) [ ! -e fault ] || { echo 'ns-worker: no device' >&2; exit 2; }; cp "recorded/stamps.tsv" "$word" ;;
	esac
	last=$word
done
T
chmod +x build/ns-worker && cp "$data/stamps-h200.tsv" recorded/stamps.tsv
R=runs/qwen.default.cuda
run() { make -f mk/run.mk MODEL=qwen BACKEND=cuda TIERS=1 CHECKPOINT=checkpoint "$@" </dev/null; }
# again COMMAND: which runs of the worker a run makes now.
again() { : >asked; "$@" >out 2>err || echo "failed, status $?"; sed -n '/^ns-worker/{s/.*--stamps.*/stamps/; s/.*--count.*/inside/; s/^ns-worker.*/baseline/; p}' asked | xargs; }

echo persistent >step
is 'after the baseline, before it is watched' 'baseline stamps inside' 'again run'
ok 'one repeat of the same tokens, of that kind' 'grep -q "^ns-worker.* --step persistent -g 16 -w 0 -r 1 --stamps $R/stamps.tsv.tmp$" asked'
is 'a row a kind of op'     'kind qkv attend out gate down' 'cut -f 1 $R/ops.tsv | xargs'
# Gate and up of 28 layers: a norm of 1024 and two matrices of 3072 x 1024, 16 bits.
ok 'with what it must read' 'awk -F "\t" "\$1 == \"gate\" && \$17 == 28 * (2 * 3072 * 1024 + 1024) * 2 && \$19 > 0 { n++ } END { exit n != 1 }" $R/ops.tsv'
ok 'a section and its figure' 'grep -q "^## Inside the decode step" $R/report.md && { [ ! -e $R/figures ] || grep -q "figures/ops.svg" $R/report.md; }'
ok 'what it took, and of what' 'grep -q "^stamps	" $R/stages.tsv && grep -q "^stamps_tsv_workload_seed=" $R/manifest.kv'
is 'again: nothing'          ''                  'again run'
is 'another prompt'          'baseline stamps inside' 'again run workload_prompt_tokens=33'
is 'more repeats: no matter' baseline            'again run workload_prompt_tokens=33 profile_repeats=6'
ok 'its report elsewhere'    'run report >out 2>err && run clean-analysis >out && [ ! -e $R/ops.tsv ] && [ -e $R/stamps.tsv ] && run report >out 2>err && [ -s $R/ops.tsv ]'
ok 'without it: no section'  'mv $R/stamps.tsv kept; rm $R/ops.tsv $R/report.md; run report >out 2>err && ! grep -q "Inside the decode" $R/report.md; s=$?; mv kept $R/stamps.tsv; [ $s -eq 0 ]'
cp $R/stamps.tsv whole
exits 2 'a worker that fails' 'touch fault; run workload_prompt_tokens=35 >out; s=$?; rm fault; (exit $s)' 'ns-worker: no device'
ok 'keeps what was there'    'cmp whole $R/stamps.tsv && grep -q "^workload_prompt_tokens=33" $R/stamps.tsv.args'
is 'and is tried again'      'stamps inside'     'again run workload_prompt_tokens=35'

# A step of several kernels.
echo kernels >step && rm -rf runs
is 'several kernels: not asked' 'baseline inside' 'again run'
ok 'which is said'           'grep -q "^stamps: no decode step is one kernel (16 steps, step=kernels): nothing to look into" err'
ok 'nothing of it in the report' '! grep -q "Inside the decode" $R/report.md && ! grep -q "^stamps	" $R/stages.tsv'
is 'again: nothing more'     ''                  'again run'
echo persistent >step
is 'one kernel: asked'       'baseline stamps inside' 'again run workload_prompt_tokens=36'
ok 'no decode: not asked, and nothing is left of it' 'again run workload_generate_tokens=0 >out2; ! grep -q stamps out2 && ! grep -q "Inside the decode" $R/report.md'
done_testing
