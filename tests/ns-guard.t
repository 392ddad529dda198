#!/bin/sh
# shellcheck disable=SC2016,SC2034	# commands are evaluated by tap.sh
. "${0%/*}/tap.sh"

# An H200 and a GB10, free and cool.
cat >h200 <<'T'
gpu=NVIDIA_H200
gpu_why=NA
gpu_integrated=0
gpu_throttle=software_power_cap
gpu_busy_percent=3
gpu_n_processes=0
nvml_free_bytes=150000000000
memory_available_bytes=100000000000
profilers=none
counters_permitted=1
T
sed 's/integrated=0/integrated=1/; s/^nvml_free.*/nvml_free_bytes=NA/' h200 >gb10
with() { sed "s/^$2=.*/$2=$3/" "$1"; }
verdict() { awk -F '\t' -v g="$1" '$1 == g { print $3 }' "$2"; }

ok  'free and cool'            'ns-guard --need 20000000000 --save 20000000000 h200 >out && [ $(grep -c "	pass	NA$" out) -eq 7 ]'
ok  'the same on a GB10'       'ns-guard --need 20000000000 --save 20000000000 gb10 >out && [ $(grep -c "	pass	NA$" out) -eq 7 ]'
is  'a row a guard'            'guard gpu counters profilers busy throttle memory replay' 'ns-guard <h200 | cut -f1 | xargs'
exits 1 'no GPU'               'with h200 gpu NA | ns-guard'                    'BACKEND=cpu'
exits 1 'closed counters'      'with h200 counters_permitted 0 | ns-guard'      'setup/allow-counters.sh'
exits 1 'another profiler'     'with h200 profilers nv-hostengine:812 | ns-guard' 'dcgmi profile --pause'
is  'which one'                nv-hostengine:812 'with h200 profilers nv-hostengine:812 | ns-guard | awk "\$1 == \"profilers\" { print \$2 }"'
exits 1 'a busy GPU'           'with h200 gpu_busy_percent 40 | ns-guard'       '40 % busy with work of 0 process(es)'
exits 0 'that is allowed'      'with h200 gpu_busy_percent 40 | ns-guard --busy 50; echo >&2' ''
exits 1 'too hot'              'with h200 gpu_throttle idle,software_thermal | ns-guard' 'slows itself down'
exits 1 'a power brake'        'with h200 gpu_throttle hardware_power_brake | ns-guard'  'slows itself down'
exits 1 'a program too large'  'ns-guard --need 150000000001 h200'              'takes 150000000001 bytes of device memory and 150000000000 are free'
exits 1 'a replay too large'   'ns-guard --need 100000000000 --save 100000000001 h200'  'room for 100000000000'
ok  'what just fits'           'ns-guard --need 100000000000 --save 100000000000 h200'
exits 1 'shared memory: program' 'ns-guard --need 90000000001 gb10'             '90000000000 are free (MemAvailable, less a tenth)'
exits 1 'shared memory: replay'  'ns-guard --need 50000000000 --save 40000000001 gb10' 'can hang'
ok  'shared memory: fits'      'ns-guard --need 50000000000 --save 40000000000 gb10'
ok  'what nobody says is na'   'grep -v -e busy -e throttle -e profilers -e counters -e free h200 | ns-guard --save 1000 >out'
is  'each of them'             'na na na na na na' 'for g in counters profilers busy throttle memory replay; do verdict $g out; done | xargs'
ok  'a pipe by name'           'ns-guard - <h200 >out && [ -s out ]'
exits 2 'empty'                'ns-guard </dev/null'            'the settings of ns-probe were expected'
exits 2 'no such file'         'ns-guard nowhere'               'nowhere: No such file'
exits 2 'not settings'         'echo x | ns-guard'              "not name=value: 'x'"
exits 2 'a bad number'         'with h200 gpu_busy_percent much | ns-guard' 'much'
exits 2 'less than nothing is free' 'with h200 nvml_free_bytes -1 | ns-guard' "nvml_free_bytes: not a count: '-1'"
exits 2 'more than there can be' 'with h200 memory_available_bytes 1e308 | ns-guard' 'not a count'
exits 2 'a share below none' 'with h200 gpu_busy_percent -1 | ns-guard' 'not a count'
exits 2 'a bad option'         'ns-guard --need -1 h200'        '--need'
exits 2 'full disk'            'ns-guard h200 >/dev/full'       'No space left'
done_testing
