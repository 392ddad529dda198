/* name.c: a kernel's name for people. */
#include <dlfcn.h>
#include <string.h>

#include "choose.h"

typedef char *demangler(const char *, char *, size_t *, int *);

/* The C++ runtime has one, and is on every machine that has nvcc or ncu. */
static demangler *
find_demangler(void)
{
	void *lib = dlopen("libstdc++.so.6", RTLD_NOW);

	return lib != NULL ? (demangler *)dlsym(lib, "__cxa_demangle") : NULL;
}

/* Where the parameters begin: the parenthesis that the last one closes. */
static char *
parameters(char *s)
{
	char *p = s + strlen(s);
	int depth = 0;

	if (p == s || p[-1] != ')')
		return NULL;
	while (p-- > s) {
		depth += (*p == ')') - (*p == '(');
		if (depth == 0)
			return p;
	}
	return NULL;
}

/* What follows the return type, which stands before a template's name. */
static char *
after_type(char *s)
{
	char *from = s;
	int depth = 0;

	for (char *p = s; *p != '\0'; p++) {
		depth += (strchr("<({[", *p) != NULL) - (strchr(">)}]", *p) != NULL);
		if (depth == 0 && *p == ' ')
			from = p + 1;
	}
	return from;
}

char *
readable_name(const char *mangled)
{
	static demangler *demangle;
	static bool tried;
	char *s, *end, *name;

	if (!tried) {
		tried = true;
		demangle = find_demangler();
	}
	if (demangle == NULL || strncmp(mangled, "_Z", 2) != 0 ||
	    (s = demangle(mangled, NULL, NULL, NULL)) == NULL)
		return xstrdup(mangled);
	if ((end = parameters(s)) != NULL && end > s)
		*end = '\0';
	name = xstrdup(after_type(s));
	free(s);
	return name;
}
