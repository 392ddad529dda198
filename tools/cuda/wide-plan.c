/* wide-plan.c: so that the block that has most has least. */
#include "wide-plan.h"

static uint32_t
least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The largest of so many parts. */
static uint32_t
largest(uint32_t n, uint32_t parts)
{
	return (n + parts - 1) / parts;
}

static struct wide_deal
deal(uint32_t units, uint32_t slabs, uint32_t spans, uint32_t blocks)
{
	struct wide_deal d = { .units = units, .slabs = slabs, .spans = spans };

	d.tiles = least(units, blocks / spans);
	d.passes = largest(largest(units, d.tiles), WIDE_UNITS);
	d.fewest = units / d.tiles / d.passes;
	d.most = largest(largest(units, d.tiles), d.passes);
	return d;
}

/*
 * What a block fetches and leaves, in slabs of a unit.  Each span is another sum of all
 * rows, which a kernel of few blocks adds up: on an H200 for as long as a block fetches 6.
 */
static uint32_t
cost(const struct wide_deal *d, uint32_t x)
{
	const uint32_t units = largest(d->units, d->tiles), x_units = x / WIDE_UNIT;

	return largest(d->slabs, d->spans) * (units + d->passes * x_units) +
	    units * x_units / 2 + d->spans * 6;
}

struct wide_deal
wide_deal(uint32_t rows, uint32_t cols, uint32_t x, uint32_t spans, uint32_t blocks)
{
	const uint32_t units = largest(rows, WIDE_UNIT), slabs = largest(cols, WIDE_SLAB);
	const uint32_t most = least(least(spans, slabs), blocks);
	struct wide_deal best = deal(units, slabs, 1, blocks);

	for (uint32_t n = 2; n <= most; n++) {
		const struct wide_deal d = deal(units, slabs, n, blocks);

		if (cost(&d, x) < cost(&best, x))
			best = d;
	}
	return best;
}
