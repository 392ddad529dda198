#!/bin/sh
. "${0%/*}/tap.sh"

# samples NAME: words TIME VALUE PERIOD [WHY [METRIC [UNIT [GPU]]]], a space in a name as ~.
samples() {
	awk 'BEGIN { OFS = "\t"; print "time_ns", "gpu", "metric", "unit", "value", "period_ns", "why" }
	{ m = $5 == "" ? "lts__t_sectors~[sum]" : $5; gsub(/~/, " ", m)
	  print $1, $7 == "" ? 0 : $7, m, $6 == "" ? "count" : $6, $2, $3, $4 == "" ? "NA" : $4 }' >"$1"
}
# work NAME: words START END and, of a window, PHASE STEP; else it is a kernel.
work() {
	awk 'BEGIN { OFS = "\t"; print "start_ns", "end_ns", "kind", "phase", "step" }
	NF > 2 { print $1, $2, "window", $3, $4; next } { print $1, $2, "kernel", "NA", "NA" }' >"$1"
}
# Windows alone, as ns-phases --windows has them.
alone() { awk 'BEGIN { OFS = "\t"; print "phase", "step", "start_ns", "end_ns" } { print $3, $4, $1, $2 }' >"$1"; }
# columns A,B,.. COMMAND: of its rows, separated by spaces, rows by |.
columns() {
	eval "$2" | awk -F'\t' -v want="$1" '
		NR == 1 { n = split(want, w, ","); for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ for (i = 1; i <= n; i++) printf "%s%s", $at[w[i]], i < n ? " " : "|" }'
}
sums() { columns phase,step,value,edge_value,n_samples "ns-integrate $*"; }
why() { columns value,edge_value,why "ns-integrate $*"; }

# Periods of 100 from 0 on: 1, 10, 100 and so on, so that a sum says what is in it.
samples ten <<'T'
0 1 100
100 10 100
200 100 100
300 1000 100
400 10000 100
T
echo '100 300 p 0' | alone w
is 'samples that lie in a window'        'p 0 110 0 2|'    'sums -w w ten'
is 'from stdin'                          'p 0 110 0 2|'    'sums -w w <ten'
is 'from -'                              'p 0 110 0 2|'    'sums -w w - <ten'
echo '150 325 p 0' | alone w
# Half of 10, 100, a quarter of 1000; the edges are 10 and 1000.
is 'without the work: by time'           'p 0 355 1010 3|' 'sums -w w ten'
echo '210 230 p 0' | alone w
is 'within one sample: a fifth of it'    'p 0 20 100 1|'   'sums -w w ten'
echo '200 200 p 0' | alone w
is 'a window of no length'               'p 0 0 0 0|'      'sums -w w ten'

work w <<'T'
150 325 p 0
160 180
310 320
T
is 'all the work of an edge in it: whole' 'p 0 1110 0 3|'  'sums -w w ten'
is 'busy: not where there was none'      'p 0 1010 0 2|'   'sums --busy -w w ten'
work w <<'T'
150 325 p 0
110 140
310 390
170 180
T
# Of the first edge 10 of 40, of the last 15 of 80: 2.5, 100, 187.5; rows need no order.
is 'work on both sides: as it is divided' 'p 0 290 1010 3|' 'sums -w w ten'
is 'busy: the same, less the idle one'   'p 0 190 1010 2|' 'sums --busy -w w ten'
work w <<'T'
150 325 p 0
110 140
330 400
T
is 'all the work of an edge outside: none' 'p 0 100 0 1|'  'sums -w w ten'
work w <<'T'
150 325 p 0
150 170
160 190
180 185
320 330
T
# Overlapping work counts once: 40 of 40, then 5 of 10.
is 'overlapping work'                    'p 0 610 1000 3|' 'sums -w w ten'
work w <<'T'
100 150 d 0
150 200 d 1
200 300 d 2
110 160
160 190
T
# 40 and 40 of 80; together the whole.
is 'windows that touch divide a sample'  'd 0 5 10 1|d 1 5 10 1|d 2 100 0 1|' 'sums -w w ten'
work w <<'T'
0 500 all 0
100 300 in 0
0 500
T
is 'a window within a window: each its own' 'all 0 11111 0 5|in 0 110 0 2|' 'sums -w w ten'
echo '300 500 late 0' >w1; echo '0 100 early 0' >>w1; alone w <w1
is 'by the start of the window'          'early 0 1 0 1|late 0 11000 0 2|' 'sums -w w ten'
printf '%s\n' '0 100 d 7' '200 300 d 7' '100 200 d 8' | alone w
is 'repeats are launches'                'd 7 0.0|d 8 0.0|d 7 0.1|' "columns phase,step,launch 'ns-integrate -w w ten'"
is 'all: every sample, whole'            'all 0 11111 0 5|' 'sums --all ten'
work w <<'T'
120 130
T
is 'all, busy: those with work'          'all 0 10 0 1|'   'sums --all --busy -w w ten'

