#!/bin/sh
. "${0%/*}/tap.sh"

# A run in which all is well: memory delivers what is predicted, or 0.5 % more.
run() {
	rm -rf run && mkdir run && cd run || exit
	printf '%s\n' n_experts=0 dtype=F32 >model.kv
	printf '%s\n' decode_tolerance_ratio=0.01 prefill_tolerance_ratio=0.02 \
	    moe_tolerance_ratio=0.05 last_level_bytes=100 >platform.kv
	printf '%s\n' memory_read_bytes_per_s=20e9 gemm_f32_flop_per_s=100e9 \
	    last_level_bytes=250 >ceilings.kv
	printf '%s\n' canary_copy_bytes_per_s=100 canary_gemv_bytes_per_s=50 >canary-before.kv
	printf '%s\n' canary_copy_bytes_per_s=103 canary_gemv_bytes_per_s=48 >canary-after.kv
	table readset.tsv <<'END'
phase step role read_bytes write_bytes flop
prefill 0 q 9000 0 40000
prefill 0 kv_cache 1000 400 0
decode 0 q 900 0 2000
decode 0 kv_cache 100 50 0
decode 1 q 900 0 2000
decode 1 kv_cache 200 50 200
END
	table steps.tsv <<'END'
phase step rung read_bytes write_bytes bytes hit_ratio n_tokens n_missing n_total source
prefill 0 memory 10000 400 10400 NA 8 0 4 cg
decode 0 memory 1005 50 1055 NA 1 0 4 cg
decode 1 memory 1105.5 60 1165.5 NA 1 0 4 cg
END
	table hierarchy.tsv <<'END'
phase step rung read_bytes write_bytes bytes hit_ratio n_tokens n_missing n_total source
prefill NA l2 NA NA NA 0.5 8 0 4 cg
prefill NA memory 10000 400 10400 NA 8 0 4 cg
decode NA l2 NA NA NA 1 2 0 8 cg
decode NA memory 2110.5 110 2220.5 NA 2 0 8 cg
END
	table baseline.tsv <<'END'
repeat phase step n_tokens start_ns dur_ns
0 prefill 0 8 0 1000
0 decode 0 1 0 90
0 decode 1 1 0 110
END
	table gate.tsv <<'END'
kernel rung direction source expected_bytes measured_bytes error_ratio tolerance_ratio verdict
copy memory read cg 100 100 0 0.01 pass
copy memory write cg 100 99 -0.01 0.01 pass
END
	table terms.tsv <<'END'
source phase role quantity rung direction metric value n_missing n_total
cg decode value bytes memory read rd 1000 0 4
cg decode value bytes memory read il 20 0 4
cg decode witness bytes memory read miss 1071 0 4
cg decode sentinel misses l2 both peer 0 0 4
END
	table footprint.tsv <<'END'
time_ns source used_bytes
0 allocator 10
5 allocator 1000
5 driver NA
5 process 1100
9 process 900
5 system 99999
END
	table timeline.tsv <<'END'
phase step wall_ns n_kernels
prefill 0 1050 5
decode 0 95 2
decode 1 115 2
END
	cd ..
}
# col CHECK PHASE COLUMNS: those columns of the rows of that check.
col() {
	# shellcheck disable=SC2086 # words, or none
	ns-check ${args-} run 2>err | awk -F '\t' -v check="$1" -v phase="$2" -v want="$3" '
	NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(want, w, " "); next }
	$1 == check && $2 == phase {
		for (i = 1; i <= n; i++) printf "%s%s", $at[w[i]], i < n ? " " : "\n" }'
}
# says NAME CHECK PHASE VERDICT WHY, for the run as it is.
says() {
	got=$(col "$2" "$3" "verdict why")
	case $got in
	"$4 "*"$5"*) result 0 "$1" ;;
	*) echo "# $got"; result 1 "$1" ;;
	esac
}
all='expected measured error_ratio tolerance_ratio verdict'

