/*
 * run.h: what the tables of one run have in common: phases and steps in their
 * order, and the unprofiled durations that every rate is made from.
 */
#ifndef RUN_H
#define RUN_H

#include "ns.h"

#define NO_STEP (-1)		/* step NA: the phase as a whole */
int64_t	run_step(const struct tsv *, size_t col);	/* NO_STEP if NA */
void	out_step(struct out *, int64_t);
int	phase_cmp(const char *, const char *);	/* prefill, decode, others, NA */

/* baseline.tsv; rows whose repeat is NA are warm-up and left out. */
struct baseline_row {
	int64_t	 repeat, step;
	char	*phase;
	uint64_t n_tokens, dur_ns;
};
struct baseline {
	size_t	 n, cap;
	struct baseline_row *row;
};
void	baseline_read(struct baseline *, const char *path);

/* Tokens of a step, or of all steps for NO_STEP; NAN where there is no row. */
double	baseline_tokens(const struct baseline *, const char *phase, int64_t step);

/* The median over the repeats of the time those steps took together. */
double	baseline_dur_ns(const struct baseline *, const char *phase,
	    const int64_t *step, size_t n_steps);	/* ascending; none: all */
void	baseline_free(struct baseline *);

#endif
