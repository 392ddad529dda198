#!/bin/sh
# What several sets of counters sampled, each in a run of its own, as one table.
. "${0%/*}/tap.sh"

head='source phase step launch kernel metric value unit why edge_value n_samples'
rows() { { echo "$head"; cat; } | table "$1"; sed 's/_of_/ of /' "$1" >t && mv t "$1"; }
rows a <<'E2'
nsys prefill 0 0.0 NA l1.sum 10 NA NA 0 4
nsys prefill 0 0.0 NA dram.sum 100 byte NA 2 4
nsys decode 0 0.0 NA l1.sum NA NA overflow_of_x NA 4
nsys decode 0 0.0 NA dram.sum NA byte overflow_of_x NA 4
E2
rows b <<'E2'
nsys prefill 0 0.0 NA dram.sum 101 byte NA 0 5
nsys prefill 0 0.0 NA shm.sum 7 NA NA 0 5
nsys decode 0 0.0 NA dram.sum 200 byte NA 1 5
nsys decode 0 0.0 NA l1.sum NA NA absent_of_y NA 5
nsys decode 1 0.0 NA shm.sum 9 NA NA 0 5
E2
cat >want <<'E2'
source phase step launch kernel metric value unit why edge_value n_samples set
nsys prefill 0 0.0 NA l1.sum 10 NA NA 0 4 a
nsys prefill 0 0.0 NA dram.sum 100 byte NA 2 4 a
nsys prefill 0 0.0 NA shm.sum 7 NA NA 0 5 b
nsys decode 0 0.0 NA l1.sum NA NA overflow of x NA 4 a
nsys decode 0 0.0 NA dram.sum 200 byte NA 1 5 b
nsys decode 1 0.0 NA shm.sum 9 NA NA 0 5 b
E2
is 'each counter once, of the first set with a number' "$(cat want)" "ns-sampled a=a b=b | tr '\t' ' '"
is 'one set'                   'a a a a' "ns-sampled a=a | sed 1d | cut -f 12 | tr '\n' ' ' | sed 's/ $//'"
is 'the order says which is first' '101 b' "ns-sampled b=b a=a | awk -F'\t' '\$2 == \"prefill\" && \$6 == \"dram.sum\" { print \$7, \$12 }'"
is 'by a pipe'                 '7' 'ns-sampled a=a b=- <b | wc -l | tr -d " "'

# Totals: 100 against 101 is 0.01; 2 of 100 at the edges.
sed 's/	0	0.0	/	NA	0	/' a >ta
grep -v '	1	0.0' b | sed 's/	0	0.0	/	NA	0	/' >tb
cat >want <<'E2'
phase launch metric unit value edge_value edge_ratio n_samples set why other_set other_value error_ratio
prefill 0 l1.sum NA 10 0 0 4 a NA NA NA NA
prefill 0 dram.sum byte 100 2 0.02 4 a NA b 101 0.01
prefill 0 shm.sum NA 7 0 0 5 b NA NA NA NA
decode 0 l1.sum NA NA NA NA 4 a overflow of x NA NA NA
decode 0 dram.sum byte 200 1 0.005 5 b NA NA NA NA
E2
is 'totals'                    "$(cat want)" "ns-sampled --totals a=ta b=tb | tr '\t' ' '"
rows z <<'E2'
nsys p NA 0 NA x.sum 0 NA NA 0 1
E2
is 'nothing of nothing is no error' 'p 0 x.sum NA 0 0 0 1 a NA b 0 0' "ns-sampled --totals a=z b=z | sed 1d | tr '\t' ' '"

head -1 a >header
ok 'header only'               '[ "$(ns-sampled a=header b=header | wc -l)" -eq 1 ]'
ok 'a set without rows'        'ns-sampled a=a >1; ns-sampled a=a b=header | cmp - 1'
exits 2 'the same set twice'   'ns-sampled a=a a=b' 'set a is given twice'
exits 2 'a file without a set' 'ns-sampled a' "'a': SET=FILE was expected"
exits 2 'a counter twice'      '{ cat a; sed -n 2p a; } >x; ns-sampled a=x' 'x:6: metric: l1.sum stands twice in phase prefill, step 0'
exits 2 'a counter twice in the second' '{ cat b; sed -n 2p b; } >x; ns-sampled a=a b=x' 'x:7: metric: dram.sum stands twice'
exits 2 'nothing'              'ns-sampled' 'usage'
exits 2 'no such file'         'ns-sampled a=gone' 'gone'
exits 2 'empty'                'ns-sampled a=/dev/null' '/dev/null'
exits 2 'ragged'               '{ cat a; printf "x\n"; } >x; ns-sampled a=x' 'x:6'
exits 2 'missing column'       'cut -f 1-9 a >x; ns-sampled a=x' 'edge_value'
exits 2 'bad number'           'sed "3s/100/1e/" a >x; ns-sampled a=x' 'x:3: value'
exits 2 'bad step'             'sed "3s/	0	0.0/	x	0.0/" a >x; ns-sampled a=x' 'x:3: step'
exits 2 'cut last line'        'head -c -1 a >x; ns-sampled a=x' 'cut short'
exits 2 'full disk'            'ns-sampled a=a >/dev/full' 'No space left'
done_testing
