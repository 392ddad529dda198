/*
 * step-fetch.cuh: the warps that fetch.  The first: all that its block will multiply,
 * in that order, of all layers; it waits for nothing but free stages.  The last: what
 * else is read comes to the L2.
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

/* Values of positions that are not there: what counts for nothing must be a number. */
D_INLINE void
wipe_values(unsigned char *stage, uint32_t from, uint32_t end, int lane)
{
#pragma unroll 4
	for (uint32_t i = from + lane * 16; i < end; i += 32 * 16)
		*(uint4 *)(stage + VALUES + gapped(i)) = make_uint4(0, 0, 0, 0);
	bulk_fence();
}

/* Keys and values of what is in the cache, so not of the newest position. */
template <int D> D_INLINE void
fetch_unit(struct ring &r, const struct site &s, const struct heads &h, const struct mine &m,
    uint64_t policy, int lane)
{
	const uint32_t most = positions_a_stage<D>(), stages = stages_of<D>(m);
	const uint32_t at = lane % GROUPS * UNBROKEN;
	const bool keys = lane < GROUPS;
	const char *const rows = (const char *)(keys ? h.k : h.v) + at;

	static_assert(most * D * 2 == GROUPS * UNBROKEN && GROUPS * (UNBROKEN + GAP) <= VALUES);
	for (uint32_t i = 0; i < stages; i++) {
		const uint32_t j = m.first + i * most;
		const uint32_t bytes = min(cached_end(m) - j, most) * D * 2;
		const uint32_t mine = min(bytes - min(at, bytes), (uint32_t)UNBROKEN);
		const uint32_t to = ring_empty(r) + gapped(at) + (keys ? 0 : VALUES);

		__syncwarp();		/* all have seen that it is empty */
		if (lane < 2 * GROUPS && mine > 0)
			bulk_copy(to, rows + (m.base + (size_t)j * D) * 2, mine,
			    r.full + r.at * 8, policy);
		wipe_values(s.stages + r.at * STEP_STAGE, bytes, most * D * 2, lane);
		ring_expect(r, 2 * bytes, lane);
		ring_next(r);
	}
}

/* Lines that few blocks read. */
D_INLINE void
expect(const void *p, uint32_t bytes, int lane)
{
	const char *const end = (const char *)p + bytes;

#pragma unroll 1
	for (const char *at = (const char *)((uintptr_t)p / 128 * 128) + lane * 128; at < end;
	    at += 32 * 128)
		line_expect(at);
}

/* Of attention: what turns and norms its heads, and spans' results. */
template <int D> D_INLINE void
expect_heads(const struct step &a, const struct site &s, const struct step_op &op, int lane)
{
	const struct heads &h = heads_of(a, s, op);

#pragma unroll 1
	for (uint32_t seq = 0; seq < s.batch; seq++) {
		expect(h.cos + (size_t)s.position[seq] * (D / 2), D / 2 * 4, lane);
		expect(h.sin + (size_t)s.position[seq] * (D / 2), D / 2 * 4, lane);
	}
	if (h.q_norm != NULL)
		expect(h.q_norm, D * 4, lane);
	if (h.k_norm != NULL)
		expect(h.k_norm, D * 4, lane);
	if (a.n_splits > 1)
#pragma unroll 1
		for (uint32_t i = blockIdx.x; i < s.batch * h.heads; i += a.n_blocks)
			words_expect_all(s.words, op.square + span_at<D>(a, 0, i, 0),
			    span_at<D>(a, 0, 1, 0), lane);
}

/*
 * All that an op reads but for what comes through the ring.  Whoever reads it
 * first would wait behind the weights that are under way by then.
 */
template <int D> D_INLINE void
expect_op(const struct step &a, const struct site &s, uint32_t i, int lane)
{
	const struct step_op &op = op_of(a, s, i);
	const struct step_part part = part_of(a, s, i);
	const uint32_t first = part.first * STEP_ROWS, bytes = part.n * STEP_ROWS * 4;

	words_expect(s.words, op.x, op.x_bytes, a.n_blocks, lane);
	if (op.kind == STEP_ATTEND)
		expect_heads<D>(a, s, op, lane);
	else if (!is_deep(op))
		words_expect(s.words, op.square, s.batch * a.hidden / STEP_ROWS / 4 *
		    STEP_QUAD(s.batch), a.n_blocks, lane);
	if (op.bias != NULL)
		expect(op.bias + first, bytes, lane);
	if (op.norm != NULL)
		expect(op.norm + first, bytes, lane);
}

template <int D> D_INLINE void
fetch_op(const struct step &a, const struct site &s, struct ring &r, uint32_t i,
    uint64_t policy, int lane)
{
	const struct step_op &op = op_of(a, s, i);
	const struct step_part part = part_of(a, s, i);

	if (op.kind != STEP_ATTEND) {
		fetch_product(r, op, part, policy, lane);
		return;
	}
#pragma unroll 1
	for (uint32_t u = 0; u < part.n; u++)
		fetch_unit<D>(r, s, heads_of(a, s, op), unit_of(a, s, heads_of(a, s, op),
		    part.first + u), policy, lane);
}

template <int D> D_INLINE void
fetch(const struct step &a, const struct site &s, struct ring &r, uint32_t nth, int lane)
{
	const uint64_t policy = read_once_policy();

#pragma unroll 1
	for (uint32_t i = 0; i <= a.n_ops; i++) {
		if (i < a.n_ops && nth == fetchers(s.batch) - 1)
			expect_op<D>(a, s, i, lane);
		if (i > 0 && nth == 0)
			fetch_op<D>(a, s, r, i - 1, policy, lane);
	}
}

#endif
