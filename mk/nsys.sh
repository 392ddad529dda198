#!/bin/sh
# nsys.sh [-r RANGE] [-w WINDOWS] [-s SET -m SAMPLES -c CHIP -f HZ] FILE COMMAND...:
# COMMAND watched by Nsight Systems: FILE is the SQLite export, FILE less .sqlite its
# report, FILE.log (FILE.failed.log) what was said.  With -r only between
# cudaProfilerStart and Stop (cudaProfilerApi) or within an NVTX range (NAME,
# NAME@DOMAIN).  Phases are ns-worker's ranges or, with -w, as phases.sh -k finds them.
# With -s the counters of that set of samples.tsv are sampled meanwhile, HZ times a
# second; faster if counters overflow, slower if samples are lost, until neither is
# so, or nothing better can be had; FILE.rate says how fast.  nsys ends with 0
# whatever it could not do, so all of it is looked at before it lands.
#
#	NSYS=PROGRAM  NSYS_SETS=DIR  nsys, and its GpuMetrics folder, if not found
#	NSYS_KEEP="NAME NAME"  what else of the environment the command needs
set -eu

say() { echo "nsys.sh: $*" >&2; }
die() { say "$*"; exit 2; }

range='' windows='' set='' samples='' chip='' hz=''
while getopts r:w:s:m:c:f: o; do
	case $o in
	r) range=$OPTARG ;;
	w) windows=$OPTARG ;;
	s) set=$OPTARG ;;
	m) samples=$OPTARG ;;
	c) chip=$OPTARG ;;
	f) hz=$OPTARG ;;
	*) die 'usage: nsys.sh [-r RANGE] [-w WINDOWS] [-s SET -m SAMPLES -c CHIP -f HZ] FILE COMMAND...' ;;
	esac
done
shift $((OPTIND - 1))
file=$1
shift
top=${file%.sqlite}
dir=$top.tmp
build=${BUILD:-build}
nsys=$(command -v "${NSYS:-nsys}") ||
	die "${NSYS:-nsys}: not found: install Nsight Systems, or say where it is: NSYS=/path/to/nsys"

