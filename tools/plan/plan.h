/* plan.h: which metrics are counted together, and who says what fits. */
#ifndef PLAN_H
#define PLAN_H

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

/* libcupti, which knows every chip, present or not. */
struct cupti;
struct cupti *cupti_open(const char *path);	/* NULL: the usual places */
void	cupti_choose(struct cupti *, const char *chip, bool sampling);	/* dies */
unsigned cupti_version(const struct cupti *);
/* 0: one of them is unknown there, or they cannot be counted together. */
unsigned cupti_passes(const struct cupti *, const char **name, size_t n);
void	cupti_close(struct cupti *);

void	pack(struct plan *, const struct wanted *, const struct cupti *);
void	plan_free(struct plan *);

/* From a plan that was made elsewhere; how many passes that takes. */
unsigned recorded_print(const char *path, const struct wanted *, const char *chip);

#endif
