/*
 * wide-plan.h: how a matrix that 9 to 64 rows of x go through is dealt to blocks.
 *
 * A block has a tile, some of the matrix's rows, and a span, some of its columns.  Rows
 * are counted in units of 16, which a tile has in passes: the sums of one pass are what
 * its warps can hold.  Columns are counted in slabs of 64, 128 bytes of a row.
 */
#ifndef WIDE_PLAN_H
#define WIDE_PLAN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	WIDE_UNIT = 16, WIDE_SLAB = 64,	/* rows, columns */
	WIDE_UNITS = 18,		/* of a pass, at most */
	WIDE_SPANS = 8			/* at most */
};

struct wide_deal {
	uint32_t units, slabs;		/* of the matrix */
	uint32_t tiles, spans, passes;
	uint32_t fewest, most;		/* units of a pass: they differ by one or not */
};
/* x: rows of it, as they are multiplied; blocks: at most so many tiles x spans. */
struct wide_deal wide_deal(uint32_t rows, uint32_t cols, uint32_t x, uint32_t spans,
    uint32_t blocks);

#ifdef __CUDACC__
#define WIDE_INLINE static inline __host__ __device__
#else
#define WIDE_INLINE static inline
#endif

struct wide_part {
	uint32_t first, n;
};

/* The i-th of so many parts of n: the first ones have one more, if not all are equal. */
WIDE_INLINE struct wide_part
wide_part(uint32_t n, uint32_t i, uint32_t parts)
{
	const uint32_t each = n / parts, more = n - each * parts;
	const struct wide_part p = { i * each + (i < more ? i : more), each + (i < more) };

	return p;
}

/* Units of a tile's pass. */
WIDE_INLINE struct wide_part
wide_units(const struct wide_deal *d, uint32_t tile, uint32_t pass)
{
	const struct wide_part all = wide_part(d->units, tile, d->tiles);
	struct wide_part p = wide_part(all.n, pass, d->passes);

	p.first += all.first;
	return p;
}

#ifdef __cplusplus
}
#endif
#endif
