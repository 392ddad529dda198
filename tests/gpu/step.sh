#!/bin/sh
# step.sh [FOLDER]: what a decode step as one kernel gains by how many stages of
# weights are under way, and how many are empty then; the first choice is
# ns-worker's.  Random weights of four shapes, no checkpoint; a table of all
# choices, then where the time of the fastest goes (ns-stamps); the stamps
# themselves are left in FOLDER, if one is named.
#
#	make build/gpu-step build/kit/yaml2kv build/kit/ns-stamps	# where there is nvcc
#	NS_BUILD=FOLDER sh tests/gpu/step.sh	# with those three in FOLDER
#
# CASES='MODEL:BATCH:TOKENS ...' chooses; timeout 120 around it is meant to be enough for all.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${NS_BUILD:-$top/build}
PATH=$build:$build/kit:$PATH
command -v gpu-step >/dev/null || { echo "step.sh: no gpu-step in $build: make build/gpu-step" >&2; exit 2; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
out=${1:-$dir}
status=0

printf 'model\tbatch\ttokens\tblocks\tunder_way\tlow\tstep_us\tleast_us\tread_ratio\tlogits\n'
for c in ${CASES:-qwen:1:128 llama-1b:1:128 qwen-3b:1:128 qwen-7b:1:128 qwen-7b:1:32000 qwen-7b:8:128}; do
	model=${c%%:*} tokens=${c##*:} batch=${c#*:}
	batch=${batch%:*} yaml=$top/configs/models/$model.yaml
	[ -e "$yaml" ] || yaml=$top/tests/gpu/$model.yaml
	yaml2kv "$yaml" >"$dir/model.kv"
	timeout 40 gpu-step "$model" "$batch" "$tokens" "$out/$model.$batch.$tokens.tsv" <"$dir/model.kv" || status=$?
done
for stamps in "$out"/*.tsv; do
	[ -e "$stamps" ] || continue
	printf '\n%s\n' "$(basename "$stamps" .tsv)"
	ns-stamps "$stamps" || status=$?
done
exit $status
