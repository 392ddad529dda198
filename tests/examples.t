#!/bin/sh
# shellcheck disable=SC2016,SC2034	# commands are evaluated by tap.sh
# Each example's report is what its captures come to, without a profiler, and says
# what was measured there.
. "${0%/*}/tap.sh"

command -v gnuplot >/dev/null || skip 'no gnuplot here'
command -v xz >/dev/null || skip 'no xz here'
cp -a "$top/Makefile" "$top/mk" "$top/tools" "$top/configs" . && cp -a "$build" build
mkdir bin && for p in ncu nsys; do printf '#!/bin/sh\ntouch %s/called\n' "$dir" >bin/$p; chmod +x bin/$p; done
PATH=$dir/bin:$PATH
for e in "$top"/docs/examples/*/; do
	name=$(basename "$e")
	cp -R "$e/captures" "$name" && xz -d "$name"/*.xz
	ok "$name: to its report" "make -s -f mk/run.mk MODEL=${name#*-} BACKEND=cuda R=$name report"
	ok "$name: is the one that is kept (make examples)" "diff $e/report.md $name/report.md"
	ok "$name: with its figures" "for f in $name/figures/*.svg; do [ -s $e/figures/\${f##*/} ] || exit 1; done"
	ok "$name: no path of the machine it was made on" "! grep -rlaE '/(tmp|root|home|work)\\b|(HOME|PATH)=' $e $name"
	ok "$name: trusted" "grep -q '\*\*Trusted\*\*' $name/report.md"
done
ok 'no profiler was called' '[ ! -e called ]'

# The H200: by arithmetic, a decode step reads the weights, 1192099840 bytes less the
# embedding rows that are not looked up, and a cache of 32 to 47 tokens, 114688 each.
value() { awk -F '\t' -v w="$2" -v c="$3" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["phase"] " " $at["step"] " " $at["rung"] " " $at["source"] == w { print $at[c] }' "$1"; }
near() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a / b - 1; exit !(a != "" && d < t && d > -t) }'; }
h=h200-qwen
ok 'H200: a decode step, counted from within' 'near $(value $h/steps.tsv "decode 15 memory cupti" read_bytes) 1197492224 0.01'
ok 'H200: and by samples'         'near $(value $h/steps.tsv "decode 15 memory nsys" read_bytes) $(value $h/steps.tsv "decode 15 memory cupti" read_bytes) 0.001'
ok 'H200: and by ncu'             'awk -F "\t" "\$2 == \"decode\" && \$6 == \"dram__bytes_read.sum\" { s += \$7 } END { exit !(s > 1.18e9 && s < 1.21e9) }" $h/launches.tsv'
ok 'H200: the aperture is no measure' 'grep -q "^derivation.lts__t_sectors_aperture_device_op_read_lookup_miss.sum.*	na	.*1.5 times" $h/checks.tsv'
is 'H200: kernels'                '286 1'  'grep "^kernels" $h/checks.tsv | cut -f 5 | xargs'
# 28 layers of five ops and the output head; a block of attention for each of 8 KV heads.
is 'H200: all of its step is there' '28 128|28 8|28 128|28 128|28 128|1 128|1' 'awk -F "\t" "NR > 1 { print \$2, \$3; s += \$6 } END { print s }" $h/ops.tsv | paste -sd "|"'
# As ncu's own percentage has it, of the launches that were profiled.
ncu2tsv --metrics sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed $h/kernels-prefill.csv >busy
ok 'H200: tensor pipes are as busy as ncu says' "awk -F '\t' 'FNR == 1 { for (i = 1; i <= NF; i++) at[\$i] = i; file++; next }
	file == 1 { ncu[\$at[\"kernel\"]] = \$at[\"value\"]; next }
	\$at[\"phase\"] == \"prefill\" && \$at[\"kernel\"] ~ /nvjet|flash/ { d = 100 * \$at[\"tensor_ratio\"] - ncu[\$at[\"kernel\"]]; n++; if (d > 0.011 || d < -0.011) exit 1 } END { exit n < 4 }' busy $h/detail.tsv"
ok 'README.md shows how it ended' 'mkdir runs && cp -R $h runs/qwen.default.cuda && ns-report -f verdict runs/qwen.default.cuda | sed "s/^/    /" >six &&
	sed -n "/^    qwen.default.cuda:/,/^    read on/p" $top/README.md | diff six -'
done_testing
