/*
 * step-plan: how a decode step's work is dealt, for step-plan.t: every tile and
 * unit once, in order; o's and down's always to the same block; and by how much
 * the most that a block has to read is more than the least, in bytes.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "ns.h"
#include "step-plan.h"

static uint32_t
number(const char *arg)
{
	return (uint32_t)strtoul(arg, NULL, 10);
}

/* The pieces of an op that blocks have, one after the other; all: how many. */
static void
check_op(const struct step_deal *d, const struct step_part *part, size_t n_ops,
    size_t op, uint32_t each, uint32_t all)
{
	uint32_t at = 0;

	for (uint32_t b = 0; b < d->n_blocks; b++) {
		const struct step_part *p = &part[b * n_ops + op];

		if (p->first != at || p->n % each != 0)
			errx(NS_NO, "op %zu, block %u: from %u, not %u", op, b, p->first, at);
		at += p->n / each;
	}
	if (at != all)
		errx(NS_NO, "op %zu: %u pieces of %u", op, at, all);
}

static uint32_t
tiles(uint32_t rows)
{
	return (rows + STEP_ROWS - 1) / STEP_ROWS;
}

int
main(int argc, char *argv[])
{
	struct step_deal d = { .unit_bytes = 1 << 16 };
	uint32_t *const to[] = { &d.n_blocks, &d.n_layers, &d.hidden, &d.qkv, &d.q_size,
	    &d.ffn, &d.vocab, &d.units };
	uint64_t least = UINT64_MAX, most = 0;
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
	for (size_t op = 0; op < n_ops; op++) {
		const uint32_t all[] = { tiles(d.qkv), d.units, tiles(d.hidden), tiles(d.ffn),
		    tiles(d.hidden), tiles(d.vocab) };
		const size_t kind = op == n_ops - 1 ? STEP_VOCAB : op % STEP_VOCAB;

		check_op(&d, part, n_ops, op, kind == STEP_GATE ? 2 : 1, all[kind]);
	}
	for (uint32_t b = 0; b < d.n_blocks; b++) {
		uint64_t bytes = 0;

		for (size_t op = 0; op < n_ops; op++) {
			const size_t kind = op == n_ops - 1 ? STEP_VOCAB : op % STEP_VOCAB;
			const struct step_part *p = &part[b * n_ops + op];
			const uint64_t cols = kind == STEP_OUT ? d.q_size :
			    kind == STEP_DOWN ? d.ffn : d.hidden;

			if (kind == STEP_DOWN && (p->first != p[-2].first || p->n != p[-2].n))
				errx(NS_NO, "block %u: not the tiles of o", b);
			bytes += kind == STEP_ATTEND ? p->n * d.unit_bytes :
			    p->n * STEP_ROWS * cols * 2;
		}
		least = bytes < least ? bytes : least;
		most = bytes > most ? bytes : most;
	}
	printf("%llu\n", (unsigned long long)(most - least));
	free(part);
	return NS_OK;
}
