#!/bin/sh
# shellcheck disable=SC2016,SC2034	# commands are evaluated by tap.sh
. "${0%/*}/tap.sh"

# Two machines as files: a GB10, closed counters, and an H200 in a virtual machine.
gb10=$dir/gb10 h200=$dir/h200
cache() {	# cache ROOT CPU INDEX LEVEL TYPE SIZE SHARED
	d=$1/sys/devices/system/cpu/cpu$2/cache/index$3
	mkdir -p "$d"
	echo "$4" >"$d/level"; echo "$5" >"$d/type"; echo "$6" >"$d/size"; echo "$7" >"$d/shared_cpu_list"
}
for m in "$gb10" "$h200"; do
	mkdir -p "$m/proc/self" "$m/proc/sys/kernel" "$m/proc/driver/nvidia" "$m/sys/class/dmi/id" "$m/etc"
done
for c in 0 1 2 3; do
	printf 'processor\t: %d\nBogoMIPS\t: 2000.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd8%d\n\n' $c $((c < 2 ? 5 : 7))
	cache "$gb10" $c 0 1 Data 64K $c
	cache "$gb10" $c 1 1 Instruction 64K $c
	cache "$gb10" $c 2 2 Unified $((c < 2 ? 2048 : 512))K $c
	cache "$gb10" $c 3 3 Unified $((c < 2 ? 16384 : 8192))K $((c < 2 ? 0 : 2))-$((c < 2 ? 1 : 3))
done >"$gb10/proc/cpuinfo"
mkdir "$gb10/proc/77" "$gb10/proc/78" && echo ncu >"$gb10/proc/77/comm" && echo ncurses >"$gb10/proc/78/comm"
echo 'NVIDIA DGX Spark' >"$gb10/sys/class/dmi/id/product_name"
printf 'MemTotal:       125513740 kB\nMemFree:         1000000 kB\nMemAvailable:   98304000 kB\n' >"$gb10/proc/meminfo"
printf 'NAME="Ubuntu"\nPRETTY_NAME="Ubuntu 24.04.3 LTS"\n' >"$gb10/etc/os-release"
echo 6.11.0-1016-nvidia >"$gb10/proc/sys/kernel/osrelease"
echo 4 >"$gb10/proc/sys/kernel/perf_event_paranoid"
printf 'ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n' >"$gb10/proc/driver/nvidia/params"
printf 'Name:\tx\nCapPrm:\t000001ffffffffff\nCapEff:\t0000000000000000\n' >"$gb10/proc/self/status"

for c in 0 1; do
	printf 'processor\t: %d\nmodel name\t: Intel(R) Xeon(R) Platinum 8480C\nflags\t\t: fpu hypervisor avx512f\n\n' $c
	cache "$h200" $c 0 1 Data 48K $c
	cache "$h200" $c 1 2 Unified 2048K $c
	cache "$h200" $c 2 3 Unified 107520K 0-1
done >"$h200/proc/cpuinfo"
printf 'MemTotal: 2113000000 kB\n' >"$h200/proc/meminfo"
printf 'RmProfilingAdminOnly: 0\n' >"$h200/proc/driver/nvidia/params"

# One driver for each.
fake=$top/tests/fake/gpu.c
driver() {	# driver DIR FLAGS
	mkdir -p "$1"
	for l in CUDA:libcuda.so.1 NVML:libnvidia-ml.so.1 CUPTI:libcupti.so.13; do
		# shellcheck disable=SC2086
		cc -shared -fPIC -O1 -D"${l%:*}" $2 -o "$1/${l#*:}" "$fake" || skip 'no C compiler here'
	done
}
driver gb ''
driver h2 '-DH200 -DCHIP="GH100"'
driver thor '-DCHIP="GB10B"'
driver next '-DNEXT -DNO_RANGES'
driver none '-DNO_DEVICE'

probe() { m=$1 l=$2; shift 2; LD_LIBRARY_PATH=$dir/$l PATH=$build ns-probe --root "$m" "$@"; }
kv() { k=$1; shift; grep "^$k=" "$@" | cut -d= -f2-; }
has() { for p; do is "${f%.kv}: ${p%%=*}" "${p#*=}" "kv ${p%%=*} $f"; done; }