# One sum a phase: what touching windows share is whole, and the phase's ends alone are edges.
printf '%s\n' '0 150 p 0' '150 325 p 1' '325 400 q 0' | alone w
is 'each step: 1 and half of 10, and so on' 'p 0 6 10 2|p 1 355 1010 3|q 0 750 1000 1|' 'sums -w w ten'
is 'totals: 10 is whole'                 'p NA 361 1000 4|q NA 750 1000 1|' 'sums --totals -w w ten'
is 'totals: the GPU alone is named'      '0 361|0 750|' "columns launch,value 'ns-integrate --totals -w w ten'"
printf '%s\n' '0 100 p 0' '200 300 p 1' '400 600 q 0' | alone w
is 'totals: with a gap between'          '101 0 NA|NA NA samples cover 100 of 200 ns|' 'why --totals -w w ten'
exits 2 'totals of all' 'ns-integrate --totals --all ten' 'usage'

# What is not there is no number.
echo '100 300 p 0' | alone w
samples bad <<'T'
0 NA 100 overflow
100 10 100
200 100 100
300 NA 100 overflow
T
is 'an overflow outside'                 '110 0 NA|'       'why -w w bad'
echo '100 301 p 0' | alone w
is 'an overflow inside'                  'NA NA overflow in 1 of 3 samples|' 'why -w w bad'
work w <<'T'
100 301 p 0
100 110
350 360
T
is 'an overflow whose work is outside'   '110 0 NA|'       'why -w w bad'
samples bad <<'T'
0 1 100
100 -5 100
200 NA 100 absent
300 1 100
T
echo '0 200 p 0' | alone w
is 'a negative value'                    'NA NA overflow in 1 of 2 samples|' 'why -w w bad'
echo '200 400 p 0' | alone w
is 'a value that the capture lacks'      'NA NA no value in 1 of 2 samples|' 'why -w w bad'
samples two <<'T'
0 1 100
0 7 100 NA dram__bytes_read~[sum] bytes
100 1 100
200 1 100
200 7 100 NA dram__bytes_read~[sum] bytes
T
echo '0 300 p 0' | alone w
is 'a metric without a row'              'lts__t_sectors.sum 3 NA NA|dram__bytes_read.sum NA byte no value in 1 of 3 samples|' \
	"columns metric,value,unit,why 'ns-integrate -w w two'"
echo '1000 1100 p 0' | alone w
is 'after the last sample'               'NA NA not sampled|' 'why -w w ten'
echo '-100 100 p 0' | alone w
is 'before the first sample'             'NA NA samples cover 100 of 200 ns|' 'why -w w ten'
samples last <<'T'
0 1 100
100 10 100
200 100 NA
T
echo '100 250 p 0' | alone w
is 'the last sample lasts as the one before' 'p 0 60 100 2|' 'sums -w w last'
echo '100 350 p 0' | alone w
is 'and no longer'                       'NA NA samples cover 200 of 250 ns|' 'why -w w last'
samples gap <<'T'
0 1 100
100 10 100
200 100 400
600 1000 100
700 1 100
T
printf '%s\n' '0 200 p 0' '100 300 p 1' '600 800 p 2' | alone w
is 'lost samples'                        '11 0 NA|NA NA samples are lost: 400 ns without one, where 100 are usual|1001 0 NA|' 'why -w w gap'

# GPUs, each with its own samples at its own times.
samples gpus <<'T'
0 1 100 NA a__b~[sum] count 1
0 5 50 NA a__b~[sum] count 0
50 5 50 NA a__b~[sum] count 0
100 1 100 NA a__b~[sum] count 1
100 5 50 NA a__b~[sum] count 0
T
echo '0 100 p 0' | alone w
is 'two GPUs'                            '0.0 10 2|1.0 1 1|' "columns launch,value,n_samples 'ns-integrate -w w gpus'"
is 'one of them'                         '1.0 1 1|'          "columns launch,value,n_samples 'ns-integrate -d 1 -w w gpus'"
exits 2 'one that is not there' 'ns-integrate -d 2 -w w gpus' 'ns-integrate: gpus: no sample of GPU 2'

# Names: as a set of one's own shows them, as a platform's table says, as one says.
samples shown <<'T'
0 3 100 NA SM~Issue~[Throughput~%] percent_int
0 5 100 NA L2~[Bytes] bytes
0 7 100 NA Clock~[MHz] hz
0 9 100 NA sm__x~[Sum]
T
is 'names' 'SM Issue [Throughput %] NA whole percents: they cannot be added up to bytes|L2 [Bytes] NA no name of a metric is known for it|Clock [MHz] NA not a sum over the period|sm__x [Sum] sm__x.sum NA|' \
	"columns shown,metric,why 'ns-integrate --names shown'"
