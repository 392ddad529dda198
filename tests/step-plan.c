/*
 * step-plan: how a decode step's work is dealt, for step-plan.t: every tile and
 * unit once, in order, in parts that are equal but for one; o's and down's always
 * to the same block; of all else that is left over, as much to each.  Writes how
 * many blocks would be best, of so many.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ns.h"
#include "step-plan.h"

static uint32_t
number(const char *arg)
{
	return (uint32_t)strtoul(arg, NULL, 10);
}

/*
 * The pieces of an op that blocks have, every one once; all: how many.  One more than
 * others counts as left over.  Of many blocks no two neighbours have pieces that meet.
 */
static void
check_op(const struct step_deal *d, const struct step_part *part, size_t n_ops,
    size_t op, uint32_t each, uint32_t all, uint32_t *left_over)
{
	bool *dealt = xalloc(all, sizeof *dealt);
	uint32_t before = UINT32_MAX, n = 0;

	for (uint32_t b = 0; b < d->n_blocks; b++) {
		const struct step_part *p = &part[b * n_ops + op];
		const uint32_t mine = p->n / each, more = mine - all / d->n_blocks;

		if (p->n % each != 0 || more > (all % d->n_blocks != 0))
			errx(NS_NO, "op %zu, block %u: %u of %u", op, b, mine, all);
		if (d->n_blocks > 40 && mine > 0 && p->first == before)
			errx(NS_NO, "op %zu, block %u: goes on where its neighbour ends", op, b);
		for (uint32_t i = p->first; i < p->first + mine; i++) {
			if (i >= all || dealt[i])
				errx(NS_NO, "op %zu, block %u: piece %u is another's", op, b, i);
			dealt[i] = true;
			n++;
		}
		left_over[b] += more;
		before = mine > 0 ? p->first + mine : UINT32_MAX;
	}
	if (n != all)
		errx(NS_NO, "op %zu: %u pieces of %u", op, n, all);
	free(dealt);
}

static uint32_t
tiles(uint32_t rows)
{
	return (rows + STEP_ROWS - 1) / STEP_ROWS;
}

static void
check(const struct step_deal *d, const struct step_part *part, size_t n_ops)
{
	const uint32_t all[] = { tiles(d->qkv), d->units, tiles(d->hidden), tiles(d->ffn),
	    tiles(d->hidden), tiles(d->vocab) };
	uint32_t *in_turns = xalloc(d->n_blocks, sizeof *in_turns);
	uint32_t *own = xalloc(d->n_blocks, sizeof *own);

	for (size_t op = 0; op < n_ops; op++) {
		const size_t kind = op == n_ops - 1 ? STEP_VOCAB : op % STEP_VOCAB;
		const bool hidden = kind == STEP_OUT || kind == STEP_DOWN;

		check_op(d, part, n_ops, op, kind == STEP_GATE ? 2 : 1, all[kind],
		    hidden ? own : in_turns);
		for (uint32_t b = 0; b < d->n_blocks && kind == STEP_DOWN; b++)
			if (memcmp(&part[b * n_ops + op], &part[b * n_ops + STEP_OUT], sizeof *part) != 0)
				errx(NS_NO, "op %zu, block %u: not the tiles of o", op, b);
	}
	for (uint32_t b = 0; b < d->n_blocks; b++)
		if (in_turns[b] > in_turns[d->n_blocks - 1] + 1 || in_turns[d->n_blocks - 1] > in_turns[b] + 1)
			errx(NS_NO, "block %u: %u left over, others %u", b, in_turns[b], in_turns[d->n_blocks - 1]);
	free(in_turns);
	free(own);
}

int
main(int argc, char *argv[])
{
	struct step_deal d = { 0 };
	uint32_t *const to[] = { &d.n_blocks, &d.n_layers, &d.hidden, &d.qkv, &d.q_size,
	    &d.ffn, &d.vocab, &d.units };
	struct step_part *part;
	size_t n_ops;

	if (argc != 9)
		errx(NS_TROUBLE, "usage: step-plan BLOCKS LAYERS HIDDEN QKV Q FFN VOCAB UNITS");
	for (int i = 0; i < 8; i++)
		*to[i] = number(argv[i + 1]);
	n_ops = (size_t)d.n_layers * STEP_VOCAB + 1;
	part = xalloc(d.n_blocks * n_ops, sizeof *part);
	if (!step_deal(&d, part)) {
		puts("no");
		free(part);
		return NS_NO;
	}
	check(&d, part, n_ops);
	printf("%u\n", step_blocks(&d, d.n_blocks));
	free(part);
	return NS_OK;
}
