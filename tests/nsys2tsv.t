#!/bin/sh
# Expected rows are worked out by hand from the SQL in tests/data.
. "${0%/*}/tap.sh"
command -v sqlite3 >/dev/null || skip 'no sqlite3 shell here'

# capture NAME [SQL]: tests/data/NAME.sql, then SQL, as x.sqlite.
capture() { rm -f x.sqlite*; { cat "$data/$1.sql"; echo "${2-}"; } | sqlite3 x.sqlite; }
# column N NAME COMMAND: that field of all rows but the header, in one line.
column() { eval "$2" 2>/dev/null | tail -n +2 | cut -f "$1" | tr '\n' ' '; }
rows() { eval "$1" 2>/dev/null | tail -n +2 | wc -l | tr -d ' '; }
# wide NAME: tab-separated standard input from cells two spaces apart.
wide() { sed 's/   */	/g' >"$1"; }
refused() { exits 2 "$1" "nsys2tsv work $2" "$3"; }

# Every table of a capture that has everything.
capture nsys
wide work.tsv <<'END'
start_ns  end_ns  kind  device  pid  stream  launch_ns  launch_id  graph_launch_id  phase  step  name  grid  block  registers  shared_bytes  bytes
-500  -400  copy  0  100  7  NA  77  NA  NA  NA  copy HtoD  NA  NA  NA  NA  4096
1000  1100  kernel  0  100  7  900  1  NA  NA  NA  gemv  1024x1x1  128x2x1  32  3072  NA
2000  2100  kernel  0  100  13  1900  2  2  NA  NA  gemv  1024x1x1  128x1x1  32  0  NA
2100  2250  kernel  0  100  13  1900  2  2  NA  NA  norm  8x2x1  256x1x1  20  0  NA
2250  2260  copy  0  100  12  1900  2  2  NA  NA  copy 99  NA  NA  NA  NA  32
2250  2260  copy  0  100  13  1900  2  2  NA  NA  copy DtoD  NA  NA  NA  NA  64
3000  3000  set  0  100  7  2950  4  NA  NA  NA  set  NA  NA  NA  NA  65536
5100  5200  kernel  1  200  7  5000  1  NA  NA  NA  norm  1x1x1  32x1x1  16  0  NA
6100  6900  graph  1  200  7  6000  9  9  NA  NA  graph 5  NA  NA  NA  NA  NA
END
ok 'work'               'nsys2tsv work x.sqlite >got 2>/dev/null && diff -u work.tsv got'
exits 0 'opaque graphs are said' 'nsys2tsv work x.sqlite' '1 replays of graphs are opaque'
exits 0 'work: nsys said that it lost some' 'nsys2tsv work x.sqlite' \
	'nsys said: Not all CUDA events might have been collected.'
is 'work: demangled'    'void gemv<float, (int)4>(float *) norm(float *) ' \
	"column 12 'nsys2tsv work --name demangled x.sqlite | sed -n \"1p;4,5p\"'"
is 'work: mangled, else the next best' '_Z4gemvIfLi4EEvPf norm ' \
	"column 12 'nsys2tsv work --name mangled x.sqlite | sed -n \"1p;4,5p\"'"
