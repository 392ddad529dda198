#!/bin/sh
. "${0%/*}/tap.sh"

# 100 bytes/ns of memory and 1000 flop/ns: the ridge is at 10 flop a byte.
cat >c <<'END'
memory_read_bytes_per_s=100e9
gemm_f32_flop_per_s=1000e9
gemm_f16_flop_per_s=NA
gemm_bf16_flop_per_s=2000e9
gemm_tf32_flop_per_s=1600e9
gemm_fp8_flop_per_s=4000e9
END
for d in F32 F16 BF16 TF32 F8_E4M3 F8_E5M2 F8_E8M0; do echo "dtype=$d" >$d; done
table s <<'END'
phase step rung read_bytes write_bytes bytes hit_ratio n_tokens n_missing n_total source
prefill 0 l2 1 1 2 0.5 8 0 2 g
prefill 0 memory 900 100 1000 NA 8 0 2 g
decode 0 memory 390 10 400 NA 2 0 2 g
decode 1 memory 600 NA 600 NA 2 1 2 g
END
table r <<'END'
phase step role read_bytes write_bytes flop
prefill 0 q 1 0 30000
prefill 0 kv_cache 1 0 10000
decode 0 q 1 0 1500
decode 1 q 1 0 500
decode 2 q 1 0 77
END
# Three repeats: decode 0 and 1 take 40, 50, 90; prefill 80, 100, 50.  Warm-up
# and decode 2 do not count.
table b <<'END'
repeat phase step n_tokens start_ns dur_ns
NA prefill 0 8 0 1
NA decode 0 2 0 1
0 prefill 0 8 0 80
0 decode 0 2 0 30
0 decode 1 2 0 10
0 decode 2 2 0 999
1 prefill 0 8 0 100
1 decode 0 2 0 20
1 decode 1 2 0 30
1 decode 2 2 0 999
2 prefill 0 8 0 50
2 decode 0 2 0 45
2 decode 1 2 0 45
2 decode 2 2 0 999
END
roof='ns-roofline -b b -c c -m F32 -r r'

# prefill: 40000 flop, 1000 bytes, 80 ns: 40 flop/byte, over the ridge: 500 of
# 1000 flop/ns.  decode: 2000 flop, 1000 bytes, 50 ns: 2 flop/byte, 40 of 200.
is 'two phases' "$(tr ' ' '\t' <<'END'
phase flop memory_bytes dur_ns flop_per_byte flop_per_s bytes_per_s ceiling_flop_per_s of_ceiling_ratio bound source
prefill 40000 1000 80 40 500000000000 12500000000 1e+12 0.5 compute g
decode 2000 1000 50 2 40000000000 20000000000 200000000000 0.2 memory g
END
)" "$roof s"
ok 'stdin'              "$roof s >1 && $roof <s | cmp - 1 && $roof - <s | cmp - 1"
# prefill under 2000 flop/ns: 500 are a quarter.
is 'dtype: bf16'        0.25 "$roof -m BF16 s 2>err | awk 'NR == 2 { print \$9 }'"
# Under 1600 and 4000.
is 'dtype: tf32'        0.3125 "$roof -m TF32 s 2>err | awk 'NR == 2 { print \$9 }'"
is 'dtype: fp8'         '0.125 0.125' "for d in F8_E4M3 F8_E5M2; do $roof -m \$d s | awk 'NR == 2 { print \$9 }'; done | xargs"
ok 'dtype: fp8 is said to be no other' "$roof -m F8_E4M3 s 2>&1 >out | cmp -s - /dev/null"
exits 0 'dtype: another f8' "$roof -m F8_E8M0 s" 'no GEMM ceiling for F8_E8M0: that of f32 is used'
exits 0 'dtype: f32 stands in for f16' "$roof -m F16 s" 'c: no GEMM ceiling for F16: that of f32 is used'
exits 0 'dtype: unknown' 'ns-roofline -b b -c c -r r s' 'no GEMM ceiling for an unknown dtype (no -m): that of f32'
is 'an even number of repeats: the mean of the middle' 90 "grep -v '^2' b | ns-roofline -b - -c c -m F32 -r r s | awk 'NR == 2 { print \$4 }'"
is 'a repeat without a step does not count' 40 "sed '/^[12].decode.1/d' b | ns-roofline -b - -c c -m F32 -r r s | awk 'NR == 3 { print \$4 }'"

# hierarchy.tsv knows the phase as a whole.
sed -n '1p;3p' s >h
printf 'decode\tNA\tmemory\t900\t100\t1000\tNA\t6\t0\t4\tg\n' >>h
is 'a whole phase'      '2077 1049' "$roof h | awk 'NR == 3 { print \$2, \$4 }'"
sed 's/	6	0/	4	0/' h >part
exits 0 'part of a phase: said' "$roof part" 'g, decode: 4 tokens were measured, 6 timed: give steps.tsv'
is 'part of a phase: no time' 'NA NA NA' "$roof part 2>err | awk 'NR == 3 { print \$4, \$6, \$10 }' | sed 's/memory/NA/'"

# What is missing is NA, and said.
sed '5s/600/NA/;5s/600/NA/' s >na
is 'a step without bytes is left out' '1500 400 30' "$roof na | awk 'NR == 3 { print \$2, \$3, \$4 }'"
sed '/decode/s/memory	[0-9]*	[0-9NA]*	[0-9]*/memory	NA	NA	NA/' s >na
is 'no bytes'           'NA NA NA NA' "$roof na 2>err | awk 'NR == 3 { print \$3, \$5, \$8, \$10 }'"
is 'no ceiling'         'NA NA NA' "grep -v memory c >e; ns-roofline -b b -c e -m F32 -r r s | awk 'NR == 3 { print \$8, \$9, \$10 }'"
exits 0 'not predicted' "grep -v 'decode.1' r | ns-roofline -b b -c c -m F32 -r - s" 'g, decode: of 2 measured steps the readset has 1: no work known'
exits 0 'not timed'     "grep -v 'decode.1' b | ns-roofline -b - -c c -m F32 -r r s" 'g, decode: no repeat of the baseline has all measured steps'
is 'header only'        1 "head -1 s | $roof | wc -l | tr -d ' '"
is 'nothing timed'      'NA NA' "head -1 b | ns-roofline -b - -c c -m F32 -r r s 2>err | awk 'NR == 3 { print \$4, \$6 }'"

exits 2 'no ceilings'   'ns-roofline -b b -r r s'     'usage: ns-roofline'
exits 2 'empty'         "$roof </dev/null"            'stdin: empty: no header line'
exits 2 'ragged row'    "{ cat s; echo x; } | $roof"  'stdin:6: 1 fields, the header has 11'
exits 2 'missing column' "cut -f 1-5 s | $roof"       "stdin: no column 'source'"
exits 2 'bad number'    "sed '3s/1000/x/' s | $roof"  "stdin:3: bytes: not a number: 'x'"
exits 2 'bad duration'  "sed '4s/80/8e1/' b | ns-roofline -b - -c c -r r s" "stdin:4: dur_ns: not a count: '8e1'"
exits 2 'cut last line' "printf %s \"\$(cat s)\" | $roof" 'stdin:5: last line cut short'
exits 2 'no such file'  "$roof nofile"                'nofile: No such file'
exits 2 'full disk'     "$roof s >/dev/full"          'stdout: No space left'
done_testing
