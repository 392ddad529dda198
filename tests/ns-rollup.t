#!/bin/sh
. "${0%/*}/tap.sh"

# A part with sectors of 32 bytes at L2 and a byte counter at memory.
table m <<'END'
quantity rung direction metric factor tier role note
bytes memory read rd 1 0 value NA
bytes memory write wr 1 0 value NA
bytes l2 both sec 32 0 value NA
requests l2 both sec 1 0 value NA
hits l2 both hit 1 0 value NA
bytes memory read miss 32 0 witness NA
misses l2 both peer 32 0 sentinel NA
flop NA NA ops 2 1 value NA
END
# Two decode steps, the second of two launches; read 1000+100+10, write 1+2+4,
# sectors 10+20+30, hits 5+10+15.  Steps stand in no order.
table c <<'END'
source phase step launch kernel metric value
gpu decode 1 7 k rd 100
gpu decode 1 7 k wr 2
gpu decode 1 7 k sec 20
gpu decode 1 7 k hit 10
gpu decode 1 7 k2 rd 10
gpu decode 1 7 k2 wr 4
gpu decode 1 7 k2 sec 30
gpu decode 1 7 k2 hit 15
gpu decode 0 6 k hit 5
gpu decode 0 6 k rd 1000
gpu decode 0 6 k wr 1
gpu decode 0 6 k sec 10
gpu decode 0 6 k other 99
gpu prefill 0 5 k rd 64
gpu prefill 0 5 k wr 0
gpu prefill 0 5 k sec 4
gpu prefill 0 5 k hit 1
END
table b <<'END'
repeat phase step n_tokens start_ns dur_ns
NA prefill 0 77 0 9
0 prefill 0 16 0 9
0 decode 0 2 0 9
0 decode 1 2 0 9
1 prefill 0 16 0 9
1 decode 0 2 0 9
1 decode 1 2 0 9
END
# rows PHASE RUNG COLUMNS [ARGUMENTS]: those columns of that phase and rung.
rows() {
	# shellcheck disable=SC2086 # a list of files
	ns-rollup -m "${4-m}" ${5-c} 2>/dev/null | cells "$1" "$2" "$3"
}
cells() {
	awk -F '\t' -v phase="$1" -v rung="$2" -v want="$3" '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(want, w, " "); next }
	$at["phase"] == phase && $at["rung"] == rung {
		for (i = 1; i <= n; i++) printf "%s%s", $at[w[i]], i < n ? " " : "\n" }'
}

# 1110 read, 7 written; 60 sectors are 1920 bytes; 30 of 60 hit; 4 tokens.
tab='	'
is 'hierarchy' "$(tr ' ' '\t' <<'END'
phase step rung read_bytes write_bytes bytes read_requests write_requests requests hit_ratio n_tokens bytes_per_token amplification_ratio n_missing n_total source
prefill NA l2 NA NA 128 NA NA 4 0.25 16 8 2 0 2 gpu
prefill NA memory 64 0 64 NA NA NA NA 16 4 1 0 2 gpu
decode NA l2 NA NA 1920 NA NA 60 0.5 4 480 1.71888988362 0 6 gpu
decode NA memory 1110 7 1117 NA NA NA NA 4 279.25 1 0 6 gpu
END
)" 'ns-rollup -m m -b b c'
is 'steps' "$(tr ' ' '\t' <<'END'
prefill 0 l2 NA NA 128 NA NA 4 0.25 16 8 2 0 2 gpu
prefill 0 memory 64 0 64 NA NA NA NA 16 4 1 0 2 gpu
decode 0 l2 NA NA 320 NA NA 10 0.5 2 160 0.31968031968 0 2 gpu
decode 0 memory 1000 1 1001 NA NA NA NA 2 500.5 1 0 2 gpu
decode 1 l2 NA NA 1600 NA NA 50 0.5 2 800 13.7931034483 0 4 gpu
decode 1 memory 110 6 116 NA NA NA NA 2 58 1 0 4 gpu
END
)" 'ns-rollup -m m -b b --steps c | sed 1d'
is 'terms' "$(tr ' ' '\t' <<'END'
source phase role quantity rung direction metric value n_missing n_total
gpu decode value bytes memory read rd 1110 0 3
gpu decode value bytes memory write wr 7 0 3
gpu decode value bytes l2 both sec 1920 0 3
gpu decode value requests l2 both sec 60 0 3
gpu decode value hits l2 both hit 30 0 3
gpu decode witness bytes memory read miss NA 3 3
gpu decode sentinel misses l2 both peer NA 3 3
gpu decode value flop NA NA ops NA 3 3
END
)" "ns-rollup -m m --terms c | sed '/prefill/d'"
ok 'stdin, and - for it'   'ns-rollup -m m <c >1 && ns-rollup -m m - <c >2 && ns-rollup -m m c | cmp - 1 && cmp 1 2'
ok 'order of rows is free' '{ head -1 c; sed 1d c | sort -r; } | ns-rollup -m m >1 && ns-rollup -m m c | cmp - 1'
is 'two files are one'     '1110 7 6' "head -9 c >c1; { head -1 c; tail -n +10 c; } >c2; rows decode memory 'read_bytes write_bytes n_total' m 'c1 c2'"
is 'no baseline: tokens'   'NA NA'    "rows decode memory 'n_tokens bytes_per_token'"
is 'a step not in the baseline' 'NA'  "grep -v '0${tab}decode${tab}1' b | ns-rollup -m m -b - c | cells decode memory n_tokens"

