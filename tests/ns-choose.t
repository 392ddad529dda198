#!/bin/sh
. "${0%/*}/tap.sh"

# Two steps of decode and a prefill; times by hand.  b runs in two shapes; d alone in step 0.
table work.tsv <<'T'
start_ns end_ns kind  device phase   step name grid    block  registers shared_bytes
0        900    window NA     prefill 0   nvtx NA      NA     NA        NA
0        100    kernel 0      prefill 0   a    4x1x1   32x1x1 16        0
100      400    kernel 0      prefill 0   b    8x1x1   32x1x1 20        64
400      500    copy   0      prefill 0   copy NA      NA     NA        NA
1000     1010   kernel 0      decode  0   b    8x1x1   32x1x1 20        64
1010     1030   kernel 0      decode  0   b    8x1x1   32x1x1 20        128
1030     1100   kernel 0      decode  0   d    1x1x1   32x1x1 20        0
2000     2010   kernel 0      decode  1   b    8x1x1   32x1x1 20        64
2010     2050   kernel 0      decode  1   b    8x1x1   32x1x1 20        128
2050     2060   kernel 0      NA      NA   e    1x1x1   32x1x1 20        0
T
chosen() { ns-choose "$@" | cut -f 1-4,6,9-14; }
asked() { ns-choose --ask "$@" | tr '\0' '\n'; }

# 400 ns of prefill, 150 of decode: d 70, b with 128 bytes 60, with 64 bytes 20
is 'each shape by its time' 'phase	rank	step	kernel	grid	shared_bytes	n_launches	sum_ns	own_ns	mean_ns	share_ratio
prefill	1	0	b	8x1x1	64	1	300	300	300	0.75
prefill	2	0	a	4x1x1	0	1	100	100	100	0.25
decode	1	0	d	1x1x1	0	1	70	70	70	0.466666666667
decode	2	1	b	8x1x1	128	2	60	60	30	0.4
decode	3	1	b	8x1x1	64	2	20	20	10	0.133333333333' 'chosen work.tsv'
is 'from stdin'        '' 'ns-choose <work.tsv >a; ns-choose - <work.tsv | diff - a'
is 'the first of each phase' 'prefill.b decode.d' 'ns-choose -k 1 work.tsv | awk "NR > 1 { print \$1 \".\" \$4 }" | paste -sd " "'
is 'a share is of all' 0.75 'ns-choose -k 1 work.tsv | awk "NR == 2 { print \$14 }"'
is 'one phase'         'decode decode' 'ns-choose -k 2 -p decode work.tsv | sed 1d | cut -f 1 | paste -sd " "'

# a waits for b, and for a copy of no phase; on the other device there is nobody to wait for
table early.tsv <<'T'
start_ns end_ns kind   device phase  step name grid  block  registers shared_bytes
0        100    kernel 0      decode 0    b    1x1x1 32x1x1 20        0
10       110    kernel 0      decode 0    a    1x1x1 32x1x1 16        0
105      120    copy   0      NA     NA   copy NA    NA     NA        NA
115      150    kernel 0      decode 0    a    1x1x1 32x1x1 16        0
120      160    kernel 1      decode 0    c    1x1x1 32x1x1 16        0
T
is 'what waits is not long' 'b 100 100 100
a 135 40 67.5
c 40 40 40' 'ns-choose early.tsv | sed 1d | cut -f 4,11-13 | tr "\t" " "'
is 'nor where another phase is waited for' 'a 40
c 40' 'sed "2s/decode/prefill/" early.tsv | ns-choose -p decode | sed 1d | cut -f 4,12 | tr "\t" " "'

