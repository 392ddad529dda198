#!/bin/sh
# ns-worker --device cuda without a device: its kernels run on a CPU (emulate-launch.hpp),
# its runtime is tests/emulate-cuda.cpp, the rest is real.  Logits of the last of a few
# steps beside the CPU backend's, which is told the experts; every kind of decode.
. "${0%/*}/tap.sh"
# shellcheck source=tests/cuda.sh
. "$top/tests/cuda.sh"
can_emulate

mkdir c cu
# shellcheck disable=SC2046,SC2086 # words of a command
compile() (
	cd "$top" || exit
	kernel="g++ -std=c++17 -O1 -fno-strict-aliasing -fno-extern-tls-init -Itests -Itools/lib -iquote tools/cuda -isystem $cuda/include"
	$kernel -c -o "$dir/cu/cuda.o" tests/emulate-cuda.cpp || exit
	$kernel -std=c++20 -Dcu_step=emulated_step -c -o "$dir/cu/step.o" tests/step-emulate.cpp || exit
	for f in tools/cuda/*.cu; do
		as=launch
		case $f in */calib.cu | */step.cu) continue ;; */wide.cu) as=wide ;; esac
		$kernel -include emulate-$as.hpp -x c++ -c -o "$dir/cu/$(basename "$f" .cu).o" "$f" || exit
	done
	"$cc" -DNS_CUDA -Itools/lib -isystem "$cuda/include" -o "$dir/emulated" tools/ns-worker.c tools/worker/*.c \
	    $(printf '%s\n' tools/cuda/*.c | grep -v -e calib -e blas -e lt.c) "$dir"/cu/*.o "$build/libns.a" $flags -lstdc++ -lpthread
)
ok 'builds' 'compile'
[ -x emulated ] || { done_testing; exit; }

p=5 g=3
# run BATCH [OPTION...]: the model, by the device.
run() {
	batch=$1
	shift
	timeout 100 ./emulated -d cuda -m model -p $p -g $g -B "$batch" -r 1 -w 0 "$@"
}
# near NAME YAML DTYPE BATCH STEP SETTING=VALUE...: within 2e-2, f32 within 1e-4.
near() {
	name="$1, $3, $4" yaml=$top/tests/models/$2.yaml dtype=$3 batch=$4 step=$5 dump='' told=''
	shift 5
	for s in vocab_size=96 max_positions=8192 "$@"; do printf '%s: %s\n' "${s%%=*}" "${s#*=}"; done >new
	{ grep -v -E "^($(cut -d: -f1 new | paste -sd '|')):" "$yaml"; cat new; } >shape
	case $yaml in *moe.yaml | *mixtral.yaml) dump='--dump-experts x' told='--experts x' ;; esac
	case $dtype in f32) most=1e-4 ;; *) most=2e-2 ;; esac
	# shellcheck disable=SC2016 # evaluated by ok
	ok "$name, $step" 'rm -rf model && yaml2kv shape >kv && ns-synth --dtype $dtype kv model &&
	    run $batch --step $step --dump-logits got --dump-tokens t $dump >b &&
	    awk -F "\t" -v n=$((p + g)) "NR > 1 && \$2 < n { print \$4 }" t >fed &&
	    ns-worker -m model -p $((p + g)) -g 0 -B $batch -r 1 -w 0 --tokens fed --dump-logits wanted $told >b &&
	    tail -c $((batch * 96 * 4)) got >last && "$top/tests/compare-logits" 96 wanted last $most'
}
heads='hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=64 ffn_size=72'
# shellcheck disable=SC2086 # settings
{
	near 'plain'                   mistral   f32  2 kernels ffn_size=72 sliding_window=4
	near 'rows of several loads'   llama     bf16 2 kernels hidden_size=264 n_heads=2 n_kv_heads=1 head_dim=64 ffn_size=72
	near 'rows of no whole loads'  llama     f16  2 kernels hidden_size=66 n_heads=2 n_kv_heads=1 head_dim=64 ffn_size=70
	near 'streamed'                llama     bf16 1 kernels $heads
	near 'streamed, biases'        qwen2     f16  1 kernels $heads
	near 'tensor cores'            qwen3     bf16 3 kernels hidden_size=64 n_heads=2 n_kv_heads=2 head_dim=128 ffn_size=72
	near 'nine, down in two spans' qwen2     bf16 9 kernels hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=64 ffn_size=1104 n_layers=1
	near 'experts, two of four'    mixtral   bf16 1 kernels $heads
	near 'experts, some layers'    qwen3-moe f16  2 kernels $heads
	near 'experts, two of four'    mixtral   bf16 1 experts $heads
	near 'experts, some layers'    qwen3-moe f16  1 experts $heads
	near 'experts, three of 16'    qwen3-moe bf16 8 experts $heads n_experts=16
	near 'experts, heads of 16'    mixtral   f16  3 experts ffn_size=72
}
run 3 --step experts --dump-logits again >b
ok 'the same bits again' 'cmp got again'
ok 'experts: told its own, the same' 'run 3 --step experts --experts x --dump-logits again >b && cmp got again'
run 3 --step experts --routing r.tsv >b
ok 'routing: every token served' "awk -F '\t' 'NR > 1 { n[\$1 \$2 \$3] += \$5 } END { for (i in n) { k++; if (n[i] != (i ~ /prefill/ ? 30 : 6)) exit 1 } exit k != 8 }' r.tsv"
exits 2 'experts of too many rows' 'run 9 --step experts' '--step experts: not with this model, batch'
yaml2kv "$top/tests/models/llama.yaml" | ns-synth --dtype bf16 - dense
exits 2 'experts of a dense model' './emulated -d cuda -m dense --step experts' '--step experts: not with this model, batch'

# shellcheck disable=SC2086 # settings
near 'one kernel, biases' qwen2 f16 3 persistent $heads
near 'one kernel, norms' qwen3 bf16 1 persistent hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=128 ffn_size=72
# The last step again, for its stamps: what is generated was known before.
run 1 --step persistent --dump-logits got --dump-tokens t >b
ok 'one kernel: with stamps, the same bits' 'run 1 --step persistent --dump-logits again --dump-tokens t2 --stamps s.tsv >b && cmp got again && cmp t t2'
is 'one kernel: stamps of every block and op' '4 11' "awk -F '\t' 'NR > 1 && \$5 == \"left\" { b[\$1]; o[\$2] } END { for (i in b) nb++; for (i in o) no++; print nb, no }' s.tsv"
is 'one kernel: where its time goes' 'qkv 2 attend 2 out 2 gate 2 down 2 vocab 1' 'ns-stamps s.tsv | sed 1d | cut -f 1,2 | xargs'

# Where none is asked for: one kernel, or else what there was before it.
took() { run "$@" --settings w.kv >b && cat w.kv; }
is 'auto: one kernel'             step=persistent 'took 1'
ok 'auto: its bits'               'run 1 --step auto --dump-logits again >b && cmp got again'
is 'kernels, if asked for'        step=kernels 'took 1 --step kernels'
is 'auto, too many sequences'     step=kernels 'took 9'
exits 2 'but not if asked for'    'run 9 --step persistent' '--step persistent: not with this model, batch'
yaml2kv shape | ns-synth --dtype f32 - f32 && yaml2kv "$top/tests/models/mixtral.yaml" | ns-synth --dtype bf16 - moe
is 'auto, f32'                    step=kernels 'took 1 -m f32'
is 'auto, a mixture'              step=experts 'took 1 -m moe --dump-experts x'
is 'of it, too many sequences'    step=kernels 'took 9 -m moe'
is 'its kernels, if asked for'    step=kernels 'took 1 -m moe --step kernels'

# 17 spans of the cache: more than are asked for together.
p=4150 EMULATED_SMS=17
export EMULATED_SMS
near 'one kernel, 17 spans' llama bf16 1 persistent hidden_size=32 n_heads=1 n_kv_heads=1 head_dim=64 ffn_size=40 n_layers=1
# One span: more positions than warps look at at a time, 128, or at first, 256.
p=560 EMULATED_SMS=2
near 'one kernel, more than 512 positions' qwen3 bf16 1 persistent hidden_size=64 n_heads=4 n_kv_heads=2 head_dim=128 ffn_size=72 n_layers=1
p=150
near 'one kernel, more than 128 positions' qwen3 bf16 1 persistent hidden_size=64 n_heads=8 n_kv_heads=1 head_dim=128 ffn_size=72 n_layers=1
p=300
near 'one kernel, more than 256 positions' qwen2 f16 2 persistent hidden_size=64 n_heads=7 n_kv_heads=1 head_dim=64 ffn_size=72 n_layers=1
near 'one kernel, a window of more than 256' mistral bf16 1 persistent hidden_size=64 n_heads=4 n_kv_heads=2 head_dim=128 ffn_size=72 n_layers=1 sliding_window=280
p=5
unset EMULATED_SMS

# Counted from within: libcupti is tests/fake/cupti.c, which dies of a call out of order.
mkdir fake
echo 'int cuCtxGetCurrent(void **c) { *c = c; return 0; }' >cuda.c
${CC:-cc} -shared -fPIC -o fake/libcuda.so.1 cuda.c
${CC:-cc} -shared -fPIC -I"$top/tools/lib" -o fake/libcupti.so.13 "$top/tests/fake/cupti.c"
count() { fault=$1; shift; FAKE_CUPTI=$fault LD_LIBRARY_PATH=$dir/fake timeout 100 ./emulated -d cuda -m dense -p "$p" -g "$g" --count a,b,c,d,e --counters c.tsv "$@"; }
ok 'counted: as often as it takes passes' 'count "" --dump-tokens t >b && [ "$(cut -f 1 b | sed 1d | sort | uniq -c | xargs)" = "4 0 4 1 4 2" ]'
is 'counted: the prefill and the last step' '6 prefill,6 decode.2' "sed 1d c.tsv | cut -f 5 | uniq -c | sed 's/^ *//' | paste -sd ,"
is 'counted: passes' 3 "awk -F '\t' '\$6 == \"profiler__replayer_passes\" { print \$7 }' c.tsv | uniq"
ok 'counted: the same tokens' 'mv t counted; ./emulated -d cuda -m dense -p $p -g $g -r 1 --dump-tokens t >b && cmp counted t'
ok 'counted: no decode, one range' 'g=0; count "" >b; s=$?; g=3; [ $s -eq 0 ] && [ "$(sed 1d c.tsv | cut -f 5 | uniq)" = prefill ]'
rm c.tsv
exits 2 'counted: not permitted, before anything is loaded' 'count privileges >b' 'this user may not read counters'
ok 'counted: no table of it' '[ ! -e c.tsv ] && [ ! -s b ]'
done_testing
