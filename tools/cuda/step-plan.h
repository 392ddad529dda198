/*
 * step-plan.h: the work of a decode step as one kernel that stays, and how it
 * is dealt to its blocks, one a multiprocessor.
 *
 * A tile is eight rows of a matrix.  A stage of a block's ring holds up to
 * 2048 columns of a tile, or two tiles of half as many.
 */
#ifndef STEP_PLAN_H
#define STEP_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	STEP_ROWS = 8,			/* of a tile */
	STEP_COLS = 2048,		/* of a tile, in a stage */
	STEP_WIDE = 2 * STEP_COLS,	/* of hidden, at most */
	STEP_FEW = 3072,		/* columns of x, to be spread wider */
	STEP_DEEP = 8,			/* tiles of hidden a block, at most */
	STEP_BATCH = 8,			/* sequences, at most */
	STEP_SPLITS = 64,		/* spans of positions, at most */
	STEP_STAGE = 2 * STEP_ROWS * (STEP_COLS + 64),	/* bytes */
	STEP_STAGES = 8, STEP_STAGES_LEAST = 2,		/* at most, at least */
	/*
	 * That are filled at a time, where so many are empty: of one, memory rests;
	 * behind more, words wait.  Where fewer are empty, one is.
	 */
	STEP_UNDER_WAY = 2
};

/* So many are empty then: several sequences multiply longer than words take. */
#define STEP_LOW(batch) ((batch) == 1 ? 3 : 1)

/*
 * Bytes of eight columns of x, of all sequences, and of a row of the context.  All blocks
 * ask for the same lines at once, each of which one slice of the L2 has to give to all:
 * few columns are spread over twice as many.
 */
#define STEP_SPREAD(cols) ((cols) <= STEP_FEW ? 64u : 32u)
#define STEP_PIECE(batch, cols) \
	((batch) * 16u < STEP_SPREAD(cols) ? STEP_SPREAD(cols) : (batch) * 16u)
#define STEP_CONTEXT(batch, cols) ((batch) == 1 ? STEP_SPREAD(cols) : 16u)

/* Bytes from four squares of h to the next four: no one's words wait behind all others'. */
#define STEP_QUAD(batch) ((batch) == 1 ? 128 : 16)

/* A step's work, in order: five kinds a layer, and the last once. */
enum step_kind { STEP_QKV, STEP_ATTEND, STEP_OUT, STEP_GATE, STEP_DOWN, STEP_VOCAB };

/* A block's part of an op: from which tile, or unit of attention, on; how many. */
struct step_part {
	uint16_t first, n;
};

/* What is dealt. */
struct step_deal {
	uint32_t n_blocks, n_layers;
	uint32_t hidden, qkv, q_size, ffn, vocab;	/* rows */
	uint32_t units;			/* (sequence, key head, span) */
};
/* How many of so many blocks, or of up to a sixth fewer, have the most equal parts. */
uint32_t step_blocks(const struct step_deal *, uint32_t most);
/* part[block][op]; false: a block would have too many tiles of hidden. */
bool	step_deal(const struct step_deal *, struct step_part *);

#ifdef __cplusplus
}
#endif
#endif
