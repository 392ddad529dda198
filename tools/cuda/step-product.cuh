/*
 * step-product.cuh: the warps that multiply.  Each has the same columns of all
 * rows, every eighth unit of 32.  A lane's 16 bytes of a row go to a tensor
 * core as they lie, as its rows g and g + 8 (g being lane / 4, t lane % 4); so
 * those two are the same row, by other columns.  x is the other factor, whose
 * words lie in that order: of one sequence, the first two are its column 0 and
 * the others its column 4, and the sum of two of the results is the product; of
 * more, it takes two turns.
 */
#ifndef STEP_PRODUCT_CUH
#define STEP_PRODUCT_CUH

enum {
	UNITS = STEP_COLS / UNIT / WARPS, APART = WARPS * UNIT,
	UNITS_MOST = UNITS * 3 / 2	/* of weights in registers at a time */
};

/* Where a multiplying warp puts its sums. */
struct hand {
	uint32_t at, turn;		/* which of the two */
	int	 warp, lane;
};

D_INLINE void
hand_wait(const struct hand &h, const struct site &s)
{
	barrier_wait(s.empty + h.at * 8, h.turn ^ 1);
}

D_INLINE void
hand_over(struct hand &h, const struct site &s)
{
	warp_arrive(s.ready + h.at * 8, h.lane);
	h.at ^= 1;
	h.turn ^= h.at == 0;
}

/* A tile's sums, or what is added to them: row g of one sequence, or of two. */
template <bool ONE> D_INLINE void
hand_put(const struct hand &h, const struct site &s, float *tile, const float c[2], bool add)
{
	const int g = h.lane / 4, t = h.lane % 4;

	if constexpr (ONE) {
		float *to = tile + four_sums(g, h.warp / 2) + h.warp % 2 * 2 + t / 2;

		if (t % 2 == 0)
			*to = add ? *to + c[0] : c[0];
	} else
#pragma unroll
		for (int e = 0; e < 2; e++) {
			float *to = tile + (h.warp * s.batch + 2 * t + e) * STEP_ROWS + g;

			if (2 * t + e < (int)s.batch)
				*to = add ? *to + c[e] : c[e];
		}
}

/* What a lane needs of a product. */
struct task {
	const char *x;			/* from the lane's first column on */
	uint32_t apart;			/* bytes of x from unit to unit */
	uint32_t row, col, per;		/* per: tiles a stage */
	int	 units, asked;		/* of weights that this lane has, and of x */
};

template <bool ONE> D_INLINE struct task
task_of(const struct site &s, const struct hand &h, const struct step_op &op)
{
	const uint32_t g = h.lane / 4, col = h.warp * UNIT + h.lane % 4 * 8;
	const int units = ((int)op.cols - (int)col + APART - 1) / APART;
	const bool mine = ONE ? g % 4 == 0 : g < s.batch;
	const struct layout x = layout_of(op, s.batch);

	return { s.words.now + op.x + (ONE ? g / 4 * 8 : g * x.seq) + col / 8 * x.piece,
	    APART / 8 * x.piece, g, col, tiles_a_stage(op.cols), units, mine ? units : 0 };
}

/* x of a unit in a lane, as it lies: of one sequence only what the lane multiplies. */
template <bool ONE> struct factor {
	typedef uint4 words;
};
template <> struct factor<true> {
	typedef uint2 words;
};

template <class T> D_INLINE void
multiply_unit(float c[2][4], uint2 x, uint4 w, int i)
{
	mma<T>(c[i % 2], (const uint32_t *)&w, x.x, x.y);
}

template <class T> D_INLINE void
multiply_unit(float c[2][4], uint4 x, uint4 w, int i)
{
	mma<T>(c[0], (const uint32_t *)&w, x.x, x.y);
	mma<T>(c[1], (const uint32_t *)&w, x.z, x.w);
}

