/* lt.c: find cuBLASLt, its functions, and a handle. */
#include <dlfcn.h>

#include "lt.h"

/* The loader's places first, then the toolkit's own. */
static void *
find_library(void)
{
	static const char *const folders[] = { "", "/usr/local/cuda/lib64/" };

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		char *name = xasprintf("%slibcublasLt.so.%d", folders[i],
		    CUBLAS_VER_MAJOR);
		void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

		free(name);
		if (library != NULL)
			return library;
	}
	return NULL;
}

/* A function's address goes by memory: ISO C casts no object pointer to it. */
static bool
find(void *library, const char *name, void *function)
{
	void *p = dlsym(library, name);

	memcpy(function, &p, sizeof p);
	return p != NULL;
}

#define LT_FIND(name, function) && find(lt->library, #function, &lt->name)

bool
lt_open(struct lt *lt)
{
	*lt = (struct lt){ .library = find_library() };
	if (lt->library == NULL)
		return false;
	if (true LT_FUNCTIONS(LT_FIND) &&
	    lt->create(&lt->handle) == CUBLAS_STATUS_SUCCESS)
		return true;
	dlclose(lt->library);
	lt->library = NULL;
	return false;
}

void
lt_close(struct lt *lt)
{
	lt->destroy(lt->handle);
	dlclose(lt->library);
}