# Missing is counted and never zero.
sed 's/^gpu	decode	1	7	k2	rd	10$/gpu	decode	1	7	k2	rd	NA/' c >na
is 'NA: the rest is summed' '1100 1107 1 6' "rows decode memory 'read_bytes bytes n_missing n_total' m na"
exits 0 'NA: said'          'ns-rollup -m m na' 'gpu, decode: rd has no value in 1 of 3 launches'
grep -v '	rd	' c >none
is 'nothing there: NA'      'NA 7 3 6'  "rows decode memory 'read_bytes write_bytes n_missing n_total' m none"
grep -v '	[rw][dr]	' c >none
is 'a rung without a value' 'NA NA NA NA 6 6' "rows decode memory 'read_bytes bytes hit_ratio amplification_ratio n_missing n_total' m none"
grep -v '1	7	k2	hit' c >nohit
is 'a ratio needs every launch' 'NA 1920 1' "rows decode l2 'hit_ratio bytes n_missing' m nohit"
sed 's/	1000$/	-8/' c >neg
is 'below zero is missing'  '110 1'     "rows decode memory 'read_bytes n_missing' m neg"
exits 0 'below zero: said'  'ns-rollup -m m neg' 'neg:11: rd: -8 is below zero: the counter overflowed'

# Ratios: from whichever two counts there are, over the same directions.
reg() { { echo 'quantity rung direction metric factor role'; cat; } | table m2; }
hit() { rows decode l2 hit_ratio m2; }
reg <<'END'
hits l2 both hit 1 value
misses l2 both rd 1 value
END
is 'hits and misses'        "$(echo '30 1110' | awk '{ printf "%.12g", $1 / ($1 + $2) }')" hit
reg <<'END'
requests l2 both rd 1 value
misses l2 read hit 1 value
misses l2 write sec 1 value
END
is 'requests and misses'    "$(echo '1110 90' | awk '{ printf "%.12g", 1 - $2 / $1 }')" hit
reg <<'END'
requests l2 read rd 1 value
requests l2 write wr 1 value
misses l2 read hit 1 value
END
is 'misses of reads only, requests of both' NA hit
reg <<'END'
bytes l2 read rd 64 value
bytes l2 read wr -32 value
bytes l2 write wr 0.5 value
END
is 'factors: sums, minus, real' "$((64 * 1110 - 32 * 7)) 3.5" "rows decode l2 'read_bytes write_bytes' m2"
is 'no memory rung: no amplification' NA "rows decode l2 amplification_ratio m2"
printf 'source\tphase\tstep\tlaunch\tkernel\tmetric\tvalue\ng\tdecode\t0\t1\tk\trd\t1234567890123457\n' >big
is 'sixteen digits stay'    1234567890123457 "rows decode memory read_bytes m big"

