#!/bin/sh
# GB10 where there is none: captures made by hand, all values by arithmetic,
# through the whole analysis; and the real H200's, for what differs there.
. "${0%/*}/tap.sh"
. "$top/tests/gb10.sh"

gb10=$top/configs/platforms/gb10
tab='	'
# cells WANTED [COLUMN=VALUE ...]: those columns of the rows that have these values.
cells() {
	awk -F '\t' -v want="$1" -v only="${2-}" '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(want, w, " "); k = split(only, o, " "); next }
	{ for (i = 1; i <= k; i++) { split(o[i], e, "="); if ($at[e[1]] != e[2]) next }
	  for (i = 1; i <= n; i++) printf "%s%s", $at[w[i]], i < n ? " " : "\n" }'
}
is 'the captures have what the registry asks for in tier 1' '' \
    "awk -F '\t' 'NR > 1 && \$6 <= 1 { print \$4 }' $gb10/metrics.tsv | sort -u >asked; range x 1 1 | awk '{ print \$2 }' | sort | diff asked -"

# The copy that was published: 256 MiB to 256 MiB, 16,780,246 missed sectors
# (537.0 MB of 536.9), here half of them in either direction.
half=$((16780246 / 2))
range copy $half $half | raw_csv >copy.csv
ok 'copy: thousands as ncu writes them' "grep -q '\"8,390,123\"' copy.csv"
gate() { ncu2tsv 2>err | ns-rollup -m "$gb10/metrics.tsv" 2>err2; }
gate <copy.csv >gate.hierarchy.tsv
is 'copy: 537.0 MB'         "$((16780246 * 32)) $((half * 32)) $((half * 32)) 0 2" \
    "cells 'bytes read_bytes write_bytes n_missing n_total' 'phase=copy rung=memory' <gate.hierarchy.tsv"
is 'copy: in MB'            '537.0 of 536.9' "awk 'BEGIN { printf \"%.1f of %.1f\n\", 16780246 * 32 / 1e6, 2 * 2^28 / 1e6 }'"
table expected <<'END'
kernel rung direction expected_bytes
copy memory read 268435456
copy memory write 268435456
END
t=$(yaml2kv "$gb10/platform.yaml" | sed -n 's/^gate_tolerance_ratio=//p')
ok 'copy: the gate passes'  "ns-calib judge -e expected -t $t gate.hierarchy.tsv >gate.tsv"
is 'copy: 0.018 % too much' "$(awk 'BEGIN { e = sprintf("%.12g", (8390123 * 32 - 2^28) / 2^28); print e, "pass"; print e, "pass" }')" \
    "cells 'error_ratio verdict' kernel=copy <gate.tsv"
range copy $((half * 3 / 2)) $((half / 2)) | raw_csv | gate >wrong
exits 1 'reads 1.5 times and writes half: the same sum, refused' "ns-calib judge -e expected -t $t wrong" 'ns-calib'

# A model: Qwen3-0.6B's shape in bf16, 32 prompt tokens, 2 generated.
hidden=1024 q=2048 kv=1024 ffn=3072 layers=28 vocab=151936
layer=$((hidden * q + 2 * hidden * kv + q * hidden + 3 * hidden * ffn + 2 * hidden + 2 * 128))
weights=$((2 * (layers * layer + hidden + vocab * hidden)))	# tied: lm_head, once
mkdir run
yaml2kv "$top/configs/models/qwen.yaml" >shape.kv
ns-discover model shape.kv >run/model.kv
ns-discover tensors shape.kv >run/tensors.tsv
ns-readset -m run/model.kv -p 32 -g 2 --kv-bytes 2 run/tensors.tsv >run/readset.tsv
need() { awk -F '\t' -v p="$1" -v s="$2" -v c="$3" '$1 == p && $2 == s { n += $c } END { printf "%.0f\n", n }' run/readset.tsv; }
is 'readset: the weights of a step, the row of its token among them' "$((weights + 2 * hidden))" \
    "awk -F '\t' '\$1 == \"decode\" && \$2 == 0 && \$3 != \"kv_cache\" { n += \$4 } END { printf \"%.0f\n\", n }' run/readset.tsv"