# ---- asking
ns-choose work.tsv >chosen.tsv
is 'one run asks for all' '--nvtx
--nvtx-include
nsbench@decode.0/
--nvtx-include
nsbench@decode.1/
--filter-mode
per-launch-config
--launch-count
1
--kernel-name-base
mangled
--print-kernel-base
mangled
--kernel-name
regex:^(d|b)$' 'asked -p decode chosen.tsv'
is 'prefill has no step'  nsbench@prefill/ 'asked -p prefill chosen.tsv | sed -n 3p'
is 'names as expressions' 'regex:^(a\.b\$c|it'"'"'s "a<\(b\)>"; \[\*\?\+\|\^\{1\}\\)$' \
	'printf "phase\tstep\tkernel\ndecode\t0\ta.b\$c\ndecode\t0\tit'"'"'s \"a<(b)>\"; [*?+|^{1}\\\\\n" | asked | tail -1'
long=$(printf 'x%.0s' $(seq 4096))
{ printf 'phase\tstep\tkernel\n'; printf 'decode\t0\t%s\n' "$long" '$(touch here)`touch here`' "a'b\"c,d;e&f>here" 'back\\slash' '-x'; } >odd.tsv
is 'odd names reach a command as they are' 'regex:^('"$long"'|\$\(touch here\)`touch here`|a'"'"'b"c,d;e&f>here|back\\\\slash|-x)$' \
	'bash -c "mapfile -d \"\" -t ask < <(ns-choose --ask odd.tsv); printf %s \"\${ask[-1]}\""'
ok 'and none is run'  '[ ! -e here ]'
is 'each word ends in a NUL' 13 'ns-choose --ask -p prefill chosen.tsv | tr -dc "\0" | wc -c'

# ---- names
name() { printf 'start_ns\tend_ns\tkind\tdevice\tphase\tstep\tname\tgrid\tblock\tregisters\tshared_bytes\n0\t1\tkernel\t0\tprefill\t0\t%s\t1x1x1\t1x1x1\t1\t0\n' "$1" |
	ns-choose | sed 1d | cut -f 5; }
while IFS='|' read -r mangled want; do
	if [ "$(name _Z1fv)" = f ]; then is "$mangled" "$want" "name '$mangled'"; else
		skip_one "$mangled" 'no libstdc++.so.6 here'
	fi
done <<'X'
_Z1fPf|f
_Z4gemvI13__nv_bfloat16Lb1ELb0ELi2EEv4gemv|gemv<__nv_bfloat16, true, false, 2>
_ZN12_GLOBAL__N_11aEPf|(anonymous namespace)::a
_ZN2ns1KIiE3runEPFvvE|ns::K<int>::run
_ZNK1A1fEi|A::f
_Z1fPfi.part.0|f
_ZNK1AclEi|A::operator()
X
is 'no C++ name'      nvjet_sm90_tst 'name nvjet_sm90_tst'
is 'mangled badly'    _Znonsense     'name _Znonsense'
# Each argument is twice the one before: f(A<int, int>, A<A<int, int>, A<int, int> >, ...).
doubling=$(awk -v n=26 'BEGIN { d = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"; s = "_Z1f1AIiiE"
	for (i = 1; i <= n; i++) { r = "S" substr(d, i, 1) "_"; s = s "S_I" r r "E" } print s }')
is 'one that would be 2 GB long' "$doubling" "name $doubling"
is 'one that nests too deeply' 1 'name "_Z1f$(printf "P%.0s" $(seq 60000))i" | grep -c "^_Z1fPPP"'
is 'one that says the same for ever' f 'name _Z1f1AIiiES_IS0_S0_ES_IS1_S1_E'

