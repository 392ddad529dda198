/* step.h: what the kernel of a whole decode step is given. */
#ifndef STEP_H
#define STEP_H

#include "cuda.h"
#include "step-plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A product, or a layer's attention, as all blocks know it. */
struct step_op {
	const void *w;			/* [halves][rows][cols] */
	const float *bias, *norm;	/* [rows], or NULL; norm: of what becomes of it */
	uint32_t cols, rows, halves;	/* tiles of the two halves take turns */
	enum step_kind kind;
	uint32_t layer;
	/*
	 * In the words, in bytes: its x and the squares of that, its result and
	 * the squares of that.  Of attention: q, k, v; spans' results; context.
	 */
	uint32_t x, x_bytes, square, out, out_square;
};
/* What lies behind the ring in a block's shared memory, from where it ends. */
struct step_room {
	uint32_t sums;			/* [2][most tiles] of [sum][batch][8] floats, or [8][sum] */
	uint32_t residual;		/* [tile of hidden][batch][8] floats */
	uint32_t newest;		/* position: [8 columns] floats; [dim] words */
	uint32_t row;			/* the new one's: [8 heads + 2][dim + 8] words */
	uint32_t ops, parts, heads;	/* [n_ops] twice, [n_layers] */
	uint32_t all;
};

/* What is noted of an op by a block, of its last warp; of several units, the last. */
enum step_event {
	STEP_ASKED, STEP_ARRIVED,	/* x: asked for; all of it there */
	STEP_WEIGHTS,			/* the first weights and their x there; or all new heads */
	STEP_MULTIPLIED,		/* the last product, or position, done */
	STEP_SCALED, STEP_SUMMED,	/* the rows' scale known; all warps' sums there */
	STEP_LEFT,			/* the last result known, and left at once */
	STEP_EVENTS
};

struct step {
	const struct step_op *op;	/* [n_ops] */
	const struct step_part *part;	/* [block][n_ops] */
	const struct heads *heads;	/* [n_layers]; no bias: qkv have had it */
	const float *first_norm;
	char	*words;			/* two sets: one is written, the other wiped */
	size_t	 set;			/* bytes */
	uint32_t *turn;			/* steps so far: tells the set */
	uint32_t *done;			/* blocks that have ended */
	unsigned long long *stamp;	/* [block][n_ops][STEP_EVENTS] ns; or NULL */
	struct finish finish;		/* best: [batch][block] */
	uint32_t n_layers, n_ops, hidden, q_size, n_splits;
	uint32_t group;			/* query heads that share a key head */
	uint32_t n_stages, n_blocks;
	uint32_t under_way;		/* stages that are filled at a time, at most */
	uint32_t low;			/* stages that must be empty for that */
	float	 eps;
	uint32_t most_tiles;		/* that sums are handed over of */
	struct step_room room;
};

/* step.cu: fills n_stages and room; false: too little shared memory, or not all
 * blocks would run at a time. */
bool	cu_step_fits(enum word, struct step *, uint32_t dim);
void	cu_step(const struct queue *, enum word, const struct step *, uint32_t dim);

#ifdef __cplusplus
}
#endif
#endif
