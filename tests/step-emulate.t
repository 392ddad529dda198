#!/bin/sh
# The kernel of a whole decode step, on a CPU, beside the CPU backend: products in
# one stage and in several, spans, windows, biases, norms, one sequence and more.
. "${0%/*}/tap.sh"
# shellcheck source=tests/cuda.sh
. "$top/tests/cuda.sh"
can_emulate

# shellcheck disable=SC2046,SC2086 # words of a command; options.o names every backend
(cd "$top" && g++ -std=c++20 -O2 -fno-extern-tls-init -Itools/lib -Itools/cuda -isystem "$cuda/include" -c -o "$dir/kernel.o" tests/step-emulate.cpp &&
    "$cc" -DNS_CUDA -Itools/lib -isystem "$cuda/include" -o "$dir/step-emulate" tests/step-emulate.c tools/cuda/step-lay.c \
    tools/cuda/step-plan.c tools/cuda/heads.c tools/cuda/weights.c "$dir/kernel.o" $(find "$build/worker" -name '*.o' ! -name options.o) "$build/libns.a" $flags -lstdc++ -lpthread) >log 2>&1
ok 'builds' '[ -x step-emulate ] || { cat log; false; }'

# synth YAML SETTING=VALUE...: a model of $dtype.
dtype=bf16
synth() {
	yaml=$top/tests/models/$1.yaml
	shift
	rm -rf model
	for s in vocab_size=41 max_positions=1024 "$@"; do printf '%s: %s\n' "${s%%=*}" "${s#*=}"; done >new
	{ grep -v -E "^($(cut -d: -f1 new | paste -sd '|')):" "$yaml"; cat new; } | yaml2kv - | ns-synth --dtype $dtype - model
}
# near NAME YAML BATCH TOKENS POSITIONS BLOCKS SETTING=VALUE...: within 2e-2.
near() {
	name=$1 yaml=$2 run="$3 $4 $5 $6"
	shift 6
	synth "$yaml" "$@"
	ok "$name" "error=\$(timeout 100 ./step-emulate model $run) && echo \"off by \$error\" && awk -v e=\$error 'BEGIN { exit !(e <= 2e-2) }'"
}
near 'heads of 128, normed; three spans'      qwen3 1 5 700 3 hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=128 ffn_size=72
near 'the same, 3 sequences'                  qwen3 3 4 700 3 hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=128 ffn_size=72
near 'heads of 64, biases'                    qwen2 1 4 30 2 hidden_size=96 n_heads=6 n_kv_heads=2 head_dim=64 ffn_size=104
near 'the same, 8 sequences, several units a block' qwen2 8 3 30 3 hidden_size=96 n_heads=6 n_kv_heads=2 head_dim=64 ffn_size=104
near 'a window, and more than 16 positions'   mistral 1 24 30 2 hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=128 ffn_size=72 sliding_window=10
near 'down of two stages'                     llama 1 2 30 2 hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=64 ffn_size=2504 n_layers=1
near 'rows of more than half a stage, odd numbers of tiles' llama 1 2 30 20 hidden_size=1056 n_heads=1 n_kv_heads=1 head_dim=64 ffn_size=1208 n_layers=1
near 'the same, 3 sequences'                  llama 3 2 30 20 hidden_size=1056 n_heads=1 n_kv_heads=1 head_dim=64 ffn_size=1208 n_layers=1
near 'hidden of two stages, many blocks'      llama 1 1 30 34 hidden_size=2144 n_heads=1 n_kv_heads=1 head_dim=64 ffn_size=40 n_layers=1
near 'the same, 2 sequences'                  llama 2 1 30 34 hidden_size=2144 n_heads=1 n_kv_heads=1 head_dim=64 ffn_size=40 n_layers=1
near 'one tile a block'                       qwen3 1 4 30 8 hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=128 ffn_size=104
near 'the same, 2 sequences'                  qwen3 2 3 30 8 hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=128 ffn_size=104
near 'one tile a block, down of two stages'   llama 1 2 30 8 hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=64 ffn_size=2504 n_layers=1
near 'of more columns than are taken at once' llama 1 2 30 8 hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=64 ffn_size=3104 n_layers=1
near 'all tiles in one block'                 llama 1 3 30 1 hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=64 ffn_size=104
dtype=f16
near 'f16, one sequence'                       qwen2 1 4 30 2 hidden_size=96 n_heads=6 n_kv_heads=2 head_dim=64 ffn_size=104
near 'f16, two'                                qwen3 2 4 700 4 hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=128 ffn_size=72

# Stamps: three spans, so that attention has both its turns; every clock's time is another.
dtype=bf16
synth qwen3 hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=128 ffn_size=72 n_layers=2
ok 'stamps are noted' 'timeout 100 ./step-emulate model 2 5 700 3 stamps.tsv'
is 'stamps: the columns' 'block op kind layer event time_ns' 'head -n 1 stamps.tsv | xargs'
is 'stamps: ops in their order' '0 qkv 0 1 attend 0 2 out 0 3 gate 0 4 down 0 5 qkv 1 6 attend 1 7 out 1 8 gate 1 9 down 1 10 vocab NA' \
	'tail -n +2 stamps.tsv | cut -f 2-4 | sort -nu | xargs'
is 'stamps: from 0 on, no two the same' '0 0' 'tail -n +2 stamps.tsv | cut -f 6 | sort -n >all; echo $(sed -n 1p all) $(uniq -d all | wc -l)'
is 'stamps: all events of a product, in their order' '' "awk -F '\t' 'NR > 1 && \$3 != \"attend\" { n[\$1, \$2]++; t[\$1, \$2, \$5] = \$6; deep[\$1, \$2] = \$3 ~ /out|down/ }
	END { for (i in n) if ((i, \"left\") in t && (n[i] != 7 - deep[i] || !(t[i, \"asked\"] < t[i, \"arrived\"] && t[i, \"arrived\"] < t[i, \"weights\"] &&
		t[i, \"weights\"] < t[i, \"multiplied\"] && t[i, \"multiplied\"] < t[i, \"summed\"] && t[i, \"summed\"] < t[i, \"left\"] &&
		(deep[i] || t[i, \"scaled\"] < t[i, \"left\"])))) print i, n[i] }' SUBSEP=: stamps.tsv"
# Who looks at few heads needs not wait for all, but one waits for the last.
is 'stamps: x is there when all have left it' '' "awk -F '\t' 'NR > 1 && \$5 == \"left\" && \$6 > last[\$2] { last[\$2] = \$6 }
	NR > 1 && \$5 == \"arrived\" { x[\$1, \$2] = \$6; of[\$1, \$2] = \$2; one[\$2] = \$3 == \"attend\"; if (\$6 > most[\$2]) most[\$2] = \$6 }
	END { for (i in x) if ((one[of[i]] ? most[of[i]] : x[i]) < last[of[i] - 1]) print i }' SUBSEP=: stamps.tsv"
done_testing
