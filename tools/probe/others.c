/* others.c: programs that hold the GPU's counters, of which there is one set. */
#include <ctype.h>
#include <dirent.h>
#include <err.h>

#include "probe.h"

/* As /proc/PID/comm has them, at most 15 characters. */
static const char *const profilers[] = {
	"ncu", "nsys", "nsys-launcher", "nv-hostengine", "dcgmi", "dcgm-exporter",
};

static bool
is_profiler(const char *name)
{
	for (size_t i = 0; i < sizeof profilers / sizeof *profilers; i++)
		if (strcmp(name, profilers[i]) == 0)
			return true;
	return false;
}

/* Ended, and nobody has asked how: it holds nothing. */
static bool
is_zombie(const char *root, const char *pid)
{
	char *path = xasprintf("/proc/%s/status", pid);
	char *state = host_value(root, path, "State");
	bool yes = state != NULL && *state == 'Z';

	free(state);
	free(path);
	return yes;
}

/* name:pid,name:pid or none; NA without /proc. */
void
others_print(struct out *o, const char *root)
{
	char *proc = xasprintf("%s/proc", root), *list = NULL;
	DIR *d = opendir(proc);
	struct dirent *e;

	while (d != NULL && (e = readdir(d)) != NULL) {
		char *path, *name, *longer;

		if (!isdigit((unsigned char)*e->d_name))
			continue;
		path = xasprintf("/proc/%s/comm", e->d_name);
		name = host_line(root, path);
		if (name != NULL && is_profiler(name) && !is_zombie(root, e->d_name)) {
			longer = xasprintf("%s%s%s:%s", list != NULL ? list : "",
			    list != NULL ? "," : "", name, e->d_name);
			free(list);
			list = longer;
		}
		free(name);
		free(path);
	}
	out_kv(o, "profilers", d == NULL ? NULL : list != NULL ? list : "none");
	if (d != NULL)
		closedir(d);
	free(list);
	free(proc);
}
