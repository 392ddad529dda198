#!/bin/sh
. "${0%/*}/tap.sh"

# capture NAME: the SQL of tests/data/NAME.sql as an SQLite file NAME.sqlite.
capture() { sqlite3 "$1.sqlite" <"$data/$1.sql"; }

exits 2 'no such file'  'nsys2tsv work nofile'  'nofile: No such file'
done_testing
