#!/bin/sh
# wide.cu beside the product and the SiLU of others: near, the same bits each time, nothing
# written beyond the end.
. "${0%/*}/tap.sh"
# shellcheck source=tests/cuda.sh
. "$top/tests/cuda.sh"
gpu_program wide tests/gpu/wide.c
./wide >table 2>err
status=$?
grep -q -e 'no CUDA-capable device' -e 'driver version is insufficient' -e 'not a product' err && { skip_one 'wide' "$(cat err)"; done_testing; exit; }
[ $status -eq 0 ] || sed 's/^/# /' err table
ok 'every element of every result is right' "[ $status -eq 0 ]"
is 'of 15 shapes, seven batches, two types' 210 'tail -n +2 table | wc -l'
done_testing
