#!/bin/sh
# Products by cuBLASLt and by the own kernels: all of a result is written, and
# both are the same.  compute-sanitizer's initcheck sees no store of cuBLASLt's
# bulk-copy kernels (nvjet) and calls what they wrote uninitialised; a result
# full of NaN before the product tells the truth.
. "${0%/*}/tap.sh"
if [ -x "$build/products" ]; then	# made elsewhere
	cp "$build/products" .
else
	[ -e "$build/libcuda.a" ] || skip "no $build/libcuda.a: make, with nvcc"
	# shellcheck disable=SC2046 # its words are the command
	set -- $(cat "$build/flags")
	nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
	home=$(dirname "$(dirname "$(realpath "$nvcc")")")
	(cd "$top" && cc=$1 && shift && "$cc" -Itools/cuda -isystem "$home/include" -o "$dir/products" tests/gpu/products.c \
	    "$build/libcuda.a" "$build/libns.a" -L"$home/lib64" -L"$home/lib" -lcudart_static -lrt -lpthread "$@") >build.log 2>&1
fi
[ -x products ] || { sed 's/^/# /' build.log; echo 'not ok 1 - builds'; echo 1..1; exit 1; }
./products >table 2>err
status=$?
grep -q -e 'no CUDA-capable device' -e 'driver version is insufficient' err && skip "$(cat err)"
[ $status -eq 0 ] || sed 's/^/# /' err table
ok 'every element of every result is written, and right' "[ $status -eq 0 ]"
is 'of 12 shapes, three words, two results' 72 'tail -n +2 table | wc -l'
done_testing
