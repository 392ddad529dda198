/*
 * permission.c: may this process read the GPU's counters?  The driver's setting
 * says so; whether it is so, one kernel counted by ncu.
 */
#include <err.h>
#include <regex.h>
#include <unistd.h>

#include "probe.h"

enum { CAP_SYS_ADMIN_BIT = 21, PATIENCE = 60 };
#define METRIC "gpu__time_duration.sum"

static bool
is_admin(const char *root)
{
	char *s = host_value(root, "/proc/self/status", "CapEff");
	bool yes = s != NULL && (strtoull(s, NULL, 16) >> CAP_SYS_ADMIN_BIT & 1) != 0;

	free(s);
	return yes;
}

static struct counters
counters(enum permission is, const char *why)
{
	return (struct counters){ is, xstrdup(why) };
}

struct counters
counters_find(const char *root)
{
	char *s = host_value(root, "/proc/driver/nvidia/params", "RmProfilingAdminOnly");
	struct counters c = s == NULL ? counters(COUNTERS_UNKNOWN,
	    "no RmProfilingAdminOnly in /proc/driver/nvidia/params") :
	    strcmp(s, "0") == 0 ? counters(COUNTERS_OPEN,
	    "open to all: RmProfilingAdminOnly is 0") :
	    is_admin(root) ? counters(COUNTERS_ADMIN,
	    "for administrators, and this process is one") :
	    counters(COUNTERS_DENIED, "for administrators: RmProfilingAdminOnly is 1");

	free(s);
	return c;
}

/* The program that lies beside this one. */
static char *
beside(const char *name)
{
	char self[4096];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n <= 0)
		return NULL;
	self[n] = '\0';
	*(strrchr(self, '/') + 1) = '\0';
	return xasprintf("%s%s", self, name);
}

/* The last line that is not empty; cuts it out of said. */
static const char *
last_line(char *said)
{
	size_t n = strlen(said);
	const char *line;

	while (n > 0 && (said[n - 1] == '\n' || said[n - 1] == '\r'))
		said[--n] = '\0';
	line = strrchr(said, '\n');
	return *said == '\0' ? "nothing" : line != NULL ? line + 1 : said;
}

/* Is there a number of the metric in a table of ncu's? */
static bool
has_value(const char *said)
{
	regex_t re;
	bool has;

	if (regcomp(&re, "\"" METRIC "\",\"[^\"]*\",\"[0-9]", REG_EXTENDED | REG_NOSUB) != 0)
		errx(NS_TROUBLE, "regcomp");
	has = regexec(&re, said, 0, NULL, 0) == 0;
	regfree(&re);
	return has;
}

/* A kernel of ns-calib's canary, counted: what is so, whatever the setting says. */
void
counters_prove(struct counters *c, const struct gpu *g, const char *root)
{
	char *ncu = program_find(root, "ncu"), *calib = beside("ns-calib"), *said;

	if (g->found && ncu != NULL && calib != NULL) {
		said = program_says((const char *[]){ ncu, "--csv", "--launch-count", "1",
		    "--clock-control", "none", "--metrics", METRIC, calib, "-d", "cuda",
		    "--seconds", "0.01", "canary", NULL }, PATIENCE);
		free(c->why);
		*c = has_value(said) ? counters(COUNTERS_COUNTED, "one kernel was counted") :
		    strstr(said, "ERR_NVGPUCTRPERM") != NULL ? counters(COUNTERS_DENIED,
		    "one kernel was not counted: ERR_NVGPUCTRPERM") :
		    (struct counters){ COUNTERS_FAILED, xasprintf(
		    "one kernel was not counted: ncu said: %.200s", last_line(said)) };
		free(said);
	}
	free(ncu);
	free(calib);
}

void
counters_print(struct out *o, const struct counters *c, const char *root)
{
	out_kv(o, "counters_permitted", c->is == COUNTERS_UNKNOWN ? NULL :
	    c->is == COUNTERS_DENIED || c->is == COUNTERS_FAILED ? "0" : "1");
	out_kv(o, "counters_why", c->why);
	out_kv(o, "admin", is_admin(root) ? "1" : "0");
}

int
counters_require(const struct counters *c, const struct gpu *g)
{
	if (c->is == COUNTERS_DENIED) {
		warnx("GPU counters are for administrators only (%s)\n"
		    "to open them to all, on the host itself, once:\n"
		    "  sudo ./setup/allow-counters.sh --apply\n"
		    "which writes 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' "
		    "to /etc/modprobe.d/nvidia-profiling.conf;\n"
		    "then update the initramfs if the module is in it, and reboot\n"
		    "or, in a container: start it with --cap-add=SYS_ADMIN\n"
		    "or: run as root", c->why);
		return NS_NO;
	}
	if (!g->found) {
		warnx("no GPU to count on: %s", g->why);
		return NS_NO;
	}
	if (c->is == COUNTERS_FAILED) {
		warnx("%s; run it by hand: ncu --metrics " METRIC " ns-calib -d cuda canary",
		    c->why);
		return NS_NO;
	}
	if (c->is != COUNTERS_COUNTED)
		warnx("that GPU counters can be read is not proven (%s): there is no ncu "
		    "here to count a kernel; the first capture will tell", c->why);
	return NS_OK;
}
