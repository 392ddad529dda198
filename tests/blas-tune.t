#!/bin/sh
# Which of cuBLASLt's offers decode's products take: blas-tune.c over a library and
# a device that are made up.
. "${0%/*}/tap.sh"
# shellcheck source=tests/cuda.sh
. "$top/tests/cuda.sh"
cuda_flags

# shellcheck disable=SC2086 # words of a command
(cd "$top" && "$cc" -DNS_CUDA -Itools/lib -isystem "$cuda/include" -o "$dir/blas-tune" tests/blas-tune.c \
    tools/cuda/blas.c tools/cuda/blas-tune.c "$build/libns.a" $flags) >log 2>&1
ok 'builds' '[ -x blas-tune ] || { cat log; false; }'

is 'the first, where it is the fastest'  0           './blas-tune 4 96 f32 100 101 150'
is 'the fastest'                         '2 changed' './blas-tune 4 96 f32 100 95 80 110'
is 'the same, added once'                '2 changed' './blas-tune 4 96 add 100 95 80 110'
is 'of those with the bits of the first' '3 changed' './blas-tune 4 96 f32 100 50o 120o 90 80o'
is 'the same, added once'                '3 changed' './blas-tune 4 96 add 100 50o 120o 90 80o'
is 'one row'                             '1 changed' './blas-tune 1 96 add 100 90 80o'
is 'what fails is none'                  '2 changed' './blas-tune 4 96 f32 100 50f 90'
is 'of equals the first'                 0           './blas-tune 4 96 f32 100 99 98.5'
is 'of equals that are faster, too'      '1 changed' './blas-tune 4 96 f32 100 90.5 90'
is 'all others fail'                     0           './blas-tune 4 96 f32 100 50f 50f'
is 'the first fails: as ever'            0           './blas-tune 4 96 f32 100f 50'
is 'a single offer'                      0           './blas-tune 4 96 f32 100'
is 'many rows'                           0           './blas-tune 65 96 f32 100 50'
is 'more rows than columns'              0           './blas-tune 33 32 f32 100 50'
is 'as many'                             '1 changed' './blas-tune 32 32 f32 100 50'
done_testing
