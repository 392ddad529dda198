/*
 * marks.c: a dump of callgrind's counters a phase, by client request.  The run
 * asks for --instr-atstart=no; nothing is counted outside open and close, but
 * the simulated cache stays as the last phase left it.
 */
#include <jansson.h>
#include <omp.h>
#include <valgrind/callgrind.h>

#include "worker.h"

bool
marks_on(void)
{
	return RUNNING_ON_VALGRIND != 0;
}

/* Counts shall repeat: one thread, and a heap that no random hash has shaped. */
void
marks_prepare(void)
{
	if (marks_on()) {
		omp_set_num_threads(1);
		json_object_seed(1);
	}
}

void
marks_start(void)
{
	CALLGRIND_START_INSTRUMENTATION;
}

void
marks_open(void)
{
	CALLGRIND_ZERO_STATS;
}

void
marks_close(const char *phase, size_t step)
{
	char name[40];

	snprintf(name, sizeof name, strcmp(phase, "prefill") == 0 ? "%s" :
	    "%s.%zu", phase, step);
	CALLGRIND_DUMP_STATS_AT(name);
}

void
marks_stop(void)
{
	CALLGRIND_STOP_INSTRUMENTATION;
}