run
ok 'all is well'        'ns-check run && [ -z "$(ns-check run 2>&1 >out)" ]'
is 'every check speaks' 'gate derivation sentinel witness predicted_read predicted_write steps hit_ratio missing sampled sets ranges kernels read_ceiling flop_ceiling canary throttle profiled_time footprint' \
    "ns-check run | sed 1d | cut -f 1 | cut -d . -f 1 | uniq | paste -s -d ' '"
is 'decode, read'       '2100 2110.5 0.005 0.01 pass'       "col predicted_read decode '$all'"
is 'prefill, read'      '10000 10000 0 0.02 pass'           "col predicted_read prefill '$all'"
# 10 bytes of 2100 that move.
is 'decode, write'      '100 110 0.0047619047619 0.01 pass' "col predicted_write decode '$all'"
is 'decode, steps'      '2 2 0 NA pass'                     "col steps decode '$all'"
is 'gate'               '100 99 -0.01 0.01 pass'            "col gate.copy.memory.write NA '$all'"
is 'sentinel'           '0 0 0 NA pass'                     "col sentinel.peer decode '$all'"
# Witness: 1071 of 1000 + 20, 5 % more.
is 'witness'            '1020 1071 0.05 0.05 pass'          "col witness.miss decode '$all'"
is 'missing'            '0 0 0 NA pass'                     "col missing NA '$all'"
# 10000 bytes and 40000 flop in 1000 ns; 2100 and 4200 in 200 ns.
is 'read ceiling'       '20000000000 10000000000 -0.5 0.05 pass' "col read_ceiling prefill '$all'"
is 'flop ceiling'       '100000000000 21000000000 -0.79 0.05 pass' "col flop_ceiling decode '$all'"
is 'canary'             '50 48 -0.04 0.05 pass'             "col canary.canary_gemv_bytes_per_s NA '$all'"
is 'profiled time'      '200 210 0.05 0.1 pass'             "col profiled_time decode '$all'"
is 'footprint'          '1000 1100 0.1 0.25 pass'           "col footprint.process NA '$all'"
says 'nothing was sampled' sampled NA na 'both sampled (nsys) and counted (ncu, cupti)'
says 'nothing was replayed' kernels NA na 'this run holds no capture of ncu'
is 'source'             cg 'col predicted_read decode source'

# What is absent is said; the others are judged all the same.
for f in readset.tsv steps.tsv hierarchy.tsv baseline.tsv ceilings.kv gate.tsv terms.tsv \
    canary-before.kv canary-after.kv footprint.tsv timeline.tsv model.kv; do
	run; rm run/$f
	ok "without $f"   "ns-check run | awk -F '\t' '\$8 == \"na\" && \$9 == \"$f is not there\"' | grep -q ."
done
rm -rf run; mkdir run
is 'an empty directory' 19 "ns-check run | grep -c 'na	.* is not there'"
run; rm run/platform.kv
is 'without platform.kv the tolerances are the usual ones' '0.01 0.02' 'echo $(col predicted_read decode tolerance_ratio) $(col predicted_read prefill tolerance_ratio)'

