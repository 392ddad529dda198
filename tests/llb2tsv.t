#!/bin/sh
. "${0%/*}/tap.sh"

# entry PROMPT GEN SAMPLES AVG_TS [MORE]: one object, on one line.
entry() {
	printf '{"build_number": 1, "backends": "CUDA", "n_threads": 8, "model_type": "llama 1B F16", "n_prompt": %s, "n_gen": %s, ' "$1" "$2"
	printf '%s"avg_ts": %s, "samples_ns": [%s]}\n' "${5-}" "$4" "$3"
}
pp() { entry 500 0 '1000000000, 500000000' 750 "$@"; }	# 500 and 1000 tokens a second
tg() { entry 0 10 '200000000, 400000001' 37.4999999375; }	# 50, 25
body() { tail -n +2 | cut -f 1-6 | tr '\t' ' '; }
array() { echo '['; sed '$!s/$/,/'; echo ']'; }

is 'a prompt'          '0 prefill 0 500 NA 1000000000
1 prefill 0 500 NA 500000000'     'pp | llb2tsv | body'
is 'an array, a repeat in one piece' '0 prefill 0 500 NA 1000000000
0 decode NA 10 NA 200000000
1 prefill 0 500 NA 500000000
1 decode NA 10 NA 400000001'      '{ pp; tg; } | array | llb2tsv | body'
is 'lines'             ''         '{ pp; tg; } | array | llb2tsv >a; { pp; echo; tg; } | llb2tsv | diff a -'
is 'from a file, and -' ''        'pp >f; llb2tsv f >a; llb2tsv - <f | diff a -'
is 'the other columns' 'tg10 0 0 llama 1B F16'  'tg | llb2tsv | sed -n 2p | cut -f 7- | tr "\t" " "'
is 'depth'             'pp500@d4096 4096'  'pp "\"n_depth\": 4096, " | llb2tsv | sed -n 2p | cut -f 7,8 | tr "\t" " "'
is 'both together'     '0 NA NA 40 NA 1000000000 pp30+tg10' \
	"entry 30 10 1000000000 40 | llb2tsv | sed 1d | cut -f 1-7 | tr '\\t' ' '"
is 'spread'            '0 decode 0 1 NA 20000000
1 decode 0 1 NA 40000001
1 decode 9 1 NA 40000000'         'tg | llb2tsv --spread | body | sed -n "1p;11p;20p"'
is 'spread sums'       '600000001'  'tg | llb2tsv --spread | awk "{ s += \$6 } END { print s }"'
is 'uneven repeats'    '0 prefill 0 decode 1 decode' \
	'{ entry 500 0 1000000000 500; tg; } | llb2tsv | body | cut -d " " -f 1,2 | paste -sd " "'

# ---- several of a phase
both() { pp; pp '"n_depth": 64, '; tg; }
exits 2 'two tests of a phase' 'both | llb2tsv' 'pp500 and pp500@d64 are both prefill: choose by --test'
is '--test'            '0 prefill 0 decode 1 prefill 1 decode' \
	'both | llb2tsv --test tg10,pp500@d64 | body | cut -d " " -f 1,2 | paste -sd " "'
is '--all'             '0 1 0 1 0 1'  'both | llb2tsv --all | body | cut -d " " -f 1 | paste -sd " "'
exits 2 'no such test' 'both | llb2tsv --test pp64' 'no such test; there is pp500,pp500@d64,tg10'
exits 2 'half a name'  'both | llb2tsv --test pp50' 'no such test'
exits 2 'a test of two builds' '{ pp; pp | sed s/CUDA/Vulkan/; } | llb2tsv' 'entries 0 and 1 are both pp500, and differ by backends: choose by --where'
exits 2 'a test run twice'     '{ pp; pp; } | llb2tsv' 'a test run twice'
is '--where, a word'   '1 1'  '{ pp; pp | sed s/CUDA/Vulkan/; } | llb2tsv --where backends=Vulkan | sed 1d | cut -f 9 | paste -sd " "'
is '--where, a number' '1 1'  '{ pp; pp | sed "s/: 8/: 4/"; } | llb2tsv --where n_threads=4 --where backends=CUDA | sed 1d | cut -f 9 | paste -sd " "'
exits 2 'no such key'  'pp | llb2tsv --where thread=4'  'thread: there is no such key'
exits 2 'not a pair'   'pp | llb2tsv --where threads'   'not KEY=VALUE'

# ---- refused
exits 2 'another mean'      'pp | sed "s/750/751/" | llb2tsv'  'avg_ts: 751.000000, but the samples make it 750.000000'
exits 2 'no samples'        'pp | sed s/samples_ns/samples/ | llb2tsv' 'entry 0: samples_ns: missing'
exits 2 'empty samples'     'entry 5 0 "" 1 | llb2tsv'         'samples_ns: no repetition in it'
exits 2 'a sample of zero'  'entry 5 0 0 1 | llb2tsv'          'samples_ns: not a duration'
exits 2 'a broken sample'   'entry 5 0 1.5 1 | llb2tsv'        'samples_ns: not a duration'
exits 2 'no tokens'         'entry 0 0 5 1 | llb2tsv'          'no tokens to time'
exits 2 'negative tokens'   'entry -1 0 5 1 | llb2tsv'         'n_prompt: not a count'
exits 2 'text for tokens'   'entry \"5\" 0 5 1 | llb2tsv'      'n_prompt: not a count'
exits 2 'too many tokens'   'entry 9223372036854775807 9223372036854775807 5 1 | llb2tsv' 'no tokens to time'
exits 2 'a key twice'       'pp "\"n_gen\": 1, " | llb2tsv'    'duplicate'
exits 2 'a wrapper'         '{ printf "{\"mode\": \"pp\", \"bench_raw\": "; pp | tr -d "\n"; echo "}"; } | llb2tsv' "bench_raw: llama-bench's own object lies under it: jq -c '.bench_raw'"
exits 2 'a wrapper of an array' '{ printf "{\"runs\": ["; pp | tr -d "\n"; echo "]}"; } | llb2tsv' "runs: llama-bench's own object"
exits 2 'an array cut short' '{ pp; tg; } | array | head -n -1 | llb2tsv' 'not JSON, or cut short'
exits 2 'a line cut short'  'pp | head -c 60 | llb2tsv'        'last line cut short'
exits 2 'no newline is no cut' 'pp | head -c -2 | llb2tsv'     'last line cut short'
exits 2 'words between'     '{ pp; echo build: 1; } | llb2tsv' 'stdin:2: not JSON: llama-bench -o json (without 2>&1)'
exits 2 'an array of numbers' 'echo "[1]" | llb2tsv'           'entry 0: not an object'
exits 2 'an object of others' 'echo "{}" | llb2tsv'            'not an entry of llama-bench'
exits 2 'Markdown'          'echo "| model | size |" | llb2tsv'    'rounded means only: use -o json'
exits 2 'CSV'               'echo build_commit,build_number | llb2tsv' 'use -o json'
exits 2 'empty'             'llb2tsv </dev/null'               'empty: no entry'
exits 2 'an empty array'    'echo "[]" | llb2tsv'              'empty: no entry'
exits 2 'no such file'      'llb2tsv nofile'                   'nofile: No such file'
exits 2 'a directory'       'llb2tsv .'                        'Is a directory'
exits 2 'full disk'         'pp | llb2tsv >/dev/full'          'No space left'
done_testing
