#!/bin/sh
# Products by cuBLASLt and by the own kernels: all of a result is written, and
# both are the same.  compute-sanitizer's initcheck sees no store of cuBLASLt's
# bulk-copy kernels (nvjet) and calls what they wrote uninitialised; a result
# full of NaN before the product tells the truth.
. "${0%/*}/tap.sh"
# shellcheck source=tests/cuda.sh
. "$top/tests/cuda.sh"
gpu_program products tests/gpu/products.c
./products >table 2>err
status=$?
grep -q -e 'no CUDA-capable device' -e 'driver version is insufficient' err && { skip_one 'products' "$(cat err)"; done_testing; }
[ $status -eq 0 ] || sed 's/^/# /' err table
ok 'every element of every result is written, and right' "[ $status -eq 0 ]"
is 'of 12 shapes, three words, two results' 72 'tail -n +2 table | wc -l'
done_testing