# Physics.  A layer less in the prediction: 900 instead of 1100 in step 1.
run; sed -i 's/^decode	1	q	900/decode	1	q	700/' run/readset.tsv
exits 1 'a prediction that lacks a layer' 'ns-check run' 'predicted_read: fail: decode: memory delivers 11.1 % more than the checkpoint says must be read: weights are read again'
is 'and the table is whole' 19 "ns-check run 2>err | sed 1d | cut -f 1 | cut -d . -f 1 | uniq | wc -l | tr -d ' '"
is 'the others still pass' 1 "ns-check run 2>err | grep -c '	fail	'"
run; sed -i 's/10000	400	10400/9700	400	10100/' run/steps.tsv
exits 1 'less than predicted' 'ns-check run' 'predicted_read: fail: prefill: memory delivers 3 % less than the checkpoint says must be read: a layer or tensor is predicted and not executed'
echo write_allocate=1 >>run/platform.kv; sed -i 's/9700/10400/' run/steps.tsv
is 'a line is fetched to be written' '10400 10400 0 0.02 pass' "col predicted_read prefill '$all'"
# Eight tokens of 2 + 2 x 3 values of 2 bytes are 128, more than the 100 of the last level; of 2 + 2 x 2 96.
more() { run; sed -i 's/10000	400	10400/10400	400	10800/' run/steps.tsv; printf '%s\n' "$@" >>run/model.kv; }
more hidden_size=2 ffn_size=3
says 'activations leave the caches' predicted_read prefill warn 'memory delivers 4 % more than the checkpoint says must be read: of so many tokens activations leave the caches (128 bytes at gate and up; the last level has 100 bytes)'
more hidden_size=2 ffn_size=2
says 'they do not'      predicted_read prefill fail 'memory delivers 4 % more'
more hidden_size=2 ffn_size=1 n_experts_per_token=3 expert_ffn_size=1
says 'of three experts' predicted_read prefill warn '(128 bytes at gate and up'
sed -i 's/10400	400	10800/9600	400	10000/' run/steps.tsv
says 'and what is less still fails' predicted_read prefill fail 'memory delivers 4 % less'
# Measured as a whole, decode is still two steps of a token, 2 x (2 + 2 x 3) bytes each; 5 % more.
more hidden_size=2 ffn_size=3
sed '1s/.*/phase	step	rung	read_bytes	write_bytes	bytes	hit_ratio	n_tokens	n_missing	n_total	source/; s/2110.5/2205/' run/hierarchy.tsv >run/steps.tsv
says 'a phase as a whole, of few tokens' predicted_read decode fail 'memory delivers 5 % more'
run; sed -i 's/n_experts=0/n_experts=4/' run/model.kv
is 'experts: their tolerance' '0.05 0.05' 'echo $(col predicted_read decode tolerance_ratio) $(col predicted_read prefill tolerance_ratio)'
run; sed -i 's/400	10400/700	10700/' run/steps.tsv
says 'writes only warn' predicted_write prefill warn 'memory takes 3 % more than predicted, of all that moves: activations leave the caches'
ok 'and a warning is no failure' 'ns-check run'
run; sed -i 's/bytes=100$/bytes=5000/' run/platform.kv
says 'fits into the cache' predicted_read decode na 'what a step needs (1050 bytes) fits into the last level of cache (5000 bytes)'
says 'prefill does not'  predicted_read prefill pass 'memory delivers'
run; sed -i '3,4s/decode	\([01]\)	memory	[0-9.]*/decode	\1	memory	NA/' run/steps.tsv
says 'not measured'     predicted_read decode na 'what memory delivers was not measured'
run; sed -i '/^decode	1/d' run/readset.tsv
says 'another workload' predicted_read decode na 'readset.tsv has 1 of the 2 measured steps'
run; sed '1s/.*/phase	step	rung	read_bytes	write_bytes	bytes	hit_ratio	n_tokens	n_missing	n_total	source/' run/hierarchy.tsv >run/steps.tsv
is 'measured as a whole' '2100 2110.5 0.005 0.01 pass' "col predicted_read decode '$all'"
says 'as a whole: steps' steps decode pass 'measured as a whole'

# Steps.
run; sed -i '/^decode	1/d' run/steps.tsv
is 'only steps in both are compared' '1000 1005 0.005 0.01 pass' "col predicted_read decode '$all'"
says 'fewer steps'      steps decode warn '1 of 2 steps were measured: bytes are of steps 0 to 0'
args='-s 1'; says 'as many as asked for' steps decode pass 'every step that was to be measured was'
args='-s 2'; says 'fewer than asked for' steps decode fail 'the capture ended early'; args=
run; sed -i '/^decode	0/d' run/steps.tsv
says 'one in the middle' steps decode warn '1 of 2 steps were measured: bytes are of steps 1 to 1'
run; sed -i '/^decode	1/s/	1/	2/' run/steps.tsv run/readset.tsv
says 'a gap'            steps decode fail '2 of its steps 0 to 2 were measured: some in between are absent'
run; sed -i '/^prefill/d' run/steps.tsv
says 'a phase is absent' steps prefill fail 'prefill was not measured by cg'
printf 'command=1:x\n' >run/command.kv; echo n=1 >run/meta.kv
says 'of a command it was not found' steps prefill warn 'or its ranges were not found'
rm run/command.kv run/meta.kv
run; sed -i '2,$d' run/steps.tsv
says 'nothing'          steps NA fail 'nothing was measured at memory'

