# shellcheck shell=sh disable=SC2154	# what tap.sh has set
# Sourced after tap.sh: this directory is the project on a machine with an H200.  ncu
# and what runs on the device are tests/fake/h200, which hands out what one once
# said, nsys is tests/fake/nsys; the rest is real.

recorded=$data/h200-run
[ -e "$recorded/phases.csv" ] || skip "no recording in $recorded"
command -v flock >/dev/null || skip 'no flock here'
cp -a "$top/Makefile" "$top/mk" "$top/tools" "$top/configs" . && cp -a "$build" build && cp -R "$recorded" recorded
mkdir bin build/real && mv build/ns-calib build/ns-plan build/ns-probe build/ns-worker build/real
cp "$top/tests/fake/h200" bin/ncu && cp "$top/tests/fake/nsys" "$top/tests/fake/gnuplot" bin && rm -rf build/configs
for s in a b; do mv recorded/sampled-$s.sqlite recorded/$s.sqlite; done
mkdir sets && printf 'version: 5\nmetricSets:\n- alias: gh100\n  chips: [GH100]\n' >sets/gh100.config
for t in ns-calib ns-plan ns-probe ns-worker; do cp bin/ncu build/$t; done
sed -i 's|^ncu=.*|ncu=ncu|; s|^nsys=.*|nsys=nsys|; s|^gpu_throttle=.*|gpu_throttle=none|' recorded/probe.kv
# As small as a checkpoint can be whose header is the recorded one's.
mkdir -p checkpoints && cp recorded/model.kv recorded/tensors.tsv checkpoints/
cat >build/discover <<'T'
#!/bin/sh
[ $1 = model ] && cat checkpoints/model.kv || cat checkpoints/tensors.tsv
T
chmod +x build/discover && mv build/ns-discover build/real && mv build/discover build/ns-discover
mkdir checkpoint && echo '{}' >checkpoint/config.json
find . -type f -exec touch -d 2020-01-01 {} +
PATH=$dir/bin:$PATH
