#!/bin/sh
# phases.sh WINDOWS RANGES WORK [OPTION OF ns-phases]...: WORK with its phases, by
# the windows that are asked for; else those that WINDOWS holds, a word a line; else
# ranges of domain nsbench, other ranges of such names, CUDA graph launches, or the
# whole, whichever is found first.  WINDOWS then holds them.
set -eu

windows=$1 ranges=$2 work=$3
shift 3
tmp=$(mktemp -d --suffix .tmp "$windows.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

try() {
	for word; do printf '%s\n' "$word"; done >"$tmp/windows"
	case ${1-} in
	--last-graphs | --window) ;;
	*) set -- -r "$ranges" "$@" ;;
	esac
	"${BUILD:-build}/ns-phases" "$@" "$work" >"$tmp/phased" 2>"$tmp/said"
}
whole() {
	echo whole >"$tmp/windows"
	cp "$work" "$tmp/phased"
}
find_them() {
	try || try --ranges '^(prefill|decode)' || try --last-graphs 20 || {
		whole
		echo "phases.sh: no range named prefill or decode.N, no 20 launches of a CUDA graph: the whole" \
			"capture is one phase; RANGES=, LAST_GRAPHS= or WINDOW= name others" >"$tmp/said"
	}
}

if [ $# -eq 0 ] && [ -e "$windows" ]; then
	while IFS= read -r word; do set -- "$@" "$word"; done <"$windows"
fi
case ${1-} in
'')    find_them ;;
whole) whole ;;
*)     try "$@" || { cat "$tmp/said" >&2; exit 2; } ;;
esac
[ ! -e "$tmp/said" ] || cat "$tmp/said" >&2
cat "$tmp/phased"
[ "$(cat "$tmp/windows")" = "$(cat "$windows" 2>/dev/null)" ] || mv "$tmp/windows" "$windows"
