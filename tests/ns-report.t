#!/bin/sh
. "${0%/*}/tap.sh"

run=$data/run-cpu

# has FORMAT TEXT: the report of directory r holds that text.
has() { ns-report -f "$1" r >page && { grep -qF -e "$2" page || { cat page; false; }; }; }
says() { ok "$1" "has md '$2'"; }
fresh() { rm -rf r && cp -r "$run" r && chmod -R u+w r; }
# edit FILE AWK: change a table of r.
edit() { awk -F'\t' -v OFS='\t' "$2" "r/$1" >tmp && mv tmp "r/$1"; }
reports() { printf '%s\n' "$2" | tr '~' '\t' >"r/$1"; }

# json_is NAME WANTED FILTER: what jq finds in the JSON of directory r.
json_is() {
	if command -v jq >/dev/null; then
		filter=$3 is "$1" "$2" 'ns-report -f json r | jq -c "$filter"'
	else
		skip_one "$1" 'no jq here'
	fi
}

# ---- a whole run; figures by arithmetic from tests/data/run-cpu
fresh
says 'the first line is the simulation' '**A simulated hierarchy**: callgrind with cache sizes 32.8 kB (first level, data) and 131 kB (last level).'
is 'and stands before all else' '# Where a token spends its time: r' "ns-report r | sed '/simulated/q' | grep -v '^$' | grep -v '^>'"
says 'synthetic weights' '**Synthetic weights (random, seed 7)**'
says 'the model'         'LlamaForCausalLM of 2 layers, 427 k parameters in 853 kB of BF16; 32 prompt tokens, 16 generated, batch 1'
says 'the verdict'       '**Trusted**: every check that could be made passed. Of 9 checks 7 passed, 0 failed, 0 warned, 2 could not be judged.'
# (3564288 + 20480) / 4 and 3564288 / 4
ok 'no figures'          'mkdir r/figures; ! has md "No figures"; s=$?; rmdir r/figures; [ $s -eq 0 ] && has md "> No figures: they take gnuplot. Where it is, \`make -f mk/run.mk\`, with"'
says 'bytes of a token'  'A decode token moves **896 kB** between the last cache and memory, 891 kB of it read.'
# 4 steps at 32..35 tokens of 1024 bytes: 134 kB of 3551232 are keys and values
says 'the share of weights' 'By prediction 96.1 % of the reads are weights.'
says 'predicted'         'A decode token should read 888 kB and read 891 kB: **+0.37 %**.'
says 'shares'            'Of the reads of a decode token 66.6 % are weights of the layers, 29.5 % the output head, 3.86 % keys and values, 0.029 % embedding rows.'
# 3564288 bytes in 426200 ns, of 12 GB/s: 69.7 %
# 15 later steps of 5 repeats: 100 us + 0.2 us x step, +-2 us: median 101.6 us
says 'small roles are one row' '| 3 smaller ones | 1.28 kB | 0.14 % | 40 B | 0.15 % |'
says 'speed'             'Decode makes **9843** tokens a second, 102 µs a step.'
says 'the first step apart' '| decode, first step | 8000 | 125 µs | 124 µs to 126 µs | 127 µs | 1 | 5 |'
says 'later steps'       '| decode, later steps | 9843 | 102 µs |'
says 'what binds'        'Decode does 0.990 FLOP for each byte from memory, so **memory bandwidth** binds it; it reaches 70.1 % of that ceiling.'
says 'NA is not measured' '| decode | L1 | not measured | not measured | not measured | 554,560 | 97.0 % | not measured |'
says 'coverage'          'All 192 values that these figures need were measured.'
says 'the knee'          'Read: the steepest fall is from 48.0 GB/s with a working set of 16.8 MB to 20.0 GB/s with 33.6 MB.'
says 'functions'         '| `matmul_bf16` | 3.42 MB | 3.42 MB | 6.14 kB | 95.4 % | 4 |'
says 'the gate'          '8 of 8 rows passed; the largest error is 0.049 %.'
says 'a witness that is absent' '| driver | the device as its driver sees it | not measured | not measured | not measured | 0 |'
says 'the canary'        '| canary gemv | 9.81 GB/s | 9.71 GB/s | −1.00 % |'
says 'wall time'         '| **all** | 15.6 s |'
says 'estimates are marked' 'shares of a bandwidth ceiling are estimates here'
is 'the top k' 2 "ns-report -k 1 r | grep -c '^| .matmul_bf16'"
ok '-k 1: the others are one row' "ns-report -k 1 r | grep '^| 4 others |'"
is '-k 1 shows one' 0 "ns-report -k 1 r | grep -c '^| .swiglu'"

is 'six lines' "r: synthetic weights (random, seed 7), simulated hierarchy
verdict   Trusted; every check that could be made passed
speed     prefill 15,842 tok/s, decode 9843 tok/s
bytes     891 kB read from memory a decode token, 888 kB predicted (+0.37 %)
ceiling   decode reads at 69.7 % of the memory read ceiling (estimate)
read on   r/report.html" 'ns-report -f verdict r'

# ---- real weights
sed -i 's/synthetic=1/synthetic=0/' r/model.kv
sed -i '/^synth/d' r/stages.tsv
ok 'real weights: no word of synthetic' 'ns-report r >page && ! grep -qi synthetic page'
ok 'nor on the terminal' 'ns-report -f verdict r | head -n 1 | grep -q "weights 5f3a90c2b1d4e687"'

