/* choose.h: what the parts of ns-choose share. */
#ifndef CHOOSE_H
#define CHOOSE_H

#include "ns.h"

/* A kernel and the shape that it was launched in, in one phase. */
struct launched {
	char	*phase, *kernel, *grid, *block, *registers, *shared;
	int64_t	 step;			/* the last in which it ran */
	uint64_t n;
	int64_t	 sum_ns, own_ns;
	double	 share_ratio;		/* of the own time of the phase's kernels */
	uint64_t rank;			/* within its phase, from 1 */
};

/* name.c: "void f<int, 2>(float*)" as f<int, 2>; what is no C++ name as it is. */
char	*readable_name(const char *mangled);

/* ask.c: the options that make ncu profile each of them once. */
void	ask(FILE *, const struct launched *, size_t n);

#endif
