/*
 * step-plan.c: who does what of a decode step: equal parts, and blocks take turns
 * with what is left over.  Tiles of hidden (what o and down give) stay with their
 * blocks, which keep the residual stream.
 */
#include <stddef.h>

#include "step-plan.h"

struct dealer {
	uint32_t n_blocks, turn;	/* turn: whose it is */
	uint32_t apart;			/* from a part's block to the next part's */
	struct step_part *part;		/* of the op that is being dealt */
	size_t	 n_ops;
};

static uint32_t
common_divisor(uint32_t a, uint32_t b)
{
	return b == 0 ? a : common_divisor(b, a % b);
}

static uint32_t
tiles(uint32_t rows)
{
	return (rows + STEP_ROWS - 1) / STEP_ROWS;
}

/*
 * Neighbours on the chip read pieces that lie apart: the n-th part is of block n times
 * this.  No divisor in common, so every block has one.
 */
static uint32_t
blocks_apart(uint32_t n_blocks)
{
	uint32_t apart = 17;

	while (common_divisor(apart, n_blocks) != 1)
		apart++;
	return apart;
}

/* The op's n pieces, each so many tiles; of those left over one a block, from block turn on. */
static void
deal_from(struct dealer *d, uint32_t turn, uint32_t n, uint32_t each)
{
	const uint32_t blocks = d->n_blocks;
	uint32_t at = 0;

	for (uint32_t b = 0; b < blocks; b++) {
		const uint32_t mine = n / blocks + ((b + blocks - turn) % blocks < n % blocks);

		d->part[(size_t)b * d->apart % blocks * d->n_ops] = (struct step_part){ (uint16_t)at, (uint16_t)(mine * each) };
		at += mine;
	}
	d->part++;
}

/* On from whom it was when the op before ended. */
static void
deal(struct dealer *d, uint32_t n, uint32_t each)
{
	deal_from(d, d->turn, n, each);
	d->turn = (d->turn + n) % d->n_blocks;
}

static void
deal_layer(struct dealer *to, const struct step_deal *d)
{
	deal(to, tiles(d->qkv), 1);
	deal(to, d->units, 1);
	deal_from(to, 0, tiles(d->hidden), 1);
	deal(to, tiles(d->ffn), 2);
	deal_from(to, 0, tiles(d->hidden), 1);
}

/* What is read while the block with most of n tiles reads its own, in columns of a tile. */
static uint64_t
while_most(uint32_t blocks, uint32_t n, uint32_t cols)
{
	return (uint64_t)((n + blocks - 1) / blocks) * blocks * cols;
}

/* Of a step; a block less of most costs a quarter of its share: on an H200, 20 of 132 cost 4 %. */
static uint64_t
cost(const struct step_deal *d, uint32_t blocks, uint32_t most)
{
	const uint64_t layer = while_most(blocks, tiles(d->qkv), d->hidden) +
	    while_most(blocks, tiles(d->hidden), d->q_size) +
	    while_most(blocks, tiles(d->ffn), 2 * d->hidden) +
	    while_most(blocks, tiles(d->hidden), d->ffn);

	return (d->n_layers * layer + while_most(blocks, tiles(d->vocab), d->hidden)) *
	    (5 * most - blocks);
}

uint32_t
step_blocks(const struct step_deal *d, uint32_t most)
{
	uint32_t best = most;

	for (uint32_t n = most; n >= most - most / 6 && tiles(d->hidden) <= n * STEP_DEEP; n--)
		if (cost(d, n, most) < cost(d, best, most))
			best = n;
	return best;
}

/* Do all numbers fit into a part, and a block's tiles of hidden into its room? */
static bool
fits(const struct step_deal *d)
{
	return tiles(d->hidden) <= d->n_blocks * STEP_DEEP &&
	    tiles(d->qkv) <= UINT16_MAX && tiles(d->ffn) <= UINT16_MAX / 2 &&
	    tiles(d->vocab) <= UINT16_MAX && d->units <= UINT16_MAX;
}

bool
step_deal(const struct step_deal *d, struct step_part *part)
{
	struct dealer to = { .n_blocks = d->n_blocks, .part = part,
	    .apart = blocks_apart(d->n_blocks),
	    .n_ops = (size_t)d->n_layers * STEP_VOCAB + 1 };

	if (!fits(d))
		return false;
	for (uint32_t l = 0; l < d->n_layers; l++)
		deal_layer(&to, d);
	deal(&to, tiles(d->vocab), 1);
	return true;
}
