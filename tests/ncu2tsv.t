#!/bin/sh
. "${0%/*}/tap.sh"
in=$data/ncu

# of FILE [OPTION...]: phase.step launch kernel metric value unit why, a row a line.
of() {
	file=$1; shift
	ncu2tsv "$@" "$file" 2>err | tail -n +2 | cut -f 2-9 | sed 's/	/./' | tr '\t' '|'
}
values() { of "$@" | cut -d '|' -f 5; }

# header METRIC...: the beginning of a raw page; row CELLS...: quoted fields.
row() { printf '"%s"' "$1"; shift; [ $# -eq 0 ] || printf ',"%s"' "$@"; echo; }
raw() {	# raw METRIC UNIT VALUE...: a raw page of one metric
	row ID 'Process ID' 'Kernel Name' "$1"
	row '' '' '' "$2"
	shift 2; i=0
	for v in "$@"; do row "$i" 5 k "$v"; i=$((i + 1)); done
}
one() { raw m__x.sum "$1" "$2" 1.5 | ncu2tsv | sed -n 2p | cut -f 7,8 | tr '\t' ' '; }
number() { raw m__x.sum "${2-}" "$1" 1.5 | ncu2tsv | sed -n 2p | cut -f 7; }

golden ncu-raw.tsv        'ncu2tsv $in/raw.csv'
golden ncu-details.tsv    'ncu2tsv $in/details.csv'
is 'from stdin'           ''  'ncu2tsv <$in/raw.csv 2>/dev/null | diff - $gold/ncu-raw.tsv'
is '- is stdin'           ''  'ncu2tsv - <$in/raw.csv 2>/dev/null | diff - $gold/ncu-raw.tsv'
{ echo '==WARNING== Unable to access the following 1 metrics: ctc__x.sum.'; cat "$in/raw.csv"; } >warned.csv
is 'warnings are passed on, notes of what ncu was told are not' 'ncu2tsv: warned.csv: ==WARNING== Unable to access the following 1 metrics: ctc__x.sum.' 'ncu2tsv warned.csv 2>&1 >/dev/null'

# ---- shapes
is 'ranges'            'decode.3|9.0|decode/3|dram__bytes_read.sum|10|byte|NA
NA.NA|9.1|load:weights|dram__bytes_read.sum|20|byte|NA
decode.0|9.2|decode.0|dram__bytes_read.sum|40|byte|NA
NA.NA|9.3|range|dram__bytes_read.sum|80|byte|NA' 'of $in/range.csv'
is 'a phase for the rest' 'decode.3
prefill.0
decode.0
prefill.0'                'of $in/range.csv -p prefill | cut -d "|" -f 1'
gate() { sed '1,2p;5!d;s/decode.0/copy/;p;s/nsbench/other/;s/^"2"/"3"/' "$in/range.csv"; }
is "a gate's kernel, in its own domain" 'copy.9.2
NA.9.3'                   'gate | ncu2tsv | awk "NR > 1" | cut -f 2,4 | tr "\t" .'
is 'BOM, CRLF, glued header' 'NA.NA|589.0|unnamed>::saxpy(float, int)|dram__bytes_read.sum|134221568|byte|NA
NA.NA|589.0|unnamed>::saxpy(float, int)|gpu__time_duration.sum|292928|ns|NA' 'of $in/bom-crlf.csv'
is 'two runs'             '5.0 5.1 2.5.0 2.6.0'   'of $in/two-runs.csv | cut -d "|" -f 2 | paste -sd " "'
is 'body items'           'Roofline
Roofline: Single
Roofline: Double'         'ncu2tsv $in/roofline.csv | tail -n +2 | cut -f 13'
is 'a header of 2019'     'NA.NA|5.0|k|dram__bytes.sum|268440000|byte|NA'  'of $in/old-header.csv'
is 'instances'            1234                    'values $in/instances.csv'
is 'rows joined without a header' '5.0 5.1 2.5.0' \
	'{ raw m__x.sum inst 1 2; row 0 5 k 4; } | ncu2tsv | tail -n +2 | cut -f 4 | paste -sd " "'
is 'processes have ids of their own' '5.0 6.0 5.1 6.1' \
	'{ raw m__x.sum inst 1; row 0 6 k 1; row 1 5 k 1; row 1 6 k 1; } | ncu2tsv | tail -n +2 | cut -f 4 | paste -sd " "'
is 'a newline and quotes in a name' 'a "b", c d' \
	'{ row ID "Process ID" "Kernel Name" m__x.sum; row "" "" "" inst; printf "\"0\",\"5\",\"a \"\"b\"\", c\nd\",\"7\"\n"; } | ncu2tsv | sed 1d | cut -f 5'
is 'the same, skipping'   'a "b", c d' \
	'{ row ID "Process ID" "Kernel Name" m__x.sum; row "" "" "" inst; printf "\"0\",\"5\",\"a \"\"b\"\", c\nd\",\"7\"\n"; } | ncu2tsv --metrics m__x.sum | sed 1d | cut -f 5'
is 'no newline at the end' '1.5'  'raw m__x.sum inst 1.5 | head -c -1 | ncu2tsv | sed 1d | cut -f 7'

details() {	# details LAUNCH FROM TO: a details row a metric, m__FROM.sum to m__TO.sum
	awk -v l="$1" -v i="$2" -v n="$3" 'BEGIN { for (; i <= n; i++)
		printf "\"%d\",\"5\",\"k\",\"m__%d.sum\",\"inst\",\"%d\"\n", l, i, i }'
}
is 'a thousand metrics, some again' '1000 500 1125750' '{
	row ID "Process ID" "Kernel Name" "Metric Name" "Metric Unit" "Metric Value"
	details 0 1 1000; details 0 1 1000; details 1 1001 1500; details 1 1400 1500
	} | ncu2tsv | awk -F "\t" "NR > 1 { n[\$4]++; s += \$7 } END { print n[\"5.0\"], n[\"5.1\"], s }"'

