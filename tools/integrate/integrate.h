/* integrate.h: windows, the device's busy time, and what samples are called. */
#ifndef INTEGRATE_H
#define INTEGRATE_H

#include "intern.h"
#include "ns.h"

struct window {
	char	*phase;
	int64_t	 step, start, end;
	uint64_t nth;		/* of the windows of this phase and step, from 0 */
	size_t	 sum;		/* which sum it is part of */
};
struct interval {
	int64_t	 start, end, before;	/* before: busy time up to its start */
};
struct windows {
	struct window *w;	/* by start, the longer first */
	size_t	 n, cap;
	size_t	*first, n_sums;	/* the first window of each sum, by time */
	struct interval *busy;	/* disjoint, ascending */
	size_t	 n_busy, busy_cap;
	bool	 worked;	/* the work was there, so busy time is known */
	bool	 all;		/* one window, of whatever there is */
	bool	 totals;	/* one sum for all windows of a phase */
};
void	windows_read(struct windows *, const char *path);	/* work, or windows alone */
void	windows_all(struct windows *);
int64_t	busy_within(const struct windows *, int64_t start, int64_t end);
void	windows_free(struct windows *);

/* What is shown as "L2 [sum]" counts which metric, if it is a counter. */
struct names {
	struct intern shown;
	char	**metric;	/* of each shown */
	size_t	 cap;
};
void	names_add(struct names *, const char *arg);	/* SHOWN=METRIC */
void	names_read(struct names *, const char *path);	/* column shown of a registry */
/* A new string; NULL, and why, if it counts nothing. */
char	*names_metric(const struct names *, const char *shown, const char *unit,
	    const char **why);
void	names_free(struct names *);

/* Sums of samples over windows. */
struct metric {
	char	*shown, *name, *unit;
	const char *why;	/* it is no counter: name is NULL */
};
struct cell {			/* a metric of a GPU in a window */
	double	 value, edge;
	uint64_t n, n_overflow, n_absent;
};
struct place {			/* a GPU in the windows of one sum */
	uint64_t n;		/* times at which it was sampled */
	int64_t	 wanted, covered, longest;
	struct cell *cell;	/* by metric */
	size_t	 cap;
};
enum { PERIODS = 1 << 14 };
struct gpu {
	int64_t	 number;
	int64_t	 time, period;	/* of the samples in hand */
	struct place *place;	/* by sum */
	struct share *share;	/* of the sums whose windows the time in hand meets */
	size_t	 n_share, share_cap;
	int64_t	*periods;	/* the first ones */
	size_t	 n_periods, periods_cap;
};
struct sums {
	const struct windows *win;
	const struct names *names;
	bool	 busy;		/* nothing counts but samples with work in them */
	int64_t	 only;		/* the GPU, or ANY_GPU */
	struct intern shown;
	struct metric *metric;
	size_t	 metric_cap, n_counters;
	struct gpu *gpu;
	size_t	 n_gpu, gpu_cap;
	size_t	*open, n_open, open_cap, next;	/* windows around the time in hand */
	int64_t	 time;
};
enum { ANY_GPU = -1 };
void	sums_read(struct sums *, const char *path);
int64_t	usual_period(struct gpu *);	/* the median of the first */
void	sums_free(struct sums *);

#endif
