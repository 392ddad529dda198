/* stamps.h: one decode step, as its blocks noted it, and what that comes to. */
#ifndef STAMPS_H
#define STAMPS_H

#include "intern.h"

enum event { ASKED, ARRIVED, WEIGHTS, MULTIPLIED, SCALED, SUMMED, LEFT, N_EVENTS };
enum { NEVER = -1 };

/* A block's part in an op. */
struct part {
	uint64_t block, op;
	int64_t	 at[N_EVENTS];		/* ns; or NEVER */
};
enum spent { MULTIPLYING, ADDING, N_SPENT };
struct op {
	uint32_t kind;
	struct part *part;		/* by block */
	size_t	 n_parts;
	int64_t	 begun, left;		/* the last block left the op before; this one */
	double	 spent[N_SPENT];	/* ns between these, of all blocks together */
};
struct step {
	const char *name;		/* of the table */
	struct part *part;		/* by op, block */
	size_t	 n_parts;
	struct op *op;
	size_t	 n_ops;
	struct intern kinds;		/* in the order of the step */
	uint64_t n_blocks, clock_ns;
};

/* read.c: dies unless it is a whole step. */
void	step_read(struct step *, const char *path);
void	step_free(struct step *);

/* spend.c: what its blocks do, op by op; n_blocks too. */
void	step_spend(struct step *);

/* measure.c: medians over the ops of a kind; NAN where there is nothing. */
enum measure { BLOCKS, OP, HOP, HOP_LAST, TO_WEIGHTS, MULTIPLY, SCALE, ADD, SKEW,
	N_MEASURES };
struct kind {
	size_t	 n_ops;
	double	 median[N_MEASURES];
	double	 total_ns, spent[N_SPENT];
};
struct kind kind_measure(const struct step *, uint32_t kind);

/* bytes.c: what the last decode step of a readset reads for each kind. */
enum { N_READ_KINDS = 6 };
struct reads { double bytes[N_READ_KINDS]; };	/* NAN where there is none */
void	reads_read(struct reads *, const char *readset);
double	reads_of(const struct reads *, const char *kind);

#endif