# ---- picks
is 'one metric'           '1024 3000 7000'   'values $in/raw.csv --metrics lts__t_sectors.sum | paste -sd " "'
is 'several, in the order of the file' 'dram__bytes_read.sum l1tex__t_sector_hit_rate.pct' \
	'of $in/raw.csv --metrics l1tex__t_sector_hit_rate.pct,dram__bytes_read.sum | cut -d "|" -f 4 | head -2 | paste -sd " "'
is 'of the details page'  '61.84 196460000000'  'values $in/details.csv --metrics "Memory Throughput" | paste -sd " "'
is 'a word, asked for'    'NA|NA|text, not a number' \
	'of $in/raw.csv --metrics launch__func_cache_config | cut -d "|" -f 5- | sort -u'
exits 2 'nowhere, raw'     'ncu2tsv --metrics dram__bytes_read $in/raw.csv' \
	"no metric 'dram__bytes_read'; nearest: dram__bytes_read.sum, dram__bytes_read.sum.per_second"
exits 2 'nowhere, details' 'ncu2tsv --metrics dram__byte_reads.sum $in/details.csv' 'nearest: dram__bytes_read.sum,'
exits 2 'an empty name'    'ncu2tsv --metrics a,,b $in/raw.csv' 'not a list of names'

exits 2 'a range that is not there' 'ncu2tsv --ranges read,prefill $data/h200-gate/memory.csv' "no range 'prefill'; nearest: "
ok 'ranges that are'       'ncu2tsv --ranges copy,read,write,reread $data/h200-gate/memory.csv'
# skipping gives what reading gives, wherever the columns and blocks of 64 bytes fall
i=1
while [ $i -le 70 ]; do
	row ID 'Process ID' 'Kernel Name' a__pad m__x.sum b__pad
	row '' '' '' '' Ksector ''
	row 0 5 "$(printf '%*s' $i '' | tr ' ' 'k')\"\",\"\"" 7 1.25 ''
	i=$((i + 1))
done >many.csv
is 'skipping is reading'   '' 'ncu2tsv --metrics m__x.sum many.csv >a && ncu2tsv many.csv | grep -v __pad | diff a -'

# ---- units
while IFS='|' read -r unit value; do
	is "unit '$unit'" "$value" "one '$unit' 1,234.5"