# ---- a failed check
fresh
edit checks.tsv '$1 == "predicted_read" && $2 == "decode" { $4 = 3564288; $3 = 3404288; $5 = 3564288 / 3404288 - 1; $7 = "fail"; $8 = "a layer is missing from the prediction" } 1'
says 'fails: the verdict'   '**Not trusted**: a check failed. Of 9 checks 6 passed, 1 failed'
says 'fails: which and why' '- **Failed: predicted read (decode)**. Expected 3,404,288, measured 3,564,288 (+4.70 %; tolerance 1.00 %). A layer is missing from the prediction.'
ok 'fails: on the terminal' "ns-report -f verdict r | grep -qx 'verdict   Not trusted; predicted_read decode failed: a layer is missing from the prediction'"
json_is 'fails: in JSON' '"Not trusted"' .verdict.verdict
edit checks.tsv '$1 == "canary" { $7 = "fail"; $8 = "moved by 9 %" } 1'
ok 'fails: and more' "ns-report -f verdict r | grep -q '(and 1 more)'"

fresh
edit checks.tsv '$1 == "canary" { $1 = "sampled"; $7 = "warn"; $8 = "2 % more: polls, say" } 1'
ok 'a warning: on the terminal what was found' "ns-report -f verdict r | grep -q 'warns: 2 % more$'"
says 'a warning: in the report what it may mean' '2 % more: polls, say'
fresh
edit checks.tsv '$1 == "canary" { $7 = "fail"; $8 = "moved by 9 %" } 1'
says 'a canary that moved' '**Inconclusive**: the canary moved'
fresh
edit checks.tsv '$1 == "canary" { $7 = "warn"; $8 = "rose by 9 %" } 1'
says 'a canary that warns: the bytes stand' '**Trusted**: the bytes can be believed; speeds are inconclusive, since the canary moved.'
says 'a canary that warns: the speed does not' '**Speed is inconclusive**'
ok 'a canary that warns: on the terminal' "ns-report -f verdict r | grep -q 'tok/s (inconclusive: the canary moved)$'"
printf 'read_ceiling\tdecode\t12e9\tNA\tNA\tNA\tna\tdecode: a step reads 887808 bytes, which fits\n' >>r/checks.tsv
says 'a share that means nothing' '| Of the memory read ceiling | **no figure** | a step reads 888 kB, which fits |'
says 'nor does one of the roofline' 'there is no share of that ceiling, since a step reads 888 kB, which fits.'
fresh
printf 'repeat\tphase\tstep\tn_tokens\tstart_ns\tdur_ns\n1\tdecode\tNA\t64\tNA\t128000000\n2\tdecode\tNA\t64\tNA\t256000000\n3\tdecode\tNA\t64\tNA\t192000000\n' >r/baseline.tsv
says 'repetitions, not steps: a token each' 'Decode makes **333** tokens a second, 3.00 ms a step.'
fresh
edit checks.tsv '$1 == "gate" { $7 = "na" } 1'
says 'no gate' '**Inconclusive**: the counters were not put on trial'
fresh
edit checks.tsv '$1 == "missing" { $7 = "warn"; $8 = "one is absent" } 1'
says 'a warning' '- **Warning: missing**. Expected 0, measured 0 (0.00 %; tolerance 0.00 %). One is absent.'
says 'trusted with doubts' '**Trusted**: no check failed, though some figures are in doubt.'

fresh
edit hierarchy.tsv '$1 == "decode" && $3 == "memory" { $13 = 3 } 1'
says 'incomplete counters' '**189 of 192 values** were measured. What is missing is not in the sums: figures of such a rung are lower bounds.'

fresh
is 'no bytes of registers: nothing of spills' 0 "ns-report r | grep -c 'spills alone'"
edit hierarchy.tsv '$3 == "registers" { $4 = 0 } 1'
says 'bytes of registers: what they are' '> Bytes of registers are spills alone: what did not fit,'

# Nothing of L2 was asked for in decode: no row, no missing counter, but a word.
fresh
edit hierarchy.tsv '$1 == "decode" && $3 == "l2" { $4 = $6 = $8 = $9 = $11 = $12 = "NA"; $13 = $14 } 1'
says 'a rung that was not asked for' 'No counter was asked for, so there is no row: L2 of decode.'
says 'is not missing'  'All 168 values that these figures need were measured.'
is 'and has no row'    0  "ns-report r | grep -c '^| decode | L2 |'"