wide ranges.tsv <<'END'
start_ns  end_ns  kind  domain  name  pid  tid  depth
800  3500  push_pop  nsbench  repeat.0  100  101  0
800  1500  push_pop  nsbench  prefill  100  101  1
1000  4000  start_end  nsbench  request  100  101  NA
1200  1200  mark  default  here  100  101  NA
1500  2500  push_pop  nsbench  decode.0  100  101  1
1600  1700  push_pop  default  aten::mm  100  101  0
1600  1700  push_pop  nsbench  other  100  102  0
1650  NA  push_pop  default  open  100  101  1
1660  1670  push_pop  default  a b  100  101  2
5000  5001  push_pop  domain 3  elsewhere  200  200  0
END
ok 'ranges'             'nsys2tsv ranges x.sqlite >got 2>/dev/null && diff -u ranges.tsv got'
exits 0 'ranges: an open one is said' 'nsys2tsv ranges x.sqlite' '1 ranges have no end'
wide api.tsv <<'END'
start_ns  end_ns  name  pid  tid  launch_id  return_value  class
900  950  cudaLaunchKernel_v7000  100  100  1  0  runtime
910  940  cuLaunchKernel  100  100  1  0  driver
1900  1960  cudaGraphLaunch_v10000  100  101  2  0  runtime
2950  2960  cudaMemsetAsync_v3020  100  100  4  0  runtime
5000  5050  cuLaunchKernel  200  200  1  0  driver
6000  6010  cudaGraphLaunch_v10000  200  200  9  719  runtime
END
ok 'api'                'nsys2tsv api x.sqlite >got && diff -u api.tsv got'
wide samples.tsv <<'END'
time_ns  gpu  metric  unit  value  period_ns  why
0  0  GPC Clock Frequency [MHz]  hz  1975000000  50017  NA
0  0  DRAM Read Bandwidth [Throughput %]  percent_int  0  50017  NA
0  0  dram__bytes_read [sum]  bytes  NA  50017  overflow
0  0  Warps in Flight [Avg Warps per Cycle]  avg_warps_per_cycle  0  50017  NA
10  1  lts__t_sectors [sum]  count  33  60000  NA
50017  0  GPC Clock Frequency [MHz]  hz  1980000000  NA  NA
50017  0  DRAM Read Bandwidth [Throughput %]  percent_int  2  NA  NA
50017  0  dram__bytes_read [sum]  bytes  4096  NA  NA
50017  0  Warps in Flight [Avg Warps per Cycle]  avg_warps_per_cycle  7  NA  NA
60010  1  lts__t_sectors [sum]  count  44  NA  NA
END
ok 'samples'            'nsys2tsv samples x.sqlite >got 2>/dev/null && diff -u samples.tsv got'
exits 0 'samples: MHz that is Hz is said'  'nsys2tsv samples x.sqlite' '[MHz] or [GB/s] hold Hz'
exits 0 'samples: an overflow is said'     'nsys2tsv samples x.sqlite' 'dram__bytes_read [sum]: 1 samples are negative'
# Values from 2^23 to 2^24 come back less 2^24, if no larger one made nsys keep four bytes of each.
kept() { capture nsys "DELETE FROM GPU_METRICS; $(i=0; for v; do echo "INSERT INTO GPU_METRICS VALUES (0, $i, (1 << 48) + (1 << 32) + 1, 0, $v);"; i=$((i + 10)); done)"; nsys2tsv samples x.sqlite 2>said | awk -F'\t' 'NR > 1 { printf "%s%s %s", s, $5, $7; s = ", " }'; }
is 'samples: three bytes that were read as signed' '5 NA, 8388607 NA, 8388608 restored, 16777215 restored' 'kept 5 8388607 -8388608 -1'
exits 0 'samples: it is said'              'kept 5 -8388608 >got; cat said >&2' 'lts__t_sectors [sum]: 1 samples lacked 2^24'
is 'samples: a larger value shows that they were not cut' '8388608 NA, NA overflow' 'kept 8388608 -8388608'
is 'samples: nor were what two bytes may hold' '32767 NA, NA overflow' 'kept 32767 -32768'
is 'samples: but what they may not'        '32768 NA, 16777211 restored' 'kept 32768 -5'
is 'samples: below three bytes'            'NA overflow, 40000 NA' 'kept -8388609 40000'
capture nsys ''
exits 0 'samples: what nsys said of them'  'nsys2tsv samples x.sqlite' 'nsys said: GPU Metrics [0]: Metric config can not be scheduled'
is 'samples: clocks that are in MHz' '1975000000 1980000000 ' \
	"capture nsys 'UPDATE GPU_METRICS SET value = value / 1000000 WHERE value > 1000000'; column 5 'nsys2tsv samples x.sqlite | grep -e time_ns -e Clock'"
