#!/bin/sh
# shellcheck disable=SC2016	# commands are evaluated by tap.sh
# Text out of captures and tables is somebody's: whatever it says, a message shows no
# control byte of it, a table keeps its shape, and a report its markup.
. "${0%/*}/tap.sh"

esc=$(printf '\033[31m')
head='start_ns end_ns kind device phase step name grid block registers shared_bytes'
{ echo "$head"; echo '0 100 kernel 0 prefill 0 a 4x1x1 32x1x1 16 0'; echo '0 900 window NA prefill 0 nvtx NA NA NA NA'; } | table work
{ echo 'phase rank step kernel name grid block registers shared_bytes n_launches sum_ns own_ns mean_ns share_ratio'
  echo 'prefill 1 0 a a 4x1x1 32x1x1 16 0 1 100 100 100 1'; } | table chosen
{ echo 'source phase step launch kernel metric value unit why grid block edge_value n_samples'
  echo 'ncu prefill 0 7.0 a m.sum 5 NA NA 4x1x1 32x1x1 0 3'; } | table counters
{ echo 'quantity rung direction metric factor tier role set shown note'
  echo 'bytes memory read m.sum 1 1 value a NA -'; } | table metrics
{ echo 'item metric factor note'; echo 'waves m.sum 1 -'; } | table items
{ echo 'time_ns gpu metric unit value period_ns why'; echo '10 0 m_[sum] count 5 50 NA'; echo '60 0 m_[sum] count 5 50 NA'; } | table samples
sed -i 's/m_\[/m [/' samples
{ echo 'block op kind layer event time_ns'; echo '0 0 qkv 0 left 5'; echo '0 0 qkv 0 asked 0'; } | table stamps
{ echo 'severity text'; echo 'error GPU_Metrics'; } | table said
printf 'gpu=x\nnvml_free_bytes=1\n' >probe

# quiet NAME FILE COMMAND: with control bytes in each field of FILE by turns, and
# in its header, COMMAND says nothing that a terminal would obey.
quiet() {
	n_fields=$(head -1 "$2" | tr '\t' '\n' | wc -l)
	for i in $(seq "$n_fields"); do
		for row in 1 2; do
			awk -F '\t' -v OFS='\t' -v i="$i" -v row="$row" -v e="$esc" 'NR == row || row == 2 && NR > 1 { $i = e $i } 1' "$2" >bad
			eval "$3" >out 2>err </dev/null
			[ $? -le 2 ] || echo "field $i, row $row: status"
			! grep -q "$(printf '\033')" err out || { echo "field $i, row $row"; cat -v err; }
		done
	done >log
	[ ! -s log ] || sed 's/^/# /' log
	[ ! -s log ]; result $? "$1"
}
quiet 'ns-choose'              work     'ns-choose bad'
quiet 'ns-detail, counters'    counters 'ns-detail -m metrics -d items --chosen chosen bad'
quiet 'ns-detail, not chosen'  counters 'sed s/4x1x1/5x1x1/ bad >b; ns-detail -m metrics -d items --chosen chosen b'
quiet 'ns-detail, chosen'      chosen   'ns-detail -m metrics -d items --chosen bad counters'
quiet 'ns-detail, items'       items    'ns-detail -m metrics -d bad --chosen chosen counters'
quiet 'ns-detail, metrics'     metrics  'ns-detail -m bad -d items --chosen chosen counters'
printf '%s\n' '"ID","Process ID","Kernel Name","Block Size","Grid Size"' '"","","","",""' '"0","7","a","(32, 1, 1)","(4, 1, 1)"' \
	'"Kernel Name","a"' '"Address","Source","# Samples","stall_wait"' '"0x10","NOP","30","30"' >page
quiet 'ns-source, chosen'      chosen   'ns-source --chosen bad page'
quiet 'ns-rollup'              counters 'ns-rollup -m metrics bad'
quiet 'ns-rollup, no value'    counters 'sed "s/m.sum	5/n.sum	NA/" bad >b; ns-rollup -m metrics b'
quiet 'ns-rollup, registry'    metrics  'ns-rollup -m bad counters'
quiet 'ns-sampled'             counters 'ns-sampled a=bad'
quiet 'ns-sampled, twice'      counters '{ cat bad; tail -1 bad; } >b; ns-sampled a=b'
quiet 'ns-integrate'           samples  'ns-integrate -w work -m metrics bad'
quiet 'ns-integrate, windows'  work     'ns-integrate -w bad -m metrics samples'
quiet 'ns-integrate, names'    metrics  'ns-integrate -w work -m bad samples'
quiet 'ns-integrate, no counter' samples 'sed s/count/percent_int/ bad >b; ns-integrate -w work -m metrics b'
quiet 'ns-sets'                metrics  'ns-sets -m bad --set a --chip X --stock /dev/null'
quiet 'ns-sets, counters'      counters 'ns-sets -m metrics --set a --check bad --diagnostics said'
quiet 'ns-sets, no sum'        counters 'sed "s/	5	/	NA	/" bad >b; ns-sets -m metrics --set a --check b --diagnostics said'
quiet 'ns-sets, what nsys said' said    'ns-sets -m metrics --set a --check counters --diagnostics bad'
quiet 'ns-stamps'              stamps   'ns-stamps bad'
for l in 1 2; do
	sed "${l}s/.*/$(printf '\033')&/" probe >bad
	ok "ns-guard, line $l of settings" 'ns-guard bad; [ $? -eq 2 ] && ! ns-guard bad 2>&1 | grep -q "$(printf "\033")"'
	sed "${l}s/=.*/=$(printf '\033')/" probe >bad
	ok "ns-guard, value $l of settings" 'ns-guard bad; [ $? -eq 2 ] && ! ns-guard bad 2>&1 | grep -q "$(printf "\033")"'
done
done_testing
