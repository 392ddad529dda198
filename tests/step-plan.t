#!/bin/sh
# tools/cuda/step-plan.h: a decode step's work, dealt to the blocks of one kernel.
. "${0%/*}/tap.sh"

# The build's own flags, so that a sanitized lib gets a sanitized program.
[ -s "$build/flags" ] || skip "no $build/flags: run make"
# shellcheck disable=SC2046 # its words are the command
set -- $(cat "$build/flags")
(cd "$top" && cc=$1 && shift &&
    "$cc" -Itools/cuda -o "$dir/step-plan" tests/step-plan.c tools/cuda/step-plan.c "$build/libns.a" "$@") >log 2>&1
ok 'builds' '[ -x step-plan ] || { cat log; false; }'

# dealt NAME BYTES WORDS...: each piece once; blocks differ by no more than BYTES.
dealt() {
	name=$1 bytes=$2
	shift 2
	ok "$name" "apart=\$(./step-plan $*) && echo \"apart: \$apart\" && [ \$apart -le $bytes ]"
}
# A tile of lm_head, dealt last, evens out all but one of its kind.
dealt 'Qwen3-0.6B on 132: within a tile'      16384 132 28 1024 4096 2048 3072 151936 8
dealt 'Llama-3.2-1B on 132'                   32768 132 16 2048 3072 2048 8192 128256 8
dealt 'Qwen2.5-7B on 132'                     57344 132 28 3584 4608 3584 18944 152064 4
dealt 'Qwen2.5-7B, 33 spans'                  57344 132 28 3584 4608 3584 18944 152064 132
dealt 'Llama-3.1-8B on 78'                    65536 78 32 4096 6144 4096 14336 128256 8
dealt 'rows that make no whole tile'          4096 7 3 256 648 448 707 1001 2
dealt 'one block has it all'                  0 1 2 64 96 32 160 320 2
is 'more tiles of hidden than a block has room for: no deal' no './step-plan 4 1 4096 6144 4096 14336 128256 8'
is 'so many that a part cannot tell them: no deal' no './step-plan 132 1 1024 4096 2048 3072 600000 8'
done_testing