# The crossbar stands between l1 and l2; what tier 2 alone counts is welcome, not needed.
{ echo 'quantity rung direction metric factor tier role'; cat; } <<'END' | table m3
bytes l2 read rd 1 1 value
bytes xbar read sec 32 1 value
bytes xbar read hit -32 1 value
bytes l1 both wr 1 1 value
bytes l1 both other 1000 2 value
bytes l1 both nowhere 1 2 value
END
is 'xbar: order'            'l1,xbar,l2,' "ns-rollup -m m3 c | awk -F '\t' '\$1 == \"decode\" { printf \"%s,\", \$3 }'"
is 'xbar: subtracted'       "$((32 * (60 - 30)))" "rows decode xbar read_bytes m3"
is 'tier 2: added, not missing' "$((7 + 99000)) 0 3" "rows decode l1 'bytes n_missing n_total' m3"
ok 'tier 2: not said'       'ns-rollup -m m3 c 2>&1 >out | grep -q nowhere; [ $? -eq 1 ]'

# Work and time: flop 2 x 60 + 30 x 3, 7 ns, active in 30 of 60 cycles.
{ echo 'quantity rung direction metric factor tier role'; cat; } <<'END' | table m4
bytes memory read rd 1 1 value
flop NA NA sec 2 1 value
flop NA NA hit 3 1 value
flop NA NA nowhere 1 2 value
time NA NA wr 1 1 value
activity NA NA hit 1 1 value
cycles NA NA sec 1 1 value
END
is 'flop'  "$(tr ' ' '\t' <<'END'
phase step flop dur_ns active_ratio n_tokens flop_per_token n_missing n_total source
prefill NA 11 0 0.25 16 0.6875 0 3 gpu
decode NA 210 7 0.5 4 52.5 0 9 gpu
END
)" 'ns-rollup -m m4 -b b --flop c'
is 'flop: a launch without activity' 'NA 1' \
    "grep -v '1	7	k2	hit' c | ns-rollup -m m4 --flop 2>err | awk -F '\t' '\$1 == \"decode\" { print \$5, \$8 }'"
ok 'flop: said'             "grep -q 'hit has no value in 1 of 3 launches' err && ! grep -q 'rd has' err"
is 'no flop in the registry' 'NA NA NA 0 0' \
    "ns-rollup -m m3 --flop c | awk -F '\t' '\$1 == \"decode\" { print \$3, \$4, \$5, \$8, \$9 }'"

# Sources stand apart; phases in the order of a run, no phase last.
{ cat c; echo 'a decode 0 1 k rd 3' | tr ' ' '\t'; echo 'gpu NA NA 1 k rd 3' | tr ' ' '\t'
  echo 'gpu chat NA 1 k rd 3' | tr ' ' '\t'; } >mixture
is 'order'  'a decode,gpu prefill,gpu decode,gpu chat,gpu NA,' \
    "ns-rollup -m m mixture 2>/dev/null | awk -F '\t' '\$3 == \"memory\" { printf \"%s %s,\", \$16, \$1 }'"
printf 'source\tphase\tstep\tlaunch\tkernel\tmetric\tvalue\ng\tdecode\tNA\t1\tk\trd\t8\n' >whole
is 'a phase without steps has all its tokens' '4 2' "ns-rollup -m m -b b whole 2>/dev/null | cells decode memory 'n_tokens bytes_per_token'"
printf 'g\tdecode\t1\t2\tk\trd\t8\n' | cat whole - >mixed
is 'unless others have steps' 2 "ns-rollup -m m -b b mixed 2>/dev/null | cells decode memory n_tokens"

# Values that two files have count once; in one file they are an error.
is 'the same file twice'    '1110 6' "rows decode memory 'read_bytes n_total' m 'c c'"
exits 0 'the same file twice: said' 'ns-rollup -m m c c' '16 values stand in more than one file'
exits 2 'the same value twice' '{ cat c; tail -1 c; } | ns-rollup -m m' "stdin:19: metric: 'hit' a second time for launch 5 of phase prefill"

