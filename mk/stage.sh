#!/bin/sh
# stage.sh NAME FILE COMMAND...: run one stage, saying on standard error how it
# comes along, and leave its wall time in FILE.  Standard output is the command's.
# It is stopped after STAGE_TIMEOUT seconds, if that is set.
name=$1 file=$2
shift 2

clock() { date +%s.%N; }
since() { echo "$1 $(clock)" | awk '{ printf "%.1f s", $2 - $1 }'; }

start=$(clock)
echo "$name: started" >&2
(
	trap 'kill $! 2>/dev/null; exit' TERM
	while sleep 5 & wait $!; do
		kill -0 $$ 2>/dev/null || exit
		echo "$name: $(since "$start")" >&2
	done
) &
ticker=$!
trap 'kill $ticker 2>/dev/null; exit 143' TERM
trap 'kill $ticker 2>/dev/null; exit 130' INT
timeout --foreground -k 10 "${STAGE_TIMEOUT:-0}" "$@"
status=$?
kill "$ticker" 2>/dev/null
wait "$ticker" 2>/dev/null
if [ $status -eq 124 ]; then
	echo "$name: stopped after $STAGE_TIMEOUT s: what it had captured is lost, earlier stages are kept" >&2
	echo "$name: give it longer (profile_stage_timeout_seconds=N), or less to do (a shorter workload, a smaller model)" >&2
	exit 2
fi
if [ $status -ne 0 ]; then
	echo "$name: failed after $(since "$start"), status $status" >&2
	exit $status
fi
echo "$name: done, $(since "$start")" >&2
echo "$name $start $(clock)" | awk '{ printf "%s\t%.0f\n", $1, ($3 - $2) * 1e9 }' >"$file"
