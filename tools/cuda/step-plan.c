/*
 * step-plan.c: who does what of a decode step.  Tiles of hidden (what o and
 * down give) stay with their blocks, which keep the residual stream; all else
 * goes to the block that has had the fewest bytes until then.
 */
#include <string.h>

#include "ns.h"
#include "step-plan.h"

enum { WORD = 2 };			/* bytes */

struct tally {
	const struct step_deal *d;
	struct step_part *part;		/* of the op that is being dealt */
	uint64_t *bytes;		/* [block], so far */
	uint32_t *n;			/* [block], of this op */
	size_t	 n_ops;
};

static uint32_t
tiles(uint32_t rows)
{
	return (rows + STEP_ROWS - 1) / STEP_ROWS;
}

/* The block with the fewest bytes that has less than most of this op. */
static uint32_t
neediest(const struct tally *t, uint32_t most)
{
	uint32_t to = UINT32_MAX;

	for (uint32_t b = 0; b < t->d->n_blocks; b++)
		if (t->n[b] < most && (to == UINT32_MAX || t->bytes[b] < t->bytes[to]))
			to = b;
	return to;
}

/* The op's n pieces of so many bytes; each is a number of tiles. */
static void
deal(struct tally *t, uint32_t n, uint64_t bytes, uint32_t most, uint32_t each)
{
	const uint32_t blocks = t->d->n_blocks;
	uint32_t at = 0;

	memset(t->n, 0, blocks * sizeof *t->n);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t to = neediest(t, most);

		t->n[to]++;
		t->bytes[to] += bytes;
	}
	for (uint32_t b = 0; b < blocks; b++) {
		t->part[b * t->n_ops] = (struct step_part){ (uint16_t)at,
		    (uint16_t)(t->n[b] * each) };
		at += t->n[b];
	}
	t->part++;
}

/* One more than an equal part, to even out what came before. */
static uint32_t
fair(const struct tally *t, uint32_t n)
{
	return (n + t->d->n_blocks - 1) / t->d->n_blocks + 1;
}

/* The same tiles for the same block, whatever it has had. */
static void
deal_hidden(struct tally *t, uint64_t cols)
{
	const uint32_t blocks = t->d->n_blocks, n = tiles(t->d->hidden);
	uint32_t at = 0;

	for (uint32_t b = 0; b < blocks; b++) {
		const uint32_t mine = n / blocks + (b < n % blocks);

		t->part[b * t->n_ops] = (struct step_part){ (uint16_t)at, (uint16_t)mine };
		t->bytes[b] += mine * STEP_ROWS * cols * WORD;
		at += mine;
	}
	t->part++;
}

static void
deal_layer(struct tally *t)
{
	const struct step_deal *d = t->d;
	const uint64_t tile = (uint64_t)STEP_ROWS * d->hidden * WORD;

	deal(t, tiles(d->qkv), tile, fair(t, tiles(d->qkv)), 1);
	deal(t, d->units, d->unit_bytes, fair(t, d->units) - 1, 1);
	deal_hidden(t, d->q_size);
	deal(t, tiles(d->ffn), 2 * tile, fair(t, tiles(d->ffn)), 2);
	deal_hidden(t, d->ffn);
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
	struct tally t = { .d = d, .part = part,
	    .n_ops = (size_t)d->n_layers * STEP_VOCAB + 1 };

	if (!fits(d))
		return false;
	t.bytes = xalloc(d->n_blocks, sizeof *t.bytes);
	t.n = xalloc(d->n_blocks, sizeof *t.n);
	for (uint32_t l = 0; l < d->n_layers; l++)
		deal_layer(&t);
	deal(&t, tiles(d->vocab), (uint64_t)STEP_ROWS * d->hidden * WORD, UINT32_MAX, 1);
	free(t.bytes);
	free(t.n);
	return true;
}
