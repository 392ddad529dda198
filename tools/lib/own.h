/*
 * own.h: a row's own time is the part of it in which nothing that began before it
 * still runs on its device; added up it is the device's busy time.
 */
#ifndef OWN_H
#define OWN_H

#include "ns.h"

struct own {
	struct own_device {
		int64_t	 device, end;	/* the latest of all rows so far */
	} *d;
	size_t	 n, cap;
};
int64_t	own_ns(struct own *, int64_t device, int64_t start, int64_t end);	/* in order of start */
void	own_free(struct own *);

#endif
