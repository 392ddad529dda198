#!/bin/sh
# wide.cu on a CPU, its kernel and its plan, beside sums of doubles: every element, nothing
# written beyond the end, nothing left over at a barrier.
. "${0%/*}/tap.sh"
# shellcheck source=tests/cuda.sh
. "$top/tests/cuda.sh"
can_emulate

# tools/cuda has a cuda.h too: not for <cuda.h>.
# shellcheck disable=SC2086 # words of a command
(cd "$top" && "$cc" -Itools/cuda -c -o "$dir/wide-plan.o" tools/cuda/wide-plan.c $flags &&
    g++ -std=c++20 -O2 -fno-strict-aliasing -fno-extern-tls-init -iquote tools/lib -iquote tools/cuda -isystem "$cuda/include" \
    -o "$dir/wide-emulate" tests/wide-emulate.cpp "$dir/wide-plan.o" -lpthread) >log 2>&1
ok 'builds' '[ -x wide-emulate ] || { cat log; false; }'

ok 'all elements are right' 'timeout 100 ./wide-emulate >table || { grep wrong table; false; }'
is 'of 14 shapes, six batches, two types' '168 right' "cut -f 13 table | sed 1d | uniq -c | xargs"

# some NAME CONDITION: for each type and number of rows of x there is one so.
some() {
	is "some of each $1" 6 "awk -F '\t' 'NR > 1 && $2 { n[\$1, (\$3 > 16) + (\$3 > 32)] } END { for (i in n) k++; print k }' table"
}
# shellcheck disable=SC2016 # of awk
{
	some 'are of several tiles, spans'      '$7 > 1 && $8 > 1'
	some 'are of several tiles, passes'     '$7 > 1 && $9 > 1'
	some 'are of an odd number of slabs'    '$6 % 2 == 1 && $6 > 1'
	some 'are too few for all groups'       '$10 == 1'
	some 'go more than twice around all rings' '$6 > 32'
	some 'end amid a unit'                  '$2 == "best" && $4 % 16 > 8 && $5 % 64 != 0'
	some 'do not fill the rows of x'        '$3 % 16 != 0'
	some 'do'                               '$3 % 16 == 0'
}
done_testing
