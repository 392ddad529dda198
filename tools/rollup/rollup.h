/* rollup.h: the registry of metrics, and the sums of what was counted. */
#ifndef ROLLUP_H
#define ROLLUP_H

#include "intern.h"

enum quantity { Q_BYTES, Q_REQUESTS, Q_HITS, Q_MISSES, Q_FLOP, Q_TIME,
	Q_ACTIVITY, Q_CYCLES };
enum rung { R_REGISTERS, R_SHARED, R_L1, R_XBAR, R_L2, R_MEMORY, R_NONE };
enum direction { D_ANY, D_READ, D_WRITE, D_BOTH, D_NONE };	/* READ | WRITE = BOTH */
enum role { ROLE_VALUE, ROLE_WITNESS, ROLE_SENTINEL };

/* Their names in the table, in that order, then NULL. */
extern const char *const quantities[], *const rungs[], *const directions[],
	*const roles[];

struct term {			/* a row of metrics.tsv */
	enum quantity quantity;
	enum rung rung;
	enum direction direction;
	enum role role;
	uint32_t metric;	/* its number in registry.metric */
	double	 factor;
	uint64_t tier;		/* above TIER_TOTALS it may be absent */
};
enum { TIER_TOTALS = 1 };
struct registry {
	size_t	 n, cap;
	struct term *term;
	struct intern metric;
};
void	registry_read(struct registry *, const char *path);
void	registry_free(struct registry *);

/* What the launches of one step, or of one phase, add up to. */
struct total {
	char	*source, *phase;
	int64_t	 step;
	uint64_t n_launches;
	double	*sum;		/* of each metric of the registry */
	uint64_t *n_seen;	/* launches that have a value for it */
};
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
