#!/bin/sh
. "${0%/*}/tap.sh"

# Two layers of two kinds and a last op, on two blocks.  The last block leaves ops at
# 100, 220, 300, 380 and 490.  Block 1 has no part in op 2; of op 3 block 0 has noted
# its leave alone, and block 1 all but that.
table s <<'END'
block  op  kind  layer  event  time_ns
0  0  qkv  0  asked  0
0  0  qkv  0  arrived  10
0  0  qkv  0  weights  20
0  0  qkv  0  multiplied  60
0  0  qkv  0  scaled  50
0  0  qkv  0  summed  70
0  0  qkv  0  left  80
0  1  gate  0  arrived  130
0  1  gate  0  weights  140
0  1  gate  0  multiplied  180
0  1  gate  0  scaled  150
0  1  gate  0  left  200
0  2  qkv  1  arrived  240
0  2  qkv  1  weights  190
0  2  qkv  1  multiplied  280
0  2  qkv  1  left  300
0  3  gate  1  left  380
0  4  vocab  NA  arrived  400
0  4  vocab  NA  weights  400
0  4  vocab  NA  multiplied  450
0  4  vocab  NA  left  480
1  0  qkv  0  arrived  20
1  0  qkv  0  weights  40
1  0  qkv  0  multiplied  80
1  0  qkv  0  left  100
1  1  gate  0  arrived  150
1  1  gate  0  weights  150
1  1  gate  0  multiplied  210
1  1  gate  0  left  220
1  3  gate  1  arrived  320
1  3  gate  1  weights  330
1  3  gate  1  multiplied  350
1  3  gate  1  summed  360
1  3  gate  1  left  NA
1  4  vocab  NA  arrived  410
1  4  vocab  NA  weights  410
1  4  vocab  NA  multiplied  470
1  4  vocab  NA  left  490
END
table r <<'END'
phase  step  role  read_bytes  write_bytes  flop
prefill  0  q  77  0  1
decode  0  q  33  0  1
decode  1  embed  10  0  1
decode  1  attn_norm  20  0  1
decode  1  q  500  0  1
decode  1  k  200  0  1
decode  1  v  170  0  1
decode  1  kv_cache  5  0  1
decode  1  o  7  0  1
decode  1  gate  900  0  1
decode  1  up  900  0  1
decode  1  down  3  0  1
decode  1  lm_head  1100  0  1
END
echo memory_read_bytes_per_s=1e10 >c
# column NAME TABLE-COMMAND: of each kind.
column() { eval "$2" >out && awk -F '\t' -v want="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == want) c = i; next } { printf "%s%s", sep, $c; sep = " " }' out; }
of() { is "$1" "$2" "column $1 'ns-stamps -r r -c c s'"; }

of kind            'qkv gate vocab'
of n_ops           '2 2 1'
of n_blocks        '1 2 2'
# Of the first op there is none before.
of op_ns           '80 80 110'
of total_ns        '180 200 110'
of share_ratio     '0.367346938776 0.408163265306 0.224489795918'	# of 490
of hop_ns          '20 20 20'
of hop_last_ns     '20 20 30'
of weights_ns      '-50 0 0'
of multiply_ns     '40 20 50'
of scale_ns        '-10 -30 NA'
of add_ns          '20 10 20'
of skew_ns         '0 0 10'
# qkv: 40 + 40 and 60 of 200 and 160 ns of two blocks.  gate: 40, 30 for the next op
# and 60, then 20, of 240 and 160; adding ends where the next op's weights are read.
of multiplying_ratio '0.388888888889 0.375 0.5'
of adding_ratio    '0.166666666667 0.075 0.227272727273'
of waiting_ratio   '0.444444444444 0.55 0.272727272727'
of read_bytes      '900 1800 1100'
of bytes_per_s     '5000000000 9000000000 10000000000'
of of_ceiling_ratio '0.5 0.9 1'
of clock_ns        '10 10 10'

is 'no readset: no bytes' 'NA NA NA' 'column read_bytes "ns-stamps -c c s"'
is 'no ceiling: no share of it' 'NA NA NA' 'column of_ceiling_ratio "ns-stamps -r r s"'
is 'no readset: a ceiling alone says nothing' 'NA NA NA' 'column of_ceiling_ratio "ns-stamps -c c s"'
ns-stamps -r r -c c s >wanted
ok 'stdin' 'ns-stamps -r r -c c <s | cmp - wanted && ns-stamps -r r -c c - <s | cmp - wanted'
ok 'rows in any order' '{ head -n 1 s; tail -n +2 s | sort -t "	" -k 5,5r -k 1,1r; } | ns-stamps -r r -c c | cmp - wanted'
ok 'columns in any order, and others' "awk -F '\t' -v OFS='\t' '{ print \$6, \$5, NR == 1 ? \"more\" : 1, \$3, \$2, \$1 }' s | ns-stamps -r r -c c | cmp - wanted"
ok 'whatever the time of the first' "awk -F '\t' -v OFS='\t' 'NR > 1 && \$6 != \"NA\" { \$6 += 70 } 1' s | ns-stamps -r r -c c | cmp - wanted"
is 'one op, one block' 'qkv 1 1 NA 80 1 NA NA' "sed -n '1p;2,8p' s | ns-stamps | sed 1d | cut -f 1-8 | xargs"
is 'a kind that is not known has no bytes' '900 NA 1100' "sed 's/gate/else/' s >k; column read_bytes 'ns-stamps -r r k'"
exits 0 'bytes that belong to no kind' "{ cat r; printf 'decode\t1\trouter\t4\t0\t1\n'; } | ns-stamps -r - s" 'stdin: 4 bytes of the last decode step belong to no kind of op'
is 'a role of no known bytes' 'NA 1800 1100' "sed '/decode.1.k/s/200/NA/' r >na; column read_bytes 'ns-stamps -r na s'"
exits 0 'no decode step' 'head -n 2 r | ns-stamps -r - s' 'stdin: no decode step'
is 'which has no bytes' 'NA NA NA' "sed 1d out | cut -f 17 | xargs"
exits 0 'no ceiling in the file' 'echo memory_read_bytes_per_s=NA | ns-stamps -c - s' 'stdin: no memory_read_bytes_per_s'

# A layer and the last op by two blocks; block 1 has no unit of attention.
cat >by-hand <<'END'
qkv arrived 0 10  weights 20 30  multiplied 100 120  scaled 50 150  summed 120 200  left 200 300
attend arrived 400  weights 450  multiplied 500  summed 540  left 600
out arrived 700 800  weights 710 800  multiplied 750 820  summed 800 830  left 900 1000
gate arrived 1100 1300  weights 1110 1400  multiplied 1200 1500  scaled 1300 1450  summed 1300 1500  left 1400 1600
down arrived 1700 1800  weights 1700 1800  multiplied 1800 2000  summed 1900 2000  left 2000 2100
vocab arrived 2200 2200  weights 2200 2200  multiplied 2300 2300  scaled 2300 2300  summed 2310 2310  left 2320 2320
END
awk -v OFS='\t' 'BEGIN { print "block", "op", "kind", "layer", "event", "time_ns" }
	{ b = 0; for (i = 2; i <= NF; i++) if ($i ~ /[a-z]/) { event = $i; b = 0 } else print b++, NR - 1, $1, 0, event, $i }' by-hand >hand
cat >medians <<'END'
kind op_ns hop_ns hop_last_ns weights_ns multiply_ns scale_ns add_ns skew_ns clock_ns
qkv NA NA NA 20 80 -50 100 100 10
attend 300 100 100 50 50 NA 100 0 10
out 400 100 200 0 20 NA 150 100 10
gate 600 100 300 10 90 -50 100 200 10
down 500 100 200 0 100 NA 100 100 10
vocab 220 100 100 0 100 0 20 0 10
END
ok 'a layer: each median by hand' 'ns-stamps hand | cut -f 1,4,7-13,20 | tr "\t" " " | diff medians -'

# Of a real step the same, tick by tick: what each block is at in each of them.
is 'an H200: as counted tick by tick' same "awk -F '\t' -v OFMT=%.12g '
	NR == 1 { next }
	{ t[\$1, \$2, \$5] = \$6; if (\$2 > ops) ops = \$2; blocks[\$1]; kind[\$2] = \$3; if (\$5 == \"left\" && \$6 > left[\$2]) left[\$2] = \$6 }
	function state(b, now,    i, k, s) {
		s = 0
		for (i = 0; i <= ops; i++) {
			if (!((b, i, \"multiplied\") in t)) continue
			if (t[b, i, \"weights\"] <= now && now < t[b, i, \"multiplied\"]) return 2
			if (t[b, i, \"multiplied\"] <= now && now < t[b, i, \"left\"]) s = 1
		}
		return s
	}
	END {
		for (i = 0; i <= ops; i++) {
			for (now = i ? left[i - 1] : 0; now < left[i]; now += 32)
				for (b in blocks) { all[kind[i]]++; n[kind[i], state(b, now)]++ }
			if (!seen[kind[i]]++) order[++kinds] = kind[i]
		}
		for (i = 1; i <= kinds; i++) { k = order[i]; printf \"%s %.9f %.9f %.9f\n\", k, n[k, 2] / all[k], n[k, 1] / all[k], n[k, 0] / all[k] }
	}' $data/stamps-h200.tsv >ticks
	ns-stamps $data/stamps-h200.tsv | awk 'NR > 1 { printf \"%s %.9f %.9f %.9f\n\", \$1, \$14, \$15, \$16 }' | diff - ticks && echo same"
is 'an H200: all of the time, by a clock of 32 ns' '1 32' "ns-stamps $data/stamps-h200.tsv | awk 'NR > 1 { all += \$6; clock = \$20 } END { printf \"%.9g %s\", all, clock }'"

is 'header only' 1 "head -n 1 s | ns-stamps -r r -c c | wc -l | tr -d ' '"
exits 2 'empty'          'ns-stamps </dev/null'          'stdin: empty: no header line'
exits 2 'ragged row'     '{ cat s; echo x; } | ns-stamps' 'stdin:40: 1 fields, the header has 6'
exits 2 'missing column' 'cut -f 1-5 s | ns-stamps'      "stdin: no column 'time_ns'"
exits 2 'bad number'     "sed '3s/10\$/x/' s | ns-stamps"  "stdin:3: time_ns: not an integer: 'x'"
exits 2 'before the first' "sed '3s/10\$/-1/' s | ns-stamps" "stdin:3: time_ns: before the first event: '-1'"
exits 2 'bad block'      "sed '3s/^0/-1/' s | ns-stamps" "stdin:3: block: not a count: '-1'"
exits 2 'no such event'  "sed '3s/arrived/came/' s | ns-stamps" "stdin:3: event: no event of a step: 'came'"
exits 2 'no kind'        "sed '3s/qkv/NA/' s | ns-stamps" 'stdin:3: kind: an op of no kind'
exits 2 'two kinds'      "sed '3s/qkv/down/' s | ns-stamps" 'stdin: op 0 is of two kinds'
exits 2 'two steps'      '{ cat s; sed 1d s; } | ns-stamps' "stdin: op 0, block 0: 'asked' stands twice: give one step"
exits 2 'an op is gone'  "awk '\$2 != 1' s | ns-stamps" 'stdin: op 1 has no row: not a whole step'
exits 2 'nobody leaves'  "sed '/3.gate.*left/d' s | ns-stamps" 'stdin: op 3: no block has left it'
exits 2 'left too early' "sed 's/	380\$/	290/' s | ns-stamps" 'stdin: op 3 was left before the op that it waits for'
exits 2 'cut last line'  'printf %s "$(cat s)" | ns-stamps' 'stdin:39: last line cut short'
exits 2 'no such file'   'ns-stamps nofile'              'nofile: No such file'
exits 2 'full disk'      'ns-stamps s >/dev/full'        'stdout: No space left'
exits 2 'bad readset'    "sed '3s/33/x/' r | ns-stamps -r - s" "stdin:3: read_bytes: not a number: 'x'"
exits 2 'two files'      'ns-stamps s s'                 'usage: ns-stamps'
done_testing
