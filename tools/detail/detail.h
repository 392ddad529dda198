/* detail.h: what the parts of ns-detail share. */
#ifndef DETAIL_H
#define DETAIL_H

#include "registry.h"
#include "table.h"

/* detail.tsv of a platform: what else is told of a launch, and by which metric. */
enum fact { F_OCCUPANCY, F_OCCUPANCY_LIMIT, F_LIMIT_REGISTERS, F_LIMIT_SHARED,
	F_LIMIT_WARPS, F_LIMIT_BARRIERS, F_LIMIT_BLOCKS, F_REGISTERS,
	F_SHARED_STATIC, F_SHARED_DYNAMIC, F_WAVES, F_SMS, F_ISSUE, N_FACTS };
extern const char *const facts[N_FACTS];	/* their names in the table */
struct item {
	uint32_t metric;		/* its number in the registry; INTERN_NONE: none */
	double	 factor;
};
struct stall {
	struct item item;
	char	*reason, *waits_for;	/* "long_scoreboard", "data from L1, ..." */
};
struct items {
	struct item fact[N_FACTS];
	size_t	 n_stalls, cap;
	struct stall *stall;
};
void	items_read(struct items *, struct registry *, const char *path);
void	items_free(struct items *);

/* launches.c: every launch that was profiled, with the metrics that are known. */
struct launch {
	char	*phase, *kernel, *grid, *block;
	double	*value;			/* of each metric; NAN: missing */
	bool	 taken;
};
struct launches {
	size_t	 n, cap, n_metrics;
	struct launch *l;
};
void	launches_read(struct launches *, const struct registry *, const char *path);
void	launches_free(struct launches *);

/* One kernel, as it is told. */
enum { N_TOP = 3 };
struct told {
	double	 dur_ns, read[R_NONE], write[R_NONE], bytes[R_NONE];
	double	 l1_hit, l2_hit, flop, tensor, fact[N_FACTS];
	double	 memory_rate, of_memory, l2_rate, of_l2, n_blocks;
	const char *ceiling;		/* which of memory: read, write, copy */
	char	 limited_by[64];	/* "" if it is not known */
	const struct stall *top[N_TOP];
	double	 top_ratio[N_TOP];
};
char	*reading(const struct told *);	/* one line; NULL: nothing can be said */

#endif
