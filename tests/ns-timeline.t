#!/bin/sh
. "${0%/*}/tap.sh"

# work NAME: a work table; columns start end kind device pid launch graph phase step name.
work() {
	{
		echo 'start_ns end_ns kind device pid stream launch_ns launch_id graph_launch_id phase step name'
		awk '{ print $1, $2, $3, $4, $5, 7, $6, NR, $7, $8, $9, $10 }'
	} | tr ' ' '\t' >"$1"
}
# columns A,B,.. COMMAND: these columns of its rows, separated by spaces, rows by |.
columns() {
	eval "$2" | awk -F'\t' -v want="$1" '
		NR == 1 { n = split(want, w, ","); for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ for (i = 1; i <= n; i++) printf "%s%s", $at[w[i]], i < n ? " " : "|" }'
}
# busy COMMAND: wall, busy, idle, gaps, largest gap and overlap.
busy() { columns wall_ns,busy_ns,idle_ns,n_gaps,largest_gap_ns,overlap_ns "$1"; }

# One window [100,200); what lies at its edges and around it.
edge() { { echo '100 200 window NA NA NA NA w 0 given'; cat; } | work "$1"; }
edge outside   <<'T'
10 100 kernel 0 1 NA NA NA NA k
200 300 kernel 0 1 NA NA NA NA k
T
edge spans     <<'T'
90 110 kernel 0 1 NA NA NA NA k
190 210 kernel 0 1 NA NA NA NA k
T
edge contains  <<'T'
10 300 kernel 0 1 NA NA NA NA k
T
edge nested    <<'T'
10 300 kernel 0 1 NA NA NA NA k
20 30 kernel 0 1 NA NA NA NA k
120 130 kernel 0 1 NA NA NA NA k
T
edge touching  <<'T'
110 120 kernel 0 1 NA NA NA NA k
120 130 copy 0 1 NA NA NA NA k
130 140 set 0 1 NA NA NA NA k
T
edge overlap   <<'T'
110 130 kernel 0 1 NA NA NA NA k
120 140 kernel 0 1 NA NA NA NA k
125 127 kernel 0 1 NA NA NA NA k
T
edge zero      <<'T'
150 150 kernel 0 1 NA NA NA NA k
T
is 'outside'        '100 0 100 1 100 0|'     "busy 'ns-timeline outside'"
is 'over the edges' '100 20 80 1 80 0|'      "busy 'ns-timeline spans'"
is 'around it'      '100 100 0 0 0 0|'       "busy 'ns-timeline contains'"
# The long kernel began before, and ends after, the short ones: all is busy.
is 'nested'         '100 100 0 0 0 10|'      "busy 'ns-timeline nested'"
is 'touching'       '100 30 70 2 60 0|'      "busy 'ns-timeline touching'"
is 'overlapping'    '100 30 70 2 60 12|'     "busy 'ns-timeline overlap'"
is 'no duration: parts the gap' '100 0 100 2 50 0|' "busy 'ns-timeline zero'"
is 'from stdin'     '100 30 70 2 60 12|'     "busy 'ns-timeline <overlap'"

# Two devices, two processes; launch 5 of process 1 is a graph of two kernels.
work two <<'T'
0 100 window NA 1 NA NA prefill 0 nvtx
0 100 window NA 2 NA NA prefill 0 nvtx
100 150 window NA 1 NA NA decode 0 nvtx
150 250 window NA 1 NA NA decode 1 nvtx
10 20 kernel 0 1 5 5 prefill 0 a
20 35 kernel 0 1 5 5 prefill 0 b
40 50 copy 1 2 30 NA prefill 0 copy_HtoD
110 120 kernel 0 1 60 NA prefill 0 a
120 130 kernel 0 1 110 NA decode 0 a
150 250 kernel 0 1 140 NA decode 1 b
T
is 'devices of a process only' 'prefill 0 1 0|prefill 0 2 1|decode 0 1 0|decode 1 1 0|' \
    "columns phase,step,pid,device 'ns-timeline two'"