done <<'X'
byte|1234.5 byte
Kbyte|1234500 byte
Mbyte|1234500000 byte
Gbyte|1234500000000 byte
Tbyte|1234500000000000 byte
Gbyte/s|1234500000000 byte/s
Kbyte/second|1234500 byte/s
byte/nsecond|1234500000000 byte/s
Kbyte/block|1234500 byte/block
byte/cycle|1234.5 byte/cycle
Msector|1234500000 sector
sector/nsecond|1234500000000 sector/s
inst/cycle|1234.5 inst/cycle
register/thread|1234.5 register/thread
branches|1234.5 branches
sectors|1234.5 sectors
/block|1234.5 /block
ns|1234.5 ns
nsecond|1234.5 ns
us|1234500 ns
usecond|1234500 ns
msecond|1234500000 ns
second|1234500000000 ns
s|1234500000000 ns
hz|1234.5 hz
Mhz|1234500000 hz
Ghz|1234500000000 hz
cycle/nsecond|1234500000000 hz
cycle/second|1234.5 hz
%|1234.5 %
|1234.5 NA
X
exits 2 'unknown unit'   'raw m__x.sum furlong 1 | ncu2tsv'   "stdin:2: m__x.sum: unknown unit 'furlong'"
exits 2 'unknown prefix' 'raw m__x.sum Xbyte 1 | ncu2tsv'     "unknown unit 'Xbyte'"
exits 2 'two prefixes'   'raw m__x.sum KKbyte 1 | ncu2tsv'    "unknown unit 'KKbyte'"
exits 2 'half a unit'    'raw m__x.sum byte/ 1 | ncu2tsv'     "unknown unit 'byte/'"
exits 2 'unknown unit of the details page' 'sed s/Gbyte/Gfoot/ $in/details.csv | ncu2tsv' "Memory Throughput: unknown unit 'Gfoot/s'"
exits 2 'no row of units' 'raw m__x.sum inst 1 | sed 2d | ncu2tsv'  'no row of units'

# ---- numbers
while IFS='|' read -r text unit want; do
	is "$text $unit" "$want" "number '$text' '$unit'"
done <<'X'
0|byte|0
-0|byte|0
0.00|Kbyte|0
007||7
0.07|us|70
0.0005|us|0.5
13.31|us|13310
2305024.000000||2305024
8,400,907|ns|8400907
4,963,609,951.19|hz|4963609951.19
9007199254740993||9007199254740993
18446744073709551615||18446744073709551615
-1,234.50||-1234.5
+3||3
1e3|Kbyte|1000000
1.5e-2||0.015
117.344|ns|117.344
n/a|byte|NA
no data|inst|NA
nan|byte|NA
-nan(ind)|byte|NA
(!) nan|byte|NA
inf|%|NA
|byte|NA
X
for text in 65,77 1,5 0,123 27.595.520 1.234,56 1,23,456 12,34,567 1234,567 "1'234" '1 234' '1 234' 1_000 1. '1,'; do
	exits 2 "locale: $text" "raw m__x.sum byte \"$text\" 1.5 | ncu2tsv" 'another locale'
done
for text in 12x3 1.5.x 3- 0xzz 1e 99999999999999999999999; do
	exits 2 "bad: $text" "raw m__x.sum '' '$text' | ncu2tsv" "m__x.sum: not a number: '$text'"
done
exits 2 'too large'           'raw m__x.sum Kbyte 1e306 | ncu2tsv'   "not a number: '1e306'"
exits 2 'a word with a unit'  'raw m__x.sum byte all | ncu2tsv'  "not a number: 'all'"
exits 2 'thousands by points' 'ncu2tsv $in/european.csv'      'european.csv:2: dram__bytes_read.sum'
exits 2 'decimal commas'      'ncu2tsv $in/decimal-comma.csv' "decimal-comma.csv:3: x__y.pct: a number of another locale"
exits 2 'ambiguous'           'ncu2tsv $in/ambiguous.csv'     "ambiguous.csv:2: is '117.344' a thousand times more?"
is 'decided by another cell'  '117.344 1512'  'values $in/decided.csv | paste -sd " "'

