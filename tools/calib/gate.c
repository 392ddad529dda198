/*
 * gate.c: kernels of known traffic, for a simulated cache to count.
 *
 * What a kernel reads is what its buffers hold: they are cold, being far larger
 * than the cache.  What it writes back is exact only in the steady state: each
 * runs once unmarked, so that as many dirty lines are in the cache before the
 * mark as after it.
 */
#include <err.h>
#include <sys/mman.h>
#include <valgrind/callgrind.h>

#include "calib.h"

enum { LINE = sizeof(line), REREADS = 12 };

static line *
buffer(uint64_t lines)
{
	uint64_t bytes;
	void *p;

	if (!mul_ok(lines, (uint64_t)LINE, &bytes) || (p = mmap(NULL, bytes,
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) == MAP_FAILED)
		err(NS_TROUBLE, "gate: %llu lines", (unsigned long long)lines);
	return p;
}

/* A write reads first: the simulated caches allocate on write. */
static void
expected(uint64_t bytes, uint64_t warm)
{
	struct out o;

	gate_head(&o);
	gate_expect(&o, "read", "l2", "read", bytes);
	gate_expect(&o, "read", "memory", "read", bytes);
	gate_expect(&o, "read", "memory", "write", 0);
	gate_expect(&o, "write", "l2", "read", bytes);
	gate_expect(&o, "write", "memory", "read", bytes);
	gate_expect(&o, "write", "memory", "write", bytes);
	gate_expect(&o, "copy", "l2", "read", 2 * bytes);
	gate_expect(&o, "copy", "memory", "read", 2 * bytes);
	gate_expect(&o, "copy", "memory", "write", bytes);
	gate_expect(&o, "reread", "l2", "read", REREADS * warm);
	gate_expect(&o, "reread", "memory", "read", warm);
	gate_expect(&o, "reread", "memory", "write", 0);
	out_close(&o);
}

static void
must(bool so, const char *kernel)
{
	if (!so)
		errx(NS_TROUBLE, "gate: the %s kernel did not do its work", kernel);
}

void
gate(uint64_t last_level_bytes)
{
	const struct kernels *k = kernels_base();
	uint64_t n = 2 * (last_level_bytes / LINE), warm = n / 12, sum = 0;
	line *a, *b, *c;

	if (warm == 0 || last_level_bytes > (uint64_t)1 << 36)
		errx(NS_TROUBLE, "gate: a last level of %llu bytes: 768 bytes to "
		    "64 GiB were expected", (unsigned long long)last_level_bytes);
	if (!RUNNING_ON_VALGRIND)
		warnx("gate: not under valgrind: nothing counts the bytes");
	a = buffer(n);
	b = buffer(n);
	c = buffer(warm);
	k->write(a, n, 3);
	k->write(b, n, 5);
	k->write(c, warm, 7);

	CALLGRIND_START_INSTRUMENTATION;
	must(k->read(b, n) == 8 * 5 * n, "read");
	CALLGRIND_ZERO_STATS;
	sum = k->read(a, n);
	CALLGRIND_DUMP_STATS_AT("read");
	must(sum == 8 * 3 * n, "read");

	CALLGRIND_ZERO_STATS;
	sum = 0;
	for (int i = 0; i < REREADS; i++)
		sum += k->read(c, warm);
	CALLGRIND_DUMP_STATS_AT("reread");
	must(sum == REREADS * 8 * 7 * warm, "reread");

	k->write(b, n, 11);
	CALLGRIND_ZERO_STATS;
	k->write(a, n, 13);
	CALLGRIND_DUMP_STATS_AT("write");

	k->copy(b, a, n);
	CALLGRIND_ZERO_STATS;
	k->copy(b, a, n);
	CALLGRIND_DUMP_STATS_AT("copy");
	CALLGRIND_STOP_INSTRUMENTATION;

	must(k->read(a, n) == 8 * 13 * n, "write");
	must(k->read(b, n) == 8 * 13 * n, "copy");
	munmap(a, n * LINE);
	munmap(b, n * LINE);
	munmap(c, warm * LINE);
	expected(n * LINE, warm * LINE);
}
