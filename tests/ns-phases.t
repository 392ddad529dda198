#!/bin/sh
. "${0%/*}/tap.sh"

# work NAME: a work table from its columns start end kind pid launch graph name.
work() {
	{
		echo 'start_ns end_ns kind device pid stream launch_ns launch_id graph_launch_id phase step name bytes'
		awk '{ print $1, $2, $3, 0, $4, 7, $5, NR, $6, "NA", "NA", $7, "NA" }'
	} | tr ' ' '\t' >"$1"
}
# show COMMAND: start:phase.step of each row, w for a window, on one line.
show() {
	eval "$1" | awk -F'\t' 'NR > 1 { printf "%s%s:%s.%s ", $3 == "window" ? "w" : "", $1, $10, $11 }'
}

table ranges <<'T'
start_ns  end_ns  kind  domain  name  pid  tid  depth
0  100  push_pop  nsbench  repeat.0  1  1  0
10  20  push_pop  nsbench  prefill  1  1  1
30  40  push_pop  nsbench  decode.0  1  1  1
40  50  push_pop  nsbench  decode.1  1  1  1
60  70  push_pop  other  decode.2  1  1  0
70  70  mark  nsbench  decode.3  1  1  1
80  NA  push_pop  nsbench  decode.4  1  1  1
T
work w <<'T'
5 6 kernel 1 5 NA early
25 35 kernel 1 10 NA a
41 42 kernel 1 20 NA at-the-end
45 47 kernel 1 39 NA late
48 49 copy 1 40 NA b
51 52 kernel 2 40 NA other-process
53 54 kernel 1 NA NA unlaunched
T
want='5:NA.NA w10:prefill.0 25:prefill.0 w30:decode.0 w40:decode.1 41:NA.NA 45:decode.0 48:decode.1 51:NA.NA 53:NA.NA '
is 'by launching call'     "$want" "show 'ns-phases -r ranges w'"
is 'the same from stdin'   "$want" "show 'ns-phases --nvtx ranges <w'"
exits 0 'says how many belong to none' 'ns-phases -r ranges w' 'w: 7 rows: 3 in 3 windows, 4 in none'
exits 0 'says how many have no call'   'ns-phases -r ranges w' '1 rows have no launching call'
exits 0 'says how many have no end'    'ns-phases -r ranges w' 'ranges: 1 ranges have no end'
sed 's/	1	7	/	NA	7	/' w >unknown
is 'processes that are not known' "$want" "show 'ns-phases -r ranges unknown'"
is 'the windows alone' 'phase step start_ns end_ns source pid
prefill 0 10 20 nvtx 1
decode 0 30 40 nvtx 1
decode 1 40 50 nvtx 1' "ns-phases --windows -r ranges | tr '\t' ' '"
is 'rows pass whole' "$(cut -f1-9,12- w)" "ns-phases -r ranges w | grep -v window | cut -f1-9,12-"
is 'a window row'    '10 20 window NA 1 NA NA NA NA prefill 0 nvtx NA' \
    "ns-phases -r ranges w | grep -m1 window | tr '\t' ' '"

is 'other names, whole' 'w0:repeat.0 5:repeat.0 ' "show 'ns-phases -r ranges --ranges ^repeat w | head -3'"
is 'other domains'      'decode 2' "ns-phases --windows -r ranges --ranges '^decode.2\$' | sed 1d | cut -f1,2 | tr '\t' ' '"
table named <<'T'
start_ns  end_ns  kind  domain  name  pid  tid  depth
0  10  push_pop  default  step_7(decode)  1  1  0
0  10  start_end  default  decode/3  1  1  0
20  30  push_pop  default  forward  1  1  0
30  40  push_pop  default  forward  1  1  0
35  40  push_pop  default  forward  2  1  0
50  60  push_pop  default  42  1  1  0
60  70  push_pop  default  decode99999999999999999999  1  1  0
T
names() { ns-phases --windows -r named --ranges "$1" | sed 1d | cut -f1,2 | tr '\t\n' '. '; }
is 'a group is the phase'     'decode.0 '        "names '[(](decode)[)]'"
is 'group, and its number'    'dec.3 '           "names '^(dec)ode/'"
is 'no number: counted by process' 'forward.0 forward.1 forward.0 ' "names '^forward'"
is 'a number alone'           '42.42 '           "names '^42'"
is 'a number too large is a name' 'decode99999999999999999999.0 ' "names 'decode9'"

# Nested ranges: the one that began last has the row, then the outer again.
table nested <<'T'
start_ns  end_ns  kind  domain  name  pid  tid  depth
0  100  push_pop  default  a  1  1  0
10  50  push_pop  default  b  1  1  1
20  30  push_pop  default  c  1  1  2
40  120  start_end  default  d  1  2  0
T
work n <<'T'
0 1 kernel 1 5 NA k
1 2 kernel 1 15 NA k
2 3 kernel 1 25 NA k
3 4 kernel 1 30 NA k
4 5 kernel 1 45 NA k
5 6 kernel 1 60 NA k
6 7 kernel 1 110 NA k
7 8 kernel 1 120 NA k
T
is 'the innermost range' 'a b c b d d d NA ' \
    "ns-phases -r nested --ranges . n | awk -F'\t' '\$3 == \"kernel\" { printf \"%s \", \$10 }'"