is 'busy by time, whoever launched' '100 25 75|100 10 90|50 20 30|100 100 0|' \
    "columns wall_ns,busy_ns,idle_ns 'ns-timeline two'"
is 'kernels by cause, whole' '3 2 1 35|0 0 0 0|1 1 0 10|1 1 0 100|' \
    "columns n_kernels,n_launches,n_graph_launches,sum_kernel_ns 'ns-timeline two'"
is 'totals' 'prefill NA 1 0 100 25 1|prefill NA 2 1 100 10 1|decode NA 1 0 150 120 2|' \
    "columns phase,step,pid,device,wall_ns,busy_ns,n_windows 'ns-timeline --totals two'"
{ head -1 two; sed 1d two | sort -t'	' -k2,2r; } >shuffled
is 'in any order' "$(ns-timeline two)" 'ns-timeline shuffled'
is 'the whole table' 'all 0 NA 0 240 145|all 0 NA 1 240 10|' \
    "columns phase,step,pid,device,wall_ns,busy_ns 'ns-timeline --all two'"
work repeated <<'T'
0 10 window NA NA NA NA decode 0 nvtx
5 7 kernel 0 1 4 NA decode 0 a
20 40 window NA NA NA NA decode 0 nvtx
25 30 kernel 0 1 24 NA decode 0 a
T
is 'windows of one name are summed' '2 30 7 23 4 10 2|' \
    "columns n_windows,wall_ns,busy_ns,idle_ns,n_gaps,largest_gap_ns,n_kernels 'ns-timeline repeated'"
work idle <<'T'
0 10 window NA 1 NA NA decode 0 nvtx
5 7 kernel 0 2 4 NA NA NA a
T
is 'a process without work' 'NA 10 0 10|' "columns device,wall_ns,busy_ns,idle_ns 'ns-timeline idle'"
head -1 two >none
is 'header only' '' "ns-timeline none | sed 1d"
exits 0 'no windows: says so' 'ns-timeline none' 'ns-phases makes them, --all'

work hidden <<'T'
0 100 window NA 1 NA NA decode 0 graph
100 200 window NA 1 NA NA decode 1 graph
10 120 graph 0 1 5 5 decode 0 graph_1
130 140 kernel 0 1 125 NA decode 1 k
T
is 'hidden kernels are missing, not 0' 'NA 1 1 NA 90 0|1 1 0 10 30 0|' \
    "columns n_kernels,n_launches,n_graph_launches,sum_kernel_ns,busy_ns,reliable 'ns-timeline hidden'"
is 'why' '1 graph replays hide their kernels: record with --cuda-graph-trace=node|a graph replay launched elsewhere runs in it|' \
    "columns why 'ns-timeline hidden'"
printf 'rejected_kernel=2\nrejected_copy=NA\nrejected_set=1\nrejected_api=7\n' >meta.kv
is 'lost records' '0 3 records of the capture have no valid times and are left out|' \
    "columns reliable,why 'ns-timeline --meta meta.kv overlap'"
printf 'rejected_kernel=0\n' >meta.kv
is 'none lost' '1 NA|' "columns reliable,why 'ns-timeline --meta meta.kv overlap'"
exits 2 'bad meta' "echo 'rejected_kernel=x' | ns-timeline --meta /dev/stdin overlap" 'rejected_kernel: not a count'
exits 0 'shares say what is hidden' 'ns-timeline --kernels hidden' '1 graph replays hide their kernels'

