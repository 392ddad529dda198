#!/bin/sh
# Every tool has a page and a test, and the page's SYNOPSIS is its usage line.
. "${0%/*}/tap.sh"

words() { tr -s ' \n' ' ' | tr '[:upper:]' '[:lower:]' | sed 's/^ //; s/ $//'; }
usage() { "$1" --help | sed -n 's/^usage: //p' | words; }
synopsis() {
	mandoc -T ascii -O width=500 "$top/docs/man/$1.1" | sed "s/.$(printf '\b')//g" |
	    sed -n '/^SYNOPSIS/,/^DESCRIPTION/p' | sed '1d;$d' | words
}

command -v mandoc >/dev/null || skip 'no mandoc here'
for tool in $(sed -n '/^tools := /,/^$/p' "$top/Makefile" | sed '1d;s/\\//'); do
	ok "$tool: a page"    '[ -s $top/docs/man/$tool.1 ]'
	ok "$tool: a test"    '[ -x $top/tests/$tool.t ]'
	is "$tool: synopsis"  "$(usage "$tool")" "synopsis $tool"
	ok "$tool: a version" '$tool --version | grep -q "^$tool (nsbench) [0-9]"'
	exits 2 "$tool: an unknown option" '$build/$tool --no-such-option' 'usage:'
	ok "$tool: said by it" 'grep -q "^$tool: .*no-such-option" err'
	exits 2 "$tool: help to a full disk" '$tool --help >/dev/full' 'No space left'
done
done_testing
