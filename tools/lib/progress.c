/* progress.c: say how far long work has come, on stderr, and never on a pipe. */
#include <time.h>
#include <unistd.h>

#include "ns.h"

enum { SECOND = 1000000000 };

uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

void
progress_start(struct progress *p, const char *label, uint64_t total)
{
	*p = (struct progress){ .label = label, .total = total,
	    .start_ns = now_ns() };
	p->next_ns = isatty(STDERR_FILENO) ? p->start_ns + SECOND : UINT64_MAX;
}

void
progress(struct progress *p, uint64_t done)
{
	uint64_t now;

	if (p->next_ns == UINT64_MAX || (now = now_ns()) < p->next_ns)
		return;
	p->next_ns = now + SECOND / 4;
	p->shown = true;
	fprintf(stderr, "\r%s: %.0f %%, %.1f s ", p->label,
	    p->total != 0 ? 100.0 * (double)done / (double)p->total : 0.0,
	    (double)(now - p->start_ns) / SECOND);
}

void
progress_end(struct progress *p)
{
	if (p->shown)
		fputc('\n', stderr);
}