# Counts.
run; sed -i 's/99	-0.01	0.01	pass/50	-0.5	0.01	fail/' run/gate.tsv
exits 1 'gate'          'ns-check run' 'gate.copy.memory.write: fail: kernel copy, whose traffic is known, shows 50 % too few bytes in direction write at memory'
run; sed -i 's/99	-0.01	0.01	pass/NA	NA	0.01	fail/' run/gate.tsv
exits 1 'gate: not measured' 'ns-check run' 'kernel copy: no write bytes of memory were measured'
run; sed -i 's/peer	0/peer	7/' run/terms.tsv
exits 1 'sentinel'      'ns-check run' 'sentinel.peer: fail: peer must be 0 and is 7 in decode'
run; sed -i 's/peer	0/peer	NA/; s/1071/2040/' run/terms.tsv
says 'sentinel: not measured' sentinel.peer decode na 'peer was not measured'
is 'witness: no gate to tell' 1 "mv run/gate.tsv kept; ns-check run | grep -c 'which of the two is right a gate on that machine would show'; mv kept run/gate.tsv"
says 'witness: another sum' witness.miss decode warn 'bytes of memory, read, by another counter: 100 % more; the gate decides'
run; sed -i '/witness/d' run/terms.tsv
table more <<'END'
cg decode value bytes memory write wr 130 0 4
cg decode witness bytes memory both all 1150 0 4
END
cat more >>run/terms.tsv
is 'witness of both directions' '1150 1150 0 0.05 pass' "col witness.all decode '$all'"
run; sed -i '2,$d' run/terms.tsv run/gate.tsv
says 'no sentinel'      sentinel NA na 'names no sentinel'
says 'no witness'       witness NA na 'names no witness'
says 'no gate'          gate NA na 'gate.tsv has no rows'
run; sed -i 's/0.5	8/1.25	8/' run/hierarchy.tsv
exits 1 'hit ratio'     'ns-check run' 'hit_ratio.l2: fail: prefill: l2 hits 1.25 of its requests'
run; sed -i '5s/0	8	cg/3	8	cg/' run/hierarchy.tsv
is 'missing: a row'     '0 3 NA NA warn' "col missing.memory decode '$all'"
run; awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $at["rung"] == "l2" { $at["n_missing"] = $at["n_total"] } 1' OFS='\t' run/hierarchy.tsv >h && mv h run/hierarchy.tsv
says 'missing: a rung not asked for' missing.l2 prefill na "nothing at l2 was measured: its counters were not asked for"
run; sed -i '5s/0	8	cg/3	8	cg/' run/hierarchy.tsv
says 'missing: said'    missing.memory decode warn '3 of 8 values at memory are missing: its figures are sums of the rest'
# ncu counted the prefill and step 1 alone; nsys sampled both steps.  A step needs
# 1,050 and 1,150 bytes by prediction: what ncu has is worth 2200/1150 of it.
run; sed -i "2,\$s/\([0-9]\)$/\1000000/" run/baseline.tsv; sed '1!s/cg$/ncu/; /decode	0/d' run/steps.tsv >a; sed '1d;s/cg$/nsys/' run/steps.tsv >b; cat a b >run/steps.tsv
table run/terms.tsv <<'T'
source phase role quantity rung direction metric value n_missing n_total
ncu decode value bytes memory read rd 1150 0 1
ncu decode value bytes l1 both sec 2300 0 1
ncu decode value bytes l1 read tma 7 0 1
ncu decode value bytes shared both a 1 0 1
ncu decode value bytes shared both b 2 0 1
ncu decode value requests registers both inst 100 0 1
ncu decode value bytes l2 read lr 1000 0 1
ncu decode value bytes l2 write lw 10 0 1
ncu decode witness bytes memory write wr 5 0 1
ncu prefill value bytes memory read rd NA 1 1
nsys prefill value bytes memory read rd 5 0 1
nsys decode value bytes memory read rd 2210 0 2
nsys decode value bytes l1 both sec 4600 0 2
nsys decode value bytes shared both a 3 0 2
nsys decode value requests registers both inst_realtime 195 0 2
nsys decode value bytes l2 read lr 1913 0 2
nsys decode value bytes l2 write lw 30 0 2
nsys decode witness bytes memory write wr 5 0 2
T
says 'sampled as counted'       sampled.memory.bytes.read decode pass 'samples show 0.455 % more than ncu counted'
is   'sampled: steps made alike' '2200 2210 0.00454545454545 0.01 pass' "col sampled.memory.bytes.read decode '$all'"
says 'sampled, not as counted'  sampled.l1.bytes.both decode warn 'samples show 4.53 % of what moves there more than ncu counted: other work'
sed -i 's/000000$//' run/baseline.tsv
says 'sampled: over less than 5 ms' sampled.l1.bytes.both decode pass 'more than ncu counted'
says 'sampled: by another name, with what starts a warp' sampled.registers.requests.both decode pass 'samples show 1.93 % more'
says 'sampled: of little' sampled.l2.bytes.write decode pass 'samples show 0.563 % of what moves there more'
says 'sampled: no number'       sampled.memory.bytes.read prefill na 'prefill: ncu has no number for it'
is   'sampled: of nothing' 1 "sed -i 's/^ncu\tprefill\tvalue.*/ncu\tprefill\tvalue\tbytes\tmemory\tread\trd\t0\t0\t1/' run/terms.tsv; ns-check run | grep -c 'prefill: ncu counted nothing there'"
for f in terms.tsv steps.tsv; do cp run/$f $f.ncu && sed -i 's/\bncu\b/cupti/' run/$f; done
says 'sampled as counted by the worker itself' sampled.memory.bytes.read decode pass 'samples show 0.455 % more than cupti counted'
for f in terms.tsv steps.tsv; do mv $f.ncu run/$f; done
is   'sampled: not of sums of other counters' '' 'col sampled.shared.bytes.both decode verdict'
is   'sampled: not of witnesses' '' 'col sampled.memory.bytes.write decode verdict'
table run/sampling.tsv <<'T'
phase launch metric unit value edge_value edge_ratio n_samples set why other_set other_value error_ratio
decode 0 rd byte 2160 86 0.04 40 a NA b 2100 -0.0278
decode 0 sec NA 100 1 0.01 40 a NA NA NA NA
prefill 0 rd byte 100 0 0 40 a NA b 102 0.02
prefill 0 wr byte 10 0 0 40 a NA b 10.5 0.05
prefill 0 inst NA NA NA NA 40 a overflow b NA NA
T
says 'sampled: as sure as its edges' sampled.l1.bytes.both decode pass 'samples show 4.53 % of what moves there more than ncu counted'
says 'sets agree, to their edges' sets.rd decode pass 'set b shows 2.78 % less than set a'
says 'sets differ'      sets.rd prefill warn 'set b shows 2 % more than set a: their runs did not do the same work'
says 'sets: of little' sets.wr prefill pass 'set b shows 0.5 % more than set a'
says 'sets: no number'  sets.inst prefill na 'one of sets a and b has no number'
run; table run/launches.tsv <<'T'
source phase step launch kernel metric value unit why grid block device section
ncu prefill 0 7.0 a t 1 ns NA 1x1x1 1x1x1 0 NA
ncu decode 1 7.1 a t 1 ns NA 1x1x1 1x1x1 0 NA
ncu decode 1 7.1 a u 1 ns NA 1x1x1 1x1x1 0 NA
ncu decode 1 7.2 a t 1 ns NA 1x1x1 1x1x1 0 NA
T
says 'kernels'          kernels decode pass 'decode, step 1: ncu counted each kernel that nsys saw'
says 'kernels, not as many' kernels prefill warn 'prefill, step 0: nsys saw 5 kernels, ncu counted 1'
sed -i 's/prefill/sampling/' run/launches.tsv
says 'kernels, not in the timeline' kernels sampling na 'the timeline does not have it'
sed 's/1x1x1/NA/g' run/launches.tsv >run/counters.tsv; rm run/launches.tsv
says 'kernels, by ranges' kernels NA na 'ncu counted whole ranges, not kernel by kernel'
sed -i 's/^ncu/cupti/' run/counters.tsv
says 'kernels, and not by ncu' kernels NA na 'nothing in this run was counted by ncu'

