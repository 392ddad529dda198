#!/bin/sh
# What pages link to is there (of a kit: kit.t).
. "${0%/*}/tap.sh"

is 'links of this project'    '' '"$top/tests/links.sh" "$top"'
mkdir -p a/b
printf '[here](b/c.md), [there](b/d.md#part), [away](https://x.y/z) and ![drawn](b/e.svg)\n' >a/page.md
printf '[up](../page.md#top), [a part](#part)\n' >a/b/c.md
is 'those that lead nowhere'  './page.md: b/d.md ./page.md: b/e.svg' '"$top/tests/links.sh" a | xargs'
touch a/b/d.md a/b/e.svg
is 'none when they are there' '' '"$top/tests/links.sh" a'
done_testing
