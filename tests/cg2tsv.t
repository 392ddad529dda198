#!/bin/sh
# shellcheck disable=SC2016,SC2034	# commands are evaluated by tap.sh
. "${0%/*}/tap.sh"

p=$data/callgrind-phases.out

# One dump by hand: h EVENTS BODY, with a termination dump after it.
h() {
	printf '# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 1\n'
	printf 'cmd: x\npart: 1\ndesc: Trigger: Client Request: %s\n' "${name-prefill}"
	printf 'positions: %s\nevents: %s\nsummary: 9 9\n\n%b' "${pos-line}" "$1" "$2"
	printf '\n%b' "${tail-part: 2\ndesc: Trigger: Program termination\nevents: A\ntotals:\n}"
}
# What cg2tsv makes of it: kernel:metric=value.
got() { h "$@" | cg2tsv "${opt---}" 2>err | awk -F '\t' 'NR > 1 { printf "%s%s:%s=%s", sep, $5, $6, $7; sep = " " }'; }
fails() { exits 2 "$1" "h '$2' '$3' | cg2tsv" "$4"; }

golden cg2tsv.tsv         'cg2tsv $p'
ok 'from standard input'  'cg2tsv <$p | diff - $gold/cg2tsv.tsv && cg2tsv - <$p | diff - $gold/cg2tsv.tsv'
for other in plain instr; do
	ok "$other: the same rows" 'cg2tsv $data/callgrind-$other.out | sort >a && sort $gold/cg2tsv.tsv | diff a -'
done
exits 0 'what is left out is said' 'cg2tsv $p' "part 3 left out: it was not made by a named client request but by 'Client Request'"
ok 'the end of the program is no news' '! grep -q "in all\|termination" err'
is 'fib is in no row'     0  'cg2tsv $p | grep -c fib'

# The totals: lines themselves, dump by dump.
sed -n '/^desc: Trigger/h; /^totals/{G;s/^totals: //;s/\n.*: / /;p;}' "$p" >want
ok 'totals'               'cg2tsv --totals $p | awk -F "\t" "NR > 1 && \$7 { k = \$2 \".\" \$3; v[k] = v[k] \$7 \" \" } END { for (k in v) print v[k] k }" | sort >a &&
	sed "/decode.[01]$/!{/prefill/!d}; s/prefill/prefill.0/; s/ 0//g" want | sort | diff - a'
is 'totals: kernel is NA' NA 'cg2tsv --totals $p | sed 1d | cut -f5 | sort -u'

# Several files, a dump each; the third by no client request.
awk '/^part:/ { f = "dump." $2 } f == "" { head = head $0 "\n"; next } !(f in seen) { seen[f]; printf "%s", head >f } { print >f }' "$data/callgrind-plain.out"
ok 'a file a dump'        'cg2tsv dump.1 dump.2 dump.3 dump.4 dump.5 | diff - $gold/cg2tsv.tsv'
exits 0 'a file not given' 'cg2tsv dump.1 dump.2' "no dump of the program's end"
exits 2 'out of order'    'cg2tsv dump.2 dump.1'  'dump.1:38: part 1 after part 2: give the dumps of one run'
exits 2 'twice the same'  'cg2tsv dump.1 dump.1'  'part 1 after part 1'
exits 2 'nothing asked for' 'cg2tsv dump.3 dump.5' 'no dump was made by a named client request'

# The format, by hand.
is 'missing costs are 0'    'f:A=5 f:B=0'             "got 'A B' 'fn=f\n1 5\ntotals: 5\n'"
is 'no costs at all'        'f:A=0 f:B=0'             "got 'A B' 'fn=f\n1\ntotals:\n'"
is 'relative positions'     'f:A=15'                  "got A 'fn=f\n10 1\n+3 2\n-2 4\n* 8\ntotals: 15\n'"
is 'two positions, hex'     'f:A=3'                   "pos='instr line'; got A 'fn=f\n0x1000 7 1\n+0x4 * 0x2\ntotals: 3\n'"
is 'a call is not self'     'f:A=1 g:A=50'            "got A 'fn=f\n1 1\ncfn=g\ncalls=3 +2\n* 50\nfn=g\n7 50\ntotals: 51\n'"
is 'numbered names'         'f:A=1 g:A=2'             "got A 'fn=(1) f\n1 1\ncfn=(2) g\ncalls=1 5\n1 2\nfn=(2)\n5 2\ntotals: 3\n'"
is 'one name, two numbers'  'f:A=3'                   "got A 'fl=(1) x\nfn=(1) f\n1 1\nfl=(2) y\nfn=(2) f\n1 2\ntotals: 3\n'"
is 'inlined'                'f:A=7'                   "got A 'fl=x\nfn=f\n1 1\nfi=y\n9 2\nfe=x\n2 4\ntotals: 7\n'"
is 'jumps'                  'f:A=3'                   "got A 'fn=f\n1 1\njcnd=1/4 +2\n*\njump=2 +9\n*\n+2 2\ntotals: 3\n'"
is 'a name in brackets'     '(below main):A=1'        "got A 'fn=(3) (below main)\n1 1\ntotals: 1\n'"
is 'summary is not totals'  'f:A=1'                   "got A 'fn=f\n1 1\ntotals: 1\n'"
is 'near 2^64'              'f:A=18446744073709551615' "got A 'fn=f\n1 18446744073709551614\n* 1\ntotals: 18446744073709551615\n'"
is 'control bytes go'       'f x:A=1'                 "got A 'fn=f\tx\n1 1\ntotals: 1\n'"
step() { name=$1 && h A 'fn=f\n1 1\ntotals: 1\n' | cg2tsv | sed 1d | cut -f2-3 | tr '\t' ' '; }
is 'a name without step'    'read 0'     'step read'
is 'a step'                 'decode 12'  'step decode.12'
is 'dots'                   'a.b 7'      'step a.b.7'
is 'a dot, no number'       'a.b 0'      'step a.b'
thread='fn=f\n1 1\ntotals: 1\npart: 1\nthread: 2\ndesc: Trigger: Client Request: p\nevents: A\nfn=f\n1 3\ntotals: 3\n'
is 'threads apart'          '1 1.2'      "h A '$thread' | cg2tsv | sed 1d | cut -f4 | xargs"

