/*
 * gpu.c: what the driver says of a GPU.  Both libraries are loaded if they are
 * there, so that this builds and runs on a machine without them.
 */
#include <dlfcn.h>
#include <inttypes.h>

#include "probe.h"

/* The few attributes that are asked for, as cuda.h numbers them. */
enum { SM_COUNT = 16, INTEGRATED = 18, MEMORY_BUS_BITS = 37, L2_BYTES = 38,
    CC_MAJOR = 75, CC_MINOR = 76, SHARED_PER_SM = 81 };
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2 };
enum { NVML_INSUFFICIENT_SIZE = 7 };

struct cuda {
	int	(*init)(unsigned), (*version)(int *), (*count)(int *);
	int	(*get)(int *, int), (*name)(char *, int, int);
	int	(*attribute)(int *, int, int), (*memory)(size_t *, int);
	int	(*bus)(char *, int, int), (*error)(int, const char **);
};
struct nvml_memory {
	unsigned long long total, free, used;
};
struct nvml {
	int	(*init)(void), (*handle)(const char *, void **);
	int	(*driver)(char *, unsigned), (*memory)(void *, struct nvml_memory *);
	int	(*clock)(void *, int, unsigned *), (*max_clock)(void *, int, unsigned *);
	int	(*ecc)(void *, int *, int *), (*mig)(void *, unsigned *, unsigned *);
	int	(*throttle)(void *, unsigned long long *);
	int	(*busy)(void *, unsigned [2]);		/* GPU, memory: percent */
	int	(*processes)(void *, unsigned *, void *);
	const char *(*error)(int);
};

struct symbol {
	void	*to;		/* a function pointer */
	const char *name, *or;
};

/* All of them, or the name of one that is not there. */
static const char *
load(void *lib, const struct symbol *s, size_t n)
{
	for (; n > 0; n--, s++) {
		void *f = dlsym(lib, s->name);

		if (f == NULL && s->or != NULL)
			f = dlsym(lib, s->or);
		if (f == NULL)
			return s->name;
		memcpy(s->to, &f, sizeof f);
	}
	return NULL;
}

static const char *
cuda_load(struct cuda *c)
{
	const struct symbol all[] = {
		{ &c->init, "cuInit", NULL },
		{ &c->version, "cuDriverGetVersion", NULL },
		{ &c->count, "cuDeviceGetCount", NULL },
		{ &c->get, "cuDeviceGet", NULL },
		{ &c->name, "cuDeviceGetName", NULL },
		{ &c->attribute, "cuDeviceGetAttribute", NULL },
		{ &c->memory, "cuDeviceTotalMem_v2", NULL },
		{ &c->bus, "cuDeviceGetPCIBusId", NULL },
		{ &c->error, "cuGetErrorName", NULL },
	};
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);

	return lib == NULL ? "libcuda.so.1" :
	    load(lib, all, sizeof all / sizeof *all);
}

static const char *
nvml_load(struct nvml *m)
{
	const struct symbol all[] = {
		{ &m->init, "nvmlInit_v2", NULL },
		{ &m->handle, "nvmlDeviceGetHandleByPciBusId_v2", NULL },
		{ &m->driver, "nvmlSystemGetDriverVersion", NULL },
		{ &m->memory, "nvmlDeviceGetMemoryInfo", NULL },
		{ &m->clock, "nvmlDeviceGetClockInfo", NULL },
		{ &m->max_clock, "nvmlDeviceGetMaxClockInfo", NULL },
		{ &m->ecc, "nvmlDeviceGetEccMode", NULL },
		{ &m->mig, "nvmlDeviceGetMigMode", NULL },
		{ &m->throttle, "nvmlDeviceGetCurrentClocksEventReasons",
		    "nvmlDeviceGetCurrentClocksThrottleReasons" },
		{ &m->busy, "nvmlDeviceGetUtilizationRates", NULL },
		{ &m->processes, "nvmlDeviceGetComputeRunningProcesses_v3",
		    "nvmlDeviceGetComputeRunningProcesses" },
		{ &m->error, "nvmlErrorString", NULL },
	};
	void *lib = dlopen("libnvidia-ml.so.1", RTLD_NOW);

	return lib == NULL ? "libnvidia-ml.so.1" :
	    load(lib, all, sizeof all / sizeof *all);
}