ok 'GB10' 'probe $gb10 gb >gb10.kv'
f=gb10.kv
has platform=gb10 'platform_why=chip_GB20B,_inferred_from_the_compute_capability' \
    machine=NVIDIA_DGX_Spark cpu=Cortex-X925+Cortex-A725 n_cores=4 l1d_bytes=65536 l2_bytes=2097152 \
    l3_bytes=16777216 last_level_bytes=25165824 memory_bytes=128526069760 memory_available_bytes=100663296000 \
    kernel=6.11.0-1016-nvidia os=Ubuntu_24.04.3_LTS virtual=0 perf_event_paranoid=4 \
    n_gpus=1 gpu=NVIDIA_GB10 gpu_why=NA gpu_chip=GB20B gpu_chip_source=inferred gpu_cc=12.1 gpu_n_sms=48 \
    gpu_l2_bytes=25165824 gpu_shared_bytes=NA gpu_memory_bytes=128523960320 gpu_memory_bus_bits=256 gpu_integrated=1 \
    gpu_bus=000F:01:00.0 gpu_driver_version=580.95.05 gpu_cuda_version=13.0 gpu_sm_clock_hz=2418000000 \
    gpu_sm_clock_max_hz=3003000000 gpu_memory_clock_hz=NA gpu_ecc=NA gpu_mig=NA gpu_throttle=none gpu_busy_percent=93 gpu_n_processes=2 profilers=ncu:77 \
    nvml_total_bytes=NA nvml_used_bytes=NA nvml_free_bytes=NA nvml_why=memory:_Not_Supported \
    counters_permitted=0 counters_why=for_administrators:_RmProfilingAdminOnly_is_1 admin=0

ok 'H200' 'probe $h200 h2 >h200.kv'
f=h200.kv
has platform=gh100 platform_why=chip_GH100 machine=NA 'cpu=Intel_R__Xeon_R__Platinum_8480C' n_cores=2 \
    last_level_bytes=110100480 memory_available_bytes=NA os=NA virtual=1 gpu_chip_source=cupti cupti_version=130001 gpu_cc=9.0 \
    gpu_integrated=0 gpu_ecc=1 gpu_mig=0 profilers=none gpu_throttle=software_power_cap,software_thermal \
    nvml_total_bytes=150754820096 nvml_used_bytes=1048576 nvml_why=NA gpu_memory_clock_hz=3201000000 \
    counters_permitted=1 'counters_why=open_to_all:_RmProfilingAdminOnly_is_0'
ok 'it is settings' 'printf "include gb10.kv\nall:;@echo \$(platform)\n" | make -f - | grep -qx gb10 && (. ./h200.kv && [ $platform = gh100 ])'

ok 'a chip without a platform' 'probe $gb10 thor >f.kv'
f=f.kv
has platform=cpu platform_why=chip_GB10B_has_no_platform_yet
ok 'a GPU of tomorrow' 'probe $gb10 next >f.kv'
has platform=cpu platform_why=compute_capability_99.0_is_not_known gpu_chip=NA gpu_n_sms=NA cupti_version=NA
ok 'no device' 'probe $gb10 none >f.kv'
has platform=cpu platform_why=cuInit:_CUDA_ERROR_NO_DEVICE cupti_version=NA gpu=NA gpu_cc=NA gpu_cuda_version=13.0 n_gpus=NA nvml_total_bytes=NA gpu_n_processes=NA gpu_ecc=NA
ok 'a device that is not there' 'probe $gb10 gb -d 7 >f.kv'
has gpu_why=no_device_7:_there_are_1
ok 'an empty machine' 'mkdir empty && probe $dir/empty none >f.kv'
has cpu=NA n_cores=NA l3_bytes=NA last_level_bytes=NA memory_bytes=NA kernel=NA counters_permitted=NA

# Permission.
exits 1 'counters: closed'     'probe $gb10 gb --require counters'  'RmProfilingAdminOnly is 1'
ok 'counters: the remedy'      'grep -q "options nvidia NVreg_RestrictProfilingToAdminUsers=0" err && grep -q -e --cap-add=SYS_ADMIN err'
is 'counters: settings all the same' gb10 'kv platform out'
ok 'counters: open'            'probe $h200 h2 --require counters'
sed -i 's/^CapEff.*/CapEff:	0000000000200000/' "$gb10/proc/self/status"
ok 'counters: an administrator' 'probe $gb10 gb --require counters >f.kv'
has counters_permitted=1 admin=1
exits 1 'counters: no GPU'     'probe $h200 none --require counters' 'no GPU to count on: cuInit: CUDA_ERROR_NO_DEVICE'
exits 0 'counters: nobody says' 'probe $dir/empty gb --require counters' 'not proven (no RmProfilingAdminOnly'

