#!/bin/sh
. "${0%/*}/tap.sh"

table work <<'T'
start_ns  end_ns  kind  device  pid  stream  launch_ns  launch_id  graph_launch_id  phase  step  name  grid  block  registers  shared_bytes  bytes
0  2000  window  NA  4  NA  NA  NA  NA  decode  0  nvtx  NA  NA  NA  NA  NA
1000  1500  kernel  0  4  7  900  1  NA  decode  0  "quoted"\k  2x1x1  32x1x1  16  0  NA
1400  1450  copy  0  4  7  950  2  NA  NA  NA  copy_HtoD  NA  NA  NA  NA  64
1500  1501  kernel  1  4  7  NA  3  NA  NA  NA  k  1x1x1  32x1x1  16  0  NA
T
table ranges <<'T'
start_ns  end_ns  kind  domain  name  pid  tid  depth
-1500  2000  push_pop  nsbench  decode.0  4  5  0
10  20  start_end  default  io  4  5  NA
15  15  mark  default  here  4  5  NA
30  NA  push_pop  default  open  4  6  0
T
table api <<'T'
start_ns  end_ns  name  pid  tid  launch_id  return_value  class
900  990  cudaLaunchKernel_v7000  4  5  1  0  runtime
T
table samples <<'T'
time_ns  gpu  metric  unit  value  period_ns  why
100  0  DRAM_Read_Bytes  bytes  NA  NA  NA
200  0  DRAM_Read_Bytes  bytes  4294967296  100  NA
200  1  SM_Active  percent_int  2.5  100  NA
T
events() { sed '1d;$d' | sed 's/,$//'; }
is 'an event a line' '{"ph":"X","pid":1073741824,"tid":1,"name":"\"quoted\"\\k","cat":"kernel","ts":1.000,"dur":0.500,"args":{"phase":"decode","step":"0","grid":"2x1x1","block":"32x1x1","registers":"16","shared_bytes":"0","launch_ns":"900","launch_id":"1"}}' \
    'ns-trace <work | events | grep quoted'
is 'a device is a process' '"name":"GPU 0, process 4" "name":"GPU 1, process 4"' \
    "ns-trace -w work | grep -o '\"name\":\"GPU[^}]*\"' | xargs -d '\n'"
is 'streams, and what overlaps in one' '"stream 7" "stream 7, beside" "stream 7"' \
    "ns-trace -w work | grep -o '\"stream[^}]*\"' | xargs -d '\n'"
is 'a window' 'b 0.000 e 2.000' \
    "ns-trace -w work | sed -n 's/.*\"ph\":\"\\(.\\)\".*decode.0.*\"ts\":\\([0-9.]*\\).*/\\1 \\2/p' | xargs"
is 'before the session' '-1.500 3.500' \
    "ns-trace -r ranges | sed -n 's/.*decode.0.*\"ts\":\\(.*\\),\"dur\":\\([0-9.]*\\).*/\\1 \\2/p'"
is 'an open range stays open' '1' "ns-trace --nvtx ranges | grep '\"ph\":\"B\"' | grep -c open"
is 'a sample' '{"ph":"C","pid":1074790400,"tid":0,"name":"DRAM_Read_Bytes","cat":"sample","ts":0.200,"args":{"value":4294967296}}' \
    'ns-trace --samples samples | events | grep DRAM'
is 'no rows' '{"displayTimeUnit":"ns","traceEvents":[ ]}' 'head -1 work | ns-trace | xargs -d "\n"'

if ${CC:-cc} -o check "$top/tests/trace-check.c" -ljansson 2>err; then
	is 'all of it is JSON' 'M=11 X=5 B=1 i=1 b=2 e=2 C=2 ns=4141' \
	    'ns-trace -w work -r ranges --api api --samples samples | ./check | tail -1'
	# Every byte that a name can hold, UTF-8 or not; tab, LF and NUL cannot be.
	{ head -1 work; printf '1\t2\tkernel\t0\t4\t7\tNA\t1\tNA\tNA\tNA\t'
	  awk 'BEGIN { for (i = 1; i < 256; i++) if (i != 9 && i != 10) printf "%c", i }' </dev/null
	  printf '\303\251\355\240\200\360\237\230\200\300\257\342\202\t1\t1\t1\t1\tNA\n'; } >odd
	is 'any bytes in a name' 'M=2 X=1 B=0 i=0 b=0 e=0 C=0 ns=1' 'ns-trace <odd | ./check | tail -1'
	is 'no rows is JSON' 'M=0 X=0 B=0 i=0 b=0 e=0 C=0 ns=0' 'head -1 work | ns-trace | ./check'
	if [ -d "$shared/captures/nsys" ]; then
		xz -dc "$shared/captures/nsys/hf-eager.sqlite.xz" >hf.sqlite
		for t in work ranges api samples; do nsys2tsv $t hf.sqlite >hf.$t 2>err; done
		is 'a capture: each row is an event' \
		    "X=$(($(sed 1d hf.work | wc -l) + $(sed 1d hf.ranges | wc -l) + $(sed 1d hf.api | wc -l))) C=$(awk -F'\t' 'NR > 1 && $5 != "NA"' hf.samples | wc -l)" \
		    "ns-trace -w hf.work -r hf.ranges --api hf.api --samples hf.samples | ./check | tail -1 | tr ' ' '\n' | grep '[XC]=' | xargs"
	else
		skip_one 'a capture' 'no ../shared/captures'
	fi
else
	skip_one 'the trace is JSON' 'no C compiler or no jansson'
fi

exits 2 'an operand'     'ns-trace work'                    'usage:'
exits 2 'empty'          'ns-trace </dev/null'              'stdin: empty'
exits 2 'missing column' 'cut -f1-11 work | ns-trace'       "no column 'name'"
exits 2 'ragged row'     '{ cat work; echo x; } | ns-trace' 'stdin:6: 1 fields'
exits 2 'cut last line'  'head -c -2 work | ns-trace'       'last line cut short'
exits 2 'NA time'        "sed 's/^1400/NA/' work | ns-trace" 'start_ns: may not be NA'
exits 2 'bad number'     "sed 's/^1400/x/' work | ns-trace" "not an integer: 'x'"
exits 2 'bad sample'     "sed 's/2.5/2,5/' samples | ns-trace --samples -" "not a number: '2,5'"
exits 2 'bad GPU'        "sed 's/200	1/200	-1/' samples | ns-trace --samples -" 'gpu: no GPU has number -1'
exits 2 'backwards'      "sed 's/^1400	1450/1400	1300/' work | ns-trace" 'before start_ns'
exits 2 'no such file'   'ns-trace -r nofile'               'nofile: No such file'
exits 2 'full disk'      'ns-trace <work >/dev/full'        'No space left'
done_testing
