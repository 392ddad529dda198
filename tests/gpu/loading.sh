#!/bin/sh
# loading.sh CHECKPOINT: how fast ns-worker loads it, beside what reading its files
# into pinned memory takes, and reading and copying them to the device, by as many
# threads: pread.c does that and nothing else.  All from the page cache.
#
# out  what  bytes  dur_ns  gb_per_s  of_it
#      medians of five; of_it: the worker's rate as a share of that one
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${NS_BUILD:-$top/build}
PATH=$build:$PATH
[ $# -eq 1 ] || { echo 'usage: loading.sh checkpoint' >&2; exit 2; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

if ! command -v pread >/dev/null; then
	nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
	home=$(dirname "$(dirname "$(realpath "$nvcc")")")
	"${CC:-gcc}" -O2 -fopenmp -D_GNU_SOURCE -I"$home/include" -o "$dir/pread" "$top/tests/gpu/pread.c" \
	    -L"$home/lib64" -L"$home/lib" -lcudart_static -ldl -lrt -lpthread
	PATH=$dir:$PATH
fi
cat "$1"/*.safetensors >/dev/null
for i in 1 2 3 4 5; do
	ns-worker -d cuda -m "$1" -p 1 -g 0 -r 1 -w 0 --loading "$dir/loading" >"$dir/ignored"
	tail -n 1 "$dir/loading"
done | sort -n -k 2 | sed -n 3p >"$dir/worker"
read -r bytes took threads <"$dir/worker"
pread "$threads" 4194304 "$1"/*.safetensors | awk -v OFS='\t' -v bytes="$bytes" -v took="$took" '
	NR == 1 { print $0, "gb_per_s", "of_it"; next }
	{ print $1, $2, $3, sprintf("%.1f", $2 / $3), $1 == "pinned" ? "NA" : sprintf("%.2f", bytes / took / ($2 / $3)) }
	END { print "worker", bytes, took, sprintf("%.1f", bytes / took), "NA" }' FS='\t'