is 'only counters are summed'            'sm__x.sum 9|' "columns metric,value 'ns-integrate --all shown'"
is 'a name given'                        'l2.sum 5|sm__x.sum 9|' "columns metric,value \"ns-integrate --all --map 'L2 [Bytes]=l2.sum' shown\""
printf 'metric\tshown\nl2__b.sum\tL2 [Bytes]\nl2__b.sum\tL2 [Bytes]\nsm__x.sum\tNA\n' >m
is 'a name of a platform'                'l2__b.sum 5|sm__x.sum 9|' "columns metric,value 'ns-integrate --all -m m shown'"
exits 2 'a percentage for bytes' "ns-integrate --all --map 'SM Issue [Throughput %]=l2.sum' shown" \
	"'SM Issue [Throughput %]' cannot stand for l2.sum: it is a percentage, kept in whole percents"
exits 2 'a clock for a counter'  "ns-integrate --all --map 'Clock [MHz]=l2.sum' shown" "it is kept in hz"
exits 2 'one metric twice'       "ns-integrate --all --map 'L2 [Bytes]=sm__x.sum' shown" 'both count sm__x.sum'
exits 2 'one name twice'         "ns-integrate --all -m m --map 'L2 [Bytes]=l2.sum' shown" "'L2 [Bytes]' is said to count l2__b.sum, and l2.sum too"
exits 2 'a map without ='        "ns-integrate --all --map 'L2 [Bytes]' shown" 'SHOWN=METRIC was expected'
exits 2 'a table without names'  "ns-integrate --all -m w shown" "metric"
grep -v 'sm__x\|L2' shown >none
exits 2 'no counter at all'      'ns-integrate --all none' 'of 2 sampled metrics none is a counter'

# Tables that are none.
head -1 ten >header
exits 0 'header only'    'ns-integrate --all header && [ "$(wc -l <out)" -eq 1 ]' 'nothing was sampled'
exits 2 'empty'          'ns-integrate --all /dev/null' '/dev/null'
exits 2 'no windows'     'head -1 w | ns-integrate -w - ten' 'no window in it'
exits 2 'windows of no use' 'ns-integrate -w ten ten' "start_ns"
exits 2 'busy, but windows alone' 'ns-integrate --busy -w w ten' 'give the work itself'
exits 2 'out of order'   '{ cat ten; sed -n 2p ten; } | ns-integrate --all' 'stdin:7: time_ns: out of order'
exits 2 'ragged'         'printf "0\t0\n" | cat ten - | ns-integrate --all' ':7:'
exits 2 'missing column' 'cut -f 1-5 ten | ns-integrate --all' 'period_ns'
exits 2 'bad number'     'sed 4s/100/1e/ ten | ns-integrate --all' ':4: value:'
exits 2 'no period'      'sed "s/100	NA/0	NA/" ten | ns-integrate --all' 'period_ns: a time above 0'
exits 2 'cut last line'  'head -c -1 ten | ns-integrate --all' 'cut short'
exits 2 'a window that ends before it starts' 'echo 5 4 p 0 | alone x; ns-integrate -w x ten' ':2: end_ns: before start_ns'
exits 2 'a window without a step' 'echo 4 5 p NA | alone x; ns-integrate -w x ten' 'step: may not be NA'
exits 2 'a time beyond all' 'echo 0 9223372036854775807 p 0 | alone x; ns-integrate -w x ten' 'beyond any session'
exits 2 'full disk'      'ns-integrate --all ten >/dev/full' 'No space left'
exits 2 'no windows asked for' 'ns-integrate ten' 'usage'
exits 2 'two files'      'ns-integrate --all ten ten' 'usage'
samples big <<'T'
0 4503599627370495 100
100 2 100
T
is 'every digit'         'all 0 4503599627370497 0 2|' 'sums --all big'

# What is known of real captures: FACTS.md H4, H5, H9 and H10.
for c in ladder-a ladder-b llama-q4-node hf-eager; do
	f=$shared/captures/nsys/$c.sqlite.xz
	if [ ! -e "$f" ] || ! command -v xz >/dev/null; then continue; fi
	xz -dc "$f" >c.sqlite
	nsys2tsv samples c.sqlite >$c.samples 2>/dev/null
	nsys2tsv work c.sqlite >$c.work 2>/dev/null
	nsys2tsv ranges c.sqlite >$c.ranges 2>/dev/null
