#!/bin/sh
# tools/cuda/step-plan.h: a decode step's work, dealt to the blocks of one kernel.
. "${0%/*}/tap.sh"

c_program step-plan -Itools/cuda tests/step-plan.c tools/cuda/step-plan.c

# best BLOCKS LAYERS HIDDEN QKV Q FFN VOCAB: of so many blocks, or up to a sixth fewer with
# no more than 8 tiles of hidden each, how many read the least while those with most tiles
# read theirs; a block less is a quarter of its share dearer.
best() {
	awk -v most="$1" -v layers="$2" -v h="$3" -v qkv="$4" -v q="$5" -v ffn="$6" -v vocab="$7" '
	function up(x) { return x == int(x) ? x : int(x) + 1 }
	function read(rows, cols) { return up(up(rows / 8) / b) * b * cols }
	BEGIN { for (b = most; b >= most - int(most / 6) && up(h / 8) <= 8 * b; b--) {
		cost = layers * (read(qkv, h) + read(h, q) + read(ffn, 2 * h) + read(h, ffn)) + read(vocab, h)
		cost *= 1 + (most - b) / (4 * most)
		if (least == "" || cost < least) { least = cost; at = b }
	} print at }'
}
# dealt NAME BLOCKS WORDS...: fairly, and as many blocks would be best.
dealt() {
	name=$1 blocks=$2
	shift 2
	is "$name" "$blocks $blocks" "echo \$(./step-plan $*) \$(best $*)"
}
# On 132: 512, 128 and 384 tiles of qkv, hidden and ffn are 4, 1 and 3 of 128 blocks.
dealt 'Qwen3-0.6B'               128 132 28 1024 4096 2048 3072 151936 8
# 384, 256 and 1024 are 3, 2 and 8.
dealt 'Llama-3.2-1B'             128 132 16 2048 3072 2048 8192 128256 8
# 448 of hidden and 2368 of ffn are 3.8 and 19.9 of 119; of 132, 3.4 and 17.9, so that most wait.
dealt 'Qwen2.5-7B'               119 132 28 3584 4608 3584 18944 152064 4
dealt 'Qwen2.5-7B, 33 spans'     119 132 28 3584 4608 3584 18944 152064 132
# 65 would have 12, 8 and 28, which wastes 1 % less than 78, and be a sixth fewer.
dealt 'Llama-3.1-8B on 78'       78 78 32 4096 6144 4096 14336 128256 8
dealt 'rows that make no whole tile' 7 7 3 256 648 448 707 1001 2
dealt 'one block has it all'     1 1 2 64 96 32 160 320 2
# 268 tiles of hidden, no more than 8 a block.
dealt 'no fewer than have room for hidden' 34 34 1 2144 192 64 40 41 1
is 'more tiles of hidden than a block has room for: no deal' no './step-plan 4 1 4096 6144 4096 14336 128256 8'
is 'so many that a part cannot tell them: no deal' no './step-plan 132 1 1024 4096 2048 3072 600000 8'
done_testing