# Captures of an H200, with what an independent program read in them.
table h200 <<'END'
quantity rung direction metric factor role
bytes memory read dram__bytes_read.sum 1 value
bytes memory write dram__bytes_write.sum 1 value
END
ncu() {
	[ -d "$shared/captures/ncu" ] || { skip_one "$1" 'no ../shared here'; return; }
	is "$1" "$2" "ncu2tsv $shared/captures/ncu/$3 2>err | ns-rollup -m h200 | cells $4 memory 'read_bytes write_bytes n_missing n_total'"
}
ncu 'H200: ranges'       '993457152 8898816 0 2' hf-app-range.raw.csv decode
ncu 'H200: graph replays' "$((2218931968 + 2218780928)) 22180864 0 4" llama-q4-graph.raw.csv NA

# Bad input.
is 'header only'            1 'head -1 c | ns-rollup -m m | wc -l | tr -d " "'
exits 2 'no registry'       'ns-rollup c'                          'usage: ns-rollup'
exits 2 'steps and terms'   'ns-rollup -m m --steps --terms c'     'usage: ns-rollup'
exits 2 'terms and flop'    'ns-rollup -m m --terms --flop c'      'usage: ns-rollup'
exits 2 'registry: a tier'  "sed '2s/	0	/	x	/' m >e; ns-rollup -m e c" "e:2: tier: not a"
exits 2 'empty'             'ns-rollup -m m </dev/null'            'stdin: empty: no header line'
exits 2 'ragged row'        '{ cat c; echo x; } | ns-rollup -m m'  'stdin:19: 1 fields, the header has 7'
exits 2 'missing column'    'cut -f 1-6 c | ns-rollup -m m'        "stdin: no column 'value'"
exits 2 'bad number'        "sed 's/	1000\$/	1e/' c | ns-rollup -m m" "stdin:11: value: not a number: '1e'"
exits 2 'bad step'          "sed 's/decode	0/decode	x/' c | ns-rollup -m m" "stdin:10: step: not an integer: 'x'"
exits 2 'step below zero'   "sed 's/decode	0/decode	-1/' c | ns-rollup -m m" "stdin:10: step: not a step: '-1'"
exits 2 'empty field'       "sed 's/	k2	/		/' c | ns-rollup -m m" 'stdin:6: kernel: empty field'
exits 2 'cut last line'     "printf %s \"\$(cat c)\" | ns-rollup -m m" 'stdin:18: last line cut short'
exits 2 'lines end in CR LF' "sed 's/\$/\\r/' c | ns-rollup -m m" 'stdin:1: lines end in CR LF'
exits 2 'a byte order mark' "{ printf '\\357\\273\\277'; cat c; } | ns-rollup -m m" 'stdin:1: begins with a byte order mark'
exits 2 'no such file'      'ns-rollup -m m nofile'                'nofile: No such file'
exits 2 'full disk'         'ns-rollup -m m c >/dev/full'          'stdout: No space left'
exits 2 'registry: empty'   'head -1 m >e; ns-rollup -m e c'       'e: no metric in it'
exits 2 'registry: a word'  "sed 's/	l2	/	l3	/' m >e; ns-rollup -m e c" "e:4: rung: unknown: 'l3'"
exits 2 'registry: a role'  "sed 's/witness/wit/' m >e; ns-rollup -m e c" "e:7: role: unknown: 'wit'"
exits 2 'registry: factor'  "sed '2s/	1	/	NA	/' m >e; ns-rollup -m e c" 'e:2: factor: NA: a number was expected'
exits 2 'registry: no rung' "sed '2s/memory/NA/' m >e; ns-rollup -m e c" 'e:2: rung: NA: bytes are counted at a rung'
exits 2 'registry: twice'   "sed -n '1,2p;2p' m >e; ns-rollup -m e c" "e:3: metric: 'rd' stands twice"
exits 2 'baseline: tokens'  "sed '3s/16/x/' b | ns-rollup -m m -b - c" "stdin:3: n_tokens: not a count: 'x'"
done_testing
