#!/bin/sh
# Metric sets for nsys, and what a capture made by one is worth.
. "${0%/*}/tap.sh"

{ echo 'quantity rung direction metric factor tier role set shown note'
  echo 'bytes l1 both l1tex__t_sectors.sum 32 0 value a NA NA'
  echo 'requests l1 both l1tex__t_sectors.sum 1 0 value a NA NA'
  echo 'bytes memory read dram__bytes_read.sum 1 0 value a,b NA NA'
  echo 'activity NA NA sm__x_realtime.sum 1 0 value b NA NA'
  echo 'bytes memory both nvl__x.sum 1 0 value NA NA NA'; } | table m
cat >stock.config <<'E2'
# A comment with: a colon
version: 5
metricSets:
- alias: other
  chips: [GA100, GA102]
- alias: gh100
  name: General Metrics for NVIDIA GH100 (any frequency)
  chips: [GH100]
  displayRows:
  - name: $root:Activity
    metrics:
    - GR Active
  metrics:
  - name: GR Active
    id: gr__cycles_active
    subMetrics:
    - name: Throughput %
      suffix: .sum.pct_of_peak_sustained_elapsed
E2
set_of() { ns-sets -m m --chip GH100 --stock stock.config "$@"; }
cat >want <<'E2'
version: 5
metricSets:
- alias: nsbench-a
  name: nsbench-a
  chips: [GH100]
  displayRows:
  - name: nsbench
    type: overlay
    metrics:
    - l1tex__t_sectors
    - dram__bytes_read
  metrics:
  - name: l1tex__t_sectors
    id: l1tex__t_sectors
    subMetrics:
    - name: sum
      suffix: .sum
  - name: dram__bytes_read
    id: dram__bytes_read
    subMetrics:
    - name: sum
      suffix: .sum
E2
is 'a set, each metric once'   "$(cat want)" 'set_of --set a'
is 'the other one'             'dram__bytes_read sm__x_realtime' "set_of --set b | sed -n 's/^    id: //p' | tr '\n' ' ' | sed 's/ $//'"
is 'a name of its own'         '- alias: x-1' 'set_of --set b --alias x-1 | grep alias'
ok 'a registry by a pipe'      'set_of --set a >1; ns-sets -m - --chip GH100 --stock stock.config --set a <m | cmp - 1'
mkdir many && sed 's/GH100/GB20B/; s/version: 5/version: 6/' stock.config >many/gb.config && cp stock.config many/z.config
is 'by chip, out of a folder'  'version: 6' 'ns-sets -m m --set a --chip GB20B --stock many | head -1'
is 'each its own version'      'version: 5' 'ns-sets -m m --set a --chip GH100 --stock many | head -1'
exits 2 'none for the chip'    'ns-sets -m m --set a --chip GB100 --stock many' 'many/*.config: no set is for chip GB100: this nsys cannot sample it'
exits 2 'nor in the file'      'ns-sets -m m --set a --chip GB20B --stock stock.config' 'stock.config: no set in it is for chip GB20B'
exits 2 'an empty folder'      'mkdir none; ns-sets -m m --set a --chip GH100 --stock none' 'none/*.config: there is no metric set file'
exits 2 'no such folder'       'ns-sets -m m --set a --chip GH100 --stock gone' 'gone: No such file'
exits 2 'not YAML'             'printf "a: [b\nc: d\n" >bad; ns-sets -m m --set a --chip GH100 --stock bad' 'bad:2: not a metric set file'
exits 2 'an empty file'        'ns-sets -m m --set a --chip GH100 --stock /dev/null' 'no set in it is for chip GH100'
exits 2 'YAML of another kind' 'printf -- "- a\n- b\n" >bad; ns-sets -m m --set a --chip GH100 --stock bad' 'no set in it'
exits 2 'without a version'    'sed /^version/d stock.config >bad; ns-sets -m m --set a --chip GH100 --stock bad' 'bad: no version of its format in it'
exits 2 'a version that is none' 'sed "s/^version.*/version: \"5\\\\nx: y\"/" stock.config >bad; ns-sets -m m --set a --chip GH100 --stock bad' 'no version'
exits 2 'chips that are no list' 'sed "s/chips:.*/chips: {a: GH100}/" stock.config >bad; ns-sets -m m --set a --chip GH100 --stock bad' 'no set in it'
exits 2 'no such set'          'set_of --set c' "m: no metric of set 'c'"
exits 2 'not a sum'            'sed "s/read.sum/read.avg/" m >bad; ns-sets -m bad --set a --chip GH100 --stock stock.config' "bad:4: metric: 'dram__bytes_read.avg' is not NAME.sum"
exits 2 'a name that is none'  'sed "s/dram__bytes/dram: bytes/" m >bad; ns-sets -m bad --set a --chip GH100 --stock stock.config' 'is not NAME.sum'
exits 2 'a set with a quote'   "set_of --set \"a'\"" 'letters, digits'
exits 2 'an empty registry'    'ns-sets -m /dev/null --set a --chip GH100 --stock stock.config' '/dev/null'
exits 2 'header only'          'head -1 m >bad; ns-sets -m bad --set a --chip GH100 --stock stock.config' 'no metric of set'
exits 2 'a ragged row'         '{ cat m; printf "x\ty\n"; } >bad; ns-sets -m bad --set a --chip GH100 --stock stock.config' 'bad:7'
exits 2 'a missing column'     'cut -f 1-7 m >bad; ns-sets -m bad --set a --chip GH100 --stock stock.config' 'set'
exits 2 'cut short'            'head -c -1 m >bad; ns-sets -m bad --set a --chip GH100 --stock stock.config' 'cut short'
exits 2 'full disk'            'set_of --set a >/dev/full' 'No space left'
exits 2 'no chip'              'ns-sets -m m --set a --stock stock.config' 'usage'

