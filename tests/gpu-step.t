#!/bin/sh
# tests/gpu/step.c on small shapes: it builds; on a GPU, logits of all choices are
# the same bits, and a step's stamps add up.
. "${0%/*}/tap.sh"
# shellcheck source=tests/cuda.sh
. "$top/tests/cuda.sh"
# shellcheck disable=SC2046 # an object a word
gpu_program gpu-step tests/gpu/step.c $(find "$build/worker" -name '*.o')

# steps NAME BATCH TOKENS SETTING=VALUE...
steps() {
	name=$1 run="$2 $3"
	shift 3
	for s in hidden_size=512 ffn_size=1000 vocab_size=1000 max_positions=4096 "$@"; do printf '%s: %s\n' "${s%%=*}" "${s#*=}"; done >new
	{ grep -v -E "^($(cut -d: -f1 new | paste -sd '|')):" "$top/tests/models/$name.yaml"; cat new; } | yaml2kv - >model.kv
	# shellcheck disable=SC2086 # two numbers
	./gpu-step $name $run stamps.tsv <model.kv >table 2>err
	status=$?
	grep -q -e 'no device' -e 'not with this model, batch and device' err && { skip_one "$name $run" "$(head -n 1 err)"; return; }
	ok "$name $run: all choices, the same logits" "cat table err; [ $status -eq 0 ] && awk -F '\\t' '\$10 != \"same\" || !(\$7 > 0 && \$9 > 0 && \$9 < 1) { exit 1 } END { exit NR < 6 }' table"
	ok "$name $run: stamps" "ns-stamps stamps.tsv >sums && cat sums && awk -F '\\t' 'NR > 1 && !(\$5 > 0) { exit 1 } END { exit NR != 7 }' sums"
}
steps qwen3 1 100 n_heads=8 n_kv_heads=4 head_dim=128 dtype=bf16
steps qwen2 1 2000 n_heads=8 n_kv_heads=2 head_dim=64 dtype=bf16
steps qwen2 8 300 n_heads=8 n_kv_heads=2 head_dim=64 dtype=bf16
steps llama 3 100 n_heads=8 n_kv_heads=4 head_dim=128 dtype=f16
done_testing