# The folder of the metric sets that came with this nsys.
sets_folder() {
	[ -z "${NSYS_SETS:-}" ] || { echo "$NSYS_SETS"; return; }
	real=$(readlink -f "$nsys")
	found=''
	for d in "${real%/*}/GpuMetrics" "${real%/*}"/../target-linux-*/GpuMetrics \
	    "${real%/*}"/../host/target-linux-*/GpuMetrics \
	    /opt/nvidia/nsight-systems*/*/target-linux-*/GpuMetrics; do
		[ -d "$d" ] || continue
		found=$d
		case $d in /opt/*) ;; *) break ;; esac	# of those, the newest
	done
	[ -n "$found" ] || die "no folder GpuMetrics near $real: NSYS_SETS=DIR says where it is"
	echo "$found"
}

# Where recording begins and ends, as options of nsys.  Of a whole program it is
# known that it ended well, whatever nsys makes of its status.
case $range in
'') within='' && set -- sh -c '"$@" && : >"$0"' "$dir/ended" "$@" ;;
cudaProfilerApi) within="--capture-range=cudaProfilerApi --capture-range-end=stop" ;;
*) within="--capture-range=nvtx --nvtx-capture=$range --env-var=NSYS_NVTX_PROFILER_REGISTER_ONLY=0 --capture-range-end=stop" ;;
esac

# The end of the log, less its bars of progress.
last_words() { tr '\r' '\n' <"$dir/log" | grep -v '%' | tail -n 5 >&2; }

# Why nsys left nothing.
why_none() {
	last_words
	if grep -qi 'privilege\|permission' "$dir/log"; then
		die 'the GPU counters are for administrators only: ./setup/allow-counters.sh says how to open them'
	elif grep -qi 'none of the installed gpus' "$dir/log"; then
		die 'nsys cannot sample this GPU: nsys profile --gpu-metrics-devices=help'
	elif [ -e "$dir/x.qdstrm" ]; then
		die 'nsys recorded, but could not import what it recorded: it needs libdw.so.1 (apt install libdw1)'
	elif [ "$1" -ne 0 ]; then
		die "nsys, or what it watched, ended with status $1"
	elif [ "$range" = cudaProfilerApi ]; then
		die 'nsys left no report: does the program call cudaProfilerStart (ns-worker --profile)?'
	else
		die "nsys left no report${range:+: does the program open a range $range?}"
	fi
}

# record OPTIONS OF NSYS -- COMMAND: leaves x.nsys-rep and x.sqlite.
record() {
	rm -rf "$dir" && mkdir -p "$dir"
	rc=0
	# shellcheck disable=SC2086	# $within is options
	"${0%/*}/narrow.sh" "$nsys" profile -o "$dir/x" --force-overwrite=true --trace=cuda,nvtx \
		--sample=none --cpuctxsw=none --cuda-graph-trace=node \
		$within "$@" >"$dir/log" 2>&1 &
	pid=$!
	trap 'kill $pid; wait $pid || :; exit 143' TERM INT
	wait $pid || rc=$?
	trap - TERM INT
	{ [ $rc -eq 0 ] && [ -e "$dir/x.nsys-rep" ]; } || why_none $rc
	[ -n "$range" ] || [ -e "$dir/ended" ] || { last_words; die 'what nsys watched failed'; }
	"${0%/*}/narrow.sh" "$nsys" export --type=sqlite --lazy=true --force-overwrite=true -o "$dir/x.sqlite" \
		"$dir/x.nsys-rep" >>"$dir/log" 2>&1 || rc=$?
	{ [ $rc -eq 0 ] && [ -e "$dir/x.sqlite" ]; } || { last_words; die 'nsys could not export its own report'; }
}

# The work with its phases; of another program than ours there is some, at least.
phases() {
	if [ -z "$windows" ]; then
		"$build/ns-phases" -r "$dir/ranges" "$dir/work"
	elif [ "$(wc -l <"$dir/work")" -lt 2 ]; then
		echo 'nsys saw no work on the GPU: does the program use it, and find it in this environment (NSYS_KEEP)?' >&2
		false
	else
		cp "$windows" "$dir/windows"
		"${0%/*}/phases.sh" -k "$dir/windows" "$dir/ranges" "$dir/work"
	fi >"$dir/phased" 2>"$dir/said" || { cat "$dir/said" >&2; return 2; }
}

# Are the phases there, and all that the set asks for?  1: sample $dir/how.
judge() {
	for t in diagnostics work ranges; do
		"$build/nsys2tsv" $t "$dir/x.sqlite" >"$dir/$t" 2>"$dir/said" || { cat "$dir/said" >&2; return 2; }
	done
	phases || return 2
	open=$(awk -F '\t' '$1 == "start_ns" { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["domain"] == "nsbench" && $at["end_ns"] == "NA" { printf "%s%s", s, $at["name"]; s = ", " }' "$dir/ranges")
	[ -z "$open" ] || { say "never closed: range $open: the program ended within it, or nsys stopped recording"; return 2; }
	[ -n "$set" ] || return 0
	"$build/nsys2tsv" samples "$dir/x.sqlite" 2>"$dir/said" >"$dir/samples" || { cat "$dir/said" >&2; return 2; }
	all=$(! grep -qsx whole "$dir/windows" || echo --all)
	# shellcheck disable=SC2086	# an option, or nothing
	"$build/ns-integrate" --busy $all -w "$dir/phased" -m "$samples" "$dir/samples" >"$dir/sampled" || return 2
	"$build/ns-sets" -m "$samples" --set "$set" --check "$dir/sampled" --diagnostics "$dir/diagnostics" >"$dir/how"
}

land() {
	mv "$dir/log" "$file.log"
	rm -f "$file.failed.log"
	mv "$dir/x.nsys-rep" "$top.nsys-rep"
	mv "$dir/x.sqlite" "$file"
}

# Of what failed only the log stays.
end() {
	[ ! -s "$dir/log" ] || mv "$dir/log" "$file.failed.log"
	rm -rf "$dir" "$sets"
}
sets=$top.sets
mkdir -p "$sets"
trap end EXIT

if [ -z "$set" ]; then
	record "$@"
	judge || die 'nothing of this capture is kept'
	land
	exit
fi

case $hz in
'' | *[!0-9]* | ????????*) hz=0 ;;
esac
{ [ "$hz" -ge 10 ] && [ "$hz" -le 200000 ]; } || die 'sampling_hz of the profile: nsys samples from 10 to 200000 times a second'
rc=0
"$build/ns-plan" -m "$samples" --sampling --set "$set" --tier 0 --chip "$chip" --one-pass >/dev/null || rc=$?
[ $rc -ne 1 ] || die "set $set of $samples does not fit one pass, and nothing but one pass can be sampled"
[ $rc -eq 0 ] || say "whether set $set fits one pass is not known: nsys will say"
folder=$(sets_folder)
alias=nsbench-$set
"$build/ns-sets" -m "$samples" --set "$set" --chip "$chip" --stock "$folder" --alias "$alias" >"$sets/$alias.config"

# next slower|faster: the rate to sample at then, slower than what lost samples; none.
lost=200001
next() {
	printf '%s\n' 1000 2000 5000 10000 20000 50000 100000 200000 | awk -v how="$1" -v rate="$rate" -v lost="$lost" '
		how == "slower" ? $1 < rate : $1 > rate && $1 < lost { r = r == "" || how == "slower" ? $1 : r } END { print r }'
}

rate=$hz
while :; do
	record --gpu-metrics-devices=cuda-visible --gpu-metrics-frequency="$rate" \
		--gpu-metrics-set=file:"$(readlink -f "$sets/$alias.config")" "$@"
	rc=0
	judge || rc=$?
	[ $rc -le 1 ] || die 'nothing of this capture is kept'
	[ $rc -eq 1 ] || break
	how=$(cat "$dir/how")
	[ "$how" = faster ] || lost=$rate
	then=$(next "$how")
	if [ -n "$then" ]; then
		say "set $set again, $how than $rate times a second"
		rate=$then
	elif [ "$how" = faster ]; then
		say "set $set: counters overflow at $rate samples a second, and nsys can do no more: what they counted there stays NA"
		break
	else
		die "set $set: samples are lost even at $rate a second: nothing of this capture is kept"
	fi
done
echo "sampled_hz=$rate" >"$file.rate"
land