# ---- a real timeline: MODEL=qwen on an H200, a prefill and two steps
if command -v xz >/dev/null; then
	xz -dc "$data/h200-kernels/phased.tsv.xz" >phased.tsv
	# Shapes and times by awk, alone.
	awk -F '\t' 'NR > 1 && $3 == "kernel" { k = $10 "\t" $12 "\t" $13 "\t" $14 "\t" $16; n[k]++; s[k] += $2 - $1 }
	    END { for (k in n) print k "\t" n[k] "\t" s[k] }' phased.tsv | sort >wanted
	is 'H200: every shape' '' 'ns-choose -k 100 phased.tsv | sed 1d | cut -f 1,4,6,7,9-11 | sort | diff wanted -'
	is 'H200: shares of a phase are all of it' '1.000000 1.000000' \
	    'ns-choose -k 100 phased.tsv | awk -F "\t" "NR > 1 { s[\$1] += \$14 } END { printf \"%.6f %.6f\n\", s[\"prefill\"], s[\"decode\"] }"'
	is 'H200: own time as in the timeline' '' 'ns-timeline --kernels phased.tsv | awk -F "\t" "NR > 1 { s[\$1] += \$5 } END { print s[\"prefill\"], s[\"decode\"] }" >a
	    ns-choose -k 100 phased.tsv | awk -F "\t" "NR > 1 { s[\$1] += \$12 } END { print s[\"prefill\"], s[\"decode\"] }" | diff a -'
	is 'H200: decode is asked of its last step' nsbench@decode.15/ \
	    'ns-choose phased.tsv >c; asked -p decode c | sed -n "/include/{n;p}"'
else
	skip_one 'H200' 'no xz here'
fi

# ---- what is refused
edit() { awk -F '\t' -v OFS='\t' "$1" work.tsv; }
exits 2 'no kernel in the phase' 'ns-choose -p warmup work.tsv'    'work.tsv: no kernel in warmup'
exits 2 'header only'            'sed 1q work.tsv | ns-choose'     'stdin: no kernel in any phase'
exits 2 'empty'                  'ns-choose </dev/null'            'stdin'
exits 2 'kernels hidden'         'edit "{ sub(/kernel/, \"graph\") } 1" | ns-choose' '7 graph replays hide their kernels: record with nsys profile --cuda-graph-trace=node'
exits 0 'some hidden'            'edit "NR == 4 { sub(/kernel/, \"graph\") } 1" | ns-choose' '1 graph replays hide their kernels: the choice is of the others'
exits 2 'no column'              'cut -f 1-10 work.tsv | ns-choose' 'shared_bytes'
exits 2 'a ragged row'           'edit "NR == 4 { NF = 5 } 1" | ns-choose' 'stdin:4'
exits 2 'a bad number'           'edit "NR == 4 { \$1 = \"x\" } 1" | ns-choose' 'stdin:4: start_ns'
exits 2 'the end before the start' 'edit "NR == 4 { \$2 = 99 } 1" | ns-choose' "stdin:4: end_ns: '99' is before the start"
exits 2 'no time'                'edit "NR == 4 { \$2 = \"NA\" } 1" | ns-choose' 'a time was expected'
exits 2 'out of order'           'edit "NR == 4 { \$1 = 1001; \$2 = 1002 } 1" | ns-choose' 'stdin:5: start_ns: out of order: sort the rows first: sort -n'
exits 2 'too long a time'        'edit "NR == 3 || NR == 4 { \$1 = 0; \$2 = \"9223372036854775807\"; \$7 = \"a\"; \$8 = \"4x1x1\"; \$11 = 0 } 1" | ns-choose' 'stdin:4: end_ns: the sum of times is beyond 64 bits'
exits 2 'a last line cut short'  'head -c -1 work.tsv | ns-choose' 'stdin:11'
exits 2 'none'                   'ns-choose -k 0 work.tsv'         'none is nothing to choose'
exits 2 'not a count'            'ns-choose -k x work.tsv'         "--kernels: not a count: 'x'"
exits 2 'nothing chosen'         'ns-choose --ask -p warmup chosen.tsv' 'chosen.tsv: nothing is chosen in phase warmup'
exits 2 'chosen of no step'      'printf "phase\tstep\tkernel\ndecode\tNA\tb\n" | ns-choose --ask' 'stdin:2: step: NA: a step was expected'
exits 2 'no such file'           'ns-choose nowhere'               'nowhere'
exits 2 'two files'              'ns-choose work.tsv work.tsv'     'usage'
exits 2 'a full disk'            'ns-choose work.tsv >/dev/full'   'stdout'
exits 2 'a full disk, asking'    'ns-choose --ask chosen.tsv >/dev/full' 'stdout'
done_testing