capture nsys "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (0, 0, '', 9, 'PCIe Read Bandwidth [GB/s]'); INSERT INTO GPU_METRICS VALUES (0, 70000, 0, 9, 3000000000)"
is 'samples: GB/s that are bytes per second' 'bytes_per_s 3000000000' "nsys2tsv samples x.sqlite | grep PCIe | cut -f 4,5 | tr '\t' ' '"
capture nsys
wide diagnostics.tsv <<'END'
time_ns  severity  source  pid  text
-100  error  daemon  NA  GPU Metrics [0]: Metric config can not be scheduled in a single pass
0  info  analysis  NA  Profiling has started.
7000  warning  analysis  100  Not all CUDA events might have been collected.
END
ok 'diagnostics'        'nsys2tsv diagnostics x.sqlite >got && diff -u diagnostics.tsv got'
cat >meta.kv <<'END'
schema=3.20.3
schema_table=META_DATA_EXPORT
product=2025.3.2.0
host=NA
driver=NA
session_start_utc_ns=NA
duration_ns=NA
sampling_hz=20000
gpu_0_name=NVIDIA_GB10
gpu_0_chip=GB20B
gpu_0_sms=48
gpu_0_memory_bytes=130663321600
gpu_0_l2_bytes=25165824
gpu_0_bytes_per_s=NA
gpu_1_name=NVIDIA_H200
gpu_1_chip=GH100
gpu_1_sms=132
gpu_1_memory_bytes=150109880320
gpu_1_l2_bytes=62914560
gpu_1_bytes_per_s=4814304000000
n_gpus=2
n_processes=2
graph_trace=both
graph_trace_asked=Node
n_graph_launches=2
n_graph_kernels=2
rows_kernel=4
rejected_kernel=0
rows_copy=3
rejected_copy=0
rows_set=1
rejected_set=0
rows_graph=1
rejected_graph=0
rows_api=6
rejected_api=0
rows_sync=NA
rejected_sync=NA
rows_nvtx=13
rows_samples=10
rows_memory=NA
rows_overhead=NA
rejected_overhead=NA
rows_diagnostics=3
n_open_ranges=1
n_overflows=1
n_errors=1
n_warnings=1
END
ok 'meta'               'nsys2tsv meta x.sqlite >got && diff -u meta.kv got'

# The order of rows is of no account, and neither are others' columns and indexes.
capture nsys "CREATE TABLE k AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start;
	DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM k;
	CREATE TABLE a AS SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY end DESC; DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME;
	INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT * FROM a; CREATE INDEX i ON CUPTI_ACTIVITY_KIND_KERNEL(start DESC);
	ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN \"tensor SizeMinusOneElements\" TEXT NOT NULL DEFAULT 'x';"
ok 'shuffled rows give the same work' 'nsys2tsv work x.sqlite >got 2>/dev/null && diff -u work.tsv got'
ok 'shuffled rows give the same api'  'nsys2tsv api x.sqlite >got && diff -u api.tsv got'

# Old schemas, no schema, lazy tables.
capture nsys-old
is 'old: work'          '30 40 kernel 0 7 7 10 3 NA NA NA saxpy 4x1x1 64x1x1 10 0 NA' \
	"nsys2tsv work x.sqlite | tail -1 | tr '\t' ' '"