static int
attribute(const struct cuda *c, int which, int device)
{
	int v;

	return c->attribute(&v, which, device) == 0 ? v : UNKNOWN;
}

static void
cuda_probe(struct gpu *g, int device)
{
	const char *absent, *what = "cuInit", *error = NULL;
	struct cuda c;
	size_t bytes;
	int d, status;

	if ((absent = cuda_load(&c)) != NULL) {
		snprintf(g->why, sizeof g->why, "no %s: no NVIDIA driver here", absent);
		return;
	}
	c.version(&g->cuda_version);
	status = c.init(0);
	if (status == 0) {
		what = "cuDeviceGetCount";
		status = c.count(&g->n_gpus);
	}
	if (status != 0) {
		c.error(status, &error);
		snprintf(g->why, sizeof g->why, "%s: %s", what,
		    error != NULL ? error : "unknown error");
		return;
	}
	if (device >= g->n_gpus || c.get(&d, device) != 0) {
		snprintf(g->why, sizeof g->why, "no device %d: there are %d", device,
		    g->n_gpus);
		return;
	}
	g->found = true;
	if (c.name(g->name, sizeof g->name, d) != 0)
		*g->name = '\0';
	if (c.bus(g->bus, sizeof g->bus, d) != 0)
		*g->bus = '\0';
	if (c.memory(&bytes, d) == 0)
		g->memory_bytes = (int64_t)bytes;
	g->major = attribute(&c, CC_MAJOR, d);
	g->minor = attribute(&c, CC_MINOR, d);
	g->n_sms = attribute(&c, SM_COUNT, d);
	g->integrated = attribute(&c, INTEGRATED, d);
	g->bus_bits = attribute(&c, MEMORY_BUS_BITS, d);
	g->l2_bytes = attribute(&c, L2_BYTES, d);
	g->shared_bytes = attribute(&c, SHARED_PER_SM, d);
}

/* What NVML does not support here (memory, on a GB10) stays unknown. */
static void
nvml_probe(struct gpu *g)
{
	const char *absent;
	struct nvml_memory memory;
	unsigned long long bits;
	unsigned mhz, on, pending, busy[2], n = 0;
	int now, later, status;
	struct nvml m;
	void *dev;

	if ((absent = nvml_load(&m)) != NULL) {
		snprintf(g->nvml_why, sizeof g->nvml_why, "no %s", absent);
		return;
	}
	if ((status = m.init()) != 0 || (status = m.handle(g->bus, &dev)) != 0) {
		snprintf(g->nvml_why, sizeof g->nvml_why, "%s", m.error(status));
		return;
	}
	if (m.driver(g->driver, sizeof g->driver) != 0)
		*g->driver = '\0';
	if ((status = m.memory(dev, &memory)) == 0) {
		g->total_bytes = (int64_t)memory.total;
		g->used_bytes = (int64_t)memory.used;
		g->free_bytes = (int64_t)memory.free;
	} else
		snprintf(g->nvml_why, sizeof g->nvml_why, "memory: %s", m.error(status));
	if (m.clock(dev, NVML_CLOCK_SM, &mhz) == 0)
		g->sm_hz = (int64_t)mhz * 1000000;
	if (m.max_clock(dev, NVML_CLOCK_SM, &mhz) == 0)
		g->sm_max_hz = (int64_t)mhz * 1000000;
	if (m.clock(dev, NVML_CLOCK_MEMORY, &mhz) == 0)
		g->memory_hz = (int64_t)mhz * 1000000;
	if (m.ecc(dev, &now, &later) == 0)
		g->ecc = now;
	if (m.mig(dev, &on, &pending) == 0)
		g->mig = (int)on;
	if (m.throttle(dev, &bits) == 0) {
		g->throttle = bits;
		g->has_throttle = true;
	}
	if (m.busy(dev, busy) == 0)
		g->busy_percent = (int)busy[0];
	/* With room for none, it says how many there are. */
	status = m.processes(dev, &n, NULL);
	if (status == 0 || status == NVML_INSUFFICIENT_SIZE)
		g->n_processes = (int)n;
}