fails 'totals differ'       'A B' 'fn=f\n1 5 6\ntotals: 5 7\n'  'stdin:14: part 1: B of its lines is 6, totals: says 7'
fails 'no totals'           'A' 'fn=f\n1 5\n'                   'part 1 is cut short'
tail='' fails 'no totals at the end' 'A' 'fn=f\n1 5\n'          'part 1 is cut short'
fails 'overflow'            'A' 'fn=f\n1 18446744073709551615\n1 1\n'  'A of part 1 is more than 64 bits hold'
fails 'overflow of the sum' 'A' 'fn=f\n1 18446744073709551615\nfn=g\n1 1\ntotals: 0\n'  'more than 64 bits hold'
fails 'too many costs'      'A' 'fn=f\n1 5 6\n'                 'stdin:13: more than the 1 costs'
fails 'bad number'          'A' 'fn=f\n1 x\n'                   "stdin:13: not a number: 'x'"
fails 'negative'            'A' 'fn=f\n1 -5\n'                  "not a number: '-5'"
fails 'number too large'    'A' 'fn=f\n1 18446744073709551616\n' 'not a number'
fails 'bad position'        'A' 'fn=f\n+x 1\n'                  "not a number: 'x'"
fails 'no function'         'A' '1 5\n'                         'stdin:12: costs before an fn= line'
fails 'unknown number'      'A' 'fn=(9)\n1 5\n'                 'function number 9 has no name yet'
fails 'number out of range' 'A' 'fn=(99999999) f\n'             'function number out of range'
fails 'open bracket'        'A' 'fn=(1 f\n'                     "without ')'"
fails 'call without cost'   'A' 'fn=f\ncfn=g\ncalls=1 2\nfn=g\n' 'the cost of the call above was expected'
fails 'event twice'         'A A' ''                            'event A stands twice'
fails 'no events'           '' ''                               'no events'
fails 'two events lines'    'A' 'events: A\n'                   'a second events: line'
fails 'unknown header'      'A' 'frobnicate: 1\n'               "stdin:12: not a line of a callgrind profile: 'frobnicate: 1'"
fails 'unknown spec'        'A' 'zz=1\n'                        'not a line of a callgrind profile'
fails 'garbage'             'A' '<html>\n'                      'not a line of a callgrind profile'
fails 'NUL'                 'A' 'fn=f\0\n'                      'NUL byte'
pos=word fails 'unknown position' 'A' ''                        "unknown position 'word'"
name=decode.99999999999999999999 fails 'step too large' 'A' 'fn=f\n1 1\ntotals: 1\n' 'stdin:14: not a number'
exits 2 'empty'             'cg2tsv </dev/null'                 'stdin: empty: not a callgrind profile'
exits 2 'a table'           'cg2tsv $gold/cg2tsv.tsv'           'not a callgrind profile: it begins with'
exits 2 'cachegrind'        'cg2tsv $data/cachegrind.out'       "not a callgrind profile: it begins with 'desc: I1 cache:"
exits 2 'another version'   'sed "s/^version: 1/version: 2/" $p | cg2tsv'  'stdin:2: format version 2: only version 1 is known'
exits 2 'another tool'      'sed "s/callgrind-3.19.0/xdebug 3/" $p | cg2tsv' 'not made by callgrind'
exits 2 'header only'       'head -5 $p | cg2tsv'               'no dump was made by a named client request'
exits 2 'cut in a line'     'head -c 1500 $p | cg2tsv'          'last line cut short'
exits 2 'cut in a part'     'head -40 $p | cg2tsv'              'part 2 is cut short'
exits 2 'top cut off'       '{ head -5 $p; sed -n "/^part: 4/,\$p" $p | sed "s/) .*/)/"; } | cg2tsv' 'has no name yet'
exits 2 'no such file'      'cg2tsv nofile'                     'nofile: No such file'
exits 2 'a directory'       'cg2tsv .'                          'Is a directory'
exits 2 'full disk'         'cg2tsv $p >/dev/full'              'No space left'

# The platform that reads it: yaml2kv takes it, and the registry knows only callgrind's events.
ok 'platform.yaml'          'yaml2kv $top/configs/platforms/cpu/platform.yaml | grep -qx ll=25165824,24,64'
ok 'metrics.tsv'            'sed 1d $top/configs/platforms/cpu/metrics.tsv | cut -f4 | sort -u >a && sed 1d $gold/cg2tsv.tsv | cut -f6 | sort -u >b && diff a b'
done_testing
