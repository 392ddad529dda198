#!/bin/sh
# install.sh [dev]: the Debian or Ubuntu packages that nsbench is built and run
# with; with dev, also those of its static checks and fuzzing.  Says what it
# installs, asks nothing, does nothing the second time.
set -eu

packages='gcc libc6-dev make libyaml-dev libcsv-dev libsqlite3-dev libjansson-dev
libopenblas-dev valgrind gnuplot-nox sqlite3 xz-utils perl mandoc'
case ${1-} in
'')  ;;
dev) packages="$packages clang libclang-rt-14-dev libomp-14-dev shellcheck cppcheck jq libxml2-utils" ;;
*)   echo "usage: $0 [dev]" >&2; exit 2 ;;
esac

installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed$'; }

missing=
for p in $packages; do
	installed "$p" || missing="$missing $p"
done
if [ -z "$missing" ]; then
	echo 'install.sh: everything is installed' >&2
	exit 0
fi
if ! command -v apt-get >/dev/null; then
	echo "install.sh: no apt-get here; the Debian names of what is missing are:$missing" >&2
	exit 2
fi
if [ "$(id -u)" -eq 0 ]; then
	as_root=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
	as_root='sudo -n'
else
	echo "install.sh: neither root nor sudo without a password; as root: apt-get install$missing" >&2
	exit 2
fi

echo "install.sh: installing$missing" >&2
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # words are meant to split
{
	$as_root apt-get update -qq
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}
for p in $missing; do
	installed "$p" || { echo "install.sh: $p did not install" >&2; exit 2; }
done
echo 'install.sh: done' >&2