# ---- damage
exits 2 'no such file'     'ncu2tsv nofile'            'nofile: No such file'
exits 2 'a directory'      'ncu2tsv .'                 'Is a directory'
exits 2 'empty'            'ncu2tsv </dev/null'        'stdin: empty'
exits 2 'full disk'        'ncu2tsv $in/raw.csv >/dev/full'  'No space left'
exits 2 'header only'      'raw m__x.sum inst | ncu2tsv'     'a header, but no launch'
exits 2 'ragged row'       '{ raw m__x.sum inst 1; row 1 5 k; } | ncu2tsv'     'stdin:4: row cut short: 3 of 4 fields'
exits 2 'too wide a row'   '{ raw m__x.sum inst 1; row 1 5 k 2 3; } | ncu2tsv' 'stdin:4: more fields than the header has'
exits 2 'the same, skipping' '{ raw m__x.sum inst 1; row 1 5 k 2 3; } | ncu2tsv --metrics m__x.sum' 'more fields'
exits 2 'cut in a field'   'head -c -3 $in/instances.csv | ncu2tsv'      'last row cut short'
exits 2 'cut between fields' 'head -c -25 $in/instances.csv | ncu2tsv'   'cut short'
exits 2 'cut, then more'   '{ raw m__x.sum inst 1 | head -c -3; row 1 5 k 2; } | ncu2tsv' 'quotes do not match'
exits 2 'a lost beginning' '{ raw m__x.sum inst 1; row 1 5 k 2 | cut -c 3-; } | ncu2tsv'  'a piece of a row'
exits 2 'missing column'   'raw m__x.sum inst 1 | sed "s/Kernel Name/Colonel/" | ncu2tsv' "no column: Kernel Name"
exits 2 'a column twice'   'row ID "Process ID" "Kernel Name" ID | ncu2tsv'   'a column stands twice: ID'
exits 2 'a metric twice'   '{ row ID "Process ID" "Kernel Name" m__x.sum m__x.sum; row "" "" "" inst inst; } | ncu2tsv' 'a column stands twice: m__x.sum'
exits 2 'too many columns' '{ printf "\"ID\",\"Process ID\""; head -c 100001 /dev/zero | tr "\0" ,; echo; } | ncu2tsv' 'too many columns'
exits 2 'one endless line' 'head -c 17000000 /dev/zero | tr "\0" x | ncu2tsv' 'a line of more than 16 MiB'
exits 2 'an open quote'    '{ raw m__x.sum inst 1; printf "\"1\",\"5\",\"k"; yes | head -c 17000000; } | ncu2tsv' 'a quote is open'
exits 2 'a bad id'         '{ raw m__x.sum inst 1; row 1x 5 k 2; } | ncu2tsv' 'stdin:4: ID is not a count: 1x'
exits 2 'a NUL'            'printf "\"ID\",\"Process ID\",\"Kernel Name\",\"m\0\"\n" | ncu2tsv' 'NUL byte'
exits 2 'details cut short' 'sed "3s/,\"us\".*//" $in/details.csv | ncu2tsv'   'row cut short: no: Metric Value'
exits 2 'details out of order' '{ cat $in/details.csv; sed -n 2p $in/details.csv; } | ncu2tsv' 'a launch comes again'
exits 2 'two values'       'sed "/Memory Tables/s/23.81/23.82/" $in/details.csv | ncu2tsv' 'with two values: dram__bytes_read.sum'
exits 2 'the other page'   'ncu2tsv --page raw $in/details.csv'        'this is the details page'
exits 2 'no such page'     'ncu2tsv --page source $in/details.csv'     'raw or details'
exits 2 'no such phase'    'ncu2tsv -p warmup $in/raw.csv'             'prefill, decode or decode.N'
exits 2 'an error beside a table' 'ncu2tsv $in/partial.csv'            'error code (11)'
is '--partial'             3  'values $in/partial.csv --partial'

# ---- what is no table
exits 2 'permission'       'ncu2tsv $in/permission.log'     'ERR_NVGPUCTRPERM'
exits 2 'its remedy'       'ncu2tsv $in/permission.log'     'NVreg_RestrictProfilingToAdminUsers=0'
exits 2 'out of memory'    'ncu2tsv $in/out-of-memory.log'  'replay saves what kernels write'
exits 2 'only messages'    'ncu2tsv $in/only-connects.log'  'no table, only messages'
exits 2 'text report'      'ncu2tsv $in/text-report.txt'    'import it with --csv'
exits 2 'summary'          'ncu2tsv $in/summary.csv'        '--print-summary'
exits 2 'unquoted'         'ncu2tsv $in/unquoted.csv'       'another program has written it again'
exits 2 'a table of ours'  'ncu2tsv $gold/ncu-raw.tsv'      'a table of this toolkit'
exits 2 'other CSV'        'echo a,b | ncu2tsv'             "not ncu's CSV"
exits 2 'UTF-16'           'printf "\377\376I\0" | ncu2tsv' 'iconv -f UTF-16'
exits 2 'gzip'             'gzip -c <$in/raw.csv | ncu2tsv' 'compressed: gzip -dc'
exits 2 'LFS pointer'      'echo "version https://git-lfs.github.com/spec/v1" | ncu2tsv' 'git lfs pull'
done_testing