/* One row of one sequence, or of two, out of what the tensor core gave. */
template <bool ONE> D_INLINE void
sum_of(float sum[2], const float c[2][4], int lane)
{
	if (ONE)
		sum[0] = lane % 4 < 2 ? c[0][0] + c[1][0] : c[0][2] + c[1][2];
	else {
		sum[0] = c[0][0] + c[1][2];
		sum[1] = c[0][1] + c[1][3];
	}
}

/* The k-th of a turn's tiles: of N units, n are there; the others stay what they are. */
template <int N, int TILES> D_INLINE void
take_weights(uint4 w[N][TILES], int k, uint32_t at, int n)
{
	if (N == UNITS)			/* too many to be kept from tile to tile */
		settle(&n);
#pragma unroll
	for (int i = 0; i < N; i++)
		shared_again(&w[i][k], at + i * APART * 2, i < n);
}

/* How a row's part for a lane lies in a stage; tiles follow one another there. */
struct lying {
	uint32_t here, tile;		/* from where the stage does; from tile to tile */
};

D_INLINE struct lying
lying_of(const struct task &t, uint32_t cols)
{
	const uint32_t pitch = pitch_of(cols);

	return { t.row * pitch + t.col * 2, STEP_ROWS * pitch };
}

/* A turn's tiles, from the i-th of n on; at: where the one before lies, and the last does. */
template <int N, int TILES> D_INLINE void
take_tiles(uint4 w[N][TILES], struct ring &r, const struct lying &l, const struct task &t,
    uint32_t &at, uint32_t i, uint32_t n, int lane)
{
#pragma unroll
	for (int k = 0; k < TILES; k++, i++) {
		if (i >= n)
			break;
		at = (i & (t.per - 1)) == 0 ? ring_take(r) + l.here : at + l.tile;
		take_weights<N, TILES>(w, k, at, t.units);
		if ((i & (t.per - 1)) == t.per - 1 || i == n - 1)
			ring_give(r, lane);
	}
}

/* A stage's two tiles, of which the second may be none; the stage is given later. */
template <int N> D_INLINE void
take_two(uint4 w[N][2], struct ring &r, const struct lying &l, const struct task &t)
{
	const uint32_t at = ring_take(r) + l.here;

	take_weights<N, 2>(w, 0, at, t.units);
	take_weights<N, 2>(w, 1, at + l.tile, t.units);
	ring_next(r);
}

/* So many stages', or what is left. */
template <int N, int STAGES> D_INLINE void
take_twos(uint4 w[STAGES][N][2], struct ring &r, const struct lying &l, const struct task &t,
    uint32_t left)
{
#pragma unroll
	for (int i = 0; i < STAGES; i++)
		if (2 * i < left)
			take_two<N>(w[i], r, l, t);
}

/* Of several sequences, units that no lane has are left out. */
template <class T, bool ONE, int N, int TILES> D_INLINE void
multiply(float c[TILES][2][4], const typename factor<ONE>::words x[N],
    const uint4 w[N][TILES], uint32_t cols)
{
#pragma unroll
	for (int i = 0; i < N * TILES; i++)
		if (ONE || i / TILES * APART < cols)
			multiply_unit<T>(c[i % TILES], x[i / TILES],
			    w[i / TILES][i % TILES], i / TILES);
}

/* x of N units, when it is there. */
template <bool ONE, int N> D_INLINE void
settle_x(typename factor<ONE>::words x[N], const struct step &a, const struct site &s,
    const struct step_op &op, const struct task &t)
{
	words_settle<N>(s.words, x, t.x, t.apart, !ONE);
	stamp(a, s, op, STEP_ARRIVED);
}

/*
 * Of a group's tile j and those beside it, of n in all: into the group's room.  The
 * first group's is free.
 */