is 'old: NVTX by id'    '6 9 push_pop MPI MPI_Send 7 8 0' "nsys2tsv ranges x.sqlite | tail -1 | tr '\t' ' '"
is 'old: meta'          'schema=2.9.1' 'nsys2tsv meta x.sqlite | head -1'
is 'absent is not zero' 'rows_copy=NA' 'nsys2tsv meta x.sqlite | grep ^rows_copy'
is 'no graph column: unknown' 'n_graph_kernels=NA' 'nsys2tsv meta x.sqlite | grep ^n_graph_kernels'
exits 0 'no samples, and it says so' 'nsys2tsv samples x.sqlite' 'no GPU metrics in this capture (no table GPU_METRICS)'
is 'no samples: a header' 'time_ns' 'nsys2tsv samples x.sqlite | cut -f 1'
exits 0 'no diagnostics' 'nsys2tsv diagnostics x.sqlite' 'no table DIAGNOSTIC_EVENT'
capture nsys-old 'DROP TABLE EXPORT_META_DATA'
exits 0 'no version'    'nsys2tsv work x.sqlite' 'no schema version in this export'
capture nsys-old 'DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME; DROP TABLE NVTX_EVENTS'
exits 0 'no work'       'nsys2tsv work x.sqlite'   'no work of the GPU in this capture'
exits 0 'no ranges'     'nsys2tsv ranges x.sqlite' '(no table NVTX_EVENTS)'
exits 0 'no calls'      'nsys2tsv api x.sqlite'    '(no table CUPTI_ACTIVITY_KIND_RUNTIME)'
is 'no work: a header'  '1'                        "nsys2tsv work x.sqlite | wc -l | tr -d ' '"
capture nsys 'DELETE FROM NVTX_EVENTS WHERE eventType <> 75'
exits 0 'NVTX without ranges' 'nsys2tsv ranges x.sqlite' '(no ranges in NVTX_EVENTS)'
capture nsys "UPDATE META_DATA_EXPORT SET value = '3.26.0' WHERE name = 'EXPORT_SCHEMA_VERSION'"
exits 0 'a newer minor version' 'nsys2tsv api x.sqlite' 'schema 3.26.0 is newer than 3.25'
capture nsys "UPDATE META_DATA_EXPORT SET value = '4.0.0' WHERE name = 'EXPORT_SCHEMA_VERSION'"
refused 'another major version' x.sqlite 'schema 4.0.0: only 2.x and 3.x are known'
capture nsys 'ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO CUPTI_ACTIVITY_KIND_KERNEL_V3'
ok 'a table with a version in its name' 'nsys2tsv work x.sqlite >got 2>/dev/null && diff -u work.tsv got'
capture nsys 'CREATE TABLE s AS SELECT * FROM StringIds; DROP TABLE StringIds; ALTER TABLE s RENAME TO StringIds'
ok 'strings without a key' 'nsys2tsv work x.sqlite >got 2>/dev/null && diff -u work.tsv got'

# Graphs: judged by rows, not by columns.
trace() { nsys2tsv meta x.sqlite | sed -n 's/^graph_trace=//p'; }
capture nsys 'DELETE FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE';          is 'graphs by node'   node   trace
capture nsys 'UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = NULL'; is 'graphs as replays' graph trace
capture nsys 'UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = NULL; DROP TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE'
is 'graphs hidden'      hidden trace
capture nsys 'DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE graphNodeId IS NOT NULL; DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY; DROP TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE'
exits 0 'graphs hidden: said' 'nsys2tsv work x.sqlite' '2 launches of graphs, and nothing of what they did is in this capture'
capture nsys 'UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = NULL; DROP TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE'
is 'kernels of a graph launch without node ids' '2 2 ' "column 9 'nsys2tsv work x.sqlite | sed -n \"1p;4,5p\"'"
capture nsys 'UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 0; DROP TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE; DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE nameId = 2'
is 'no graphs'          none   trace
capture nsys-old 'DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME'; is 'graphs unknown' NA trace

