/*
 * name.c: a kernel's name for people.  A few hundred letters can stand for a name of
 * gigabytes, so that it is spelled out by a process of its own, whose time and memory
 * are limited.
 */
#include <dlfcn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "choose.h"
#include "signature.h"

#define LIMIT(what, most) setrlimit(what, &(struct rlimit){ most, most })
enum { SECONDS = 1, MORE_BYTES = 64 << 20, LONGEST = 1 << 16 };
typedef char *demangler(const char *, char *, size_t *, int *);

/* The C++ runtime has one, and is on every machine that has nvcc or ncu. */
static demangler *
find_demangler(void)
{
	void *lib = dlopen("libstdc++.so.6", RTLD_NOW);

	return lib != NULL ? (demangler *)dlsym(lib, "__cxa_demangle") : NULL;
}

/* Of this process, as it is; 0: not known. */
static rlim_t
address_space(void)
{
	unsigned long pages = 0;
	FILE *fp = fopen("/proc/self/statm", "r");

	if (fp != NULL) {
		if (fscanf(fp, "%lu", &pages) != 1)
			pages = 0;
		fclose(fp);
	}
	return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static _Noreturn void
spell(demangler *demangle, const char *mangled, int to)
{
	FILE *fp = fdopen(to, "w");
	char *s;

	LIMIT(RLIMIT_CORE, 0);
	LIMIT(RLIMIT_CPU, SECONDS);
	LIMIT(RLIMIT_AS, address_space() + MORE_BYTES);
	s = demangle(mangled, NULL, NULL, NULL);
	_exit(fp == NULL || s == NULL || fputs(s, fp) < 0 || fclose(fp) != 0);
}

/* NULL: it is none, or one that nobody would read. */
static char *
demangled(demangler *demangle, const char *mangled)
{
	int end[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;
	char *s;

	if (pipe(end) != 0 || (pid = fork()) < 0)
		return NULL;
	if (pid == 0)
		spell(demangle, mangled, end[1]);
	close(end[1]);
	s = xalloc(LONGEST, 1);
	while (n < LONGEST - 1 && (got = read(end[0], s + n, LONGEST - 1 - n)) > 0)
		n += (size_t)got;
	close(end[0]);
	if (waitpid(pid, &status, 0) == pid && status == 0)
		return s;
	free(s);
	return NULL;
}

char *
readable_name(const char *mangled)
{
	static demangler *demangle;
	static bool tried;
	char *s, *name;

	if (!tried) {
		tried = true;
		demangle = find_demangler();
	}
	if (demangle == NULL || strncmp(mangled, "_Z", 2) != 0 ||
	    (s = demangled(demangle, mangled)) == NULL)
		return xstrdup(mangled);
	name = xstrdup(signature_name(s));
	free(s);
	return name;
}
