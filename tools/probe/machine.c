/* machine.c: processor, caches, memory, system. */
#include <err.h>
#include <sys/utsname.h>

#include "probe.h"

/* The cores of a machine whose /proc/cpuinfo has no names. */
static const struct {
	unsigned part;
	const char *name;
} arm[] = {
	{ 0xd0c, "Neoverse-N1" }, { 0xd40, "Neoverse-V1" }, { 0xd49, "Neoverse-N2" },
	{ 0xd4f, "Neoverse-V2" }, { 0xd84, "Neoverse-V3" }, { 0xd85, "Cortex-X925" },
	{ 0xd87, "Cortex-A725" },
};

static void
arm_name(const char *part, char *buf, size_t size)
{
	unsigned long id = strtoul(part, NULL, 16);
	const char *name = NULL;

	for (size_t i = 0; i < sizeof arm / sizeof *arm; i++)
		if (arm[i].part == id)
			name = arm[i].name;
	if (name != NULL)
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, "arm part 0x%lx", id);
}

struct cpu {
	uint64_t n;
	bool	 hypervisor;
	char	 name[160];	/* kinds of core joined by + */
};

static void
add_name(struct cpu *c, const char *name)
{
	size_t len = strlen(c->name);

	if (strstr(c->name, name) == NULL)
		snprintf(c->name + len, sizeof c->name - len, "%s%s",
		    len != 0 ? "+" : "", name);
}

static struct cpu
cpuinfo(const char *root)
{
	char *path = xasprintf("%s/proc/cpuinfo", root), *line = NULL;
	FILE *fp = fopen(path, "r");
	struct cpu c = { 0 };
	size_t cap = 0;

	free(path);
	if (fp == NULL)
		return c;
	while (getline(&line, &cap, fp) > 0) {
		char *v = strchr(line, ':'), name[64];

		if (v == NULL)
			continue;
		v += 1 + (v[1] == ' ');
		v[strcspn(v, "\n")] = '\0';
		if (strncmp(line, "processor\t", 10) == 0)
			c.n++;
		else if (strncmp(line, "model name", 10) == 0)
			add_name(&c, v);
		else if (strncmp(line, "CPU part", 8) == 0) {
			arm_name(v, name, sizeof name);
			add_name(&c, name);
		} else if (strncmp(line, "flags", 5) == 0)
			c.hypervisor |= strstr(v, " hypervisor") != NULL;
	}
	free(line);
	fclose(fp);
	return c;
}

/* Virtual machines say so in cpuinfo (x86), in sysfs, or by their vendor. */
static bool
virtual(const char *root, const struct cpu *c)
{
	static const char *const vendors[] = { "QEMU", "Amazon EC2", "Google",
	    "VMware", "Xen", "innotek", "OpenStack", "KubeVirt" };
	char *type = host_line(root, "/sys/hypervisor/type");
	char *vendor = host_line(root, "/sys/class/dmi/id/sys_vendor");
	bool yes = c->hypervisor || type != NULL;

	for (size_t i = 0; vendor != NULL && i < sizeof vendors / sizeof *vendors; i++)
		yes |= strncmp(vendor, vendors[i], strlen(vendors[i])) == 0;
	free(type);
	free(vendor);
	return yes;
}

static void
cache(struct out *o, const char *key, const char *root, unsigned level)
{
	struct host_cache c;

	if (host_cache(root, level, CACHE_DATA, &c))
		out_kv_count(o, key, c.bytes);
	else
		out_kv(o, key, NULL);
}

static void
memory(struct out *o, const char *key, const char *root, const char *name)
{
	uint64_t bytes;

	if (host_meminfo(root, name, &bytes))
		out_kv_count(o, key, bytes);
	else
		out_kv(o, key, NULL);
}

static void
text(struct out *o, const char *key, char *s)
{
	out_kv(o, key, s != NULL && *s != '\0' ? s : NULL);
	free(s);
}

void
machine_print(struct out *o, const char *root)
{
	struct cpu c = cpuinfo(root);
	struct host_cache last = host_last_level(root);
	struct utsname u;

	text(o, "machine", host_line(root, "/sys/class/dmi/id/product_name"));
	out_kv(o, "cpu", *c.name != '\0' ? c.name : NULL);
	out_kv(o, "arch", uname(&u) == 0 ? u.machine : NULL);
	if (c.n != 0)
		out_kv_count(o, "n_cores", c.n);
	else
		out_kv(o, "n_cores", NULL);
	cache(o, "l1d_bytes", root, 1);
	cache(o, "l2_bytes", root, 2);
	cache(o, "l3_bytes", root, 3);
	if (last.total_bytes != 0)
		out_kv_count(o, "last_level_bytes", last.total_bytes);
	else
		out_kv(o, "last_level_bytes", NULL);
	memory(o, "memory_bytes", root, "MemTotal");
	memory(o, "memory_available_bytes", root, "MemAvailable");
	text(o, "kernel", host_line(root, "/proc/sys/kernel/osrelease"));
	text(o, "os", host_value(root, "/etc/os-release", "PRETTY_NAME"));
	out_kv_count(o, "virtual", virtual(root, &c));
	text(o, "perf_event_paranoid",
	    host_line(root, "/proc/sys/kernel/perf_event_paranoid"));
}