template <bool ONE, int TILES> D_INLINE void
put_tiles(const struct step &a, const struct site &s, struct hand &h, uint32_t j, uint32_t n,
    const float c[TILES][2][4])
{
	enum { GROUP = tiles_a_group(ONE ? 1 : 2) };
	const uint32_t stride = sums_stride(s.batch), nth = j % GROUP;
	float *const to = sums_at(a, s, h.at, nth), sum[TILES][2];

#pragma unroll
	for (int i = 0; i < TILES; i++) {
		sum_of<ONE>(sum[i], c[i], h.lane);
		if (j + i < n)
			hand_put<ONE>(h, s, to + i * stride, sum[i], false);
	}
	if (nth + TILES == GROUP || j + TILES >= n) {
		hand_over(h, s);
		if (j + TILES < n)
			hand_wait(h, s);
	}
}

/*
 * Rows of up to half a stage, which has two tiles: x of all columns at once, then all of
 * a group's stages but the last are in registers before x is there, and that one as soon
 * as the first has been multiplied.
 */
template <class T, bool ONE> D_INLINE void
multiply_short(const struct step &a, const struct site &s, struct ring &r, struct hand &h,
    const struct step_op &op, uint32_t n)
{
	enum { N = UNITS / 2, GROUP = tiles_a_group(ONE ? 1 : 2), LAST = GROUP / 2 - 1 };
	const struct task t = task_of<ONE>(s, h, op);
	const struct lying l = lying_of(t, op.cols);
	struct ring next = r;
	typename factor<ONE>::words x[N];
	uint4 w[LAST][N][2] = {};

	stamp(a, s, op, STEP_ASKED);
	words_ask<N>(s.words, x, t.x, t.apart, t.asked);
	take_twos<N, LAST>(w, next, l, t, n);
	ring_give(r, 2 * LAST < n ? LAST : (n + 1) / 2, h.lane);
	hand_wait(h, s);
	settle_x<ONE, N>(x, a, s, op, t);
	stamp(a, s, op, STEP_WEIGHTS);
#pragma unroll 1
	for (uint32_t j = 0; j < n; j += GROUP) {
		const uint32_t left = n - j;
		const bool all = 2 * LAST < left;
		float *const to = sums_at(a, s, h.at, 0), sum[GROUP][2], c[LAST][2][2][4] = {};

		multiply<T, ONE, N, 2>(c[0], x, w[0], op.cols);
		if (j > 0)
			ring_give(r, all ? LAST : (left + 1) / 2, h.lane);
		if (all)
			take_two<N>(w[0], next, l, t);
#pragma unroll
		for (int i = 1; i < LAST; i++)
			multiply<T, ONE, N, 2>(c[i], x, w[i], op.cols);
#pragma unroll
		for (int i = 0; i < 2 * LAST; i++)
			sum_of<ONE>(sum[i], c[i / 2][i % 2], h.lane);
		if (all) {
			float last[2][2][4] = {};

			multiply<T, ONE, N, 2>(last, x, w[0], op.cols);
			ring_give(r, h.lane);
			sum_of<ONE>(sum[2 * LAST], last[0], h.lane);
			sum_of<ONE>(sum[2 * LAST + 1], last[1], h.lane);
		}
#pragma unroll
		for (int i = 0; i < GROUP; i++)
			if (i < left)
				hand_put<ONE>(h, s, to + i * sums_stride(s.batch), sum[i], false);
		hand_over(h, s);
		if (left > GROUP) {
			take_twos<N, LAST>(w, next, l, t, left - GROUP);
			hand_wait(h, s);
		}
	}
}

/* Tiles that a warp has in registers at a time. */
template <bool ONE> D_INLINE constexpr int
tiles_a_turn(void)
{
	return ONE ? 2 : 1;
}