void
gpu_probe(struct gpu *g, int device)
{
	*g = (struct gpu){ .n_gpus = UNKNOWN, .major = UNKNOWN, .minor = UNKNOWN, .n_sms = UNKNOWN,
	    .integrated = UNKNOWN, .bus_bits = UNKNOWN, .l2_bytes = UNKNOWN,
	    .memory_bytes = UNKNOWN, .shared_bytes = UNKNOWN, .total_bytes = UNKNOWN,
	    .used_bytes = UNKNOWN, .free_bytes = UNKNOWN, .sm_hz = UNKNOWN,
	    .sm_max_hz = UNKNOWN, .memory_hz = UNKNOWN, .ecc = UNKNOWN,
	    .mig = UNKNOWN, .busy_percent = UNKNOWN, .n_processes = UNKNOWN };
	cuda_probe(g, device);
	if (g->found) {
		nvml_probe(g);
		chip_find(g, device);
	}
}

static void
number(struct out *o, const char *key, int64_t n)
{
	if (n >= 0)
		out_kv_count(o, key, (uint64_t)n);
	else
		out_kv(o, key, NULL);
}

static void
text(struct out *o, const char *key, const char *s)
{
	out_kv(o, key, s != NULL && *s != '\0' ? s : NULL);
}

static void
throttle(struct out *o, const struct gpu *g)
{
	static const char *const reasons[] = { "idle", "application_clocks",
	    "software_power_cap", "hardware_slowdown", "sync_boost",
	    "software_thermal", "hardware_thermal", "hardware_power_brake",
	    "display_clocks" };
	char list[256] = "";

	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (g->throttle >> i & 1) {
			size_t len = strlen(list);

			snprintf(list + len, sizeof list - len, "%s%s",
			    len != 0 ? "," : "", reasons[i]);
		}
	if (g->throttle >> sizeof reasons / sizeof *reasons != 0)
		snprintf(list, sizeof list, "0x%" PRIx64, g->throttle);
	out_kv(o, "gpu_throttle", !g->has_throttle ? NULL : *list != '\0' ? list : "none");
}

void
gpu_print(struct out *o, const struct gpu *g)
{
	char buf[32] = "";

	number(o, "n_gpus", g->n_gpus);
	text(o, "gpu", g->name);
	text(o, "gpu_why", g->why);
	text(o, "gpu_chip", g->chip);
	text(o, "gpu_chip_source", g->chip_source);
	if (g->major >= 0)
		snprintf(buf, sizeof buf, "%d.%d", g->major, g->minor);
	text(o, "gpu_cc", buf);
	number(o, "gpu_n_sms", g->n_sms);
	number(o, "gpu_l2_bytes", g->l2_bytes);
	number(o, "gpu_shared_bytes", g->shared_bytes);
	number(o, "gpu_memory_bytes", g->memory_bytes);
	number(o, "gpu_memory_bus_bits", g->bus_bits);
	number(o, "gpu_integrated", g->integrated);
	text(o, "gpu_bus", g->bus);
	text(o, "gpu_driver_version", g->driver);
	*buf = '\0';
	if (g->cuda_version > 0)
		snprintf(buf, sizeof buf, "%d.%d", g->cuda_version / 1000,
		    g->cuda_version % 1000 / 10);
	text(o, "gpu_cuda_version", buf);
	number(o, "gpu_sm_clock_hz", g->sm_hz);
	number(o, "gpu_sm_clock_max_hz", g->sm_max_hz);
	number(o, "gpu_memory_clock_hz", g->memory_hz);
	number(o, "gpu_ecc", g->ecc);
	number(o, "gpu_mig", g->mig);
	throttle(o, g);
	number(o, "gpu_busy_percent", g->busy_percent);
	number(o, "gpu_n_processes", g->n_processes);
	number(o, "nvml_total_bytes", g->total_bytes);
	number(o, "nvml_used_bytes", g->used_bytes);
	number(o, "nvml_free_bytes", g->free_bytes);
	text(o, "nvml_why", g->nvml_why);
}
