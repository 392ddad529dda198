/* name.c: a kernel's name for people. */
#include <dlfcn.h>
#include <string.h>

#include "choose.h"
#include "signature.h"

typedef char *demangler(const char *, char *, size_t *, int *);

/* The C++ runtime has one, and is on every machine that has nvcc or ncu. */
static demangler *
find_demangler(void)
{
	void *lib = dlopen("libstdc++.so.6", RTLD_NOW);

	return lib != NULL ? (demangler *)dlsym(lib, "__cxa_demangle") : NULL;
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
	    (s = demangle(mangled, NULL, NULL, NULL)) == NULL)
		return xstrdup(mangled);
	name = xstrdup(signature_name(s));
	free(s);
	return name;
}
