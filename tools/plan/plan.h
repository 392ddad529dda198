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

/* libcupti, which knows every chip, present or not. */
struct cupti {
	const char *chip;
	int	 profiler;
	int	 (*version)(uint32_t *);
	int	 (*chips)(struct host_chips *);
	int	 (*init)(struct host_init *);
	int	 (*fini)(struct host_fini *);
	int	 (*add)(struct host_add *);
	int	 (*image_size)(struct host_image_size *);
	int	 (*image)(struct host_image *);
	int	 (*passes)(struct host_passes *);
};
/* False where there is none, or one from before the host interface. */
bool	cupti_open(struct cupti *, const char *path);	/* NULL: usual places */
void	cupti_choose(struct cupti *, const char *chip, bool sampling);	/* dies */
unsigned cupti_version(const struct cupti *);
/* 0: one of them is unknown there, or they cannot be counted together. */
unsigned cupti_passes(const struct cupti *, const char **name, size_t n);

/* Dies unless the chip counts each of them. */
void	pack_check(const struct wanted *, const struct cupti *);
void	pack(struct plan *, const struct wanted *, const struct cupti *);
void	plan_free(struct plan *);

/* From a plan that was made elsewhere; how many passes that takes. */
unsigned recorded_print(const char *path, const struct wanted *, const char *chip);

#endif