# Work whose process is not recorded: the only one, or none.
capture nsys-old 'ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN globalPid'
is 'no pid, one process' '10' "nsys2tsv work x.sqlite | tail -1 | cut -f 7"
capture nsys-old 'ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN globalPid; INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 0, 9 << 24, 3, 1, 0)'
is 'no pid, two processes' 'NA NA' "nsys2tsv work x.sqlite | tail -1 | cut -f 5,7 | tr '\t' ' '"
capture nsys-old 'DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME'
exits 0 'no calls: said' 'nsys2tsv work x.sqlite' 'launch_ns is NA'
is 'no calls: NA'        'NA' "nsys2tsv work x.sqlite | tail -1 | cut -f 7"
capture nsys-old 'DELETE FROM StringIds WHERE id = 2';        is 'no short name: demangled' 'saxpy(int, float)' "nsys2tsv work x.sqlite | tail -1 | cut -f 12"
capture nsys-old 'DELETE FROM StringIds WHERE id IN (2, 3)';  is 'no name: NA'  'NA' "nsys2tsv work x.sqlite | tail -1 | cut -f 12"

# Lost records: intervals without times or with an end before the start.
bad='UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 999 WHERE start = 1000; UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 0, end = 0 WHERE start = 5100'
capture nsys "$bad"
refused 'half of the kernels are lost' x.sqlite 'CUPTI_ACTIVITY_KIND_KERNEL: 2 of 4 rows end before they start'
is 'lost ones left out'  '2' "rows 'nsys2tsv work -t 0.5 x.sqlite | grep -e ^start -e kernel'"
exits 0 'lost ones said' 'nsys2tsv work -t 0.5 x.sqlite' '2 of 4 rows end before they start or have no times: left out'
is 'lost ones counted'   'rejected_kernel=2' "nsys2tsv meta x.sqlite | grep ^rejected_kernel"
capture nsys 'UPDATE NVTX_EVENTS SET end = 799 WHERE end = 3500; UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET end = 0 WHERE start = 900'
exits 2 'an inverted range' 'nsys2tsv ranges x.sqlite' 'NVTX_EVENTS: 1 of 10 rows'
is 'the inverted one left out' '9' "rows 'nsys2tsv ranges -t 1 x.sqlite'"
exits 2 'an inverted call'  'nsys2tsv api x.sqlite'    'CUPTI_ACTIVITY_KIND_RUNTIME: 1 of 6 rows'
capture nsys 'DELETE FROM TARGET_INFO_GPU_METRICS WHERE metricId = 2'
exits 2 'a metric without a name' 'nsys2tsv samples x.sqlite' 'metric 2 of GPU 0 has no name'
capture nsys 'DELETE FROM TARGET_INFO_GPU_METRICS'
exits 2 'no metric has a name' 'nsys2tsv samples x.sqlite' 'metric 0 of GPU 0 has no name'	# found by fuzzing
capture nsys 'DROP TABLE GPU_METRICS; CREATE TABLE GENERIC_EVENTS (data TEXT); INSERT INTO GENERIC_EVENTS VALUES (0)'
exits 0 'samples as JSON' 'nsys2tsv samples x.sqlite' 'an old nsys keeps them as JSON'

# What is not a number where one must be, and tables that are none.
capture nsys "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'soon' WHERE start = 1000"
refused 'text for a time'  x.sqlite "CUPTI_ACTIVITY_KIND_KERNEL.start: not an integer: 'soon'"
capture nsys "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 1.5"
refused 'a real for a grid' x.sqlite "CUPTI_ACTIVITY_KIND_KERNEL.gridX: not an integer: '1.5'"
capture nsys 'ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN start TO begin'
refused 'no start' x.sqlite "CUPTI_ACTIVITY_KIND_KERNEL: no column 'start'"
capture nsys 'ALTER TABLE NVTX_EVENTS RENAME COLUMN eventType TO type'
exits 2 'no event type' 'nsys2tsv ranges x.sqlite' "NVTX_EVENTS: no column 'eventType'"
capture nsys 'DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS
	WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS start, i AS end FROM n'