/* Rows of up to a stage: the same, but each tile's stage is given as soon as it is read. */
template <class T, bool ONE> D_INLINE void
multiply_wide(const struct step &a, const struct site &s, struct ring &r, struct hand &h,
    const struct step_op &op, uint32_t n)
{
	enum { N = UNITS, TILES = tiles_a_turn<ONE>() };
	const struct task t = task_of<ONE>(s, h, op);
	const struct lying l = lying_of(t, op.cols);
	typename factor<ONE>::words x[N];
	uint4 w[N][TILES] = {};
	uint32_t at = 0;

	stamp(a, s, op, STEP_ASKED);
	words_ask<N>(s.words, x, t.x, t.apart, t.asked);
	take_tiles<N, TILES>(w, r, l, t, at, 0, n, h.lane);
	hand_wait(h, s);
	settle_x<ONE, N>(x, a, s, op, t);
	stamp(a, s, op, STEP_WEIGHTS);
#pragma unroll 1
	for (uint32_t j = 0; j < n; j += TILES) {
		float c[TILES][2][4] = {};

		multiply<T, ONE, N, TILES>(c, x, w, op.cols);
		if (j + TILES < n)
			take_tiles<N, TILES>(w, r, l, t, at, j + TILES, n, h.lane);
		put_tiles<ONE, TILES>(a, s, h, j, n, c);
	}
}

/* The same of rows that are two stages, the second of more columns. */
template <class T, bool ONE> D_INLINE void
multiply_widest(const struct step &a, const struct site &s, struct ring &r, struct hand &h,
    const struct step_op &op, uint32_t n)
{
	const struct task t = task_of<ONE>(s, h, op);
	const uint32_t more = op.cols - STEP_COLS, first = t.row * pitch_of(STEP_COLS) + t.col * 2;
	const uint32_t second = t.row * pitch_of(more) + t.col * 2;
	typename factor<ONE>::words x[2 * UNITS];
	uint4 w[UNITS][1];

	stamp(a, s, op, STEP_ASKED);
	words_ask<2 * UNITS>(s.words, x, t.x, t.apart, t.asked);
	take_weights<UNITS, 1>(w, 0, ring_take(r) + first, UNITS);
	ring_give(r, h.lane);
	hand_wait(h, s);
	settle_x<ONE, 2 * UNITS>(x, a, s, op, t);
	stamp(a, s, op, STEP_WEIGHTS);
#pragma unroll 1
	for (uint32_t j = 0; j < n; j++) {
		float c[1][2][4] = {};

		multiply<T, ONE, UNITS, 1>(c, x, w, STEP_COLS);
		take_weights<UNITS, 1>(w, 0, ring_take(r) + second, t.units - UNITS);
		ring_give(r, h.lane);
		multiply<T, ONE, UNITS, 1>(c, x + UNITS, w, more);
		if (j + 1 < n) {
			take_weights<UNITS, 1>(w, 0, ring_take(r) + first, UNITS);
			ring_give(r, h.lane);
		}
		put_tiles<ONE, 1>(a, s, h, j, n, c);
	}
}

/*
 * One tile of one sequence, of up to N units of columns, in a stage or two.  Four sums
 * at a time, since one waits for the one before.
 */
template <class T, int N> D_INLINE void
multiply_single(const struct step &a, const struct site &s, struct ring &r, struct hand &h,
    const struct step_op &op)
{
	const struct task t = task_of<true>(s, h, op);
	struct ring next = r;
	uint2 x[N];
	uint4 w[N] = {};
	uint32_t at = 0;
	float c[2][2][4] = {}, sum[2];

	stamp(a, s, op, STEP_ASKED);
	words_ask<N>(s.words, x, t.x, t.apart, t.asked);
	hand_wait(h, s);
#pragma unroll
	for (int i = 0; i < N; i++) {
		if (i == UNITS)
			ring_next(next);
		if (i % UNITS == 0)
			at = ring_take(next) + lying_of(t, min(op.cols - i * APART,
			    (uint32_t)STEP_COLS)).here;
		shared_again(&w[i], at + i % UNITS * APART * 2, i < t.units);
	}
	ring_give(r, (N + UNITS - 1) / UNITS, h.lane);
	settle_x<true, N>(x, a, s, op, t);
	stamp(a, s, op, STEP_WEIGHTS);
#pragma unroll
	for (int i = 0; i < N; i++)
		multiply_unit<T>(c[i / 2 % 2], x[i], w[i], i);
#pragma unroll
	for (int e = 0; e < 4; e++) {
		c[0][0][e] += c[1][0][e];
		c[0][1][e] += c[1][1][e];
	}
	sum_of<true>(sum, c[0], h.lane);
	hand_put<true>(h, s, sums_at(a, s, h.at, 0), sum, false);
	hand_over(h, s);
}

