#!/bin/sh
# Real weights: the greedy continuation that transformers gives, token by token.
. "${0%/*}/tap.sh"
checkpoint=$top/build/smollm2/checkpoint
[ -e "$checkpoint" ] || skip 'no real weights here: tests/smollm2.sh fetches them'
OMP_NUM_THREADS=1
export OMP_NUM_THREADS

field() { awk -F '\t' -v f="$1" '$1 == "smollm2" { gsub(",", " ", $f); print $f }' "$data/reference/reference.tsv"; }
field 3 >prompt
is 'SmolLM2-135M-Instruct continues as transformers does' "$(field 4)" \
    "ns-worker -m $checkpoint --tokens prompt -g 31 -r 1 -w 0 --dump-tokens t >/dev/null &&
    awk -F '\t' '\$3 == \"generated\" { print \$4 }' t | paste -sd ' '"
done_testing
