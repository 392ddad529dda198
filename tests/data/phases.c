/* The watched program of callgrind-*.out: known work in three dumps. */
#include <unistd.h>

#include <valgrind/callgrind.h>

#include "mix.h"

static int a[4096];		/* 16 KiB: 256 lines */

__attribute__((noinline)) static int
sum(const int *p, int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		if (p[i] & 1)
			s += mix(p[i]);
		else
			s ^= p[i];
	return s;
}

__attribute__((noinline)) static void
fill(int *p, int n, int with)
{
	for (int i = 0; i < n; i++)
		p[i] = with;
}

__attribute__((noinline)) static int
fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int
main(void)
{
	int s;

	CALLGRIND_START_INSTRUMENTATION;
	s = sum(a, 4096);
	CALLGRIND_DUMP_STATS_AT("prefill");
	fill(a, 4096, s + 3);
	CALLGRIND_DUMP_STATS_AT("decode.0");
	s += fib(10);
	CALLGRIND_DUMP_STATS;
	s += sum(a, 4096);
	CALLGRIND_DUMP_STATS_AT("decode.1");
	_exit(s & 1);
}
