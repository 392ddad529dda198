/*
 * split.c: one loop over all threads.  A single thread enters no OpenMP, which
 * would allocate: a run under valgrind then depends on nothing but the model.
 */
#include <omp.h>

#include "cpu.h"

void
split(size_t n, size_t grain, void (*part)(const void *, size_t, size_t),
    const void *arg)
{
	if (omp_get_max_threads() == 1 || n <= grain) {
		part(arg, 0, n);
		return;
	}
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < n; i += grain)
		part(arg, i, i + grain < n ? i + grain : n);
}