# A step that is one kernel, 500 us: memory (12 bytes a ns) limits 400 of them, in which
# 3240 + 1200 kB are read.  All its bytes, 4740 kB, take 395 us; of the other 105 q/k/v has 100 - 25.
fresh
is 'no stamps: nothing of them' 0 "ns-report r | grep -c 'Inside the decode step'"
table r/ops.tsv <<'END'
kind  n_ops  n_blocks  op_ns  total_ns  share_ratio  hop_ns  hop_last_ns  weights_ns  multiply_ns  add_ns  skew_ns  multiplying_ratio  adding_ratio  waiting_ratio  read_bytes  bytes_per_s  of_ceiling_ratio  clock_ns
qkv  2  1  50000  100000  0.2  2000  3000  -400  700  600  80  0.2  0.1  0.7  300000  3e9  0.25  32
down  2  8  150000  300000  0.6  2000  3000  NA  700  600  80  0.9  0.05  0.05  3240000  10.8e9  0.9  32
vocab  1  8  NA  100000  0.2  NA  NA  160  700  600  80  1  0  0  1200000  12e9  1  32
END
says 'inside a step' '## Inside the decode step'
says 'how long it took, and what noting cost' 'it took **500 µs**, +392.1 % against the median step that noted nothing (102 µs)'
says 'where memory is the limit' '- **80.0 %** of the step (down, output head) streams at 11.1 GB/s, 92.5 % of what memory can do: there memory is the limit.'
says 'and where not' '- In **20.0 %** of the step (q/k/v) blocks read 3.00 GB/s, 25.0 % of what memory can do, and wait for results of other blocks **70.0 %** of the time; they multiply, or wait for memory, 20.0 % and add up 10.0 % of it.'
says 'what is to be gained' '- All it reads, 4.74 MB, would take 395 µs at what memory can do. Of the 105 µs beyond that most, **75.0 µs**, is in q/k/v, in which one block has a part.'
says 'a kind of op'       '| q/k/v | 2 | 1 | 50.0 µs | 100 µs | 20.0 % | 20.0 % | 10.0 % | 70.0 % | 300 kB | 3.00 GB/s | 25.0 % |'
says 'the last of a step' '| output head | 1 | 8 | not measured | 100 µs | 20.0 % |'
says 'its events'         '| q/k/v | 2.00 µs | 3.00 µs | -400 ns | 700 ns | 600 ns | 80.0 ns |'
says 'how fine the clock is' 'The clock goes on by 32 ns.'
json_is 'JSON: ops' '["qkv","down","vocab"]' '[.tables.ops[].kind]'
printf 'read_ceiling\tdecode\t12e9\tNA\tNA\tNA\tna\tdecode: a step reads 887808 bytes, which fits\n' >>r/checks.tsv
is 'a ceiling that means nothing: no share of it' 0 "ns-report r | sed -n '/## Inside/,\$p' | grep -c -e 'memory can do' -e '25.0 % |\$'"
says 'but what its blocks do' 'In **100.0 %** of the step (q/k/v, down, output head) blocks read 9.48 GB/s, and wait for results of other blocks **17.0 %** of the time'
edit ops.tsv 'NR > 1 { $16 = $17 = $18 = "NA" } 1'
says 'no readset: no rates' 'In **100.0 %** of the step (q/k/v, down, output head) blocks wait for results'
edit ops.tsv 'NR == 1'
is 'stamps of nothing: no section' 0 "ns-report r | grep -c 'Inside the decode step'"

# Bytes told in one sum: 1000 of 4000 known to be read, none to be written; then neither.
fresh
edit hierarchy.tsv 'NR == 1 { print $0, "bytes"; next } { print $0, $1 != "decode" || $3 != "l1" ? "NA" : 4000 }'
edit hierarchy.tsv '$1 == "decode" && $3 == "l1" { $4 = 1000; $5 = 0 } 1'
says 'undirected bytes: a bound, and no zero' '| decode | L1 | over 1.00 kB |  |'
says 'and why' 'counters of that rung tell all bytes in one sum'
edit hierarchy.tsv '$1 == "decode" && $3 == "l1" { $4 = $5 = "NA" } 1'
says 'undirected bytes: both blank' '| decode | L1 |  |  |'
edit hierarchy.tsv '$1 == "decode" && $3 == "l1" { $4 = 1000; $5 = 3000 } 1'
says 'all directions known' '| decode | L1 | 1.00 kB | 3.00 kB |'
ok 'nothing to explain' 'ns-report r >page && ! grep -q "in one sum" page'

# Two sources; samples that see half of L1.
fresh
edit hierarchy.tsv 'NR > 1 { $15 = "ncu" } 1'
edit steps.tsv 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR > 1 { $at["source"] = "ncu" } $1 != "decode" || $2 == 0 || NR == 1'
awk -F'\t' -v OFS='\t' 'NR > 1 { $15 = "nsys"; if ($3 == "l1") $11 = 500; print }' r/hierarchy.tsv >second
edit hierarchy.tsv '$3 == "l1" { $11 = 1000 } 1' && cat second >>r/hierarchy.tsv
says 'fewer sampled than counted' 'Fewer bytes are sampled than counted: L1 of prefill, L1 of decode.'
says 'how many steps were counted' '*Traffic by phase and rung, counted by ncu; decode is one step*'

# Checks by name.
fresh
{ head -1 r/checks.tsv; for c in sampled.shared.bytes.both sampled.memory.bytes.read sampled.memory.bytes.write sampled.registers.requests.both \
	sets.dram__bytes_read.sum missing.l2 throttle.before canary.canary_copy sampled.odd; do printf '%s\tdecode\t1\t1\t0\t0.1\tpass\tso\n' $c; done; } >tmp && mv tmp r/checks.tsv
for name in 'sampled bytes of shared memory' 'sampled bytes of memory, read' 'sampled bytes of memory, written' 'sampled requests of registers' \
	'sets that share `dram__bytes_read.sum`' 'missing at L2' 'throttle before' 'canary of copy' 'sampled of odd'; do
	says "a check in words: $name" "| $name (decode) |"
done

# Captures that a failed run left side by side.
fresh
printf '%s\n' baseline_tsv_workload_seed=7 phases_csv_workload_seed=7 >r/manifest.kv
ok 'captures of one run' 'ns-report r >page && ! grep -q "stand together" page'
printf '%s\n' baseline_tsv_workload_seed=7 phases_csv_workload_seed=9 >r/manifest.kv
says 'captures of two runs' '**Captures of different runs stand together**: workload seed is 7 in one and 9 in another.'
printf '%s\n' baseline_tsv_worker_step=auto phases_csv_worker_step=kernels >r/manifest.kv
says 'captures of two kinds of step' 'stand together**: worker step is auto in one and kernels in another.'
printf '%s\n' baseline_tsv_workload_prompt_tokens=7 baseline_tsv_workload_generate_tokens=9 worker_kv_step=persistent >r/manifest.kv
rm -f r/workload.kv
says 'the kind of step' '; 7 prompt tokens, 9 generated, batch 1, decode step persistent'

