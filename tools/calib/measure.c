/* measure.c: buffers beyond the caches, and the median rate of a kernel on them. */
#include <err.h>
#include <math.h>
#include <omp.h>
#include <sys/mman.h>

#include "calib.h"
#include "host.h"

enum { LINE = sizeof(line), MIN_REPEATS = 5, MAX_REPEATS = 999, TIMES = 4 };

static line *
map(size_t lines)
{
	void *p = mmap(NULL, lines * LINE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		err(NS_TROUBLE, "%zu bytes", lines * LINE);
	madvise(p, lines * LINE, MADV_HUGEPAGE);
	return p;
}

/* The part of [0, lines) that is this thread's. */
static size_t
part(size_t lines, size_t *n)
{
	size_t me = (size_t)omp_get_thread_num(), all = (size_t)omp_get_num_threads();
	size_t from = lines * me / all;

	*n = lines * (me + 1) / all - from;
	return from;
}

/* Two floats a word, in [1, 2), so that no number is slow; xorshift64*. */
static void
randomise(line *p, size_t lines)
{
#pragma omp parallel
	{
		size_t n, from = part(lines, &n);
		uint64_t x = 0x9e3779b97f4a7c15 * (from + 1), *w = (uint64_t *)(p + from);

		for (size_t i = 0; i < n * 8; i++) {
			x ^= x >> 12;
			x ^= x << 25;
			x ^= x >> 27;
			w[i] = ((x * 0x2545f4914f6cdd1d) & 0x007fffff007fffff) |
			    0x3f8000003f800000;
		}
	}
}

struct arena
arena_open(void)
{
	struct arena a = { .n_threads = omp_get_max_threads(),
	    .last_level_bytes = host_last_level("").total_bytes };
	uint64_t available, bytes;

	if (a.last_level_bytes == 0) {
		a.last_level_bytes = 32 << 20;
		warnx("no cache sizes in /sys: 32 MiB of last level assumed");
	}
	if (!mul_ok(a.last_level_bytes, (uint64_t)TIMES, &bytes))
		bytes = UINT64_MAX;
	if (host_meminfo("", "MemAvailable", &available) && bytes > available / 4) {
		bytes = available / 4;
		warnx("only %llu bytes a buffer fit, not %d times the last level: "
		    "caches may serve a part", (unsigned long long)bytes, TIMES);
	}
	a.lines = bytes / LINE / 4096 * 4096;
	if (a.lines == 0)
		errx(NS_TROUBLE, "no memory left to measure with");
	a.a = map(a.lines);
	a.b = map(a.lines);
	randomise(a.a, a.lines);
	randomise(a.b, a.lines);
	return a;
}

void
arena_close(struct arena *a)
{
	munmap(a->a, a->lines * LINE);
	munmap(a->b, a->lines * LINE);
}

enum { GEMV_LINES = 256 };	/* of a row: 4096 floats */

/* One repeat; a number that depends on what was read. */
static uint64_t
run(const struct job *j)
{
	uint64_t sum = 0;

#pragma omp parallel reduction(+ : sum)
	{
		size_t n, from = part(j->lines, &n), rows;
		float y[1024];

		for (size_t pass = 0; pass < j->passes; pass++)
			switch (j->kind) {
			case JOB_READ:
				sum += j->k->read(j->a + from, n);
				break;
			case JOB_WRITE:
				j->k->write(j->a + from, n, 0x3f8000003f800000);
				break;
			case JOB_COPY:
				j->k->copy(j->b + from, j->a + from, n);
				break;
			case JOB_GEMV:
				from = part(j->lines / GEMV_LINES, &n) * GEMV_LINES;
				for (size_t r = 0; r < n; r += rows) {
					rows = n - r < 1024 ? n - r : 1024;
					j->k->gemv(y, j->a + from + r * GEMV_LINES,
					    j->b, rows, GEMV_LINES);
					sum += (uint64_t)y[0];
				}
			}
	}
	return sum;
}

static int
by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

double
job_rate(struct job *j, double seconds)
{
	double bytes = (double)(j->lines * LINE * j->passes) *
	    (j->kind == JOB_COPY ? 2 : 1);
	double rate[MAX_REPEATS];
	uint64_t start = now_ns(), t0, t1 = start, sum = 0;
	int n = 0;

	do {
		t0 = now_ns();
		sum += run(j);
		t1 = now_ns();
		rate[n++] = bytes * 1e9 / (double)(t1 > t0 ? t1 - t0 : 1);
		if (j->rotate) {
			line *a = j->a;

			j->a = j->b;
			j->b = a;
		}
	} while (n < MAX_REPEATS && (n < MIN_REPEATS ||
	    (double)(t1 - start) * 1e-9 < seconds));
	__asm__ volatile("" : : "r"(sum));
	qsort(rate, (size_t)n, sizeof *rate, by_size);
	return n % 2 != 0 ? rate[n / 2] : (rate[n / 2 - 1] + rate[n / 2]) / 2;
}