/* Few tiles, of any number of columns: x of the next while these are multiplied. */
template <class T, bool ONE> D_INLINE void
multiply_deep(const struct step &a, const struct site &s, struct ring &r, struct hand &h,
    const struct step_op &op, uint32_t n)
{
	enum { TILES = tiles_a_turn<ONE>() };
	struct task t = task_of<ONE>(s, h, op);
	const uint32_t stride = sums_stride(s.batch);
	typename factor<ONE>::words next[UNITS], x[UNITS];
	uint4 w[UNITS][TILES] = {};

	stamp(a, s, op, STEP_ASKED);
	words_ask<UNITS>(s.words, next, t.x, t.apart, t.asked);
	hand_wait(h, s);
#pragma unroll 1
	for (uint32_t from = 0; from < op.cols; from += STEP_COLS) {
		const uint32_t cols = min(op.cols - from, (uint32_t)STEP_COLS);
		const struct lying l = lying_of(t, cols);
		float *to = sums_at(a, s, h.at, 0);
		uint32_t at = 0;

		take_tiles<UNITS, TILES>(w, r, l, t, at, 0, n, h.lane);
		settle_x<ONE, UNITS>(next, a, s, op, t);
#pragma unroll
		for (int i = 0; i < UNITS; i++)
			x[i] = next[i];
		if (from == 0)
			stamp(a, s, op, STEP_WEIGHTS);
		t.x += UNITS * t.apart;
		t.asked -= UNITS;
		words_ask<UNITS>(s.words, next, t.x, t.apart, t.asked);
#pragma unroll 1
		for (uint32_t i = 0; i < n; i += TILES, to += TILES * stride) {
			float c[TILES][2][4] = {}, sum[TILES][2];

			multiply<T, ONE, UNITS, TILES>(c, x, w, cols);
			if (i + TILES < n)
				take_tiles<UNITS, TILES>(w, r, l, t, at, i + TILES, n, h.lane);
#pragma unroll
			for (int k = 0; k < TILES; k++) {
				sum_of<ONE>(sum[k], c[k], h.lane);
				if (i + k < n)
					hand_put<ONE>(h, s, to + k * stride, sum[k], from != 0);
			}
		}
		t.units -= UNITS;
	}
	hand_over(h, s);
}

template <class T, bool ONE> D_INLINE void
multiply_product(const struct step &a, const struct site &s, struct ring &r, struct hand &h,
    const struct step_op &op, uint32_t n)
{
	if (n == 0)
		return;
	if (ONE && n == 1 && op.cols <= STEP_COLS)
		multiply_single<T, UNITS>(a, s, r, h, op);
	else if (ONE && n == 1 && op.cols <= UNITS_MOST * APART)
		multiply_single<T, UNITS_MOST>(a, s, r, h, op);
	else if (is_deep(op))
		multiply_deep<T, ONE>(a, s, r, h, op, n);
	else if (op.cols <= STEP_COLS / 2)
		multiply_short<T, ONE>(a, s, r, h, op, n);
	else if (op.cols <= STEP_COLS)
		multiply_wide<T, ONE>(a, s, r, h, op, n);
	else
		multiply_widest<T, ONE>(a, s, r, h, op, n);
	stamp(a, s, op, STEP_MULTIPLIED);
}

#endif
