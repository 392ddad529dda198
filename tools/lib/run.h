/*
 * run.h: the tables of one run that more than one tool joins: phases and steps
 * in their order, what was predicted, what was measured, how long it took.
 */
#ifndef RUN_H
#define RUN_H

#include "ns.h"

#define NO_STEP (-1)		/* step NA: the phase as a whole */
int64_t	run_step(const struct tsv *, size_t col);	/* NO_STEP if NA */
void	out_step(struct out *, int64_t);
void	step_sort(int64_t *, size_t n);
bool	step_among(int64_t, const int64_t *sorted, size_t n); /* n 0: yes */
int	phase_cmp(const char *, const char *);	/* prefill, decode, others, NA */

/* Sampled while the program ran (nsys), over all of it; else it was counted. */
bool	source_sampled(const char *source);

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

/* readset.tsv: what each step needs, all roles together. */
struct need {
	char	*phase;
	int64_t	 step;
	double	 read_bytes, write_bytes, flop;
};
struct readset {
	size_t	 n, cap;
	struct need *step;
};
void	readset_read(struct readset *, const char *path);
/* The sum over those of the steps (none: all of the phase) that are there. */
struct need readset_sum(const struct readset *, const char *phase,
	    const int64_t *step, size_t n_steps, size_t *n_found);
void	readset_free(struct readset *);

/* hierarchy.tsv or steps.tsv. */
struct level {
	char	*source, *phase, *rung;
	int64_t	 step;
	double	 read_bytes, write_bytes, bytes, hit_ratio, n_tokens;
	uint64_t n_missing, n_total;
};
struct hierarchy {
	size_t	 n, cap;
	struct level *row;
};
void	hierarchy_read(struct hierarchy *, const char *path);
void	hierarchy_free(struct hierarchy *);

/*
 * What one source measured of memory in one phase: the sum over its steps,
 * which are those that have bytes.  None where it knows the phase as a whole.
 */
struct measured {
	const char *source, *phase;
	size_t	 n_rows, n_steps, cap;
	int64_t	*step;			/* ascending */
	double	 read_bytes, write_bytes, bytes, n_tokens;
	uint64_t n_missing, n_total;
};
struct measured *measured_memory(const struct hierarchy *, size_t *n);
void	measured_free(struct measured *, size_t n);

/*
 * ceilings.kv: the GEMM rate of that dtype, of a checkpoint's or tf32 or fp8, or
 * else of f32; *used says which.
 */
double	gemm_ceiling(const struct kv *, const char *dtype, const char **used);

#endif
