#!/bin/sh
# links.sh FOLDER: relative links in its pages that lead to nothing, and from where.
set -eu
cd "$1"
find . -name '*.md' ! -path './build/*' ! -path './runs/*' | while read -r page; do
	grep -o '](\([^)]*\))' "$page" | sed 's/^](//; s/)$//; s/#.*//; /^$/d; /^[a-z]*:/d' | while read -r to; do
		[ -e "${page%/*}/$to" ] || echo "$page: $to"
	done
done