# A gap of each class. Synchronize calls of process 1: on from 225 to 239 and
# from 255 to 257; that of process 2 does not matter.
work g <<'T'
100 400 window NA 1 NA NA decode 0 given
110 120 kernel 0 1 105 NA decode 0 first
130 140 kernel 0 1 90 5 decode 0 n1
150 160 kernel 0 1 90 5 decode 0 n2
165 170 kernel 0 1 91 6 decode 0 n3
180 190 kernel 0 1 92 NA decode 0 k1
195 200 kernel 0 1 93 NA decode 0 k2
205 210 copy 0 1 94 NA decode 0 copy_DtoH
215 220 kernel 0 1 95 NA decode 0 k3
222 230 kernel 0 1 96 NA decode 0 k4
240 250 kernel 0 1 239 NA decode 0 k5
260 270 kernel 0 1 258 NA decode 0 k6
280 290 kernel 0 1 NA NA decode 0 k7
T
table api <<'T'
start_ns  end_ns  name  pid  tid  launch_id  return_value  class
225  239  cudaStreamSynchronize_v3020  1  1  1  0  runtime
249  252  cudaStreamSynchronize_v3020  1  1  2  0  runtime
249  259  cudaStreamSynchronize_v3020  2  2  2  0  runtime
258  300  cudaLaunchKernel_v7000  1  1  13  0  runtime
150  152  cudaLaunchKernel_v7000  1  1  13  0  runtime
50  350  cudaDeviceSynchronize_v3020  2  1  13  0  runtime
T
is 'gaps' '100 10 host_launch NA first|120 10 between_graphs first n1|140 10 within_graph n1 n2|160 5 between_graphs n2 n3|170 10 between_graphs n3 k1|190 5 between_kernels k1 k2|200 5 copy k2 copy_DtoH|210 5 copy copy_DtoH k3|220 2 between_kernels k3 k4|230 10 sync_wait k4 k5|250 10 host_launch k5 k6|270 10 unknown k6 k7|290 110 end k7 NA|' \
    "columns start_ns,dur_ns,class,before,after 'ns-timeline --gaps --api api g'"
# What ended last before a gap may have begun first; a call made as it ended is late.
edge last <<'T'
110 150 kernel 0 1 NA NA NA NA long
120 130 kernel 0 1 NA NA NA NA short
160 170 kernel 0 1 150 NA NA NA next
T
is 'what ended last' '150 10 host_launch long next|' \
    "columns start_ns,dur_ns,class,before,after 'ns-timeline --gaps last | sed -n 1p\;3p'"
# A wait that another thread's shorter wait lies within is still on.
table waits <<'T'
start_ns  end_ns  name  pid  tid  launch_id  return_value  class
100  159  cudaDeviceSynchronize  1  1  1  0  runtime
110  120  cudaStreamSynchronize  1  2  2  0  runtime
T
is 'waits of two threads' 'sync_wait' "ns-timeline --gaps --api waits last | sed -n 3p | cut -f7"
is 'without API calls none waits' '230 10 host_launch' \
    "ns-timeline --gaps g | cut -f5-7 | grep ^230 | tr '\t' ' '"
is 'gaps make up the idle time' "$(columns n_gaps,idle_ns 'ns-timeline g')" \
    "ns-timeline --gaps g | awk 'NR > 1 { n++; s += \$6 } END { printf \"%d %d|\", n, s }'"
is 'classes' 'decode within_graph 1 10 10|decode host_launch 2 20 10|decode sync_wait 1 10 10|decode copy 2 10 5|decode between_graphs 3 25 10|decode between_kernels 2 7 5|decode unknown 1 10 10|decode end 1 110 110|' \
    "columns phase,class,n_gaps,idle_ns,largest_gap_ns 'ns-timeline --classes --api api g'"
is 'calls that began in the window of their process' \
    'decode cudaLaunchKernel_v7000 2 44 22 42 0|decode cudaStreamSynchronize_v3020 2 17 8.5 14 1|' \
    "columns phase,name,n_calls,sum_ns,mean_ns,max_ns,waits 'ns-timeline --calls --api api g'"
is 'calls of the whole table' '6' "ns-timeline --all --calls --api api g | awk 'NR > 1 { n += \$3 } END { print n }'"

is 'kernels by name' 'prefill a 2 20 20 10 10 0.571428571429|prefill b 1 15 15 15 15 0.428571428571|decode b 1 100 100 100 100 0.909090909091|decode a 1 10 10 10 10 0.0909090909091|' \
    "columns phase,name,n_calls,sum_ns,own_ns,mean_ns,max_ns,share_ratio 'ns-timeline --kernels two'"