# Measured: 1 % more than predicted in decode, 3 % in prefill, in whole sectors.
sectors() { awk -v n="$1" -v by="$2" 'BEGIN { printf "%d\n", n * by / 32 }'; }
phases() {	# DECODE-FACTOR [DEVICE]
	range prefill "$(sectors "$(need prefill 0 4)" 1.03)" "$(sectors "$(need prefill 0 5)" 1)"
	range decode.0 "$(sectors "$(need decode 0 4)" "$1")" "$(sectors "$(need decode 0 5)" 1)"
	range decode.1 "$(sectors "$(need decode 1 4)" "$1")" "$(sectors "$(need decode 1 5)" 1)" "${2-0}"
}
table run/baseline.tsv <<'END'
repeat phase step n_tokens start_ns dur_ns
0 prefill 0 32 0 20000000
0 decode 0 1 0 5200000
0 decode 1 1 0 5300000
END
# The published rates of a GB10: 242 GB/s copied; its dense bf16 products 97.9 TFLOP/s.
printf '%s\n' memory_read_bytes_per_s=242e9 memory_copy_bytes_per_s=242e9 gemm_bf16_flop_per_s=97.9e12 \
    last_level_bytes=25165824 >run/ceilings.kv
yaml2kv "$gb10/platform.yaml" >run/platform.kv
cp gate.tsv run
analyse() {	# METRICS
	ncu2tsv cap.csv >run/counters.tsv 2>err &&
	ns-rollup -m "$1" -b run/baseline.tsv run/counters.tsv >run/hierarchy.tsv 2>err &&
	ns-rollup -m "$1" -b run/baseline.tsv --steps run/counters.tsv >run/steps.tsv 2>err &&
	ns-rollup -m "$1" --terms run/counters.tsv >run/terms.tsv 2>err &&
	ns-rollup -m "$1" -b run/baseline.tsv --flop run/counters.tsv >run/flop.tsv 2>err &&
	ns-roofline -c run/ceilings.kv -m run/model.kv -r run/readset.tsv -b run/baseline.tsv run/steps.tsv >run/roofline.tsv &&
	{ ns-check run >run/checks.tsv 2>why || [ $? -eq 1 ]; }
}
check() { cells 'verdict' "check=$1 phase=$2" <run/checks.tsv | sort -u | tr '\n' ' '; }

phases 1.01 | raw_csv >cap.csv
ok 'a run: every step of the analysis' "analyse $gb10/metrics.tsv"
decode=$(($(sectors "$(need decode 0 4)" 1.01) + $(sectors "$(need decode 1 4)" 1.01)))
is 'a run: decode, read'    "$((decode * 32)) 0 4" \
    "cells 'read_bytes n_missing n_total' 'phase=decode rung=memory' <run/hierarchy.tsv"
is 'a run: decode, a token' "$(awk -v n=$decode -v w=$(($(sectors "$(need decode 0 5)" 1) + $(sectors "$(need decode 1 5)" 1))) \
    'BEGIN { printf "%.12g", (n + w) * 32 / 2 }')" "cells bytes_per_token 'phase=decode rung=memory' <run/hierarchy.tsv"
rung() { cells 'read_bytes write_bytes bytes' "phase=decode rung=$1" <run/hierarchy.tsv; }
writes=$(($(sectors "$(need decode 0 5)" 1) + $(sectors "$(need decode 1 5)" 1)))
is 'a run: spills'          "192 128 320" 'rung registers'
is 'a run: shared, 128 bytes a pass and what TMA wrote' "NA $(((decode - 4000) * 32)) $(((decode - 4000) * 32 + 2 * 500 * 128))" 'rung shared'
is 'a run: L1, what was looked up and what went past' "$(((decode - 4000) * 32)) NA $(((decode - 4000 + 8000) * 32))" 'rung l1'
is 'a run: the crossbar, less other SMs' "$(((decode + 2000) * 32)) $((writes * 32)) $(((decode + 2000 + writes) * 32))" 'rung xbar'
is 'a run: L2'              "$(((decode + 2000) * 32)) $((writes * 32)) $(((decode + 2000 + writes) * 32))" 'rung l2'
is 'a run: L1 hits a quarter' 0.25 "cells hit_ratio 'phase=prefill rung=l1' <run/hierarchy.tsv"
is 'a run: hits of L2'      "$(awk -v n=$((decode + writes)) 'BEGIN { printf "%.12g", 2000 / (2000 + n) }')" \
    "cells hit_ratio 'phase=decode rung=l2' <run/hierarchy.tsv"
