#!/bin/sh
# ns-worker's logits against those of transformers, recorded by reference.py
# for synthetic checkpoints of every architecture: see data/reference/README.
. "${0%/*}/tap.sh"
command -v ns-synth >/dev/null || skip 'ns-synth is not built'
OMP_NUM_THREADS=1
export OMP_NUM_THREADS

reference=$data/reference
# row MODEL FIELD: of reference.tsv.
row() { awk -F '\t' -v m="$1" -v f="$2" '$1 == m { gsub(",", " ", $f); print $f }' "$reference/reference.tsv"; }

# same MODEL DTYPE TOLERANCE
same() {
	name=$1$2 dtype=${2#-}
	yaml2kv "$top/tests/models/$1.yaml" | ns-synth --dtype "${dtype:-f32}" - "$name" || return 1
	row "$name" 3 >prompt
	ns-worker -m "$name" --tokens prompt -g 8 -r 1 -w 0 --dump-logits got.f32 \
	    --dump-tokens got.tsv >baseline.tsv || return 1
	[ "$(awk -F '\t' '$3 == "generated" { print $4 }' got.tsv | paste -sd ' ')" = "$(row "$name" 4)" ] &&
	    "$top/tests/compare-logits" "$(row "$name" 2)" "$reference/$name.f32" got.f32 "$3"
}

for model in llama llama3 mistral mixtral qwen2 qwen3 qwen3-moe; do
	ok "$model, f32: within 1e-5"  "same $model '' 1e-5"
	ok "$model, bf16: within 2e-2" "same $model -bf16 2e-2"
done
done_testing