# Ranges.
run; table run/ranges.tsv <<'T'
start_ns end_ns kind domain name pid tid depth
0 9 push_pop nsbench prefill 1 1 0
9 NA push_pop nsbench repeat.0 1 1 0
9 19 push_pop nsbench decode.0 1 1 0
T
says 'ranges: closed'   ranges NA pass 'each of 2 phases that began has ended'
sed -i 's/19/NA/' run/ranges.tsv
exits 1 'ranges: open'  'ns-check run' 'ranges.decode.0: fail: range decode.0 was never closed'
sed -i 's/prefill/x/; s/decode/y/' run/ranges.tsv
says 'ranges: none'     ranges NA na 'no range is a phase'

# Throttling.
run; says 'throttle: not said' throttle NA na 'does not say why its clocks'
printf 'throttle_before=none\nthrottle_after=idle,software_power_cap\n' >>run/ceilings.kv
says 'throttle: none'       throttle.before NA pass 'nothing but load held the clocks (none)'
says 'throttle: a power cap' throttle.after NA pass '(idle,software_power_cap)'
sed -i 's/software_power_cap/hardware_thermal/' run/ceilings.kv
says 'throttle: heat'       throttle.after NA warn 'slowed itself down (idle,hardware_thermal)'

# Derivations: kernels write nothing, copy 100 each way; a witness that counts, two that do not.
run; table run/gate.expected.tsv <<'T'
kernel rung direction expected_bytes
copy memory read 100
copy memory write 100
read memory read 200
read memory write 0
T
table run/gate.terms.tsv <<'T'
source phase role quantity rung direction metric value n_missing n_total
ncu copy value bytes memory read dram 100 0 1
ncu copy witness bytes memory read good 100.5 0 1
ncu read witness bytes memory read good 199 0 1
ncu copy witness bytes memory read half 150 0 1
ncu read witness bytes memory read half 320 0 1
ncu copy witness bytes memory write none 0 0 1
ncu read witness bytes memory write none 0 0 1
ncu copy witness bytes memory both all 200 0 1
ncu copy witness bytes memory read unmeasured NA 1 1
T
says 'derivation: good'     derivation.good NA pass 'this witness counts the bytes of memory, read'
is   'derivation: its worst kernel' '100 100.5 0.005 pass' 'col derivation.good NA "expected measured error_ratio verdict"'
says 'derivation: the sum of both' derivation.all NA pass 'of memory, both'
says 'derivation: too many' derivation.half NA na 'in kernel read it shows 1.6 times the bytes of memory, read'
says 'derivation: none'     derivation.none NA na 'in kernel copy it shows hardly any of the bytes of memory, write'
is   'derivation: not of what was not counted' '' 'col derivation.unmeasured NA verdict'

