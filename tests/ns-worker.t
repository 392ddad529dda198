#!/bin/sh
# What must hold of any right forward, on synthetic checkpoints of every
# architecture; ns-worker-reference.t holds the logits against another's.
. "${0%/*}/tap.sh"
command -v ns-synth >/dev/null || skip 'ns-synth is not built'
OMP_NUM_THREADS=1	# threads that wait for one another are slow on a busy machine
export OMP_NUM_THREADS

models='llama llama3 mistral mixtral qwen2 qwen3 qwen3-moe'
for m in $models; do
	yaml2kv "$top/tests/models/$m.yaml" | ns-synth - "$m" || exit 1
done
vocabulary=320

# worker MODEL OPTION...: one repeat, no warm-up; dump NAME: its dumps.
worker() { m=$1; shift; ns-worker -m "$m" -r 1 -w 0 "$@"; }
dump() { name=$1; shift; worker "$@" --dump-logits "$name.f32" --dump-tokens "$name.tsv" >/dev/null; }
tokens() { awk -F '\t' -v s="$2" '$1 == s { print $4 }' "$1.tsv" | paste -sd ' '; }
# logits FILE FROM N: rows of them.
logits() { tail -c +$((4 * vocabulary * $2 + 1)) "$1.f32" | head -c $((4 * vocabulary * $3)); }

# A decode step sees what a prefill of the longer sequence sees.
cache() {
	dump step "$1" -p 20 -g 6 && tokens step 0 | cut -d ' ' -f 1-26 >whole &&
	    dump whole "$1" --tokens whole -g 0 &&
	    logits step 6 1 | cmp - whole.f32
}
# A sequence gives the same alone and among others.
batch() {
	dump many "$1" -p 11 -g 2 -B 5 && tokens many 3 | cut -d ' ' -f 1-11 >alone &&
	    dump one "$1" --tokens alone -g 2 && for step in 0 1 2; do
		logits many $((5 * step + 3)) 1
	done | cmp - one.f32 && [ "$(tokens one 0)" = "$(tokens many 3)" ]
}
threads() {
	dump t1 "$1" -p 9 -B 2 &&
	    OMP_NUM_THREADS=3 OMP_WAIT_POLICY=passive dump t3 "$1" -p 9 -B 2 &&
	    cmp t1.f32 t3.f32
}
for m in $models; do
	ok "$m: decode is prefill of the longer sequence" "cache $m"
	ok "$m: a batch is its sequences"                 "batch $m"
	ok "$m: one thread is three"                      "threads $m"
done

# Tokens are a function of the seed.
dump s1 qwen3 -s 5 && dump s2 qwen3 -s 5 && dump s3 qwen3 -s 6
ok 'same seed, same tokens'        'cmp s1.tsv s2.tsv && cmp s1.f32 s2.f32'
ok 'another seed, other tokens'    '! cmp -s s1.tsv s3.tsv'
is 'sequences differ' 2 "worker qwen3 -p 12 -g 0 -B 2 --dump-tokens t.tsv >b; for s in 0 1; do tokens t \$s; done | sort -u | wc -l"
is 'repeats are the same' "$(tokens s1 0)" 'ns-worker -m qwen3 -s 5 -r 3 -w 1 --dump-tokens r.tsv >b; tokens r 0'
is 'tokens within the vocabulary' 640 "worker qwen3 -p 128 -g 0 -B 5 --dump-tokens t >b; awk -F '\t' '\$3 == \"prompt\" && \$4 < $vocabulary' t | wc -l"

# A weight has its value whatever it is stored in.
for dtype in bf16 f16; do
	yaml2kv "$top/tests/models/mixtral.yaml" | ns-synth --dtype $dtype - $dtype &&
	    mkdir wide-$dtype && sed 's/float16/float32/; s/bfloat/float/' $dtype/config.json >wide-$dtype/config.json &&
	    "$top/tests/widen" $dtype/model.safetensors wide-$dtype/model.safetensors
	ok "$dtype: to the bit as the same values in f32" "dump n $dtype -p 13 && dump w wide-$dtype -p 13 && cmp n.f32 w.f32"
