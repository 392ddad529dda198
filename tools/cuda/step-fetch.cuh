/*
 * step-fetch.cuh: the warp that fetches.  All that its block will multiply, in
 * that order, of all layers; it waits for nothing but free stages.
 */
#ifndef STEP_FETCH_CUH
#define STEP_FETCH_CUH

/* One stage: columns from col on of a tile, or of two; a lane a row. */
D_INLINE void
fetch_tiles(struct ring &r, const struct step_op &op, struct step_part part, uint32_t tile,
    uint32_t col, uint64_t policy, int lane)
{
	const uint32_t cols = min(op.cols - col, (uint32_t)STEP_COLS);
	const uint32_t t = tile + lane / STEP_ROWS, half = op.halves == 2 ? t & 1 : 0;
	const uint32_t row = (part.first + (op.halves == 2 ? t / 2 : t)) * STEP_ROWS +
	    lane % STEP_ROWS;
	const bool mine = lane < (int)tiles_a_stage(op.cols) * STEP_ROWS && t < part.n &&
	    row < op.rows;
	const uint32_t all = __popc(__ballot_sync(~0u, mine)) * cols * 2;
	const uint32_t to = ring_fill(r, all, lane) + lane * pitch_of(cols);

	if (mine)
		bulk_copy(to, (const char *)op.w + (((size_t)half * op.rows + row) * op.cols +
		    col) * 2, cols * 2, r.full + r.at * 8, policy);
	ring_next(r);
}

/* Tile by tile; or the same columns of all tiles, then the next. */
D_INLINE void
fetch_product(struct ring &r, const struct step_op &op, struct step_part part,
    uint64_t policy, int lane)
{
	const uint32_t per = tiles_a_stage(op.cols);
	const bool deep = is_deep(op);
	uint32_t tile = 0, col = 0;

	while (tile < part.n && col < op.cols) {
		fetch_tiles(r, op, part, tile, col, policy, lane);
		if (deep && (tile += per) >= part.n) {
			tile = 0;
			col += STEP_COLS;
		} else if (!deep && (col += STEP_COLS) >= op.cols) {
			col = 0;
			tile += per;
		}
	}
}

/* Keys and values of what is in the cache, so not of the newest position. */
template <int D> D_INLINE void
fetch_unit(struct ring &r, const struct heads &h, const struct mine &m, uint64_t policy,
    int lane)
{
	const uint32_t end = min(m.end, m.position), most = positions_a_stage<D>();

	for (uint32_t j = m.first; j < m.end; j += most) {
		const uint32_t bytes = (j < end ? min(end - j, most) : 0) * D * 2;
		const uint32_t to = ring_fill(r, 2 * bytes, lane);
		const size_t from = (m.base + (size_t)j * D) * 2;

		if (lane < 2 && bytes > 0)
			bulk_copy(to + lane * most * D * 2, (const char *)(lane == 0 ? h.k : h.v) +
			    from, bytes, r.full + r.at * 8, policy);
		ring_next(r);
	}
}

template <int D> D_INLINE void
fetch(const struct step &a, const struct site &s, struct ring &r, int lane)
{
	const uint64_t policy = read_once_policy();

#pragma unroll 1
	for (uint32_t i = 0; i < a.n_ops; i++) {
		const struct step_op &op = op_of(a, s, i);
		const struct step_part part = part_of(a, s, i);

		words_expect(s.words.now + op.x, op.x_bytes, lane);
		if (op.kind != STEP_ATTEND)
			fetch_product(r, op, part, policy, lane);
		else
			for (uint32_t u = 0; u < part.n; u++)
				fetch_unit<D>(r, heads_of(a, s, op), unit_of(a,
				    heads_of(a, s, op), part.first + u), policy, lane);
	}
}

#endif
