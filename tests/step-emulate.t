#!/bin/sh
# The kernel of a whole decode step, on a CPU, beside the CPU backend: products in
# one stage and in several, spans, windows, biases, norms, one sequence and more.
. "${0%/*}/tap.sh"

[ -s "$build/flags" ] || skip "no $build/flags: run make"
grep -q -e -fsanitize "$build/flags" && skip 'a sanitizer cannot follow contexts that take turns'
command -v g++ >/dev/null || skip 'no g++'
for include in "$(dirname "$(readlink -f "$(command -v nvcc || echo /)")")/../include" /usr/local/cuda/include; do
	[ ! -f "$include/cuda_runtime_api.h" ] || break
done
[ -f "$include/cuda_runtime_api.h" ] || skip 'no headers of CUDA'

# shellcheck disable=SC2046 # its words are the command
set -- $(cat "$build/flags")
# shellcheck disable=SC2046 # as are these; options.o names every backend
(cd "$top" && g++ -std=c++20 -O2 -fno-extern-tls-init -Itools/lib -Itools/cuda -isystem "$include" -c -o "$dir/kernel.o" tests/step-emulate.cpp &&
    cc=$1 && shift && "$cc" -DNS_CUDA -Itools/lib -isystem "$include" -o "$dir/step-emulate" tests/step-emulate.c tools/cuda/step-lay.c \
    tools/cuda/step-plan.c tools/cuda/heads.c tools/cuda/weights.c "$dir/kernel.o" $(find "$build/worker" -name '*.o' ! -name options.o) "$build/libns.a" "$@" -lstdc++ -lpthread) >log 2>&1
ok 'builds' '[ -x step-emulate ] || { cat log; false; }'

# near NAME YAML BATCH TOKENS POSITIONS BLOCKS SETTING=VALUE...: within 2e-2; of $dtype.
dtype=bf16
near() {
	name=$1 yaml=$top/tests/models/$2.yaml run="$3 $4 $5 $6"
	shift 6
	rm -rf model
	for s in vocab_size=41 max_positions=1024 "$@"; do printf '%s: %s\n' "${s%%=*}" "${s#*=}"; done >new
	{ grep -v -E "^($(cut -d: -f1 new | paste -sd '|')):" "$yaml"; cat new; } | yaml2kv - | ns-synth --dtype $dtype - model
	ok "$name" "error=\$(timeout 100 ./step-emulate model $run) && echo \"off by \$error\" && awk -v e=\$error 'BEGIN { exit !(e <= 2e-2) }'"
}
near 'heads of 128, normed; three spans'      qwen3 1 5 700 3 hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=128 ffn_size=72
near 'the same, 3 sequences'                  qwen3 3 4 700 3 hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=128 ffn_size=72
near 'heads of 64, biases'                    qwen2 1 4 30 2 hidden_size=96 n_heads=6 n_kv_heads=2 head_dim=64 ffn_size=104
near 'the same, 8 sequences, several units a block' qwen2 8 3 30 3 hidden_size=96 n_heads=6 n_kv_heads=2 head_dim=64 ffn_size=104
near 'a window, and more than 16 positions'   mistral 1 24 30 2 hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=128 ffn_size=72 sliding_window=10
near 'down of two stages'                     llama 1 2 30 2 hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=64 ffn_size=2504 n_layers=1
near 'hidden of two stages, many blocks'      llama 1 1 30 34 hidden_size=2144 n_heads=1 n_kv_heads=1 head_dim=64 ffn_size=40 n_layers=1
dtype=f16
near 'f16, one sequence'                       qwen2 1 4 30 2 hidden_size=96 n_heads=6 n_kv_heads=2 head_dim=64 ffn_size=104
near 'f16, two'                                qwen3 2 4 700 4 hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=128 ffn_size=72
done_testing
