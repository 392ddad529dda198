/* permission.c: may this process read the GPU's counters? */
#include <err.h>

#include "probe.h"

enum { CAP_SYS_ADMIN_BIT = 21 };

static bool
is_admin(const char *root)
{
	char *s = host_value(root, "/proc/self/status", "CapEff");
	bool yes = s != NULL && (strtoull(s, NULL, 16) >> CAP_SYS_ADMIN_BIT & 1) != 0;

	free(s);
	return yes;
}

enum permission
counters_permission(const char *root)
{
	char *s = host_value(root, "/proc/driver/nvidia/params", "RmProfilingAdminOnly");
	enum permission p = s == NULL ? COUNTERS_UNKNOWN :
	    strcmp(s, "0") == 0 ? COUNTERS_OPEN :
	    is_admin(root) ? COUNTERS_ADMIN : COUNTERS_DENIED;

	free(s);
	return p;
}

void
counters_print(struct out *o, enum permission p, const char *root)
{
	static const char *const why[] = {
		[COUNTERS_OPEN] = "open to all: RmProfilingAdminOnly is 0",
		[COUNTERS_ADMIN] = "for administrators, and this process is one",
		[COUNTERS_DENIED] = "for administrators: RmProfilingAdminOnly is 1",
		[COUNTERS_UNKNOWN] = "no RmProfilingAdminOnly in /proc/driver/nvidia/params",
	};

	out_kv(o, "counters_permitted", p == COUNTERS_UNKNOWN ? NULL :
	    p == COUNTERS_DENIED ? "0" : "1");
	out_kv(o, "counters_why", why[p]);
	out_kv(o, "admin", is_admin(root) ? "1" : "0");
}

int
counters_require(enum permission p, const struct gpu *g)
{
	switch (p) {
	case COUNTERS_OPEN:
	case COUNTERS_ADMIN:
		break;
	case COUNTERS_UNKNOWN:
		if (g->found) {
			warnx("whether GPU counters may be read cannot be told here: "
			    "/proc/driver/nvidia/params does not say; the first "
			    "capture will");
			return NS_OK;
		}
		break;
	case COUNTERS_DENIED:
		warnx("GPU counters are for administrators only "
		    "(RmProfilingAdminOnly: 1)\n"
		    "to open them to all, on the host itself, once:\n"
		    "  sudo ./setup/allow-counters.sh --apply\n"
		    "which writes 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' "
		    "to /etc/modprobe.d/nvidia-profiling.conf;\n"
		    "then update the initramfs if the module is in it, and reboot\n"
		    "or, in a container: start it with --cap-add=SYS_ADMIN\n"
		    "or: run as root");
		return NS_NO;
	}
	if (!g->found) {
		warnx("no GPU to count on: %s", g->why);
		return NS_NO;
	}
	return NS_OK;
}