# Speed.
run; sed -i 's/90$/9/;s/110$/11/' run/baseline.tsv
exits 1 'above the read ceiling' 'ns-check run' 'read_ceiling: fail: decode: its bytes over its time are 425 % above the memory read ceiling'
exits 1 'far above it, in whole numbers' 'sed -i "s/^memory_read_bytes_per_s=.*/memory_read_bytes_per_s=200000000/" run/ceilings.kv; ns-check run' 'decode: its bytes over its time are 52400 % above the memory read ceiling'
exits 1 'above the GEMM ceiling' 'ns-check run' 'flop_ceiling: fail: decode: works 110 % above the f32 GEMM ceiling'
run; sed -i 's/=250/=263/' run/ceilings.kv
says 'a small working set' read_ceiling decode na 'a step reads 1050 bytes, which is less than 4 times the last level of cache (263 bytes)'
run; sed -i '/last/d;/gemm/d' run/ceilings.kv
says 'an unknown cache' read_ceiling decode na 'ceilings.kv has no last_level_bytes'
says 'no GEMM ceiling'  flop_ceiling decode na 'ceilings.kv has no gemm_f32_flop_per_s'
run; sed -i '/decode	1/d' run/baseline.tsv
says 'a step without a time' read_ceiling decode na 'the baseline has no repeat with all of its steps'
run; sed -i 's/=48/=47/' run/canary-after.kv
says 'canary'           canary.canary_gemv_bytes_per_s NA warn 'canary_gemv_bytes_per_s fell by 6 % during the run: every speed in it is inconclusive'
sed -i '/gemv/d' run/canary-after.kv
says 'canary: once only' canary.canary_gemv_bytes_per_s NA na 'was not measured both times'
run; sed -i 's/1050/1500/' run/timeline.tsv
says 'slow under the profiler' profiled_time prefill warn 'took 50 % longer under the profiler than alone: shares of its time hold'
run; sed -i '/^prefill/d' run/timeline.tsv
is 'a phase without a timeline has no row' '' "col profiled_time prefill verdict"
run; sed -i '/decode/d' run/baseline.tsv; printf '0\tdecode\tNA\t50\t0\t5000\n' >>run/baseline.tsv
is 'a baseline of repetitions: a token each' '200 210 0.05 0.1 pass' "col profiled_time decode '$all'"
# A command: 100 alone, and recorded as a whole for so long.
command() { run; echo "duration_ns=$1" >run/meta.kv; printf 'command=1:x\nwall_ns=100\ncapture_range=%s\n' "$2" >run/command.kv; }
command 105 none
is 'a command as a whole' '100 105 0.05 0.1 pass' "col profiled_time.command NA '$all'"
is 'beside its phases'    '200 210 0.05 0.1 pass' "col profiled_time decode '$all'"
command 130 none
says 'slower while it is recorded' profiled_time.command NA warn 'the command: took 30 % longer under the profiler than alone: shares'
command 100 cudaProfilerApi
says 'recorded in part'   profiled_time.command NA na 'the command: how long it was recorded as a whole is not known'
command NA none
says 'not known how long' profiled_time.command NA na 'is not known'
run; sed -i 's/1100$/2000/' run/footprint.tsv
says 'footprint'        footprint.process NA warn 'at its peak the process shows 100 % more than the worker asked for: memory of the runtime'
sed -i 's/driver	NA/driver	1000/' run/footprint.tsv
is 'the driver knows better' '1000 1000 0 0.25 pass' "col footprint.driver NA '$all'"
sed -i 's/driver	1000/driver	600001000/' run/footprint.tsv
says 'what a runtime takes' footprint.driver NA pass 'as much as a runtime takes for itself'
sed -i 's/driver	600001000/driver	1000001001/' run/footprint.tsv
says 'more than that'    footprint.driver NA warn 'memory of the runtime itself, or fragments'

