#!/bin/sh
# Tier 2 by itself: mk/tier2.mk on recorded captures of an H200, with tests/fake/ncu.
. "${0%/*}/tap.sh"

set -- ns-choose ns-detail ncu2tsv ns-report ns-check yaml2kv
# shellcheck source=tests/alone.sh
. "$top/tests/alone.sh"
printf '%s\n' memory_read_bytes_per_s=4.31e12 >r/ceilings.kv

cat >Makefile <<'X'
tiers := 2
include alone.mk
include mk/tier2.mk
captures := $(tier2_captures)
gives := $(tier2_gives) ceilings
include mk/analysis.mk
more: $R/detail.tsv
$R/platform.kv: ; @echo name=gh100 >$@
X
run() { make V=1 "$@" </dev/null; }
asked() { grep -c '^--log-file$' ncu-calls; }
column() { awk -F '\t' -v want="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == want) c = i; next } { print $c }' r/detail.tsv; }

ok 'two captures'             'run >out 2>&1 || { cat out; false; }; [ "$(asked)" = 2 ]'
is 'every kernel has its row' '15 prefill
7 decode'                     'column phase | uniq -c | sed "s/^ *//" '
is 'and was profiled once'    1 'column n_profiled | sort -u'
is 'the largest of decode'    'waits for data from memory: 58 % of stalls are long scoreboard, at 12 % occupancy' \
	'grep "^decode" r/detail.tsv | sed -n "1s/.*\t//p"'
is 'wall time of each'        'kernels-decode kernels-prefill' 'cat r/*.stage | cut -f 1 | sort | paste -sd " "'
ok 'what it was made with'    'grep -qx profile_top_kernels=20 r/kernels-decode.csv.args && grep -qx tier2_set=full r/kernels-decode.csv.args'
is 'nothing is left beside'   '' 'ls r | grep -E "ask|counters|ranges|tmp"'

# ---- what ncu was asked
said() { grep -A1 -x -e "$1" ncu-calls | grep -vx -e "$1" -e --; }
is 'of one phase at a time'   'nsbench@prefill/ nsbench@decode.15/' 'said --nvtx-include | paste -sd " "'
is 'by mangled name'          'mangled mangled' 'said --kernel-name-base | paste -sd " "'
ok 'these kernels'            'said --kernel-name | grep -q "^regex:^(_Z4gemvI13__nv_bfloat16Lb0ELb0ELi1EEv4gemv|.*)\$$"'
is 'one launch of a shape'    'per-launch-config per-launch-config 1 1' 'echo $(said --filter-mode) $(said --launch-count)'
is 'with cold caches'         'all all' 'said --cache-control | paste -sd " "'
is 'all sections'             'full full' 'said --set | paste -sd " "'
ok 'and the registry'         'said --metrics | head -1 | tr , "\n" >m; grep -qx dram__bytes_read.sum m && grep -q issue_stalled_long_scoreboard m && ! grep -q launch__ m'
is 'each metric once'         '' 'sort m | uniq -d'

# ---- again, or not
ok 'again: nothing'           ': >ncu-calls; run >out 2>&1; [ ! -s ncu-calls ]'
ok 'a touched timeline: nothing' 'sleep 0.01; touch r/timeline.sqlite worker.sum.not; run >out 2>&1; [ ! -s ncu-calls ]'
ok 'fewer kernels: again'     'run profile_top_kernels=3 >out 2>&1; [ "$(asked)" = 2 ] && [ "$(column rank | sort -u | paste -sd " ")" = "1 2 3" ]'
ok 'another worker: again'    ': >ncu-calls; sleep 0.01; echo 2 >worker.sum; run >out 2>&1; [ "$(asked)" = 2 ]'
ok 'another set of sections'  ': >ncu-calls; cp recorded/ncu/kernel-full-decode.csv recorded/ncu/kernel-detailed-decode.csv; run NCU_SET=detailed r/kernels-decode.csv >out 2>&1; [ "$(asked)" = 1 ]'
ok 'no decode, no capture of it' 'run -n workload_generate_tokens=0 >out 2>&1; ! grep -q "p decode" out'
exits 2 'tier 2 without a timeline' 'run R=elsewhere' 'tier 2 takes its kernels from the timeline'
ok 'without tier 2: nothing'  'run -n tiers="0 1" >out 2>&1; ! grep -q "ns-choose\|ns-detail" out'

# ---- failures: the old capture stays, and the reason is told
fails() {	# WORD NAME MESSAGE
	echo "$1" >ncu-fails; rm -rf old; cp -r r old; echo "$1" >worker.sum
	exits 2 "$2" 'run >out 2>&1; s=$?; cat out >&2; exit_() { return $s; }; exit_' "$3"
	ok "$2: the old one stays" 'cmp old/kernels-prefill.csv r/kernels-prefill.csv && cmp old/kernels-prefill.csv.args r/kernels-prefill.csv.args'
	rm ncu-fails
}
fails permission 'no permission'      'NVreg_RestrictProfilingToAdminUsers=0'
fails nothing    'nothing profiled'   'No kernels were profiled'
fails missing    'a kernel less'      'that were asked for ncu profiled 14; missing:'
ok 'which one'   'grep -q "prefill 15: _Z9set_placeP5placemS_ grid 1x1x1" out'
fails error      'an error beside'    'Failed to profile'
fails crash      'the program failed' 'returned an error code (9)'
exits 2 'a guard that says no' 'echo 9 >worker.sum; run tier2_guard="echo no room >&2; exit 3" >out' 'no room'
ok 'and ncu is not started'   ': >ncu-calls; run tier2_guard="exit 3" >out 2>&1; [ ! -s ncu-calls ]'
echo na >ncu-fails
ok 'n/a is missing, not 0'    'run >out 2>&1; [ "$(column memory_bytes | sort -u)" = NA ] && [ "$(column of_memory_ceiling_ratio | sort -u)" = NA ] && column l2_bytes | grep -q "[0-9]"'
rm ncu-fails
done_testing
