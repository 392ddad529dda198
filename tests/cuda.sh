# shellcheck shell=sh disable=SC2034,SC2154	# used by whom it is sourced; what tap.sh has set
# Sourced after tap.sh by tests that compile against CUDA, whose home is in $cuda.

# cuda_flags: or else this test is skipped.  The compiler and flags of the build.
cuda_flags() {
	[ -s "$build/flags" ] || skip "no $build/flags: run make"
	nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
	cuda=$("$nvcc" --dryrun -x cu /dev/null 2>&1 | sed -n 's/^.* _HERE_=//p')/..
	[ -f "$cuda/include/cuda_runtime_api.h" ] || skip 'no headers of CUDA'
	cc=$(cut -d ' ' -f 1 "$build/flags") flags=$(cut -d ' ' -f 2- "$build/flags")
}

# can_emulate: a kernel on a CPU, or else this test is skipped.
can_emulate() {
	cuda_flags
	! grep -q -e -fsanitize "$build/flags" || skip 'a sanitizer cannot follow contexts that take turns'
	command -v g++ >/dev/null || skip 'no g++'
}

# gpu_program NAME SOURCE [OBJECT...]: brought along in the build, or built here.
gpu_program() {
	program=$1 source=$2
	shift 2
	if [ -x "$build/$program" ]; then
		cp "$build/$program" .
	else
		[ -e "$build/libcuda.a" ] || skip "no $build/libcuda.a: make, with nvcc"
		cuda_flags
		# shellcheck disable=SC2086 # words of a command
		(cd "$top" && "$cc" -Itools/cuda -isystem "$cuda/include" -o "$dir/$program" "$source" "$@" "$build/libcuda.a" "$build/libns.a" \
		    -L"$cuda/lib64" -L"$cuda/lib" -lcudart_static -lrt -lpthread $flags) >log 2>&1
	fi
	ok 'builds' "[ -x $program ] || { cat log; false; }"
	[ -x "$program" ] || { done_testing; exit; }
}
