/* rollup.h: the sums of what was counted. */
#ifndef ROLLUP_H
#define ROLLUP_H

#include "registry.h"

struct counters {
	const struct registry *reg;
	size_t	 n_steps, steps_cap;
	struct total *step;
	struct intern steps, kernels, names;	/* names: of launches */
	struct intern launches;			/* step, kernel, name */
	uint16_t *file;		/* of each launch and metric, from 1; 0: missing */
	size_t	 file_cap, n_files;
	uint64_t n_again;	/* values that an earlier file has too */
	uint64_t n_negative;
	uint32_t last[4];	/* step, kernel, name, launch of the row before */
};
void	counters_read(struct counters *, const char *path);
void	counters_sort(struct counters *);	/* nothing can be read after */
void	total_add(struct total *, const struct total *, size_t n_metrics);
void	counters_free(struct counters *);

#endif