is 'a view is no table'    '0' "rows 'nsys2tsv work x.sqlite | grep -e ^start -e kernel'"

# Files that are no export, each by its name and with what to do.
printf 'Time (%%),Total Time (ns),Instances\n1,2,3\n' >sum.csv
refused 'nsys stats CSV'   sum.csv 'not an SQLite file: nsys stats CSV; it holds sums without times; export it again: nsys export --type sqlite'
: >empty.sqlite;                               refused 'empty'         empty.sqlite 'empty: the export was interrupted'
head -c 8192 /dev/zero >zero.sqlite;           refused 'zeroed header' zero.sqlite  'header is all zero: the export was interrupted'
printf 'salted0123456789%0200d' 0 >enc.sqlite; refused 'encrypted'     enc.sqlite   'not an SQLite file (encrypted, or no export at all)'
printf 'anything at all' >x.nsys-rep;          refused 'a report'      x.nsys-rep   'a report as nsys records it; export it again'
printf '{"a": 1}' >x.json;                     refused 'JSON'          x.json       'not an SQLite file: JSON'
gzip -c sum.csv >x.gz;                         refused 'gzip'          x.gz         'unpack it: gunzip'
printf 'version https://git-lfs.github.com/spec/v1\n' >l.sqlite; refused 'a pointer' l.sqlite 'a Git LFS pointer; git lfs pull'
printf 'SQLite format 3' >s.sqlite;            refused 'a header cut short' s.sqlite 'cut short: it ends after 15 bytes'
capture nsys; head -c 20000 x.sqlite >cut.sqlite; refused 'cut short' cut.sqlite 'cut short: it ends after 20000 bytes'
capture nvprof;                                refused 'nvprof'        x.sqlite     'an nvprof database'
rm -f x.sqlite; sqlite3 x.sqlite 'CREATE TABLE t (a)'; refused 'another database' x.sqlite 'no export of Nsight Systems'
capture nsys; size=$(wc -c <x.sqlite)
head -c 8192 x.sqlite >h; head -c $((size - 8192)) /dev/zero | tr '\0' '\377' >>h; refused 'damaged' h 'damaged ('
capture nsys; printf x >x.sqlite-journal;      refused 'a writer was interrupted' x.sqlite "'x.sqlite-journal' lies beside it"
rm x.sqlite-journal
refused 'no such file'     nofile     'nofile: No such file'
refused 'a directory'      .          'Is a directory'
refused 'standard input'   '- <x.sqlite' 'cannot be read from a pipe'
mkfifo pipe; (cat x.sqlite >pipe 2>/dev/null &); refused 'a pipe' pipe 'cannot be read from a pipe'

# Nothing is written beside it, in whatever folder and by whatever name.
mkdir ro; cp x.sqlite 'ro/a b?%41#.sqlite'; chmod a-w ro
ok 'a read-only folder, a strange name' 'nsys2tsv api "ro/a b?%41#.sqlite" | diff -u api.tsv - && [ "$(ls ro | wc -l)" -eq 1 ]'
chmod u+w ro
sqlite3 x.sqlite 'PRAGMA journal_mode = WAL; UPDATE StringIds SET value = value; PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
ok 'write-ahead log' 'nsys2tsv api x.sqlite | diff -u api.tsv - && [ ! -e x.sqlite-shm ]'

capture nsys
for t in work ranges api samples meta diagnostics; do
	exits 2 "$t to a full disk" "nsys2tsv $t x.sqlite >/dev/full" 'No space left'
done
exits 2 'an unknown table'  'nsys2tsv gaps x.sqlite'              "no table 'gaps'"
exits 2 'no file'           'nsys2tsv work'                       'usage:'
exits 2 'an unknown name'   'nsys2tsv work --name long x.sqlite'  'short, demangled or mangled'
exits 2 'no number'         'nsys2tsv work -t x x.sqlite'         'not a number'
done_testing
