#!/bin/sh
# allow-counters.sh [--apply] [--root DIR]: may everyone read the GPU's
# counters?  Says how it stands and what to do; with --apply, writes the
# driver's option, which the next start of the machine takes up.  Does nothing
# the second time.  Exit 0 if they are open, 1 if not yet, 2 for trouble.
set -eu

usage() { echo "usage: $0 [--apply] [--root DIR]" >&2; exit 2; }
say() { echo "allow-counters.sh: $*" >&2; }

apply='' root=''
while [ $# -gt 0 ]; do
	case $1 in
	--apply) apply=1 ;;
	--root)  [ $# -gt 1 ] || usage; shift; root=${1%/} ;;
	*)       usage ;;
	esac
	shift
done

params=$root/proc/driver/nvidia/params
folder=$root/etc/modprobe.d
file=$folder/nvidia-profiling.conf
option='options nvidia NVreg_RestrictProfilingToAdminUsers=0'

# What the files of modprobe ask for: the values, with the files they stand in.
asked() {
	for f in "$folder"/*.conf; do
		[ ! -f "$f" ] || sed -n "s|^[ 	]*options[ 	][ 	]*nvidia[ 	].*NVreg_RestrictProfilingToAdminUsers=\([0-9]*\).*|\1 $f|p" "$f"
	done
}

if [ ! -e "$params" ]; then
	say "no NVIDIA driver is loaded: there is no $params"
	[ -n "$apply" ] || exit 2
	now=unknown
else
	now=$(sed -n 's/^RmProfilingAdminOnly: *//p' "$params")
fi
case $now in
0) say 'GPU counters are open to all (RmProfilingAdminOnly: 0)' ;;
1) say 'GPU counters are for administrators only (RmProfilingAdminOnly: 1)' ;;
*) say "whether GPU counters are open cannot be told here (RmProfilingAdminOnly: ${now:-absent})" ;;
esac

closing=$(asked | sed -n 's/^[1-9][0-9]* //p')
if [ -n "$closing" ]; then
	say "closed by $closing: take NVreg_RestrictProfilingToAdminUsers out of there first"
	exit 2
fi
opening=$(asked | sed -n 's/^0 //p')

if [ "$now" = 0 ] && [ -z "$apply" ]; then
	exit 0
elif [ -n "$opening" ]; then
	say "asked for already, in $opening"
elif [ -n "$apply" ]; then
	if ! { mkdir -p "$folder" && echo "$option" >"$file.tmp" && mv "$file.tmp" "$file"; }; then
		rm -f "$file.tmp"
		say "cannot write $file: run it as root (sudo $0 --apply)"
		exit 2
	fi
	say "wrote $file: $option"
fi
[ "$now" != 0 ] || exit 0

if [ -z "$opening$apply" ]; then
	say "to open them: sudo $0 --apply"
	say "  which writes '$option' to $file"
	say 'or, in a container: start it with --cap-add=SYS_ADMIN; or run the profiler as root'
else
	say 'it takes effect when the module is loaded anew: update the initramfs if the module'
	say '  is in it (Debian, Ubuntu: sudo update-initramfs -u) and start the machine again'
fi
exit 1