# One decode step of Qwen2-0.5B in bf16 on an H200: its weights are 987,922,432
# bytes (a public figure), memory gave 993,457,152, and the L2's device aperture
# counts the reads of this part 1.5 times over.
h200() {
	table h200 <<'END'
quantity rung direction metric factor role
bytes memory read dram__bytes_read.sum 1 value
bytes memory write dram__bytes_write.sum 1 value
bytes memory read lts__t_sectors_aperture_device_op_read_lookup_miss.sum 32 witness
END
	rm -rf run && mkdir run || return
	ncu2tsv "$shared/captures/ncu/hf-app-range.raw.csv" 2>err >run/counters.tsv || return
	ns-rollup -m h200 run/counters.tsv >run/hierarchy.tsv
	ns-rollup -m h200 --steps run/counters.tsv >run/steps.tsv
	ns-rollup -m h200 --terms run/counters.tsv >run/terms.tsv
	printf 'phase\tstep\trole\tread_bytes\twrite_bytes\tflop\ndecode\t2\tq\t987922432\t0\t1\n' >run/readset.tsv
}
if [ -d "$shared/captures/ncu" ]; then
	h200
	is 'H200: physics'  '987922432 993457152 0.00560238316362 0.01 pass' "col predicted_read decode '$all'"
	says 'H200: the aperture is no measure' witness.lts__t_sectors_aperture_device_op_read_lookup_miss.sum decode warn '50.1 % more'
	says 'H200: prefill was not predicted' predicted_read prefill na 'prefill is not in readset.tsv'
