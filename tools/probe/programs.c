/* programs.c: which programs are here, where, and which version. */
#include <err.h>
#include <glob.h>
#include <regex.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

static const struct {
	const char *name, *elsewhere[4];	/* beside PATH; the newest counts */
} programs[] = {
	{ "valgrind", { NULL } },
	{ "gnuplot", { NULL } },
	{ "sqlite3", { NULL } },
	{ "nsys", { "/usr/local/cuda*/bin/nsys", "/opt/nvidia/nsight-systems/*/bin/nsys",
	    "/opt/nvidia/nsight-systems-cli/*/bin/nsys",
	    "/opt/nvidia/nsight-compute/*/host/target-linux-*/nsys" } },
	{ "ncu", { "/usr/local/cuda*/bin/ncu", "/opt/nvidia/nsight-compute/*/ncu", NULL } },
	{ "nvcc", { "/usr/local/cuda*/bin/nvcc", NULL } },
	{ "python3", { NULL } },
};

static bool
is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static char *
on_path(const char *name)
{
	const char *p = getenv("PATH");

	while (p != NULL && *p != '\0') {
		size_t n = strcspn(p, ":");
		char *full = xasprintf("%.*s/%s", (int)n, p, name);

		if (*full == '/' && is_program(full))
			return full;
		free(full);
		p += n + (p[n] == ':');
	}
	return NULL;
}

static char *
elsewhere(const char *root, const char *const places[4])
{
	char *newest = NULL;

	for (size_t i = 0; i < 4 && places[i] != NULL; i++) {
		char *pattern = xasprintf("%s%s", root, places[i]);
		glob_t g;

		if (glob(pattern, 0, NULL, &g) == 0) {
			for (size_t k = 0; k < g.gl_pathc; k++)
				if (is_program(g.gl_pathv[k]) && (newest == NULL ||
				    strverscmp(g.gl_pathv[k], newest) > 0)) {
					free(newest);
					newest = xstrdup(g.gl_pathv[k]);
				}
			globfree(&g);
		}
		free(pattern);
		if (newest != NULL)
			break;
	}
	return newest;
}

/* What it says, on either channel; it is given so long. */
char *
program_says(const char *const argv[], unsigned seconds)
{
	enum { MOST = 16384 };
	char *said = xalloc(MOST + 1, 1);
	size_t len = 0;
	ssize_t got;
	int fd[2];
	pid_t pid;

	if (pipe(fd) != 0 || (pid = fork()) < 0)
		err(NS_TROUBLE, "%s", argv[0]);
	if (pid == 0) {
		alarm(seconds);
		if (dup2(fd[1], STDOUT_FILENO) < 0 || dup2(fd[1], STDERR_FILENO) < 0)
			_exit(127);
		close(fd[0]);
		close(fd[1]);
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(fd[1]);
	while (len < MOST && (got = read(fd[0], said + len, MOST - len)) > 0)
		len += (size_t)got;
	close(fd[0]);
	waitpid(pid, NULL, 0);
	return said;
}

/* The first thing with a dot between digits. */
static char *
version(const char *path)
{
	char *said = program_says((const char *[]){ path, "--version", NULL }, 10);
	regmatch_t m;
	regex_t re;
	char *v = NULL;

	if (regcomp(&re, "[0-9]+(\\.[0-9]+)+", REG_EXTENDED) != 0)
		errx(NS_TROUBLE, "regcomp");
	if (regexec(&re, said, 1, &m, 0) == 0)
		v = xasprintf("%.*s", (int)(m.rm_eo - m.rm_so), said + m.rm_so);
	regfree(&re);
	free(said);
	return v;
}

char *
program_find(const char *root, const char *name)
{
	char *path = on_path(name);

	for (size_t i = 0; path == NULL && i < sizeof programs / sizeof *programs; i++)
		if (strcmp(programs[i].name, name) == 0)
			path = elsewhere(root, programs[i].elsewhere);
	return path;
}

void
programs_print(struct out *o, const char *root)
{
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		char *path = program_find(root, programs[i].name);
		char *key = xasprintf("%s_version", programs[i].name);
		char *v = path != NULL ? version(path) : NULL;

		out_kv(o, programs[i].name, path);
		out_kv(o, key, v);
		free(key);
		free(path);
		free(v);
	}
}