done
m=$top/configs/platforms/gh100/samples.tsv
if [ -s ladder-b.work ]; then
	for c in ladder-a ladder-b; do
		ns-phases -r $c.ranges --ranges . $c.work >$c.phased 2>/dev/null
		ns-integrate --busy -m "$m" -w $c.phased $c.samples >$c
	done
	# each METRIC FILE: of the kernels whose traffic is known, in each round.
	each() { awk -F'\t' -v m="$1" '$6 == m && $2 != "shm" { printf "%s%s %s", s, $2, $7; s = " " }' "$2"; }
	# Sectors of 4 x 1 GiB, twice that, 200 x 20 MiB; and one more a kernel.
	known="read4G $((4 * 1024 * 1024 * 1024 / 32 + 4)) copy4G $((8 * 1024 * 1024 * 1024 / 32 + 4)) l2read $((200 * 20 * 1024 * 1024 / 32 + 200))"
	is 'ladder-a: L2 to the sector' "$known $known $known" 'each lts__t_sectors_srcunit_tex.sum ladder-a'
	is 'ladder-a: L1 to the sector' "$known $known $known" 'each l1tex__t_sectors.sum ladder-a'
	is 'ladder-b: L2 to the sector' "$known $known $known" 'each lts__t_sectors_srcunit_tex.sum ladder-b'
	# off METRIC FILE PHASE BYTES: by how many bytes the rounds differ from it at most 1 %.
	off() { awk -F'\t' -v m="$1" -v p="$3" -v b="$4" '$6 == m && $2 == p { d = ($7 - b) / b; d = d < 0 ? -d : d; if (d > max) max = d }
		END { exit !(NR > 0 && max < 0.01) }' "$2"; }
	for c in ladder-a ladder-b; do
		ok "$c: memory read, 4 GiB to 1 %"    "off dram__bytes_read.sum $c read4G 4294967296"
		ok "$c: memory copied, read, to 1 %"  "off dram__bytes_read.sum $c copy4G 4294967296"
		ok "$c: memory copied, written, to 1 %" "off dram__bytes_write.sum $c copy4G 4294967296"
		ok "$c: 20 MiB read again and again, to 1 %" "off dram__bytes_read.sum $c l2read 20971520"
	done
	# 1320 blocks of 8 warps: 16 stores and 20000 loads each, without a conflict.
	is 'ladder-b: shared memory, restored, to 0.01 %' 3 "awk -F'\t' '\$2 == \"shm\" && \$6 ~ /mem_shared/ {
		d = \$7 / (1320 * 8 * 20016) - 1; if (d < 0.0001 && d > -0.0001) n++ } END { print n }' ladder-b"
	is 'ladder-b: nothing has overflowed' 0 "grep -c overflow ladder-b"
else
	skip_one 'ladder-a, ladder-b' 'no ../shared/captures'
fi
if [ -s llama-q4-node.work ]; then
	is 'llama: all bytes read and written' '73245387520 5341263616' \
		"ns-integrate --all -m $m llama-q4-node.samples 2>/dev/null | cut -f 7 | tail -2 | tr '\n' ' ' | sed 's/ \$//'"
	ns-phases --last-graphs 32 llama-q4-node.work >phased 2>/dev/null
	ns-integrate --busy -m "$m" -w phased llama-q4-node.samples >steps
	# ncu counted 2218931968 and 2218780928 in two launches of that graph.
	is 'llama: a step is what ncu replays, to 0.1 %, all but the last' 31 "awk -F'\t' '
		\$6 == \"dram__bytes_read.sum\" && \$3 < 31 { d = \$7 / 2218931968 - 1; if (d < 0.001 && d > -0.001) n++ } END { print n }' steps"
	is 'llama: the last within its edges' 1 "awk -F'\t' '
		\$6 == \"dram__bytes_read.sum\" && \$3 == 31 { d = \$7 - 2218931968; print(\$10 > 0 && d * d < \$10 * \$10) }' steps"
	is 'eager: percentages are refused' 2 'ns-integrate --all -m $m hf-eager.samples 2>/dev/null; echo $?'
else
	skip_one 'llama, eager' 'no ../shared/captures'
fi
# Times that are in range, and sums of them that are not: 2^61 - 1 each.
m=2305843009213693951
{ echo 'start_ns end_ns kind phase step'; for i in 0 1 2 3; do echo "-$m $m window p $i"; done; } | table w
{ echo 'time_ns gpu metric unit value period_ns why'; for i in 0 1 2 3 4 5 6; do echo "-$m 0 x_[sum] count 5 $m NA" | sed "s/-$m/-230584300921369394$i/"; done | sort -n; } | table long
sed -i 's/x_/x /' long
exits 2 'samples of ages'         'ns-integrate -w w long'          'add up to more than 64 bits'
exits 2 'in one window'           'ns-integrate --all long'         'add up to more than 64 bits'
exits 2 'windows of ages'         'ns-integrate --totals -w w long' 'the windows of phase p are longer than any session'
done_testing