done

# Two layers with a window of 8 see 14 back: from 23 to 9 and no further.
seq 101 124 >prompt
sed '1s/.*/5/' prompt >first
sed '10s/.*/5/' prompt >tenth
for f in prompt first tenth; do
	dump $f mistral --tokens $f -g 0
	dump l$f llama --tokens $f -g 0
done
ok 'a window hides what is before it'  'cmp prompt.f32 first.f32'
ok 'and nothing within it'             '! cmp -s prompt.f32 tenth.f32'
ok 'without a window nothing is hidden' '! cmp -s lprompt.f32 lfirst.f32'

# Tables.
ns-worker -m qwen3-moe -p 7 -g 3 -B 2 -r 2 -w 1 --routing routing.tsv --footprint footprint.tsv >baseline.tsv
is 'baseline: the header' 'repeat phase step n_tokens start_ns dur_ns dev_ns' "head -1 baseline.tsv | tr '\t' ' '"
is 'baseline: its rows' '0 prefill 0 14,0 decode 0 2,0 decode 1 2,0 decode 2 2,1 prefill 0 14,1 decode 0 2,1 decode 1 2,1 decode 2 2' \
    "tail -n +2 baseline.tsv | cut -f 1-4 | tr '\t\n' ' ,' | sed 's/,\$//'"
ok 'baseline: times follow one another' "awk -F '\t' 'NR > 1 { if (\$5 < end || \$6 <= 0) exit 1; end = \$5 + \$6 }' baseline.tsv"
worker qwen3 --loading loading.tsv >b
worker llama --settings worker.kv >b
is 'settings: a CPU has one kind of step' step=NA 'cat worker.kv'
is 'loading: none where weights are mapped' 'bytes dur_ns n_threads' "tr '\t' ' ' <loading.tsv"
is 'footprint: the header' 'time_ns source used_bytes' "head -1 footprint.tsv | tr '\t' ' '"
is 'footprint: its sources' '6 allocator 6 process 6 system' "tail -n +2 footprint.tsv | cut -f 2 | sort | uniq -c | xargs"
ok 'footprint: the weights are in it' "awk -F '\t' -v w=\$(stat -c %s qwen3-moe/model.safetensors) '\$2 == \"allocator\" && \$3 < w - 65536 { exit 1 }' footprint.tsv"
# 3 experts serve each of 14 and 2 tokens; layer 1 is dense.
is 'routing: sums' '0 42,2 42,0 6,2 6,0 6,2 6,0 6,2 6' "awk -F '\t' 'NR > 1 { k = \$2 + (\$1 == \"decode\"); n[k, \$3] += \$5 }
    END { for (k = 0; k < 4; k++) for (l = 0; l < 3; l++) if ((k, l) in n) print l, n[k, l] }' routing.tsv | paste -sd ,"
