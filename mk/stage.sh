#!/bin/sh
# stage.sh NAME FILE COMMAND...: run one stage, saying on standard error how it
# comes along, and leave its wall time in FILE.  Standard output is the command's.
name=$1 file=$2
shift 2

clock() { date +%s.%N; }
since() { echo "$1 $(clock)" | awk '{ printf "%.1f s", $2 - $1 }'; }

start=$(clock)
echo "$name: started" >&2
(
	trap 'kill $!; exit' TERM
	while sleep 5 & wait $!; do
		kill -0 $$ 2>/dev/null || exit
		echo "$name: $(since "$start")" >&2
	done
) &
ticker=$!
trap 'kill $ticker 2>/dev/null; exit 143' TERM
trap 'kill $ticker 2>/dev/null; exit 130' INT
"$@"
status=$?
kill "$ticker"
wait "$ticker" 2>/dev/null
if [ $status -ne 0 ]; then
	echo "$name: failed after $(since "$start"), status $status" >&2
	exit $status
fi
echo "$name: done, $(since "$start")" >&2
echo "$name $start $(clock)" | awk '{ printf "%s\t%.0f\n", $1, ($3 - $2) * 1e9 }' >"$file"
