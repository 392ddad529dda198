/* plan.h: which metrics are counted together, and who says what fits. */
#ifndef PLAN_H
#define PLAN_H

#include "cupti.h"
#include "ns.h"

struct wanted {			/* metrics, each once, those that must share */
	size_t	 n, cap, n_must;	/* a pass first */
	const char **name;
};
struct group {			/* counted together, in n_passes passes */
	size_t	 n;
	const char **name;
	unsigned n_passes;
};
struct plan {
	size_t	 n;
	struct group *group;
};

/* Dies unless the chip counts each of them. */
void	pack_check(const struct wanted *, const struct cupti *);
void	pack(struct plan *, const struct wanted *, const struct cupti *);
void	plan_free(struct plan *);

/* From a plan that was made elsewhere; how many passes that takes. */
unsigned recorded_print(const char *path, const struct wanted *, const char *chip);

#endif
