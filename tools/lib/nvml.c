/* nvml.c: what NVML says of a GPU; what it does not support stays unknown. */
#include <dlfcn.h>
#include <inttypes.h>

#include "library.h"
#include "nvml.h"

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };
enum { INSUFFICIENT_SIZE = 7 };

struct memory {
	unsigned long long total, free, used;
};
struct functions {
	int	(*init)(void), (*end)(void), (*handle)(const char *, void **);
	int	(*driver)(char *, unsigned), (*memory)(void *, struct memory *);
	int	(*clock)(void *, int, unsigned *), (*max_clock)(void *, int, unsigned *);
	int	(*ecc)(void *, int *, int *), (*mig)(void *, unsigned *, unsigned *);
	int	(*throttle)(void *, unsigned long long *);
	int	(*busy)(void *, unsigned [2]);		/* GPU, memory: percent */
	int	(*processes)(void *, unsigned *, void *);
	const char *(*error)(int);
};

static const char *
load(struct functions *f)
{
	const struct symbol all[] = {
		{ &f->init, "nvmlInit_v2", NULL },
		{ &f->end, "nvmlShutdown", NULL },
		{ &f->handle, "nvmlDeviceGetHandleByPciBusId_v2", NULL },
		{ &f->driver, "nvmlSystemGetDriverVersion", NULL },
		{ &f->memory, "nvmlDeviceGetMemoryInfo", NULL },
		{ &f->clock, "nvmlDeviceGetClockInfo", NULL },
		{ &f->max_clock, "nvmlDeviceGetMaxClockInfo", NULL },
		{ &f->ecc, "nvmlDeviceGetEccMode", NULL },
		{ &f->mig, "nvmlDeviceGetMigMode", NULL },
		{ &f->throttle, "nvmlDeviceGetCurrentClocksEventReasons",
		    "nvmlDeviceGetCurrentClocksThrottleReasons" },
		{ &f->busy, "nvmlDeviceGetUtilizationRates", NULL },
		{ &f->processes, "nvmlDeviceGetComputeRunningProcesses_v3",
		    "nvmlDeviceGetComputeRunningProcesses" },
		{ &f->error, "nvmlErrorString", NULL },
	};
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);

	return library == NULL ? "libnvidia-ml.so.1" :
	    library_find(library, all, sizeof all / sizeof *all);
}

/* In NVML's order, a bit each. */
static void
reasons(char *list, size_t size, unsigned long long bits)
{
	static const char *const names[] = { "idle", "application_clocks",
	    "software_power_cap", "hardware_slowdown", "sync_boost",
	    "software_thermal", "hardware_thermal", "hardware_power_brake",
	    "display_clocks" };
	const size_t n = sizeof names / sizeof *names;

	if (bits == 0 || bits >> n != 0) {
		snprintf(list, size, bits == 0 ? "none" : "0x%llx", bits);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (bits >> i & 1) {
			const size_t len = strlen(list);

			snprintf(list + len, size - len, "%s%s", len != 0 ? "," : "",
			    names[i]);
		}
}

static void
clocks(struct nvml *n, const struct functions *f, void *device)
{
	unsigned long long bits;
	unsigned mhz;

	if (f->clock(device, CLOCK_SM, &mhz) == 0)
		n->sm_hz = (int64_t)mhz * 1000000;
	if (f->max_clock(device, CLOCK_SM, &mhz) == 0)
		n->sm_max_hz = (int64_t)mhz * 1000000;
	if (f->clock(device, CLOCK_MEMORY, &mhz) == 0)
		n->memory_hz = (int64_t)mhz * 1000000;
	if (f->throttle(device, &bits) == 0)
		reasons(n->throttle, sizeof n->throttle, bits);
}

static void
state(struct nvml *n, const struct functions *f, void *device)
{
	unsigned on, pending, busy[2], count = 0;
	int now, later, status;

	if (f->ecc(device, &now, &later) == 0)
		n->ecc = now;
	if (f->mig(device, &on, &pending) == 0)
		n->mig = (int)on;
	if (f->busy(device, busy) == 0)
		n->busy_percent = (int)busy[0];
	/* With room for none, it says how many there are. */
	status = f->processes(device, &count, NULL);
	if (status == 0 || status == INSUFFICIENT_SIZE)
		n->n_processes = (int)count;
}

static void
memory(struct nvml *n, const struct functions *f, void *device)
{
	struct memory m;
	const int status = f->memory(device, &m);

	if (status != 0) {
		snprintf(n->why, sizeof n->why, "memory: %s", f->error(status));
		return;
	}
	n->total_bytes = (int64_t)m.total;
	n->used_bytes = (int64_t)m.used;
	n->free_bytes = (int64_t)m.free;
}

void
nvml_read(struct nvml *n, const char *bus)
{
	struct functions f;
	const char *absent;
	void *device;
	int status;

	*n = (struct nvml){ .total_bytes = -1, .used_bytes = -1, .free_bytes = -1,
	    .sm_hz = -1, .sm_max_hz = -1, .memory_hz = -1, .ecc = -1, .mig = -1,
	    .busy_percent = -1, .n_processes = -1 };
	if (bus == NULL)
		return;
	if ((absent = load(&f)) != NULL) {
		snprintf(n->why, sizeof n->why, "no %s", absent);
		return;
	}
	if ((status = f.init()) != 0) {
		snprintf(n->why, sizeof n->why, "%s", f.error(status));
		return;
	}
	if ((status = f.handle(bus, &device)) == 0) {
		if (f.driver(n->driver, sizeof n->driver) != 0)
			*n->driver = '\0';
		memory(n, &f, device);
		clocks(n, &f, device);
		state(n, &f, device);
	} else
		snprintf(n->why, sizeof n->why, "%s", f.error(status));
	f.end();
}