# What a capture is worth.
sampled() { { echo 'phase step metric value why'; cat; } | table "$1"; }
sampled s <<'E2'
prefill 0 l1tex__t_sectors.sum 5 NA
prefill 0 dram__bytes_read.sum 7 NA
decode 0 l1tex__t_sectors.sum 0 NA
decode 0 dram__bytes_read.sum 9 NA
decode 0 more.sum NA overflow
E2
said() { { echo 'severity text'; cat; } | table "$1"; tr _ ' ' <"$1" >t && mv t "$1"; }
said d <<'E2'
info GPU_Metrics:_overflow_of_nothing
warning Not_all_CUDA_events_might_have_been_collected.
E2
judged() { ns-sets -m m --set a --check s --diagnostics d "$@"; }
ok 'all is there'              'judged 2>err && [ ! -s err ]'
exits 2 'one is missing'       'grep -v dram s >x; ns-sets -m m --set a --check x --diagnostics d' 'ns-sets: dram__bytes_read was asked for and is not in the capture'
exits 2 'none is there'        'head -1 s >x; ns-sets -m m --set a --check x --diagnostics d' 'no counter of set a is in the capture, and nsys does not say why: is the GPU one of'
sed 's/	9	NA/	NA	overflow in 3 of 64 samples/' s >overflowed
exits 1 'an overflow'          'ns-sets -m m --set a --check overflowed --diagnostics d' 'dram__bytes_read has no sum in phase decode, step 0: overflow in 3 of 64 samples'
ok 'what to do'                'grep -q "sample at a higher rate" err'
exits 0 'lost samples: NA, and said' 'sed "s/	9	NA/	NA	samples are lost: 9/" s >x; ns-sets -m m --set a --check x --diagnostics d' 'dram__bytes_read has no sum in phase decode, step 0: samples are lost'
says() {	# says NAME TEXT REMEDY [STATUS]
	printf 'severity\ttext\nerror\t%s\n' "$2" >e
	exits "${4:-2}" "$1" 'ns-sets -m m --set a --check s --diagnostics e' "ns-sets: nsys said: $2: $3"
}
says 'two passes'      'GPU Metrics [0]: Metric config can not be scheduled in a single pass' 'the set takes more than one pass with this driver'
says 'a metric skipped' 'GPU Metrics [0]: Skipping metric lts__x.sum (not available)' "this chip does not sample it: is this the chip's platform?"
says 'no permission'   'GPU Metrics [0]: Insufficient privilege' 'the counters are for administrators only: ./setup/allow-counters.sh'
says 'held'            'GPU Metrics [0]: the counters are in use' 'another profiler holds the counters'
says 'lost'            'GPU Metrics [0]: buffer overrun' 'samples came faster than they were read: sample at a lower rate' 1
is 'how to sample again'      slower 'ns-sets -m m --set a --check s --diagnostics e 2>err'
is 'how, of an overflow'      faster 'ns-sets -m m --set a --check overflowed --diagnostics d 2>err'
{ cat e; printf 'error\tGPU Metrics [0]: Insufficient privilege\n'; } >both
exits 2 'lost, and worse'     'ns-sets -m m --set a --check s --diagnostics both' 'administrators'
says 'in other words'  'GPU Metrics [0]: Klaatu' 'what was sampled is not to be trusted'
exits 0 'an error of other things' 'printf "severity\ttext\nerror\tNVTX: no\n" >e; ns-sets -m m --set a --check s --diagnostics e' 'nsys said: NVTX: no'
exits 1 'a warning of the metrics' 'printf "severity\ttext\nwarning\tGPU Metrics [0]: samples were dropped\n" >e; ns-sets -m m --set a --check s --diagnostics e' 'at a lower rate'
exits 2 'no diagnostics'       'ns-sets -m m --set a --check s' 'usage'
exits 2 'no such table'        'judged --check gone' 'gone'
exits 2 'counters without why' 'cut -f 1-4 s >x; judged --check x' 'why'
done_testing
