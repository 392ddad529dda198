#!/bin/sh
# The kernels that stream experts, on a CPU, beside the CPU backend: one row and
# several, the same experts and others, one and many, shapes that no tile divides.
. "${0%/*}/tap.sh"
# shellcheck source=tests/cuda.sh
. "$top/tests/cuda.sh"
can_emulate

# shellcheck disable=SC2046,SC2086 # words of a command
(cd "$top" && g++ -std=c++17 -O2 -fno-strict-aliasing -fno-extern-tls-init -Itests -Itools/lib -Itools/cuda -isystem "$cuda/include" \
    -include emulate-launch.hpp -x c++ -c -o "$dir/experts.o" tools/cuda/experts.cu &&
    "$cc" -Itools/lib -isystem "$cuda/include" -o "$dir/experts-emulate" tests/experts-emulate.c "$dir/experts.o" \
    $(for part in ffn matmul norm split; do echo "$build/worker/$part.o"; done) "$build/libns.a" $flags -lstdc++ -lpthread) >log 2>&1
ok 'builds' '[ -x experts-emulate ] || { cat log; false; }'

# near NAME HIDDEN FFN EXPERTS TOP ROWS summed|as-is told|own: told, rows share experts.
near() {
	name=$1
	shift
	case $word in f16) most=1e-3 ;; *) most=8e-3 ;; esac
	ok "$name, $word" "error=\$(timeout 60 ./experts-emulate $word $*) && echo \"off by \$error\" && awk -v e=\$error 'BEGIN { exit !(e <= $most) }'"
}
for word in bf16 f16; do
	near 'few blocks, all under way at once'             72  16   8 2 1 summed own
	near 'the same, four rows'                           24   8   4 1 4 as-is  own
	near 'one row, eight experts'                       264 104   8 8 1 summed own
	near 'one expert, its share as it is'                72  40   5 1 1 as-is  own
	near 'hidden of more loads than are ahead'         2056  40   8 3 1 as-is  own
	near 'an expert of several pieces'                   72 712  16 3 1 summed own
	near 'two rows, each its own'                       136  48  64 8 2 as-is  own
	near 'two rows, the same experts, told'             136 104  16 4 2 summed told
	near 'eight rows, eight experts each'                72  24 128 8 8 summed own
	near 'eight rows, pairs of them together, told'      72  24  64 7 8 as-is  told
	near 'more choices than experts'                     72  40   4 2 8 summed own
done
done_testing
