#!/bin/sh
. "${0%/*}/tap.sh"

run=$data/run-cpu
figures='ladder roofline sweep footprint phases timeline ops'
has() { grep -qF -e "$1" script || { cat script; false; }; }

for f in $figures; do
	ok "$f: a script" "ns-plot $f $run >script && grep -q '^set terminal svg' script"
	mkdir -p none && ok "$f: absent data is a figure that says so" \
	    "ns-plot $f none >script && has '$f: not measured'"
done

# Bytes a token are (read + write) / tokens: decode, memory (3564288 + 20480) / 4.
ok 'ladder: the bars are the bytes' 'ns-plot ladder $run >script && has "896192 "'
ok 'ladder: no bar for what is NA'  '! grep -q "L1" script'
# 3549184 FLOP over 3584768 bytes in 426200 ns.
ok 'roofline: the point'            'ns-plot roofline $run >script && has "0.990073555667 8327508212.11"'
ok 'roofline: the ceiling'          'has "memory read 12 GB/s"'
ok 'roofline: no f16 line'          '! grep -q "f16 GEMM" script'
ok 'sweep: an edge of a cache'      'ns-plot sweep $run >script && has "set label '\''L2'\'' at 1048576,"'
ok 'footprint: NA has no point'     'ns-plot footprint $run >script && ! grep -q NA script'
# The warm-up rows of the baseline have repeat NA; 5 repeats of 16 steps remain.
is 'phases: 80 points, no warm-up' 80 'ns-plot phases $run | sed -n "/^\$d/,/^EOD/p" | grep -c "^[0-9]"'

# Step 15 of repeat r: 103 us + (r - 2) us; the median is that of repeat 2.
ok 'phases: the median'             'ns-plot phases $run | sed -n "/^.m/,/^EOD/p" >script && has "15 103"'

# 3 us of which a quarter is multiplying, half adding, and 0.4 what its bytes take.
mkdir ops && table ops/ops.tsv <<'END'
kind  total_ns  multiplying_ratio  adding_ratio  waiting_ratio  of_ceiling_ratio
qkv  3000  0.25  0.5  0.25  0.4
vocab  1000  1  0  0  NA
END
ok 'ops: what blocks do'            'ns-plot ops ops >script && has "0.75 1.5 0.75" && has "1 0 0"'
ok 'ops: what its bytes take'       'has "0 1.2" && has "memory alone" && ! grep -q nan script'
ok 'ops: no readset'                'sed "s/0.4$/NA/" ops/ops.tsv >o && mv o ops/ops.tsv && ns-plot ops ops >script && ! grep -q "memory alone" script'

mkdir only && head -n 1 "$run"/hierarchy.tsv >only/hierarchy.tsv
ok 'header only' 'ns-plot ladder only >script && has "no rung has bytes a token"'
cp "$run"/roofline.tsv only
ok 'no ceilings' 'ns-plot roofline only >script && has "no memory or no GEMM ceiling"'

exits 2 'no such figure'  'ns-plot pie $run'              "no figure 'pie': there is ladder"
exits 2 'no directory'    'ns-plot ladder nodir'          'nodir: No such file'
exits 2 'one operand'     'ns-plot ladder'                'usage:'
exits 2 'full disk'       'ns-plot ladder $run >/dev/full' 'No space left'
bad() {	# bad NAME TEXT MESSAGE: that hierarchy.tsv is trouble
	mkdir -p bad && printf '%b' "$2" >bad/hierarchy.tsv
	exits 2 "$1" 'ns-plot ladder bad' "$3"
}
bad 'empty'          ''                                        'hierarchy.tsv: empty: no header line'
bad 'missing column' 'phase\trung\n'                           "hierarchy.tsv: no column 'bytes_per_token'"
bad 'ragged row'     'phase\trung\tbytes_per_token\nx\n'       'hierarchy.tsv:2: 1 fields, the header has 3'
bad 'bad number'     'phase\trung\tbytes_per_token\nx\tl1\t1k\n' "hierarchy.tsv:2: bytes_per_token: not a number: '1k'"
bad 'cut last line'  'phase\trung\tbytes_per_token\nx\tl1'     'last line cut short'

# Names cannot become commands.
mkdir evil
name="'.system('touch pwned').'\`touch pwned\`@x\\\\"
printf 'phase\trung\tbytes_per_token\n%s\tmemory\t1000\ndecode\tmemory\t3000\n' "$name" >evil/hierarchy.tsv
printf 'kernel\tworking_set_bytes\tbytes_per_s\n%s\t1024\t5e9\n%s\t4096\t3e9\n' "$name" "$name" >evil/sweep.tsv
printf 'time_ns\tsource\tused_bytes\n0\t%s\t5\n9\t%s\t7\n' "$name" "$name" >evil/footprint.tsv
printf 'phase\tflop_per_byte\tflop_per_s\tbound\n%s\t2\t1e9\tmemory\n' "$name" >evil/roofline.tsv
cp "$run"/ceilings.kv evil
{ head -n 1 ops/ops.tsv; printf '%s\t3000\t1\t0\t0\tNA\n' "$name"; } >evil/ops.tsv

if command -v gnuplot >/dev/null; then
	for f in $figures; do
		ok "$f: drawn" "ns-plot $f $run | gnuplot 2>err >$f.svg && [ ! -s err ] && grep -q '</svg>' $f.svg"
		ok "$f: absence drawn" "ns-plot $f none | gnuplot 2>err >$f.svg && [ ! -s err ] && grep -q 'not measured' $f.svg"
	done
	ok 'ops: drawn from a table' 'ns-plot ops ops | gnuplot 2>err >ops.svg && [ ! -s err ] && grep -q adding ops.svg'
	for f in ladder sweep footprint roofline ops; do
		ok "$f: a hostile name is drawn" "ns-plot $f evil | gnuplot >evil.svg && grep -qF '\`touch pwned\`@x' evil.svg"
		ok "$f: and runs nothing" '[ ! -e pwned ]'
	done
else
	skip_one 'drawn by gnuplot' 'no gnuplot here'
fi
done_testing
