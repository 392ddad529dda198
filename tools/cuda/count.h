/* count.h: counters over ranges of a run, by CUPTI's range profiler. */
#ifndef COUNT_H
#define COUNT_H

#include "../worker/backend.h"

struct count_device {
	void	*context;		/* a CUcontext */
	size_t	 index;
	void	 (*wait)(void);		/* until the context has done its work */
};
struct count *count_open(const char **metric, size_t n, size_t n_ranges,
	    const struct count_device *);	/* dies */
size_t	count_passes(const struct count *);
void	count_run(struct count *, void (*work)(void *), void *);
void	count_range(struct count *, const char *name);
struct counts count_read(const struct count *);
void	count_close(struct count *);

#endif
