#!/bin/sh
# The kernel of a whole decode step, on a CPU, in search of races (races.cpp): what
# one thread of it writes and another reads or writes must be ordered, and each kind
# of order that it has is needed.
. "${0%/*}/tap.sh"
# shellcheck source=tests/cuda.sh
. "$top/tests/cuda.sh"
can_emulate

# shellcheck disable=SC2046,SC2086 # words of a command; options.o names every backend
(cd "$top" && g++ -std=c++20 -O2 -c -o "$dir/races.o" -DRACES tests/races.cpp &&
    g++ -std=c++20 -O1 -g -fsanitize=thread -Wno-tsan -DRACES -fno-extern-tls-init -Itools/lib -Itools/cuda -isystem "$cuda/include" -c -o "$dir/kernel.o" \
    tests/step-emulate.cpp &&
    "$cc" -DNS_CUDA -Itools/lib -isystem "$cuda/include" -o "$dir/step-races" tests/step-emulate.c tools/cuda/step-lay.c tools/cuda/step-plan.c \
    tools/cuda/heads.c tools/cuda/weights.c "$dir/kernel.o" "$dir/races.o" $(find "$build/worker" -name '*.o' ! -name options.o) "$build/libns.a" \
    $flags -no-pie -lstdc++ -lpthread) >log 2>&1
ok 'builds' '[ -x step-races ] || { cat log; false; }'
[ -x step-races ] || { done_testing; exit; }

# synth YAML SETTING=VALUE...: a model of that family.
synth() {
	yaml=$top/tests/models/$1.yaml
	shift
	rm -rf model
	for s in vocab_size=41 max_positions=1024 "$@"; do printf '%s: %s\n' "${s%%=*}" "${s#*=}"; done >new
	{ grep -v -E "^($(cut -d: -f1 new | paste -sd '|')):" "$yaml"; cat new; } | yaml2kv - | ns-synth --dtype bf16 - model
}
# step BATCH TOKENS[@FIRST] POSITIONS BLOCKS; the lines of a race are named.
step() {
	timeout -k 5 200 ./step-races model "$@" 2>races && return
	cat races
	grep -o '0x[0-9a-f]*' races | sort -u | addr2line -e step-races -afips
	return 1
}
# Spans, that is, more positions than 256; the cache in one stage and in several.
synth qwen3 hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=128 ffn_size=72
ok 'one sequence, three spans, two steps' 'step 1 2@600 700 3'
ok 'three sequences, three spans' 'step 3 1@600 700 3'
ok 'from an empty cache on' 'step 1 1 700 3'
synth qwen2 hidden_size=96 n_heads=6 n_kv_heads=2 head_dim=64 ffn_size=104
ok 'three sequences, several units a block, each of two stages' 'step 3 1@200 256 2'
ok 'eight sequences' 'step 8 1 30 3'
synth llama hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=64 ffn_size=2504 n_layers=1
ok 'down of two stages' 'step 1 1@20 30 2'
ok 'the same of one tile a block' 'step 1 1@20 30 8'

# needs KIND RACE: a kind of order without which there are races, RACE among them.
needs() {
	is "$1 is needed" 2 "RACES_WITHOUT=$1 timeout -k 5 200 ./step-races model 3 1 700 3 >out 2>races; echo \$?"
	ok "$1: what races then" "grep -E -e '$2' races"
}
synth qwen3 hidden_size=64 n_heads=2 n_kv_heads=1 head_dim=128 ffn_size=72 n_layers=1
needs warp    'read by thread [0-9]+ .* then write by copy'
needs block   'write by thread [0-9]+ .* then atomic read by thread'
needs name    'write by thread [0-9]+ .* then read by thread'
needs arrival 'write by copy .* then read by thread'
needs copy    'write by copy .* then read by thread'
needs proxy   'write by thread [0-9]+ .* then (atomic read|write) by copy'
needs fence   'block 0 .* block [12] |block 1 .* block [02] |block 2 .* block [01] '

for lanes in '' -DEACH_LANE_ARRIVES; do
	ok "what a GPU is held against compiles${lanes:+, $lanes}" "\"\$nvcc\" $lanes -std=c++17 -arch=sm_90 -I\"\$top/tools/lib\" -I\"\$top/tools/cuda\" -cubin -o races.cubin \"\$top/tests/gpu/races.cu\""
done
done_testing