table families <<'T'
family  regex  note
copy  ^copy  data_moved
first  a|b  either
never  a  comes_too_late
T
is 'families' 'prefill first 3 35 0.777777777778|prefill copy 1 10 0.222222222222|decode first 2 110 1|' \
    "columns phase,family,n_calls,sum_ns,share_ratio 'ns-timeline -f families two'"
is 'other is not hidden' 'prefill other 3 35 0.777777777778|prefill copy 1 10 0.222222222222|decode other 2 110 1|' \
    "columns phase,family,n_calls,sum_ns,share_ratio 'head -2 families | ns-timeline -f - two'"

# own FILE: phase, name, calls, sum, own time and share of its kernels.
own() { columns phase,name,n_calls,sum_ns,own_ns,share_ratio "ns-timeline --kernels $1"; }
work streams <<'T'
0 200 window NA NA NA NA w 0 given
10 50 kernel 0 1 NA NA w 0 a
30 90 kernel 0 1 NA NA w 0 b
T
is 'two streams: time is of the one that began first' 'w b 1 60 40 0.5|w a 1 40 40 0.5|' 'own streams'
work early <<'T'
0 200 window NA NA NA NA w 0 given
10 100 kernel 0 1 NA NA w 0 work
12 104 kernel 0 1 NA NA w 0 waits
14 110 kernel 0 1 NA NA w 0 last
T
is 'launched early: from when the one before has ended' 'w work 1 90 90 0.9|w last 1 96 6 0.06|w waits 1 92 4 0.04|' 'own early'
work within <<'T'
0 200 window NA NA NA NA w 0 given
10 100 kernel 0 1 NA NA w 0 long
20 40 kernel 0 1 NA NA w 0 short
50 110 kernel 0 1 NA NA w 0 next
T
is 'within another: none' 'w long 1 90 90 0.9|w next 1 60 10 0.1|w short 1 20 0 0|' 'own within'
work tie <<'T'
0 200 window NA NA NA NA w 0 given
10 30 kernel 0 1 NA NA w 0 long
10 20 kernel 0 1 NA NA w 0 short
T
is 'begun together: the shorter first' 'w long 1 20 10 0.5|w short 1 10 10 0.5|' 'own tie'
# A copy is no kernel, but it was there first; and it waits like one.
work copies <<'T'
0 200 window NA NA NA NA w 0 given
10 30 copy 0 1 NA NA w 0 copy
20 50 kernel 0 1 NA NA w 0 k
40 60 set 0 1 NA NA w 0 set
T
is 'beside copies: kernels'  'w k 1 30 20 1|' 'own copies'
is 'beside copies: families' 'w other 2 50 30 0.6|w copy 1 20 20 0.4|' \
    "columns phase,family,n_calls,sum_ns,own_ns,share_ratio 'ns-timeline -f families copies'"
work apart <<'T'
0 200 window NA NA NA NA w 0 given
10 50 kernel 0 1 NA NA w 0 a
20 60 kernel 1 1 NA NA w 0 b
T
is 'devices apart' 'w a 1 40 40 0.5|w b 1 40 40 0.5|' 'own apart'
# What ran before may be of another phase, or of none.
work border <<'T'
0 100 window NA NA NA NA prefill 0 given
100 200 window NA NA NA NA decode 0 given
10 20 kernel 0 1 NA NA NA NA none
15 110 kernel 0 1 NA NA prefill 0 p
90 130 kernel 0 1 NA NA decode 0 d
120 140 kernel 0 1 NA NA decode 0 e
T
is 'own time is of the phase of its row' 'prefill p 1 95 90 1|decode d 1 40 20 0.666666666667|decode e 1 20 10 0.333333333333|' 'own border'

exits 2 'bad expression' "printf 'family\tregex\nx\t(\n' | ns-timeline -f - two" 'stdin:2: regex: '
ok 'the families that come with it' 'ns-timeline -f $top/configs/families.tsv two'