is 'a run: rungs in order'  'registers shared l1 xbar l2 memory ' "cells rung phase=decode <run/hierarchy.tsv | tr '\n' ' '"
is 'a run: work and the time under the profiler' "7000000 10000000 0.25" "cells 'flop dur_ns active_ratio' phase=decode <run/flop.tsv"
is 'a run: nothing is missing' 'pass ' 'check missing NA'
is 'a run: decode is as predicted' 'pass ' 'check predicted_read decode'
is 'a run: prefill too'     'pass ' 'check predicted_read prefill'
is 'a run: what L2 was filled with bears it out' 'pass ' 'check witness.lts__d_sectors_fill_sysmem.sum decode'
is 'a run: all operations too, with atomics' 'pass ' 'check witness.lts__t_sectors_aperture_sysmem_lookup_miss.sum decode'
is 'a run: nothing in the device aperture' 'pass ' 'check sentinel.lts__t_sectors_aperture_device_lookup_miss.sum decode'
is 'a run: the gate'        'pass ' 'check gate.copy.memory.read NA'
is 'a run: no check fails'  '' "cells 'check why' verdict=fail <run/checks.tsv"
ok 'a run: a report'        "ns-report -f md -m $gb10/metrics.tsv run >report.md && grep -q '^| decode | SM-L2 crossbar |' report.md && grep -q 'Trusted' report.md"
is 'a run: bound by memory' 'memory' "cells bound phase=decode <run/roofline.tsv"

# Faults, one at a time: the check that names each.
phases 1.06 | raw_csv >cap.csv
ok 'more read than predicted' "analyse $gb10/metrics.tsv"
is '5 % over the tolerance fails' 'fail ' 'check predicted_read decode'
phases 1.01 5 | raw_csv >cap.csv
ok 'sectors from device memory' "analyse $gb10/metrics.tsv"
is 'the sentinel fails'     'fail ' 'check sentinel.lts__t_sectors_aperture_device_lookup_miss.sum decode'
ok 'and asks whether this is that machine' 'grep -q "must be 0 and is 160 in decode.*is this the platform of that machine" why'
phases 1.01 | raw_csv | sed "s/,\"lts__t_sectors_aperture_sysmem_op_read_lookup_miss.sum\"/,\"lts__gone.sum\"/" >cap.csv
ok 'a metric that was not recorded' "analyse $gb10/metrics.tsv"
is 'is not 0'               "NA 2 4" "cells 'read_bytes n_missing n_total' 'phase=decode rung=memory' <run/hierarchy.tsv"
is 'and is warned of'       'warn ' 'check missing.memory decode'
phases 1.01 | raw_csv >cap.csv
ok 'the platform of another machine' "analyse $top/configs/platforms/gh100/metrics.tsv"
is 'measures nothing there' 'NA 4 4' "cells 'read_bytes n_missing n_total' 'phase=decode rung=memory' <run/hierarchy.tsv"

# A real H200: memory's own counters against what the apertures would say.
hf=$shared/captures/ncu/hf-app-range.raw.csv
if [ ! -e "$hf" ]; then
	skip_one 'gh100' 'no ../shared here'
	done_testing
fi
gh100=$top/configs/platforms/gh100/metrics.tsv
ncu2tsv "$hf" 2>err >hf.tsv
is 'gh100: decode, at the memory' '993457152 8898816 0 2' \
    "ns-rollup -m $gh100 hf.tsv 2>err | cells 'read_bytes write_bytes n_missing n_total' 'phase=decode rung=memory'"
is 'gh100: decode, at the crossbar' '1737276704 4403520' \
    "ns-rollup -m $gh100 hf.tsv 2>err | cells 'read_bytes write_bytes' 'phase=decode rung=xbar'"
mkdir h200 && ns-rollup -m "$gh100" --terms hf.tsv >h200/terms.tsv 2>err
is 'gh100: reads by aperture are 1.50 times those' 1.50 \
    "cells value 'phase=decode metric=lts__t_sectors_aperture_device_op_read_lookup_miss.sum' <h200/terms.tsv | awk '{ printf \"%.2f\", \$1 / 993457152 }'"
is 'gh100: writes by aperture are next to none' 12704 \
    "cells value 'phase=decode metric=lts__t_sectors_aperture_device_op_write_lookup_miss.sum' <h200/terms.tsv"
ns-check h200 >h200/checks.tsv 2>err
is 'gh100: as witnesses they contradict' 'warn warn ' \
    "cells verdict phase=decode <h200/checks.tsv | grep -x warn | tr '\n' ' '"
done_testing
