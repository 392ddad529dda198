# shellcheck shell=sh disable=SC2154	# what tap.sh has set
# Sourced after tap.sh, with the tools that are needed as arguments: a tier of ncu
# by itself, in this directory, on what an H200 recorded, with tests/fake/ncu.  The
# timeline is as if nsys2tsv had read it: its work is phased already.

command -v xz >/dev/null || skip 'no xz here'
h=$data/h200-kernels
mkdir -p build bin recorded/ncu r && ln -s "$top/mk" mk && ln -s "$top/configs" configs && ln -s "$top/tools" tools
for t; do ln -s "$build/$t" build; done
ln -s "$top/tests/fake/ncu" bin
PATH=$dir/bin:$PATH
for p in prefill decode; do cp "$h/kernels-$p.csv" recorded/ncu/kernel-full-$p.csv; done
xz -dc "$h/phased.tsv.xz" >r/timeline.sqlite
printf '#!/bin/sh\ncat r/timeline.sqlite\n' >build/nsys2tsv
printf '#!/bin/sh\ncat\n' >build/ns-phases
chmod +x build/nsys2tsv build/ns-phases
echo 1 >worker.sum

cat >alone.mk <<'X'
include mk/common.mk
include mk/record.mk
R := r
platform := gh100
capturing := run
profile_top_kernels := 20
workload_generate_tokens := 16
workload_prompt_tokens := 32
watched_args := workload_prompt_tokens workload_generate_tokens
watched = build/ns-worker -g $(workload_generate_tokens)
watched_sum := worker.sum
watched_after :=
ncu_program := ncu
stage = mk/stage.sh $1 $@.stage
config = build/configs/$1.kv
counted := none
all: more
X