# Against an oracle that counts nanosecond by nanosecond.
if ${CC:-cc} -O1 -o oracle "$top/tests/timeline-oracle.c" 2>err; then
	bad=
	for seed in $(seq 1 150); do
		./oracle "$seed" t >want
		ns-timeline t 2>>err | cut -f1-16 >got
		cmp -s want got || bad="$bad $seed"
		{ head -1 t; sed 1d t | sort -t'	' -k12,12 -k2,2r; } |
		    ns-timeline 2>>err | cut -f1-16 >got
		cmp -s want got || bad="$bad $seed(shuffled)"
		ns-timeline --gaps t 2>>err | awk -F'\t' 'NR > 1 { n++; s += $6 } END { print n + 0, s + 0 }' >got
		awk -F'\t' 'NR > 1 { n += $13; s += $7 } END { print n + 0, s + 0 }' want >sums
		cmp -s sums got || bad="$bad $seed(gaps)"
		ns-timeline --all -f families t 2>>err | awk -F'\t' 'NR > 1 { s += $5 } END { print s + 0 }' >got
		awk -F'\t' 'NR > 1 && $3 != "window" { for (i = $1; i < $2; i++) n += !busy[$4, i]++ } END { print n + 0 }' t >sums
		cmp -s sums got || bad="$bad $seed(own)"
	done
	is '150 random tables, in order and shuffled' 'differ:' 'echo "differ:$bad"'
else
	skip_one 'random tables against the oracle' 'no C compiler'
fi

# In order for longer than a batch, then not; and sorted within a batch.
{ head -1 two; echo '0 1000000 window NA NA 7 NA NA NA w 0 given' | tr ' ' '\t'
  awk 'BEGIN { OFS = "\t"; for (i = 0; i < 140000; i++) print i, i + 1, "kernel", 0, 1, 7, i, i, "NA", "w", 0, "k" }'; } >long
is 'a long table' '1000000 140000 140000|' "columns wall_ns,busy_ns,n_kernels 'ns-timeline long'"
{ sed 100000q long; sed -n '100001,$p' long | sort -n | awk 'NR % 2 { a = $0; next } { print; print a }'; } >ripple
is 'ripples in it'       "$(ns-timeline long)" 'ns-timeline ripple'
{ cat long; sed -n 3p long; } >late
exits 2 'order lost late' 'ns-timeline late' 'late:140003: start_ns: out of order'

exits 2 'two tables asked for' 'ns-timeline --gaps --kernels two' 'usage:'
exits 2 'calls of what'        'ns-timeline --calls two'          'usage:'
exits 2 'two files'            'ns-timeline two two'              'usage:'
exits 2 'empty'                'ns-timeline /dev/null'            'no header line'
exits 2 'missing column'       'cut -f1-10 two | ns-timeline'     "no column 'step'"
exits 2 'ragged row'           '{ cat two; echo x; } | ns-timeline' 'stdin:12: 1 fields'
exits 2 'cut last line'        'head -c -2 two | ns-timeline'     'last line cut short'
exits 2 'NA start'             "sed 's/^10	/NA	/' two | ns-timeline" 'start_ns: may not be NA'
exits 2 'bad number'           "sed 's/^10	/1e1	/' two | ns-timeline" "not an integer: '1e1'"
exits 2 'ends before it starts' "sed 's/^10	20/20	10/' two | ns-timeline" 'end_ns: before start_ns'
exits 2 'a time that is none'  "sed 's/^10	20/10	4000000000000000000/' two | ns-timeline" 'not a time'
exits 2 'unknown kind'         "sed 's/	copy	/	move	/' two | ns-timeline" "'move': kernel, copy"
exits 2 'window without a name' "sed 's/prefill/NA/' two | ns-timeline" 'a window has a phase'
exits 2 'no such file'         'ns-timeline nofile'               'nofile: No such file'
exits 2 'no such API table'    'ns-timeline --gaps --api nofile two' 'nofile: No such file'
for mode in '' --gaps --classes --kernels '-f families' '--calls --api api'; do
	exits 2 "full disk ${mode:-timeline}" "ns-timeline $mode g >/dev/full" 'No space left'
done
done_testing
