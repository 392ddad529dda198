/*
 * wide-plan: how a matrix is dealt, for wide-plan.t: every slab of every unit to one
 * tile, span and pass; passes as equal as their two boxes can be; of no more than so
 * many blocks.  Writes tiles, spans, passes, and the fewest and most units of a pass.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "ns.h"
#include "wide-plan.h"

static uint32_t
number(const char *arg)
{
	return (uint32_t)strtoul(arg, NULL, 10);
}

/* The slabs that a span has of a pass's units. */
static void
take(const struct wide_deal *d, bool *dealt, struct wide_part units, struct wide_part slabs)
{
	for (uint32_t u = units.first; u < units.first + units.n; u++)
		for (uint32_t s = slabs.first; s < slabs.first + slabs.n; s++) {
			if (u >= d->units || s >= d->slabs)
				errx(NS_NO, "unit %u, slab %u: there is none", u, s);
			if (dealt[u * (size_t)d->slabs + s])
				errx(NS_NO, "unit %u, slab %u: is another's", u, s);
			dealt[u * (size_t)d->slabs + s] = true;
		}
}

static void
check_pass(const struct wide_deal *d, bool *dealt, uint32_t tile, uint32_t pass)
{
	const struct wide_part units = wide_units(d, tile, pass);

	if (units.n == 0 || units.n > WIDE_UNITS || units.n > d->most ||
	    (units.n != d->fewest && units.n != d->fewest + 1))
		errx(NS_NO, "tile %u, pass %u: %u units", tile, pass, units.n);
	for (uint32_t span = 0; span < d->spans; span++) {
		const struct wide_part slabs = wide_part(d->slabs, span, d->spans);

		if (slabs.n == 0)
			errx(NS_NO, "span %u: of nothing", span);
		take(d, dealt, units, slabs);
	}
}

static void
check(const struct wide_deal *d, uint32_t spans, uint32_t blocks)
{
	const size_t all = d->units * (size_t)d->slabs;
	bool *dealt = xalloc(all, sizeof *dealt);

	if (d->spans > spans || d->tiles * d->spans > blocks)
		errx(NS_NO, "%u tiles of %u spans", d->tiles, d->spans);
	for (uint32_t tile = 0; tile < d->tiles; tile++)
		for (uint32_t pass = 0; pass < d->passes; pass++)
			check_pass(d, dealt, tile, pass);
	for (size_t i = 0; i < all; i++)
		if (!dealt[i])
			errx(NS_NO, "unit %zu, slab %zu: is nobody's", i / d->slabs, i % d->slabs);
	free(dealt);
}

int
main(int argc, char *argv[])
{
	uint32_t rows, cols, spans, blocks;
	struct wide_deal d;

	if (argc != 6)
		errx(NS_TROUBLE, "usage: wide-plan ROWS COLS X SPANS BLOCKS");
	rows = number(argv[1]);
	cols = number(argv[2]);
	spans = number(argv[4]);
	blocks = number(argv[5]);
	d = wide_deal(rows, cols, number(argv[3]), spans, blocks);
	if (d.units != (rows + WIDE_UNIT - 1) / WIDE_UNIT || d.slabs != (cols + WIDE_SLAB - 1) / WIDE_SLAB)
		errx(NS_NO, "%u units of %u slabs", d.units, d.slabs);
	check(&d, spans, blocks);
	printf("%u %u %u %u %u\n", d.tiles, d.spans, d.passes, d.fewest, d.most);
	return NS_OK;
}
