/* library.h: libraries of a driver or toolkit that may not be there. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include "ns.h"

struct symbol {
	void	*to;			/* a function pointer */
	const char *name, *or;		/* or under another name, or NULL */
};
/* All of them, or the name of one that is not there. */
const char *library_find(void *library, const struct symbol *, size_t n);

/* The newest libcupti that has that function; NULL if none has. */
void	*library_cupti(const char *function);

#endif
