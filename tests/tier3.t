#!/bin/sh
# Tier 3 by itself: mk/tier3.mk on recorded pages of an H200, with tests/fake/ncu.
. "${0%/*}/tap.sh"

set -- ns-choose ns-detail ns-source ncu2tsv ns-report ns-check yaml2kv
# shellcheck source=tests/alone.sh
. "$top/tests/alone.sh"
for p in prefill decode; do
	cp "$h/kernels-$p.csv" recorded/ncu/kernel-$p.csv
	xz -dc "$data/h200-source/$p.csv.xz" >recorded/ncu/kernel-$p.source.csv
done

cat >Makefile <<'X'
tiers := 2 3
include alone.mk
include mk/tier2.mk mk/tier3.mk
captures := $(tier2_captures) $(tier3_captures)
gives := $(tier2_gives) $(tier3_gives)
include mk/analysis.mk
more: $(filter $R/detail.tsv $R/source%,$(tables))
$R/platform.kv: ; @echo name=gh100 >$@
X
run() { make V=1 "$@" </dev/null; }
asked() { grep -c '^-o$' ncu-calls; }
column() { awk -F '\t' -v want="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == want) c = i; next } { print $c }' "$2"; }

ok 'two captures'             'run >out 2>&1 || { cat out; false; }; [ "$(asked)" = 2 ]'
is 'every kernel has its row' '15 prefill
7 decode'                     'column phase r/source-kernels.tsv | uniq -c | sed "s/^ *//"'
is 'as tier 2 ranks them'     '' 'awk -F "\t" "{ print \$1, \$2, \$4, \$5, \$6, \$7 }" r/detail.tsv >a; cut -f 1-6 r/source-kernels.tsv | tr "\t" " " | diff a -'
is 'the largest of decode'    '43 % of samples wait for 1 load of global memory, 17 % for the other warps of the block, at a barrier (at 1 instruction)' \
	'grep "9496x1x1" r/source-kernels.tsv | sed "s/.*\t//"'
is 'shares sum to one, or there are none' '1 NA' \
	'awk -F "\t" "NR > 1 { k = \$1 FS \$2; if (\$14 == \"NA\") na[k]; else s[k] += \$14 } END { for (k in s) printf \"%.9g\n\", s[k]; for (k in na) print \"NA\" }" r/source.tsv | sort -u | paste -sd " "'
is 'wall time of each'        'kernels-decode kernels-prefill source-decode source-prefill' 'cat r/*.stage | cut -f 1 | sort | paste -sd " "'
ok 'what it was made with'    'grep -qx tier3_sections=SourceCounters,LaunchStats r/source-decode.csv.args && grep -qx profile_top_kernels=20 r/source-decode.csv.args'
ok 'the report is kept'       '[ -s r/source-decode.ncu-rep ] && [ -s r/source-prefill.ncu-rep ]'
is 'nothing is left beside'   '' 'ls r | grep -E "ask|counters|ranges|tmp"'

# ---- what ncu was asked: the calls of tier 3 are those with -o, and those with --import
words() {	# CALL OPTION: what stands behind it in the calls that have CALL
	awk -v call="$1" -v opt="$2" 'function end() { if (has) printf "%s", all; has = 0; all = "" }
		$0 == "" { end(); next } $0 == call { has = 1 } last == opt { all = all $0 "\n" } { last = $0 } END { end() }' ncu-calls
}
is 'these sections alone'     'SourceCounters LaunchStats SourceCounters LaunchStats' 'words -o --section | paste -sd " "'
is 'no set'                   '' 'words -o --set'
is 'with the source'          'yes yes' 'words -o --import-source | paste -sd " "'
is 'of one phase at a time'   'nsbench@prefill/ nsbench@decode.15/' 'words -o --nvtx-include | paste -sd " "'
is 'one launch of a shape'    'per-launch-config per-launch-config 1 1' 'echo $(words -o --filter-mode) $(words -o --launch-count)'
is 'the kernels of tier 2'    '' 'words -o --kernel-name >a; words --set --kernel-name | diff a -'
is 'the pages, in that order' 'raw source raw source' 'words --import --page | paste -sd " "'
is 'names as in the choice'   'mangled mangled mangled mangled' 'words --import --print-kernel-base | paste -sd " "'

# ---- again, or not
ok 'again: nothing'           ': >ncu-calls; run >out 2>&1; [ ! -s ncu-calls ]'
ok 'other sections: tier 3 alone' 'run NCU_SECTIONS=SourceCounters >out 2>&1; [ "$(asked)" = 2 ] && ! grep -q "^--set" ncu-calls'
ok 'another worker: again'    ': >ncu-calls; sleep 0.01; echo 2 >worker.sum; run >out 2>&1; [ "$(asked)" = 2 ]'
ok 'no decode, no capture of it' 'run -n workload_generate_tokens=0 >out 2>&1; ! grep -q "source-decode" out'
ok 'not asked for: nothing'   'run -n tiers="0 1 2" >out 2>&1; ! grep -q "source" out'
exits 2 'tier 3 without tier 2' 'run tiers="0 3"' 'tier 3 takes the kernels that tier 2 chooses: TIERS=0,2,3'
ok 'analysis starts no profiler' ': >ncu-calls; rm r/source.tsv r/source-kernels.tsv; run capturing= >out 2>&1 && [ -s r/source.tsv ] && [ ! -s ncu-calls ]'

# ---- failures: the old capture stays, and the reason is told
fails() {	# WORD NAME MESSAGE
	echo "$1" >ncu-fails; rm -rf old; cp -r r old
	exits 2 "$2" 'run NCU_SECTIONS=Other r/source-prefill.csv >out 2>&1; s=$?; cat out >&2; exit_() { return $s; }; exit_' "$3"
	ok "$2: the old one stays" 'cmp old/source-prefill.csv r/source-prefill.csv && cmp old/source-prefill.csv.args r/source-prefill.csv.args'
	rm ncu-fails
}
fails permission 'no permission'    'NVreg_RestrictProfilingToAdminUsers=0'
fails nothing    'nothing profiled' 'No kernels were profiled'
fails error      'an error beside'  'Failed to profile'
fails crash      'the program failed' 'returned an error code (9)'
fails missing    'a kernel less'    'not profiled: prefill 15: _Z9set_placeP5placemS_ grid 1x1x1'
exits 2 'a guard that says no' 'run NCU_SECTIONS=Other tier2_guard="echo no room >&2; exit 3" r/source-prefill.csv >out' 'no room'
done_testing