# Windows from graph launches: ids 3, 5, 9 of process 1; warm-up is launch 3.
work g <<'T'
10 20 graph 1 5 3 graph
30 35 kernel 1 25 5 k
36 40 kernel 1 25 5 k
42 44 copy 1 41 NA between
50 55 kernel 1 45 9 k
54 60 kernel 1 45 9 k
60 62 copy 1 59 NA after
65 70 graph 2 64 4 other-process
T
is 'the last two launches' '10:NA.NA w30:decode.0 30:decode.0 36:decode.0 42:decode.0 w50:decode.1 50:decode.1 54:decode.1 60:NA.NA 65:NA.NA ' \
    "show 'ns-phases --last-graphs 2 g'"
is 'their windows' 'decode 0 30 50 graph 1
decode 1 50 60 graph 1' "ns-phases --windows --last-graphs 2 g | sed 1d | tr '\t' ' '"
is 'each process has its own' 'decode 0 50 60 graph 1
decode 0 65 70 graph 2' "ns-phases --windows --last-graphs 1 g | sed 1d | tr '\t' ' '"
sort -r g | sed -n '/^start/p' >r
sed 1d g | sort -rn >>r
is 'out of order'  "$(ns-phases --last-graphs 2 g 2>/dev/null | sort)" "ns-phases --last-graphs 2 r | sort"
exits 2 'fewer launches'  'ns-phases --last-graphs 4 g' 'no process launched 4 graphs: ask for --last-graphs 3 at most'
exits 2 'no launch'       'ns-phases --last-graphs 2 w' 'no graph launch in it'
exits 2 'none asked for'  'ns-phases --last-graphs 0 g' 'from 1 on'

# 70000 rows in order, then one that is not: too late to put right.
{ head -1 g; awk 'BEGIN { OFS = "\t"; for (i = 0; i < 70000; i++)
	print 10 * i, 10 * i + 5, "kernel", 0, 1, 7, 10 * i, i, i, "NA", "NA", "k", "NA" }'; } >long
is 'many launches' '69998.0 69999.1 ' \
    "ns-phases --last-graphs 2 long | awk -F'\t' '\$10 == \"decode\" && \$3 == \"kernel\" { printf \"%s.%s \", \$9, \$11 }'"
is 'none is lost'  '70003' "ns-phases --last-graphs 2 long | wc -l"
{ cat long; sed -n 2p long; } >late
exits 2 'out of order too late' 'ns-phases --last-graphs 2 late' 'late:70002: start_ns: out of order'

is 'given times' 'w0:decode.3 5:decode.3 25:decode.3 w41:window.0 41:window.0 45:NA.NA ' \
    "show 'ns-phases --window 0:30:decode.3 --window 41:45 w | head -7'"
is 'before the session' '-5 5 window' "ns-phases --window -5:5 w | sed -n 2p | cut -f1-3 | tr '\t' ' '"
for bad in 5 5:x 10:5 5:10: :; do
	exits 2 "bad window $bad" "ns-phases --window $bad w" 'START:END[:NAME]'
done

exits 2 'no windows asked for' 'ns-phases w'                          'usage:'
exits 2 'two sources'          'ns-phases -r ranges --window 0:1 w'   'usage:'
exits 2 'regex without ranges' 'ns-phases --ranges x --window 0:1 w'  'usage:'
exits 2 'bad regex'            "ns-phases -r ranges --ranges '(' w"   '--ranges:'
exits 2 'no range fits'        'ns-phases -r nested w'                'none is named'
exits 2 'ends before it starts' "sed 's/^10	20/10	5/' ranges | ns-phases -r - w" 'end_ns: before start_ns'
head -1 ranges >none
exits 2 'no ranges'            'ns-phases -r none w'                  'of 0 ranges none'
is 'header only'               "$(head -1 w)"  "head -1 w | ns-phases -r ranges | grep -v window"
exits 2 'empty'                'ns-phases -r ranges /dev/null'        'no header line'
exits 2 'missing column'       'cut -f1-9 w | ns-phases -r ranges'    "no column 'phase'"
exits 2 'ragged row'           '{ cat w; echo x; } | ns-phases -r ranges' 'stdin:9: 1 fields'
exits 2 'cut last line'        'head -c -2 w | ns-phases -r ranges'   'last line cut short'
exits 2 'NA start'             "sed 's/^5	/NA	/' w | ns-phases -r ranges" 'start_ns: may not be NA'
exits 2 'bad number'           "sed 's/^5	/5.5	/' w | ns-phases -r ranges" "not an integer: '5.5'"
exits 2 'bad launch'           "sed 's/	39	/	x	/' w | ns-phases -r ranges" 'launch_ns: not an integer'
exits 2 'no such file'         'ns-phases -r ranges nofile'           'nofile: No such file'
exits 2 'full disk'            'ns-phases -r ranges w >/dev/full'     'No space left'
done_testing
