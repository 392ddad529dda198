/*
 * registry.h: the registry of metrics, which says what each metric of a platform
 * means, and what launches that were counted add up to under it.
 */
#ifndef REGISTRY_H
#define REGISTRY_H

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

/* What launches add up to: those of a step, of a phase, of a kernel. */
struct total {
	char	*source, *phase;
	int64_t	 step;
	uint64_t n_launches;
	double	*sum;		/* of each metric of the registry */
	uint64_t *n_seen;	/* launches that have a value for it */
};

/* One quantity of one rung, summed over its metrics. */
struct sum {
	double	 value;		/* NAN: nothing was measured */
	unsigned covered;	/* directions that the registry names */
	bool	 complete;	/* every launch has every metric */
};
struct sum registry_sum(const struct registry *, const struct total *,
	    enum quantity, enum rung, enum direction);
double	registry_hit_ratio(const struct registry *, const struct total *, enum rung);

/*
 * Is this metric needed, at that rung, for one of these quantities?  What only
 * a higher tier counts is welcome, not needed.
 */
bool	registry_needs(const struct registry *, uint32_t metric, enum rung,
	    enum quantity from, enum quantity to);

#endif
