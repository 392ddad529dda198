#!/bin/sh
# narrow.sh COMMAND...: run it with little of the environment, for captures hold that;
# when it ends, or is ended, so does all that it has started: nsys ends before its own
# helpers do, and a program before its children.
#
#	NSYS_KEEP="NAME NAME"  what else of the environment the command needs
set -eu

# All that bears our mark.
left() { grep -lsazx "NS_CAPTURE=$$" /proc/[0-9]*/environ | sed 's|^/proc/\([0-9]*\)/.*|\1|'; }
end_left() {
	for signal in TERM TERM TERM KILL; do
		pids=$(left) && [ -n "$pids" ] || return 0
		for p in $pids; do kill -s $signal "$p" 2>/dev/null || :; done
		sleep 0.3
	done
}
trap end_left EXIT
trap 'exit 143' TERM INT

unset NS_CAPTURE
for v in $(env | sed -n 's/^\(CUDA_[A-Z0-9_]*\|NVIDIA_[A-Z0-9_]*\|NCCL_[A-Z0-9_]*\|OMP_[A-Z0-9_]*\|NS_[A-Z0-9_]*\)=.*/\1/p') \
    HOME LD_LIBRARY_PATH PATH TMPDIR ${NSYS_KEEP:-}; do
	eval "x=\${$v-}"
	[ -z "$x" ] || set -- "$v=$x" "$@"
done
env -i LC_ALL=C "NS_CAPTURE=$$" "$@" &
wait $!
