/*
 * gpu.c: what the driver says of a GPU.  Its libraries are loaded if they are
 * there, so that this builds and runs on a machine without them.
 */
#include <dlfcn.h>

#include "library.h"
#include "probe.h"

/* The few attributes that are asked for, as cuda.h numbers them. */
enum { SM_COUNT = 16, INTEGRATED = 18, MEMORY_BUS_BITS = 37, L2_BYTES = 38,
    CC_MAJOR = 75, CC_MINOR = 76, SHARED_PER_SM = 81 };

struct cuda {
	int	(*init)(unsigned), (*version)(int *), (*count)(int *);
	int	(*get)(int *, int), (*name)(char *, int, int);
	int	(*attribute)(int *, int, int), (*memory)(size_t *, int);
	int	(*bus)(char *, int, int), (*error)(int, const char **);
};

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
	    library_find(lib, all, sizeof all / sizeof *all);
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

void
gpu_probe(struct gpu *g, int device)
{
	*g = (struct gpu){ .n_gpus = UNKNOWN, .major = UNKNOWN, .minor = UNKNOWN, .n_sms = UNKNOWN,
	    .integrated = UNKNOWN, .bus_bits = UNKNOWN, .l2_bytes = UNKNOWN,
	    .memory_bytes = UNKNOWN, .shared_bytes = UNKNOWN,
	    .cupti_version = UNKNOWN };
	cuda_probe(g, device);
	nvml_read(&g->nvml, g->found ? g->bus : NULL);
	if (g->found) {
		chip_find(g, device);
		g->cupti_version = counting_version();
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

void
gpu_print(struct out *o, const struct gpu *g)
{
	const struct nvml *n = &g->nvml;
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
	text(o, "gpu_driver_version", n->driver);
	*buf = '\0';
	if (g->cuda_version > 0)
		snprintf(buf, sizeof buf, "%d.%d", g->cuda_version / 1000,
		    g->cuda_version % 1000 / 10);
	text(o, "gpu_cuda_version", buf);
	number(o, "cupti_version", g->cupti_version);
	number(o, "gpu_sm_clock_hz", n->sm_hz);
	number(o, "gpu_sm_clock_max_hz", n->sm_max_hz);
	number(o, "gpu_memory_clock_hz", n->memory_hz);
	number(o, "gpu_ecc", n->ecc);
	number(o, "gpu_mig", n->mig);
	text(o, "gpu_throttle", n->throttle);
	number(o, "gpu_busy_percent", n->busy_percent);
	number(o, "gpu_n_processes", n->n_processes);
	number(o, "nvml_total_bytes", n->total_bytes);
	number(o, "nvml_used_bytes", n->used_bytes);
	number(o, "nvml_free_bytes", n->free_bytes);
	text(o, "nvml_why", n->why);
}