# ---- adopted captures: a few tables only
rm -rf r && mkdir r
reports timeline.tsv 'phase~step~pid~device~wall_ns~busy_ns~idle_ns~n_kernels~n_launches~n_graph_launches~sum_kernel_ns~largest_gap_ns~n_gaps~overlap_ns~n_windows~reliable~why
all~0~7~0~4000000~1000000~3000000~10~10~0~1000000~90000~9~0~1~1~NA'
reports idle.tsv 'phase~class~n_gaps~idle_ns~largest_gap_ns
all~host_launch~9~3000000~90000'
reports hierarchy.tsv 'phase~step~rung~read_bytes~write_bytes~bytes~requests~hit_ratio~n_tokens~bytes_per_token~amplification_ratio~n_missing~n_total~source
all~NA~memory~2000~500~2500~NA~NA~NA~NA~1~0~2~nsys'
says 'no windows: the whole capture' 'The whole capture: the GPU worked 1.00 ms of 4.00 ms (**25.0 %**) and ran 10 kernels'
says 'no windows: its idle time'     'Of the idle time of the whole capture 100.0 % is host launch.'
says 'no windows: its bytes'         '| all | Memory | 2.00 kB | 500 B | 2.50 kB |  |  | 1.00 × |'
is 'no windows: on the terminal' 'bytes     none of decode; the report has what other phases moved
busy      the GPU works 25.0 % of the whole capture' "ns-report -f verdict r | sed -n '4p;5p'"
ok 'no windows: nothing said of decode' 'ns-report r >page && ! grep -q "busy in decode" page'
rm -rf r && mkdir r
reports timeline.tsv 'phase~step~pid~device~wall_ns~busy_ns~idle_ns~n_kernels~n_launches~n_graph_launches~sum_kernel_ns~largest_gap_ns~n_gaps~overlap_ns~n_windows~reliable~why
decode~0~7~0~3000000~1800000~1200000~455~0~1~1790000~90000~440~0~1~1~NA
decode~1~7~0~3100000~1900000~1200000~455~0~1~1890000~870713~445~0~1~1~NA'
reports gaps.tsv 'phase~step~pid~device~start_ns~dur_ns~class~before~after
decode~0~7~0~100~20000~between_graphs~a~b
decode~1~7~0~900~870713~host_launch~mul_mat_vec<4>~rms|norm
decode~1~7~0~999~30000~copy~x~y'
reports families.tsv 'phase~family~n_calls~sum_ns~own_ns~mean_ns~max_ns~share_ratio
decode~matrix~900~3000000~3000000~3333~9000~0.81
decode~other~10~700000~700000~70000~90000~0.19'
says 'adopted: inconclusive' '**Inconclusive**: no checks were made'
says 'adopted: what is absent' '| `baseline.tsv` | there is no speed: a profiled run is slower, so its times do not count |'
# (1.8 + 1.9) / (3.0 + 3.1)
says 'adopted: busy' 'Decode: the GPU worked 1.85 ms of 3.05 ms a step (**60.7 %**) and ran 455 kernels'
says 'adopted: the largest gap' '| decode | 2 | 3.05 ms | 1.85 ms | 1.20 ms | 871 µs | 455 | 0 | 1 |'
says 'adopted: gaps, largest first' '| decode | 1 | 871 µs | host launch | `mul_mat_vec<4>` | `rms\|norm` |'
is 'adopted: -k of them' 1 "ns-report -k 1 r | grep -c '| host launch |\|between graphs\|| copy |'"
reports idle.tsv 'phase~class~n_gaps~idle_ns~largest_gap_ns
decode~within_graph~800~400000~640
decode~host_launch~2~2000000~870713'
says 'adopted: what it waited for' 'Of the idle time of decode 83.3 % is host launch.'
says 'adopted: families, other too' '| decode | other | 10 | 700 µs | 70.0 µs | 19.0 % |'
ok 'no kernel beside another: no note' 'ns-report r >page && ! grep -q "durations from start to end" page'
# 3.7 ms of the prefill do not overlap; of the decode 1 % does, then more.
overlap() { reports kernels.tsv "phase~name~n_calls~sum_ns~own_ns~mean_ns~max_ns~share_ratio
prefill~mul~900~3700000~3700000~4111~9000~1
decode~mul~900~$1~3000000~3333~9000~0.75
decode~norm~10~1000000~1000000~100000~100000~0.25"; }
overlap 3040000
ok 'kernels: 1 % of overlap is none' 'ns-report r >page && ! grep -q "durations from start to end" page'
overlap 7000000
says 'kernels: own time, and the mean as it is' '| decode | `mul` | 900 | 3.00 ms | 3.33 µs | 75.0 % |'
says 'kernels: what the mean is' '| Phase | Kernel | Count | Time | Mean duration | Share |'
says 'kernels: what durations add up to' '> Decode: durations from start to end add up to 8.00 ms, own time to 4.00 ms, since kernels overlap. Time is of the one that began first: one that is launched early and waits counts from when the one before it has ended. Mean duration has the wait in it.'
is 'kernels: of that phase alone' 1 'ns-report r | grep -c "durations from start to end"'
json_is 'kernels, JSON: own time' '[7000000,3000000]' '.tables.kernels[1] | [.sum_ns, .own_ns]'
ok 'kernels, HTML' 'has html "<p class=\"note\">Decode: durations from start to end add up to"'
reports kernels.tsv 'phase~name~n_calls~sum_ns~mean_ns~max_ns~share_ratio'
exits 2 'kernels without own time' 'ns-report r >/dev/null' "kernels.tsv: no column 'own_ns'"
rm r/kernels.tsv
is 'adopted: six lines' 'r: unknown weights
verdict   Inconclusive; no checks were made
speed     prefill not measured, decode not measured
bytes     not measured
busy      the GPU works 60.7 % of the wall time of a decode step
read on   r/report.html' 'ns-report -f verdict r'
edit timeline.tsv 'NR > 1 { $16 = 0; $17 = "12 graphs hide their kernels" } 1'
says 'adopted: not reliable is said' '**Not reliable: decode**. 12 graphs hide their kernels'

# Whole runs instead of steps, few of them.
reports baseline.tsv 'repeat~phase~step~n_tokens~start_ns~dur_ns
0~decode~0~64~0~128000000
1~decode~0~64~0~130000000
2~decode~0~64~0~129000000'
says 'three repeats: n is said' '| decode | 496 | 129 ms | n = 3 | 130 ms | 64 | 3 |'

# ---- a command: its text, + for a space, and how long it took alone
rm -rf r && mkdir r && printf 'command=7:llama-bench+-m+x_1.gguf\nwall_ns=2310000000\ncapture_range=none\n' >r/command.kv
says 'a command'         'Measured: `llama-bench -m x_1.gguf`, 2.31 s alone.'
is 'on the terminal too' 'r: llama-bench -m x_1.gguf' 'ns-report -f verdict r | head -n 1'
cp "$run/model.kv" r
says 'and what it runs'  'Measured: `llama-bench -m x_1.gguf`, 2.31 s alone; LlamaForCausalLM of 2 layers'
json_is 'in JSON'        '"7:llama-bench+-m+x_1.gguf"' '.settings.command.command'

# ---- experts: two layers, two steps; 3, 1, 2 and 2 experts used
fresh
sed -i 's/n_experts=0/n_experts=8/' r/model.kv
reports routing.tsv 'phase~step~layer~expert~n_tokens
decode~0~0~1~1
decode~0~0~2~1
decode~0~0~5~2
decode~0~1~2~4
decode~1~0~1~3
decode~1~0~2~1
decode~1~1~6~2
decode~1~1~7~2'
says 'experts: how many' 'A step of decode reads **2.00 of 8** experts in a layer.'
says 'experts: a row' '| decode | 4 | 2.00 of 8 | 2.00 | 4 |'

# ---- hostile names
fresh
name='<script>alert(1)</script>|`x`$y$ & "q" '"'"'z'"'"' _a_ *b*'
printf 'callgrind\tdecode\t0\t1\t%s\tDLmr\t1000000\n' "$name" >>r/counters.tsv
printf 'callgrind\tdecode\t0\t1\tbad \377\001 utf8\tDLmr\t1000000\n' >>r/counters.tsv
ok 'hostile: HTML' 'has html "<code>&lt;script&gt;alert(1)&lt;/script&gt;|\`x\`\$y\$ &amp; &quot;q&quot; &#39;z&#39; _a_ *b*</code>"'
ok 'hostile: no script' '! grep -qi "<script" page'
ok 'hostile: Markdown' "ns-report r | grep -qF '| \`\` <script>alert(1)</script>\\|\`x\`\$y\$ & \"q\" '"
json_is 'hostile: JSON' '"<script>alert(1)</script>|`x`$y$ & \"q\" '"'z'"' _a_ *b*"' '.tables.kernel_bytes[] | select(.kernel | startswith("<s")) | .kernel'
json_is 'hostile: bytes that are not UTF-8' '"bad ?  utf8"' '.tables.kernel_bytes[].kernel | select(startswith("bad"))'

printf 'callgrind\tdecode\t0\t1\tbad \376\001 utf8\tDLmr\t1000000\n' >>r/counters.tsv
is 'hostile: what looks the same is one kernel' 1 'ns-report r | grep -c "^| .bad "'

# On a GPU a kernel is called by its name.
sed 's/^callgrind/ncu/; s/bad[^	]*utf8/void ns::f<(int)3, g<1> >(T1 *, void (*)(int), unsigned long)/' r/counters.tsv >tmp && cp tmp r/named.tsv
cp r/platform.kv kept; sed -i 's/^capture=.*/capture=ncu/; s/^kind=.*/kind=gpu/' r/platform.kv
cp r/counters.tsv whole; mv r/named.tsv r/counters.tsv
says 'a kernel without its parameters' '| `ns::f<(int)3, g<1> >` |'
mv kept r/platform.kv; mv whole r/counters.tsv
# A whole range is no kernel.
edit counters.tsv 'NR == 1 { print $0, "grid"; next } { print $0, $1 ~ /^bad|^<script/ || $5 ~ /^bad/ ? "1x1x1" : "NA" }'
is 'ranges are no kernels' 1 'ns-report r | grep -c "moved by"'
edit counters.tsv 'NR > 1 { $8 = "NA" } 1'
ok 'of ranges alone: no section' 'ns-report r >page && ! grep -q "moved by" page'

# ---- HTML
fresh
mkdir r/figures
svg='<?xml version="1.0"?><!DOCTYPE svg><svg viewBox="0 0 9 9" xmlns="http://www.w3.org/2000/svg"><title>Gnuplot</title><defs><path id="a" d="M0,0"/></defs>'
printf '%s' "$svg<use xlink:href='#a' color='rgb(1,2,3)'/><text fill='black'>x &amp; y</text></svg>" >r/figures/ladder.svg
ok 'a figure stands in the page' 'has html "<defs><path id=\"ladder-a\" d=\"M0,0\"/></defs><use href=\"#ladder-a\" color=\"rgb(1,2,3)\"/><text fill=\"currentColor\">x &amp; y</text></svg>"'
figure_fails() {
	printf '%s' "$svg$2" >r/figures/ladder.svg
	ok "figure: $1" "has html 'was left out: $3' && ! grep -q '<svg' page"
}
figure_fails 'script'      '<script>x</script></svg>'             'it holds an element that a plot does not need'
figure_fails 'foreign'     '<foreignObject/></svg>'               'it holds an element that a plot does not need'
figure_fails 'image'       '<image href="http://x/y.png"/></svg>' 'it holds an element that a plot does not need'
figure_fails 'link out'    '<use href="http://x/y.svg"/></svg>'   'it refers to something outside itself'
figure_fails 'url out'     '<path fill="url(http://x)"/></svg>'   'it refers to something outside itself'
figure_fails 'unbalanced'  '<g></svg>'                            'its elements do not close'
figure_fails 'cut short'   '<g>'                                  'it is cut short'
figure_fails 'two roots'   '</svg><svg></svg>'                    'it is not an SVG'
printf '%s' '<!DOCTYPE svg [<!ENTITY a "b">]><svg></svg>' >r/figures/ladder.svg
ok 'figure: entities' "has html 'was left out: it declares entities'"
: >r/figures/ladder.svg
ok 'figure: empty' "has html 'was left out: it is empty'"
printf '%s' "$svg<g onclick='x()' style='background:url(//x)' fill='\\75rl(x)'/></svg>" >r/figures/ladder.svg
ok 'figure: attributes that do not draw are dropped' 'has html "<g/></svg>"'

fresh
mkdir r/figures
if command -v gnuplot >/dev/null; then
	for f in ladder roofline sweep footprint phases; do ns-plot $f r | gnuplot >r/figures/$f.svg; done
	ok 'HTML: the five figures' 'ns-report -f html r >page && [ $(grep -c "^<svg" page) -eq 5 ]'
	ok 'HTML: ids are unique' '! grep -o " id=\"[^\"]*\"" page | sort | uniq -d | grep .'
else
	skip_one 'HTML: the five figures' 'no gnuplot here'
	ns-report -f html r >page
fi
ok 'HTML: no script, no handler' '! grep -qiE "<script|javascript:| on[a-z]+=" page'
ok 'HTML: loads nothing' '! grep -qiE "src=|@import|url\((https?:|//)|<link|http-equiv" page'
ok 'HTML: links stay within' '! grep -oE "href=\"[^\"]*\"" page | grep -v "=\"#"'
ok 'HTML: nothing of http' '! grep -q "http" page'
ok 'HTML: every link has its place' 'for i in $(grep -o "href=\"#[^\"]*\"" page | sed "s/.*#//;s/\"//" | sort -u); do grep -q "id=\"$i\"" page || { echo $i; exit 1; }; done'
if command -v xmllint >/dev/null; then
	ok 'HTML: well-formed' 'sed 1d page | xmllint --noout -'
else
	skip_one 'HTML: well-formed' 'no xmllint here'
fi
ok 'HTML: every table has a caption and scopes' '[ $(grep -c "<caption>" page) -eq $(grep -c "<table" page) ] && ! grep -E "<th[ >]" page | grep -v "scope="'

# ---- single kernels
fresh
says 'kernels: absent, and what makes them' '| `detail.tsv` | what holds single kernels is not known | tier 2: ncu on the kernels that take most time, then ns-detail |'
lacks() { ok "$1" 'ns-report r >page && ! grep -qF -e "$2" page'; }
lacks 'kernels: no section of nothing' '## Kernels'
reports detail.tsv 'phase~rank~step~kernel~name~grid~share_ratio~n_launches~launch_ns~dur_ns~shared_bytes~l1_bytes~l1_hit_ratio~l2_bytes~l2_hit_ratio~memory_read_bytes~memory_write_bytes~memory_bytes_per_s~of_memory_ceiling_ratio~registers_bytes~occupancy_ratio~occupancy_limit_ratio~limited_by~n_registers~block_shared_bytes~n_waves~issue_ratio~tensor_ratio~stall_1~stall_1_ratio~stall_2~stall_2_ratio~reading
decode~1~3~_Zg~gemv<a|b, `x`>~512x1x1~0.6~448~15600~5600~20000000~12700000~0.13~10000000~0.4~8400000~0~1500000000000~0.35~0~0.4~0.625~registers,shared~46~2144~0.78~0.38~0~long_scoreboard~0.48~wait~0.1~waits for data from memory: 48 % of stalls are long scoreboard
decode~2~3~_Zh~<script>&h~1x1x1~0.25~16~8000~7000~NA~NA~NA~NA~NA~NA~NA~NA~NA~512~NA~1~warps~NA~NA~NA~NA~NA~NA~NA~NA~NA~NA'
# 0.6 + 0.25
says 'kernels: how much they are' 'Decode: 2 kernels take **85.0 %** of the time of all kernels. Most, 60.0 %, is'
says 'kernels: what holds them'   '| 512x1x1 | 60.0 % | 448 | 15.6 µs | 5.60 µs | waits for data from memory: 48 % of stalls are long scoreboard |'
lacks 'kernels: several a step' 'A decode step is one kernel'
printf 'worker_kv_step=persistent\n' >r/manifest.kv
says 'kernels: one a step' 'A decode step is one kernel here, products, attention and all; run with `STEP=kernels`'
rm r/manifest.kv
says 'kernels: no reading'        '| 1x1x1 | 25.0 % | 16 | 8.00 µs | 7.00 µs | not measured |'
says 'kernels: bytes'             '| 20.0 MB | 12.7 MB | 13.0 % | 10.0 MB | 40.0 % | 8.40 MB | 0 B | 1.50 TB/s | 35.0 % |'
says 'kernels: what is not measured is blank' '|  |  |  |  |  |  |  |  |  |'
says 'kernels: how the SMs are used' '| 0.780 | 46 | 2.14 kB | 40.0 % | 62.5 % | registers, shared memory | 38.0 % | 0.00 % | long scoreboard 48 %, wait 10 % |'
says 'kernels: a name within a table' '`` gemv<a\|b, `x`> ``'
is 'kernels: the top k' 0 "ns-report -k 1 r | grep -c '^| 2 .*script'"
ok 'kernels, HTML: names are escaped' 'ns-report -f html r >page && grep -q "&lt;script&gt;&amp;h" page && ! grep -q "<script" page'
# ---- their instructions, if they were asked for
lacks 'instructions: absent without a word' 'source'
reports source-kernels.tsv 'phase~rank~kernel~name~grid~block~launch~n_instructions~n_samples~n_executed~l2_sectors~l2_over_ideal_ratio~n_wavefronts~shared_over_ideal_ratio~reading
decode~1~_Zg~gemv<a|b, `x`>~512x1x1~256x1x1~7.0~800~9308~1~2~1.5~3~NA~43 % of samples wait for 1 load of global memory
decode~2~_Zh~<script>&h~1x1x1~32x1x1~7.1~20~20~1~2~NA~3~2~20 samples: too few to say where it waits'
reports source.tsv 'phase~rank~kernel~name~launch~place~address~line~instruction~n_samples~share_ratio~stall~stall_ratio~producer_address~producer
decode~1~_Zg~gemv<a|b, `x`>~7.0~1~0x0690~NA~FSETP P1, |R12|, <b>~4654~0.5~long_scoreboard~0.98~0x0670~LDG.E R12, [R46]
decode~1~_Zg~gemv<a|b, `x`>~7.0~2~0x0e60~k.cu:7~BSSY B0~279~0.03~barrier~1~NA~NA
decode~1~_Zg~gemv<a|b, `x`>~7.0~3~0x0e70~NA~NOP~270~0.029~none~0~NA~NA
decode~1~_Zg~gemv<a|b, `x`>~7.0~NA~NA~NA~rest~4105~0.441~wait~0.5~NA~NA
decode~2~_Zh~<script>&h~7.1~1~0x0000~NA~EXIT~20~1~wait~1~NA~NA'
says 'instructions: the largest'  'Within the largest of decode, `` gemv<a\|b, `x`> ``: 43 % of samples wait for 1 load of global memory.'
says 'instructions: a row a kernel' '| 9308 | 800 | 1.50 × |  | 43 % of samples wait for 1 load of global memory |'
says 'instructions: the hottest'  '| 0x0690 | `FSETP P1, \|R12\|, <b>` | 50.0 % | long scoreboard 98 %, for `LDG.E R12, [R46]` at 0x0670 |'
says 'instructions: by line'      '| k.cu:7 | `BSSY B0` | 3.00 % | barrier 100 % |'
lacks 'instructions: little is left out' 'NOP'
lacks 'instructions: few samples are left out' 'EXIT'
lacks 'instructions: the rest is left out' 'rest |'
is 'instructions: the top k' 0 "ns-report -k 1 r | grep -c 'too few to say'"
ok 'instructions, HTML' 'has html "the hottest instructions" && grep -q "&lt;b&gt;" page && ! grep -q "<script" page'
json_is 'instructions, JSON: numbers and text' '["0x0690","7.0",0.5,null,"rest"]' '.tables.source | [.[0].address, .[0].launch, .[0].share_ratio, .[1].producer, .[3].instruction]'
ok 'instructions alone' 'mv r/detail.tsv kept && has md "Within the largest of decode" && ! grep -q "In the run" page; s=$?; mv kept r/detail.tsv; [ $s -eq 0 ]'
edit source-kernels.tsv 'NR > 1 { $1 = "NA"; $2 = "NA" } 1'
edit source.tsv 'NR > 1 { $1 = "NA"; $2 = "NA" } 1'
says 'instructions: of no phase' 'Within the largest, ``'
rm r/source.tsv r/source-kernels.tsv
json_is 'kernels, JSON: numbers and text' '[1,0.6,"512x1x1",null]' '.tables.detail | [.[0].rank, .[0].share_ratio, .[0].grid, .[1].reading]'
edit detail.tsv 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { $at["registers_bytes"] = 2048; $at["name"] = "a_name_of_more_than_forty_characters_that_goes_on" } 1'
says 'kernels: spills'            '| 0.780 | 46, spills 2.05 kB |'
says 'kernels: long names are cut' '`a_name_of_more_than_forty_characters_tha…`'
edit detail.tsv 'NR > 1 { $2 = NR == 2 ? "NA" : 1e99 } 1'
ok 'kernels: none that was chosen is shown' 'ns-report r >page && ! grep -q "of the time of all kernels" page'
rm r/detail.tsv

# ---- JSON
json_is 'JSON: a number'  3564288  '.tables.hierarchy[] | select(.phase == "decode" and .rung == "memory") | .read_bytes'
json_is 'JSON: NA'        null     '.tables.hierarchy[0].read_bytes'
json_is 'JSON: settings'  853248   .settings.model.tensor_bytes
json_is 'JSON: a fingerprint is text' '"5f3a90c2b1d4e687"' .settings.model.fingerprint
json_is 'JSON: NA in settings' null .settings.ceilings.gemm_f16_flop_per_s
json_is 'JSON: before and after' 9712000000 .settings.canary_after.canary_gemv_bytes_per_s
compact_is() { command -v jq >/dev/null || { skip_one "$1" 'no jq here'; return; }; filter=$3 is "$1" "$2" 'ns-report -f compact r | jq -c "$filter"'; }
printf 'start_ns\tend_ns\tkind\tphase\tstep\tname\tdevice\tstream\n1\t4\tkernel\tdecode\t0\tgemv\t0\t7\n4\t9\twindow\tdecode\t0\tNA\t0\tNA\n5\t8\tcopy\tdecode\tNA\tgemv\t0\t7\n' >r/work.tsv
compact_is 'compact: a column of a figure' 3564288 '.figures.hierarchy | .read_bytes[(.phase | index("decode")) + 3]'
compact_is 'compact: intervals'  '[[1,5],[4,8],[0,null]]' '.work | [.start_ns, .end_ns, .step]'
compact_is 'compact: names once' '[["gemv"],[0,0],["kernel","copy"]]' '.work | [.names, .name, .kinds]'
rm r/work.tsv
json_is 'JSON: the tables' '"baseline checks footprint gate hierarchy kernel_bytes readset roofline stages steps sweep tensors"' '.tables | keys | join(" ")'

# ---- trouble
exits 2 'no operand'     'ns-report'                        'usage:'
exits 2 'no directory'   'ns-report nodir'                  'nodir: No such file'
exits 2 'not a directory' 'ns-report $run/gate.tsv'         'not a directory'
mkdir void
exits 2 'nothing there'  'ns-report void'                   'none of a run'
exits 2 'no such format' 'ns-report -f pdf r'               "md, html, json, compact or verdict, not 'pdf'"
exits 2 'bad -k'         'ns-report -k x r'                 "not a count: 'x'"
exits 2 'no metrics'     'ns-report -m nofile r'            'nofile: No such file'
for f in md html json compact verdict; do
	exits 2 "full disk: $f" "ns-report -f $f r >/dev/full" 'No space left'
done
breaks() { # breaks NAME FILE TEXT MESSAGE
	fresh
	printf '%b' "$3" >"r/$2"
	exits 2 "$1" 'ns-report r' "$4"
}
breaks 'an empty table'   gate.tsv ''                'gate.tsv: empty: no header line'
breaks 'a missing column' gate.tsv 'kernel\n'        "gate.tsv: no column 'rung'"
breaks 'a ragged row'     checks.tsv 'check\tphase\texpected\tmeasured\terror_ratio\tverdict\twhy\nx\n' 'checks.tsv:2: 1 fields, the header has 7'
breaks 'a bad number'     roofline.tsv 'phase\tflop_per_byte\tflop_per_s\tof_ceiling_ratio\tbound\ndecode\t1\t2\tmany\tmemory\n' "of_ceiling_ratio: not a number: 'many'"
breaks 'a cut last line'  sweep.tsv 'kernel\tworking_set_bytes\tbytes_per_s\nread' 'last line cut short'
breaks 'a bad setting'    model.kv 'a=$(b)\n'        'unsafe character'
# Counters of a capture whose tokens nobody counted: 3564288 bytes in all.
fresh
rm r/baseline.tsv r/readset.tsv
edit hierarchy.tsv 'NR > 1 { $9 = $10 = "NA" } 1'
says 'no tokens: the table is of a step' '*Traffic of a step by phase and rung, of decode the mean of 4*'
says 'no tokens: its columns' '| Phase | Rung | Read | Written | In all | Requests | Hit ratio | Times memory |'
# 10647552 requests at the registers in 4 steps of decode, 3564288 bytes read from memory
says 'no tokens: requests of a step' '| decode | Registers | not measured | not measured | not measured | 2,661,888 |'
says 'no tokens: bytes of a step' '| decode | Memory | 891 kB |'
lacks 'no tokens: no figure of them' '![Bytes a token'
says 'no tokens: the bytes of a step' '| Read from memory a decode step | **891 kB** | mean of 4; how many tokens it makes is not known: no baseline tells of it |'
ok 'no tokens: on the terminal' "ns-report -f verdict r | grep -qx 'bytes     891 kB read from memory a decode step, the mean of 4'"
edit steps.tsv '$1 != "decode" || $2 == 3'
says 'no tokens: one step' '| **3.56 MB** | of the one that was measured; how many'
ok 'no tokens: one step on the terminal' "ns-report -f verdict r | grep -qx 'bytes     3.56 MB read from memory a decode step'"
rm r/steps.tsv
says 'no steps either: the table is of all' '*Traffic by phase and rung, over all measured steps*'
says 'no steps either: requests in all' '| decode | Registers | not measured | not measured | not measured | 10,647,552 |'
says 'no steps either: the bytes all the same' '| Read from memory in decode | **3.56 MB** | of how many tokens is not known: no baseline counts them |'
ok 'no steps: on the terminal' "ns-report -f verdict r | grep -qx 'bytes     3.56 MB read from memory in decode, of an unknown number of tokens'"
rm r/hierarchy.tsv
says 'no hierarchy: the way to it' '| `hierarchy.tsv` | where the bytes go is not known | counters, then ns-rollup with the metrics of their platform (PLATFORM=NAME) |'
for f in "$run"/*.tsv; do
	f=${f##*/}
	[ "$f" != counters.tsv ] || continue
	fresh
	head -n 1 "$run/$f" >"r/$f"
	ok "header only: $f" 'ns-report r && ns-report -f html r && ns-report -f json r && ns-report -f verdict r'
	rm "r/$f"
	ok "absent: $f" 'ns-report r && ns-report -f html r && ns-report -f json r && ns-report -f verdict r'
done
done_testing