# One kernel is counted by ncu, whatever the setting says; ncu is a script here.
mkdir count && cat >count/ncu <<'T'
#!/bin/sh
[ "$1" = --version ] && { echo 'Version 2025.3.1.0'; exit; }
echo "$*" >asked
cat said
T
chmod +x count/ncu
counted() { m=$1; shift; LD_LIBRARY_PATH=$dir/h2 PATH=$dir/count:$build:/bin:/usr/bin ns-probe --root "$m" "$@"; }
printf '==PROF== Connected\n"ID","Metric Name","Metric Unit","Metric Value"\n"0","gpu__time_duration.sum","ns","1,234"\n' >said
for m in empty h200; do
	ok "one kernel: $m"      "counted \$dir/$m --require counters >f.kv"
	f=f.kv
	has counters_permitted=1 counters_why=one_kernel_was_counted
done
is 'of the canary beside it'  "$build/ns-calib -d cuda --seconds 0.01 canary" 'sed "s/.*duration.sum //" asked'
cp "$data/ncu/permission.log" said
exits 1 'not permitted'        'counted $h200 --require counters' 'one kernel was not counted: ERR_NVGPUCTRPERM'
is 'so it is not'              0 'kv counters_permitted out'
ok 'the remedy'                'counted $h200 --require counters >out 2>err; grep -q "setup/allow-counters.sh --apply" err'
for s in '' '==WARNING== No kernels were profiled.' '"0","gpu__time_duration.sum","ns","n/a"' '"0","gpu__time_duration.sum","ns",""'; do
	printf '%s\n\n' "==PROF== Connected" "$s" >said
	exits 1 "no kernel: ${s:-silence}" 'counted $h200 --require counters' "one kernel was not counted: ncu said: ${s:-==PROF== Connected}"
done
rm -f asked
ok 'only if required'          'counted $h200 >f.kv && [ ! -e asked ]'
has 'counters_why=open_to_all:_RmProfilingAdminOnly_is_0'

# Programs: on PATH first, then the newest in the usual places.
prog() { mkdir -p "${1%/*}" && printf '#!/bin/sh\necho "%s"\n' "$2" >"$1" && chmod +x "$1"; }
prog bin/valgrind 'valgrind-3.22.0'
prog bin/ncu 'NVIDIA (R) Nsight Compute
Copyright (c) 2018-2025 NVIDIA
Version 2025.3.1.0 (build 36398880)'
prog bin/gnuplot 'no version'
mkdir bin/nsys		# a folder is no program
prog "$gb10/opt/nvidia/nsight-systems/2024.6.2/bin/nsys" 'NVIDIA Nsight Systems version 2024.6.2.225'
prog "$gb10/opt/nvidia/nsight-systems/2025.10.1/bin/nsys" 'NVIDIA Nsight Systems version 2025.10.1.9-1'
prog "$gb10/opt/nvidia/nsight-compute/2024.1/ncu" 'Version 2024.1.0.0'
ok 'programs' 'LD_LIBRARY_PATH=$dir/gb PATH=$dir/bin:$build:/bin:/usr/bin ns-probe --root "$gb10" >f.kv'
has "valgrind=$dir/bin/valgrind" valgrind_version=3.22.0 "ncu=$dir/bin/ncu" ncu_version=2025.3.1.0 gnuplot_version=NA \
    "nsys=$gb10/opt/nvidia/nsight-systems/2025.10.1/bin/nsys" nsys_version=2025.10.1.9
f=gb10.kv
has valgrind=NA valgrind_version=NA

exits 2 'require what'   'ns-probe --require wings'     "--require: counters was expected: 'wings'"
exits 2 'device'         'ns-probe -d x'                "--device: not a count: 'x'"
exits 2 'an operand'     'ns-probe x'                   'usage:'
exits 2 'full disk'      'ns-probe >/dev/full'          'No space left'
done_testing
