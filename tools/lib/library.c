/* library.c: functions of libraries that are loaded where they are. */
#include <dlfcn.h>
#include <glob.h>

#include "library.h"

/* A function's address goes by memory: ISO C casts no object pointer to it. */
const char *
library_find(void *library, const struct symbol *s, size_t n)
{
	for (; n > 0; n--, s++) {
		void *f = dlsym(library, s->name);

		if (f == NULL && s->or != NULL)
			f = dlsym(library, s->or);
		if (f == NULL)
			return s->name;
		memcpy(s->to, &f, sizeof f);
	}
	return NULL;
}

static void *
having(const char *path, const char *function)
{
	void *library = dlopen(path, RTLD_NOW);

	return library != NULL && dlsym(library, function) != NULL ? library : NULL;
}		/* one that has not stays: libcupti does not like to be unloaded */

static void *
newest(const char *pattern, const char *function)
{
	void *library = NULL;
	glob_t g;

	if (glob(pattern, 0, NULL, &g) != 0)
		return NULL;
	for (size_t i = g.gl_pathc; library == NULL && i > 0; i--)
		library = having(g.gl_pathv[i - 1], function);
	globfree(&g);
	return library;
}

void *
library_cupti(const char *function)
{
	static const char *const names[] = { "libcupti.so.13", "libcupti.so.12",
	    "libcupti.so" };
	static const char *const places[] = {
	    "/usr/local/cuda*/targets/*/lib/libcupti.so*",
	    "/usr/local/cuda*/lib*/libcupti.so*",
	    "/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so*",
	    "/opt/cuda/lib*/libcupti.so*",
	    "/opt/cuda/extras/CUPTI/lib64/libcupti.so*" };
	void *library = NULL;

	for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++)
		library = having(names[i], function);
	for (size_t i = 0; library == NULL && i < sizeof places / sizeof *places; i++)
		library = newest(places[i], function);
	return library;
}