is 'routing: a dense model has none' 'phase step layer expert n_tokens' "worker llama --routing r >b; tr '\t' ' ' <r"
# qwen3-moe: 2 sequences of 10 tokens, layers 0 and 2, 3 of 8 experts; as routing.tsv counts.
go='-p 7 -g 3 -B 2'
# shellcheck disable=SC2086 # words
worker qwen3-moe $go --dump-experts experts.tsv --dump-logits e.f32 --dump-tokens e.tsv --routing er.tsv >b
is 'experts: a row a choice' 'sequence position layer rank expert 120' "echo \$(head -n 1 experts.tsv) \$(tail -n +2 experts.tsv | sort -u | wc -l)"
is 'experts: as routing counts' '' "awk -F '\t' 'FNR == 1 { f++; next } f == 1 { n[\$3, \$4] += \$5 } f == 2 { n[\$3, \$5]-- } END { for (i in n) if (n[i]) print i, n[i] }' er.tsv experts.tsv"
ok 'experts: told its own, the same' "worker qwen3-moe $go --experts experts.tsv --dump-experts again.tsv --dump-logits f.f32 >b && cmp e.f32 f.f32 && cmp experts.tsv again.tsv"
ok 'experts: more than is run is left out' "worker qwen3-moe -p 7 -g 1 --experts experts.tsv --dump-experts some.tsv >b && awk '\$1 == 0 && \$2 < 8' experts.tsv >x; tail -n +2 some.tsv | cmp - x"
awk -v OFS='\t' 'NR > 1 { $5 = (3 * $2 + $4) % 8 } { print }' experts.tsv >others.tsv
ok 'experts: told others, those serve' "worker qwen3-moe $go --experts others.tsv --dump-experts again.tsv --dump-logits g.f32 >b && cmp others.tsv again.tsv && ! cmp -s e.f32 g.f32"
# bad NAME AWK-PROGRAM MESSAGE
bad() { awk -F '\t' -v OFS='\t' "$2" experts.tsv >t; exits 2 "experts: $1" "worker qwen3-moe $go --experts t" "$3"; }
bad 'one is missing'  'NR != 3'                            't: sequence 0, position 0, layer 0, rank 1: no expert'
bad 'one twice'       'NR == 4 { $5 = x } { x = $5; print }' 't: sequence 0, position 0, layer 0, rank 2: an expert chosen twice'
bad 'a dense layer'   'NR == 5 { $3 = 1 } { print }'       't:5: layer: no layer with experts: 1'
bad 'no such layer'   'NR == 5 { $3 = 3 } { print }'       'no layer with experts: 3'
bad 'no such rank'    'NR == 5 { $4 = 3 } { print }'       't:5: rank: the model chooses 3'
bad 'no such expert'  'NR == 5 { $5 = 8 } { print }'       't:5: expert: the model has 8'
bad 'no count'        'NR == 5 { $5 = "NA" } { print }'    't:5: expert'
bad 'a cut last line' 'NR < 9 { print } NR == 9 { printf "%s\t%s", $1, $2 }' 't:9:'
bad 'a column less'   '{ print $1, $2, $3, $4 }'           "no column 'expert'"
bad 'a header alone'  'NR == 1'                            'sequence 0, position 0, layer 0, rank 0: no expert'
: >t; exits 2 'experts: empty' "worker qwen3-moe $go --experts t" 't:'
exits 2 'experts: no such file' "worker qwen3-moe --experts nofile" 'nofile: No such file'
exits 2 'experts: a dense model' 'worker llama --dump-experts t' 'the model has none'
exits 2 'experts: told to a dense model' 'worker llama --experts experts.tsv' 'the model has none'
is 'no decode steps' '2' "worker llama -g 0 | wc -l"

# Under callgrind every phase step is a dump, and two runs are the same.
marked() {
	valgrind -q --tool=callgrind --instr-atstart=no --cache-sim=yes --callgrind-out-file="$1" \
	    ns-worker -m mixtral -p 5 -g 2 -r 2 -w 0 >b 2>log || return
	for f in "$1".*; do grep -e '^desc: Trigger' -e '^totals' "$f"; done >"sum-$1"
}
if [ -n "${NS_BUILD-}" ] || ! command -v valgrind >/dev/null; then
	skip_one 'callgrind' 'no valgrind beside this build'
else
	marked one
	marked two
	is 'callgrind: a dump a phase step' 'prefill decode.0 decode.1' "sed -n 's/^desc: Trigger: Client Request: //p' sum-one | xargs"
	ok 'callgrind: the same counts again' 'cmp sum-one sum-two'
fi

