/* footprint.c: memory as the worker, the process and the system see it. */
#include <unistd.h>

#include "worker.h"

/* Bytes of a line "NAME:  123 kB" of /proc/meminfo; 0 if there is none. */
static uint64_t
meminfo(const char *name)
{
	FILE *fp = fopen("/proc/meminfo", "r");
	const size_t len = strlen(name);
	unsigned long long kb = 0;
	char line[128];

	while (fp != NULL && fgets(line, sizeof line, fp) != NULL)
		if (strncmp(line, name, len) == 0 && line[len] == ':' &&
		    sscanf(line + len + 1, "%llu", &kb) == 1)
			break;
	if (fp != NULL)
		fclose(fp);
	return kb * 1024;
}

static uint64_t
resident(void)
{
	FILE *fp = fopen("/proc/self/statm", "r");
	unsigned long long pages = 0;

	if (fp != NULL) {
		if (fscanf(fp, "%*u %llu", &pages) != 1)
			pages = 0;
		fclose(fp);
	}
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t
memory_available(void)
{
	return meminfo("MemAvailable");
}

struct footprint
footprint_now(uint64_t start_ns, uint64_t allocator)
{
	uint64_t total = meminfo("MemTotal"), free_bytes = memory_available();

	return (struct footprint){ .time_ns = now_ns() - start_ns,
	    .allocator = allocator, .process = resident(),
	    .system = total > free_bytes ? total - free_bytes : 0 };
}
