#!/bin/sh
# phases.sh [-k] WINDOWS RANGES WORK [OPTION OF ns-phases]...: WORK with its phases, by
# the windows that are asked for; else by those that were asked for last, as file
# WINDOWS has them, a word a line; else by ranges of domain nsbench, other ranges of
# such names, CUDA graph launches, or the whole, whichever is found first.  WINDOWS
# then holds them, those that were found after a line `found`.  With -k these are
# kept too: another run of the same program has the same.
set -eu

keep=''
[ "$1" != -k ] || { keep=yes; shift; }
windows=$1 ranges=$2 work=$3
shift 3
tmp=$(mktemp -d --suffix .tmp "$windows.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

try() {
	for word; do printf '%s\n' "$word"; done >"$tmp/windows"
	case ${1-} in
	whole) cp "$work" "$tmp/phased" && return ;;
	--last-graphs | --window) ;;
	*) set -- -r "$ranges" "$@" ;;
	esac
	"${BUILD:-build}/ns-phases" "$@" "$work" >"$tmp/phased" 2>"$tmp/said"
}
find_them() {
	try || try --ranges '^(prefill|decode)' || try --last-graphs 20 || {
		try whole
		echo "phases.sh: no range named prefill or decode.N, no 20 launches of a CUDA graph: the whole" \
			"capture is one phase; RANGES=, LAST_GRAPHS= or WINDOW= name others" >"$tmp/said"
	}
	{ echo found; cat "$tmp/windows"; } >"$tmp/found" && mv "$tmp/found" "$tmp/windows"
}

if [ $# -eq 0 ] && [ -e "$windows" ]; then
	while IFS= read -r word; do set -- "$@" "$word"; done <"$windows"
	case ${1-}$keep in
	foundyes) shift ;;
	found)    set -- ;;
	esac
fi
if [ $# -eq 0 ]; then find_them; else try "$@" || { cat "$tmp/said" >&2; exit 2; }; fi
[ ! -e "$tmp/said" ] || cat "$tmp/said" >&2
cat "$tmp/phased"
[ "$keep" ] || mv "$tmp/windows" "$windows"
