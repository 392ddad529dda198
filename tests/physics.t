#!/bin/sh
# The whole way from counts to the verdict, on recorded counts of MODEL=tiny,
# and what a wrong prediction looks like; then real counts, twice.
. "${0%/*}/tap.sh"

platform=$top/configs/platforms/cpu recorded=$data/callgrind-tiny
yaml2kv "$top/configs/models/tiny.yaml" >tiny.kv

# A run directory without a machine: the shape alone says what must move.
mkdir run && {
	ns-discover model tiny.kv >run/model.kv
	ns-discover tensors tiny.kv >run/tensors.tsv
	yaml2kv "$platform/platform.yaml" >run/platform.kv
	cg2tsv "$recorded/worker.callgrind" 2>/dev/null >run/counters.tsv
	for how in '' --steps --terms; do
		# shellcheck disable=SC2086
		ns-rollup -m "$platform/metrics.tsv" $how run/counters.tsv >"run/rollup$how"
	done
	mv run/rollup run/hierarchy.tsv && mv run/rollup--steps run/steps.tsv && mv run/rollup--terms run/terms.tsv
	ns-calib gate 2>/dev/null >expected.tsv
	cg2tsv "$recorded/gate.callgrind" 2>/dev/null | ns-rollup -m "$platform/metrics.tsv" |
	    ns-calib judge -e expected.tsv -t 0.01 >run/gate.tsv
}
readset() { ns-readset -m run/model.kv -p 32 -g 4 --kv-bytes 4 --activation-bytes 4 "$1" >run/readset.tsv; }
# error PHASE: measured over predicted reads, less 1.
error() { ns-check -s 4 run 2>/dev/null | awk -F '\t' -v p="$1" '$1 == "predicted_read" && $2 == p { print $6 }'; }
within() { awk -v e="$(error "$1")" -v t="$2" 'BEGIN { exit !(e != "" && e <= t && e >= -t) }'; }

readset run/tensors.tsv
ok 'recorded counts: every check that can be made passes' 'ns-check -s 4 run >run/checks.tsv && ! grep "	fail	" run/checks.tsv'
ok 'decode: within 1 %'        'within decode 0.01'
ok 'prefill: within 2 %'       'within prefill 0.02'
ok 'the report trusts it'      'ns-report -f verdict run | grep "^verdict *Trusted"'

# Left out of the prediction: a layer of 6, of 46 MB with the table.
awk -F '\t' '$3 != 3' run/tensors.tsv >without.tsv
readset without.tsv
exits 1 'a layer left out of the prediction' 'ns-check -s 4 run >run/checks.tsv' 'predicted_read: fail: decode: memory delivers'
is 'both phases fail'           'prefill decode'  "awk -F '\t' '\$1 == \"predicted_read\" && \$8 == \"fail\" { print \$2 }' run/checks.tsv | paste -sd ' '"
ok 'the report names the check' 'ns-report -f md run >report.md; grep "Not trusted" report.md && grep "predicted read" report.md && grep "more than the checkpoint says" report.md'
ok 'the error is a layer'       'awk -v e="$(error decode)" "BEGIN { exit !(e > 0.15 && e < 0.17) }"'

# A layer executed that is not there, and bytes 5 % off.
awk -F '\t' '{ print } $3 == 5 { sub(/layers.5/, "layers.6"); $3 = 6; OFS = "\t"; $1 = $1; print }' OFS='\t' run/tensors.tsv >more.tsv
readset more.tsv
exits 1 'a layer too many'      'ns-check -s 4 run >run/checks.tsv' 'less than the checkpoint says'
readset run/tensors.tsv
awk -F '\t' 'NR > 1 { $4 = int($4 * 1.05) } { print }' OFS='\t' run/readset.tsv >r && mv r run/readset.tsv
exits 1 'bytes 5 % off'         'ns-check -s 4 run >run/checks.tsv' 'predicted_read: fail'

command -v valgrind >/dev/null || { skip_one 'the same counts twice' 'no valgrind here'; done_testing; }
case $(ldd "$build/ns-worker") in
*asan*) skip_one 'the same counts twice' 'valgrind cannot run what ASan watches'; done_testing ;;
esac
yaml2kv "$top/tests/models/qwen3-moe.yaml" | ns-synth - moe 2>/dev/null
count() {
	env -i LC_ALL=C OMP_NUM_THREADS=1 "$(command -v valgrind)" --tool=callgrind -q --cache-sim=yes --simulate-wb=yes \
	    --instr-atstart=no --combine-dumps=yes --I1=32768,8,64 --D1=32768,8,64 --LL=25165824,24,64 \
	    --callgrind-out-file="$1" "$build/ns-worker" -m moe -p 9 -g 3 -B 2 -w 0 -r 1 --profile >/dev/null 2>&1 &&
	    cg2tsv "$1" 2>/dev/null
}
ok 'the same counts twice'      'count a >a.tsv && count b >b.tsv && cmp a.tsv b.tsv && [ "$(cut -f2,3 a.tsv | sort -u | wc -l)" -eq 5 ]'
done_testing