# What cannot be run.
exits 2 'no model'          'ns-worker'                              'usage:'
exits 2 'no such model'     'worker nowhere'                         'nowhere'
exits 2 'operand'           'worker llama x'                         'usage:'
exits 2 'no CUDA here' 'CUDA_VISIBLE_DEVICES= ns-worker -m llama -d cuda' '--device cuda: '
exits 2 'counting without a table' 'worker llama --count a'             'one without the other'
exits 2 'a table without metrics' 'worker llama --counters t'           'one without the other'
exits 2 'counting on a CPU' 'ns-worker -m llama --count a --counters t' 'backend cpu has no counters: take --device cuda'
exits 2 'counting so often' 'worker llama --count a --counters t'       'leave --repeats out'
exits 2 'counting a first repeat' 'ns-worker -m llama -w 0 --count a --counters t' 'what a first repeat loads would be counted'
exits 2 'counting twice'    'ns-worker -m llama --count a,a --counters t' "'a' stands twice"
exits 2 'no such device'    'worker llama -d tpu'                    "no backend 'tpu'"
exits 2 'no prompt'         'worker llama -p 0'                      '--prompt-tokens: at least 1'
exits 2 'not a count'       'worker llama -g -1'                     "--generate-tokens: not a count: '-1'"
exits 2 'too many tokens'   'worker llama -p 250 -g 7'               'the model has 256 positions'
exits 2 'overflow'          'worker llama -p 250 -g 18446744073709551615' 'the model has 256 positions'
exits 2 'too much memory'   'worker llama -p 200 -B 100000000'       'MiB are available'
exits 2 'absurd batch'      'worker llama -B 9223372036854775807'    'more than any machine'
echo '1 2 320' >t;  exits 2 'token outside the vocabulary' 'worker llama --tokens t'      't:1: token 320 is outside the vocabulary of 320'
printf '1\n2 x3\n' >t; exits 2 'not a token'               'worker llama --tokens t'      "t:2: not a token id: 'x3'"
printf '1 \0002\n' >t; exits 2 'NUL among tokens'          'worker llama --tokens t'      't:1: NUL byte'
echo >t;            exits 2 'no tokens'                    'worker llama --tokens t'      'no token ids'
echo 1 2 3 >t;      exits 2 'another number of tokens'     'worker llama --tokens t -p 2' '3 token ids: 2 for all sequences or 2 for each'
exits 2 'no such token file' 'worker llama --tokens nofile'           'nofile: No such file'
exits 2 'full disk'          'worker llama >/dev/full'                'No space left'
exits 2 'no such folder'     'worker llama --dump-logits no/x >b'     'no/x.tmp: No such file'
exits 2 'no such folder'     'worker llama --footprint no/x >b'       'no/x.tmp: No such file'
mkdir ints && cp llama/config.json ints && sed 's/"F32"/"I32"/g' llama/model.safetensors >ints/model.safetensors
exits 2 'integer weights'    'worker ints'                            'I32'
mkdir gpt && cp llama/model.safetensors gpt && sed 's/"llama"/"gpt2"/; s/LlamaFor/GPT2For/' llama/config.json >gpt/config.json
exits 2 'another family'     'worker gpt'                             'cannot run this model'
mkdir nan && cp llama/config.json nan && perl -0777 -pe 'substr($_, 8 + unpack "Q<") =~ s/./\xff/gs' llama/model.safetensors >nan/model.safetensors
exits 2 'no numbers'         'worker nan'                             'not finite'
mkfifo pipe
cat pipe >piped &
# shellcheck disable=SC2086 # words
worker llama $go --footprint pipe >/dev/null
wait
ok 'a pipe is written, not replaced' '[ -p pipe ] && grep -q allocator piped'
exits 2 'nor is a device'        "worker llama $go --footprint /dev/full" 'No space left'
ok 'which is still one'          '[ -c /dev/full ] && [ ! -e /dev/full.tmp ]'
exits 2 'one kernel a step, on a CPU' 'worker llama --step persistent' '--step persistent: a GPU'
exits 2 'streamed experts, on a CPU' 'worker mixtral --step experts' '--step experts: a GPU'
exits 2 'kernels, on a CPU' 'worker llama --step kernels' '--step kernels: a GPU'
exits 2 'a step of another kind' 'worker llama --step by-hand' "--step: no 'by-hand': auto, kernels, experts or persistent"
exits 2 'stamps of many kernels' 'worker llama --stamps t' '--stamps: of the last decode step of --step persistent'
done_testing