else
	skip_one 'H200' 'no ../shared here'
fi

# Bad input.
exits 2 'no operand'        'ns-check'                       'usage: ns-check'
exits 2 'no such directory' 'ns-check norun'                 'norun: No such file'
exits 2 'not a directory'   'ns-check err'                   'err: not a directory'
exits 2 'bad option'        'ns-check -s x run'              "--steps: not a count: 'x'"
run
exits 2 'full disk'         'ns-check run >/dev/full'        'stdout: No space left'
for f in readset steps hierarchy baseline gate terms footprint timeline; do
	run; : >run/$f.tsv
	exits 2 "$f: empty"       'ns-check run' "run/$f.tsv: empty: no header line"
	run; echo x >>run/$f.tsv
	exits 2 "$f: ragged row"  'ns-check run' "run/$f.tsv:"
	run; printf x >>run/$f.tsv
	exits 2 "$f: cut"         'ns-check run' 'last line cut short'
	run; sed -i '1s/^[a-z_]*/other/' run/$f.tsv
	[ $f = footprint ] || exits 2 "$f: a column is missing" 'ns-check run' "run/$f.tsv: no column '"
done
run; sed -i '2s/-\{0,1\}[0-9.]*	0	0.01/x	0	0.01/' run/gate.tsv
exits 2 'gate: bad number'  'ns-check run' "run/gate.tsv:2: measured_bytes: not a number: 'x'"
run; sed -i 's/pass/good/' run/gate.tsv
exits 2 'gate: bad verdict' 'ns-check run' "run/gate.tsv:2: verdict: unknown verdict 'good'"
run; echo x >>run/platform.kv
exits 2 'platform.kv: not a setting' 'ns-check run' "run/platform.kv:5: not name=value: 'x'"

# ---- numbers that nothing measures: no reason speaks of infinity, whatever a column or setting holds
odd() {	# odd FILE: with each of its numbers, all of a column at once, in turn 0, very small, very large, and beyond
	case $1 in
	*.tsv) n=$(awk -F '\t' 'NR == 1 { print NF }' "whole/$1") ;;
	*) n=$(wc -l <"whole/$1") ;;
	esac
	for c in $(seq "$n"); do
		for x in 0 1e-100 1e100 -1e100 1e308; do
			case $1 in
			*.tsv) awk -F '\t' -v OFS='\t' -v c="$c" -v x="$x" 'NR > 1 && $c ~ /^-?[0-9]/ { $c = x } 1' "whole/$1" ;;
			*) awk -F = -v OFS== -v c="$c" -v x="$x" 'NR == c && $2 ~ /^[0-9]/ { $2 = x } 1' "whole/$1" ;;
			esac >"run/$1"
			ns-check run >out 2>err
			[ $? -le 2 ] || echo "$1 $c $x: status $?"
			! grep -Ei '(^|[^a-z])-?(inf|nan)([^a-z]|$)' out err || echo "$1 $c $x"
		done
	done
	cp "whole/$1" "run/$1"
}
run; rm -rf whole; cp -r run whole
for f in whole/*; do
	is "${f#*/}: no reason of infinity" '' "odd ${f#*/}"
done
run; sed -i 's/10000	400	10400/1e308	400	1e308/' run/steps.tsv
exits 2 'bytes beyond all memory' 'ns-check run' "run/steps.tsv:2: read_bytes: not a number: '1e308'"
done_testing
