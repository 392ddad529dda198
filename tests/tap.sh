# shellcheck shell=sh disable=SC2034
# Sourced by every test: TAP on standard output, a scratch directory to stand in.

top=$(cd "$(dirname "$0")/.." && pwd)
gold=$top/tests/gold data=$top/tests/data shared=${NS_SHARED:-$top/../shared}
build=${NS_BUILD:-$top/build}
PATH=$build:$PATH
LC_ALL=C
export PATH LC_ALL
unset MAKEFLAGS MFLAGS MAKELEVEL	# a test may run make itself
dir=$(mktemp -d) && cd "$dir" || exit 1
# shellcheck disable=SC2064 # now: a test may use the name for something else
trap "rm -rf '$dir'" EXIT
n=0 failed=0

result() {	# result STATUS NAME
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else
		failed=$((failed + 1))
		echo "not ok $n - $2"
	fi
}

# ok NAME COMMAND: the shell command succeeds.
ok() {
	eval "$2" >log 2>&1
	set -- $? "$1"
	[ "$1" -eq 0 ] || sed 's/^/# /' log
	result "$@"
}

# exits STATUS NAME COMMAND [MESSAGE]: it ends with that status, and standard
# error holds MESSAGE, a fixed string, or at least something.
exits() {
	eval "$3" >out 2>err
	got=$?
	if [ "$got" -eq "$1" ] && [ -s err ] && grep -qF -e "${4-}" err; then
		result 0 "$2"
	else
		echo "# status $got, wanted $1; message wanted: ${4-}"
		sed 's/^/# /' err
		result 1 "$2"
	fi
}

# golden NAME COMMAND: standard output is tests/gold/NAME, to the byte.
golden() {
	eval "$2" >out 2>err || { sed 's/^/# /' err; result 1 "$1"; return; }
	[ -z "${NS_ACCEPT-}" ] || cp out "$gold/$1"
	diff -u "$gold/$1" out >log
	set -- $? "$1"
	[ "$1" -eq 0 ] || sed 's/^/# /' log
	result "$@"
}

# is NAME WANTED COMMAND: standard output, without its last newline, is WANTED.
# Nothing wanted is not what a command in trouble (above 1) says.
is() {
	got=$(eval "$3" 2>err)
	status=$?
	[ -n "$2" ] || [ $status -le 1 ] || got="nothing, and status $status"
	if [ "$got" = "$2" ]; then result 0 "$1"; else
		printf 'wanted: %s\ngot:    %s\n' "$2" "$got" | sed 's/^/# /'
		sed 's/^/# /' err
		result 1 "$1"
	fi
}

# table NAME: tab-separated standard input from words, _ for a space.
table() { sed 's/  */	/g' >"$1"; }

# c_program NAME WORDS...: of these, with the lib and the build's own flags, so that a
# sanitized lib gets a sanitized program.
c_program() {
	[ -s "$build/flags" ] || skip "no $build/flags: run make"
	program=$1
	shift
	# shellcheck disable=SC2046 # words of a command
	(cd "$top" && $(cut -d ' ' -f 1 "$build/flags") -o "$dir/$program" "$@" "$build/libns.a" $(cut -d ' ' -f 2- "$build/flags")) >log 2>&1
	ok 'builds' "[ -x $program ] || { cat log; false; }"
}

skip_one() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }
skip() { echo "1..0 # SKIP $*"; exit 0; }
done_testing() { echo "1..$n"; exit $((failed != 0)); }
