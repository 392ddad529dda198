/*
 * step-attention.cuh: a block's units of attention: a sequence's key head and
 * a span of positions, whose keys and values come through the ring.  Spans'
 * results are added up after that, by whom the context is left for the next
 * product.
 */
#ifndef STEP_ATTENTION_CUH
#define STEP_ATTENTION_CUH

D_INLINE void
warps_meet(void)
{
	threads_meet<3>(WARPS * 32);
}

/*
 * Of a half, 128 positions, a warp has 16, two of each of a stage's groups.  The
 * first two halves are looked at together.  A tensor core's rows of keys, and columns
 * of values, are the first of every group's two, then the second.
 */
template <int D> struct share {
	enum {
		IN = positions_a_stage<D>() / LOOKED, STAGES = WARPS / IN,
		GROUP = 2 * IN		/* positions */
	};
	uint32_t key, value;		/* from where a stage begins */
};

template <int D> D_INLINE struct share<D>
share_of(uint32_t warp, uint32_t lane)
{
	const uint32_t first = lane % GROUPS * (UNBROKEN + GAP) + warp % share<D>::IN * 4 * D;
	const uint32_t low = lane / 8 % 2, high = lane / 16;

	return { first + low * D * 2 + high * 16, VALUES + first + high * D * 2 + low * 16 };
}

/* A warp's first position of a half. */
template <int D> D_INLINE uint32_t
first_of(uint32_t warp)
{
	return warp / share<D>::IN * positions_a_stage<D>() + warp % share<D>::IN * 2;
}

/* Of a half's n stages, when they are full, a warp's: where it lies; if there is none, another. */
template <int D> D_INLINE uint32_t
find_stage(struct ring r, int n, uint32_t warp)
{
	uint32_t at = ring_take(r);

#pragma unroll
	for (uint32_t k = 1; k < share<D>::STAGES; k++)
		if (k < n) {
			ring_next(r);
			const uint32_t next = ring_take(r);

			if (k == warp / share<D>::IN)
				at = next;
		}
	return at;
}

/* A warp's values. */
template <int D> D_INLINE void
take_values(uint32_t value[D / 16][4], uint32_t from)
{
#pragma unroll
	for (int i = 0; i < D / 16; i++)
		fragments_turned(value[i], from + i * 32);
}

/*
 * A half's stages have been read, of so many left.  The unit's last is not given: when
 * all warps have read it, it has room for their sums.
 */
template <int D> D_INLINE void
give_stages(struct ring &r, int *left, int lane)
{
	if (*left == 0)
		return;
#pragma unroll
	for (int k = 0; k < share<D>::STAGES; k++)
		if (*left > 0 && --*left > 0)
			ring_give(r, lane);
	if (*left == 0)
		warps_meet();
}

/*
 * What a warp's positions come to, of a lane's two columns: g being lane / 4, dims
 * i * 16 + g and the eighth after it; the best score; the sum of what they count.
 */
template <int D> struct part {
	float	 o[D / 16][4], top[2], sum[4];
};

/* A warp's scores of N halves' 16 positions each, the first of which is j. */
template <class T, int D, int N> D_INLINE void
score_halves(float x[N][4], const uint32_t key[N][D / 16][4], const uint32_t query[D / 8],
    uint32_t j, uint32_t end, int lane)
{
	products_of<T, D, N>(x, key, query);
#pragma unroll
	for (int i = 0; i < N * 4; i++)
		if (j + i / 4 * HALF + lane / 4 * share<D>::GROUP + i % 4 / 2 >= end)
			x[i / 4][i % 4] = -INFINITY;
}

/* The best scores of a lane's two columns, of all lanes and until now. */
template <int N> D_INLINE void
best_of(float best[2], const float x[N][4])
{
#pragma unroll
	for (int e = 0; e < 2; e++) {
		float of = best[e];

#pragma unroll
		for (int i = 0; i < N; i++)
			of = fmaxf(of, fmaxf(x[i][e], x[i][2 + e]));
#pragma unroll
		for (int d = 4; d < 32; d *= 2)
			of = fmaxf(of, __shfl_xor_sync(~0u, of, d));
		best[e] = of;
	}
}

/* What there has been until now, now that the best is another. */
template <int D> D_INLINE void
raise_top(struct part<D> *p, const float best[2])
{
	const float was[2] = { two_to(p->top[0] - best[0]), two_to(p->top[1] - best[1]) };

	p->top[0] = best[0];
	p->top[1] = best[1];
#pragma unroll
	for (int i = 0; i < 4; i++) {
		p->sum[i] *= was[i % 2];
#pragma unroll
		for (int k = 0; k < D / 16; k++)
			p->o[k][i] *= was[i % 2];
	}
}

/* What 16 positions count, as a tensor core's other factor. */
template <class T> D_INLINE uint2
weigh_half(const float x[4], const float top[2])
{
	return make_uint2(
	    fragment_turned(pair<T>(two_to(x[0] - top[0]), two_to(x[1] - top[1]))),
	    fragment_turned(pair<T>(two_to(x[2] - top[0]), two_to(x[3] - top[1]))));
}

/* Their values, by that. */
template <class T, int D> D_INLINE void
add_half(struct part<D> *p, const uint32_t value[D / 16][4], uint2 counts)
{
	const uint32_t one = pair<T>(1, 1), ones[4] = { one, one, one, one };

#pragma unroll
	for (int i = 0; i < D / 16; i++)
		mma<T>(p->o[i], value[i], counts.x, counts.y);
	mma<T>(p->sum, ones, counts.x, counts.y);
}

/* From a column's sums to the next one's, in floats: no two of a store are in the same bank. */
template <int D> D_INLINE constexpr int
slot_of(int column)
{
	return column * (D + 4);
}

/*
 * In a slot: D values, the top, the sum.  A value's dim is g + 8 * (c + 4 * odd + 8 * d).
 * Those of a g and a c lie together, so that they are put in one store, and taken
 * by the two lanes that have g / 2, c, and odd: no two in the same bank.
 */
template <int D> struct alignas(D / 16) some {
	float	 v[D / 64];		/* by d */
};
template <int D> struct alignas(D / 8) more {
	some<D>	 odd[2];
};

D_INLINE int
place_in_slot(int c, int g)
{
	return c * 8 + (g ^ c % 2);
}

/* Of columns that are not there twice. */
template <int D> D_INLINE void
put_part(float *slots, const struct part<D> &p, const struct step &a, int lane)
{
	const uint32_t g = lane / 4, t = lane % 4;

#pragma unroll
	for (int e = 0; e < 2; e++) {
		float *const to = slots + slot_of<D>(2 * t + e);

		if (2 * t + e >= column_of(a, a.group) || (e > 0 && are_twice(a)))
			break;
#pragma unroll
		for (int c = 0; c < 4; c++) {
			struct more<D> v;

#pragma unroll
			for (int i = 0; i < D / 32; i++)
				v.odd[i % 2].v[i / 2] =
				    p.o[c / 2 + i * 2][c % 2 * 2 + e];
			((struct more<D> *)to)[place_in_slot(c, g)] = v;
		}
		if (g == 0)
			*(float2 *)(to + D) = make_float2(p.top[e], p.sum[e]);
	}
}

/* The sums of a query head's positions: a lane has two values of every 64. */
template <int D> struct mean {
	float	 top, sum, unit;	/* one over the sum */
	float2	 v[D / 64];
};

/* The first of them: of g / 2 lane % 8 / 2, of odd lane % 2, of c lane / 8. */
D_INLINE int
mean_dim(int lane)
{
	return lane % 8 / 2 * 2 + (lane / 8 + lane % 2 * 4) * 8;
}

/* Of the warps' parts, whose slots of its column begin there, and the newest position. */
template <class T, int D> D_INLINE struct mean<D>
mean_of(const float *slot, const float *score, const T *value, int lane)
{
	enum { PART = slot_of<D>(GROUP_MAX) };
	const int pair = place_in_slot(lane / 8, lane % 8 / 2 * 2);
	const float own = slot[lane % WARPS * PART + D];
	struct mean<D> mean = { *score };
	uint32_t newest[D / 64];
	float2 known[WARPS];		/* top and sum */
	some<D> v[WARPS][2];
	float weight;

#pragma unroll
	for (int i = 0; i < WARPS; i++) {
		const more<D> *const part = (const more<D> *)(slot + i * PART);

		known[i] = *(const float2 *)(slot + i * PART + D);
		v[i][0] = part[pair].odd[lane % 2];
		v[i][1] = part[pair ^ 1].odd[lane % 2];
	}
#pragma unroll
	for (int d = 0; d < D / 64; d++)
		newest[d] = *(const uint32_t *)(value + d * 64 + mean_dim(lane));
#pragma unroll
	for (int i = 0; i < WARPS; i += 2)
		mean.top = fmaxf(mean.top, fmaxf(known[i].x, known[i + 1].x));
	mean.sum = weight = two_to(*score - mean.top);
#pragma unroll
	for (int d = 0; d < D / 64; d++) {
		const float2 x = unpair<T>(newest[d]);

		mean.v[d] = make_float2(weight * x.x, weight * x.y);
	}
	weight = two_to(own - mean.top);
#pragma unroll
	for (int i = 0; i < WARPS; i++) {
		const float w = __shfl_sync(~0u, weight, i);

		mean.sum += w * known[i].y;
#pragma unroll
		for (int d = 0; d < D / 64; d++) {
			mean.v[d].x += w * v[i][0].v[d];
			mean.v[d].y += w * v[i][1].v[d];
		}
	}
	mean.unit = __fdividef(1, mean.sum);
	return mean;
}

/* Where a query's result goes: to the context, or with those of other spans. */
template <int D> D_INLINE uint32_t
left_at(const struct step &a, const struct site &s, const struct mine &m,
    const struct step_op &op, uint32_t query)
{
	const uint32_t head = m.kv * m.group + query;

	return a.n_splits == 1 ? op.out + context_at<D>(a, s.batch, m.seq, head) :
	    op.square + span_at<D>(a, m.seq, head, m.split);
}

template <class T, int D> D_INLINE void
leave_head(const struct step &a, const struct site &s, const struct step_op &op,
    const struct mean<D> &mean, uint32_t to, int lane)
{
	const int dim = mean_dim(lane);

	if (a.n_splits == 1) {
		const uint32_t apart = STEP_CONTEXT(s.batch, a.q_size);
		const uint32_t at = to + dim / 8 * apart + piece_word(dim % 8 / 2) * 4;

		stamp_left(a, s, op, mean.v[0].x * mean.unit);
#pragma unroll
		for (int d = 0; d < D / 64; d++)
			words_leave(s.words, at + d * 8 * apart,
			    pair<T>(mean.v[d].x * mean.unit, mean.v[d].y * mean.unit));
#pragma unroll
		for (int d = 0; d < D / 64; d++)
			words_wipe(s.words, at + d * 8 * apart);
	} else {
#pragma unroll
		for (int d = 0; d < D / 64; d++) {
			words_put(s.words, to + (d * 64 + dim) * 4, mean.v[d].x);
			words_put(s.words, to + (d * 64 + dim + 1) * 4, mean.v[d].y);
		}
		if (lane < 2)
			words_put(s.words, to + (D + lane) * 4, lane == 0 ? mean.top : mean.sum);
	}
}

/* A span of no position counts for nothing, but is written and wiped like all. */
template <int D> D_INLINE void
leave_none(const struct step &a, const struct site &s, const struct mine &m, const struct step_op &op,
    int warp, int lane)
{
	if (warp < m.group)
		for (int i = lane; i < D + 2; i += 32)
			words_put(s.words, left_at<D>(a, s, m, op, warp) + i * 4,
			    i == D ? -INFINITY : 0.0f);
}

/*
 * The first half's positions, whose values are in registers, and the scores of the
 * second's, if a warp has some: its values, which lie at at, are taken to where its
 * keys were.  What those count.
 */
template <class T, int D> D_INLINE uint2
add_first(struct part<D> *p, uint32_t key[2][D / 16][4],
    const uint32_t value[D / 16][4], const uint32_t query[D / 8], uint32_t at,
    uint32_t j, uint32_t end, int lane)
{
	uint2 counts[2] = {};
	float x[2][4];

	if (j + HALF < end) {
		score_halves<T, D, 2>(x, key, query, j, end, lane);
		best_of<2>(p->top, x);
		counts[0] = weigh_half<T>(x[0], p->top);
		counts[1] = weigh_half<T>(x[1], p->top);
		take_values<D>(key[1], at);
	} else if (j < end) {
		score_halves<T, D, 1>(x, key, query, j, end, lane);
		best_of<1>(p->top, x);
		counts[0] = weigh_half<T>(x[0], p->top);
	}
	if (j < end)
		add_half<T, D>(p, value, counts[0]);
	return counts[1];
}

/* Another half, whose stages are there. */
template <class T, int D> D_INLINE void
add_next(struct part<D> *p, uint32_t at, const struct share<D> &mine,
    const uint32_t query[D / 8], uint32_t j, uint32_t end, int lane)
{
	uint32_t row[1][D / 16][4];
	float x[1][4], best[2] = { p->top[0], p->top[1] };

	take_rows<D>(row[0], at + mine.key);
	score_halves<T, D, 1>(x, row, query, j, end, lane);
	take_values<D>(row[0], at + mine.value);
	best_of<1>(best, x);
	raise_top<D>(p, best);
	add_half<T, D>(p, row[0], weigh_half<T>(x[0], best));
}

/*
 * A warp keeps to its own positions until all warps' parts are added up.  Its first
 * keys and values are in registers before it waits for its heads.
 */
template <class T, int D> D_INLINE void
attend(const struct step &a, const struct site &s, struct ring &r, const struct heads &h,
    const struct mine &m, const struct step_op &op, int warp, int lane)
{
	const uint32_t end = cached_end(m);
	struct part<D> part = { {}, { -INFINITY, -INFINITY }, {} };
	int left = stages_of<D>(m);
	struct new_head<D> new_one = {};
	uint32_t key[2][D / 16][4], value[D / 16][4], query[D / 8], at;
	uint2 counts;
	float *slots;

	static_assert(WARPS * slot_of<D>(GROUP_MAX) * 4 <= STEP_STAGE);
	ask_head<D>(&new_one, a, s, op, h, m, warp, lane);
	settle(&lane);			/* all the rest while words are under way */
	lane %= 32u;
	const struct share<D> mine = share_of<D>(warp, lane);
	const int head = WARPS - 1 - warp;	/* whose parts it adds: the first are busy longest */
	const uint32_t column = column_of(a, head);
	const struct newest<T> newest = newest_of<T>(a, s);
	uint32_t j = m.first + first_of<D>(warp), queries = queries_at<T, D>(a, s, lane);
	uint32_t to = left_at<D>(a, s, m, op, head);

	settle(&to);
	settle(&queries);
	at = find_stage<D>(r, left, warp);
	take_rows<D>(key[0], at + mine.key);
	take_values<D>(value, at + mine.value);
	give_stages<D>(r, &left, lane);
	at = find_stage<D>(r, left, warp);	/* of one half, the last again */
	take_rows<D>(key[1], at + mine.key);
	take_heads<T, D>(a, s, new_one, op);
	lookers_meet();
	stamp(a, s, op, STEP_WEIGHTS);
	take_queries<D>(query, queries);
	counts = add_first<T, D>(&part, key, value, query, at + mine.value, j, end, lane);
	give_stages<D>(r, &left, lane);
	if (j + HALF < end)
		add_half<T, D>(&part, key[1], counts);
#pragma unroll 1
	for (j += 2 * HALF; left > 0; j += HALF) {
		at = find_stage<D>(r, left, warp);
		if (j < end)
			add_next<T, D>(&part, at, mine, query, j, end, lane);
		give_stages<D>(r, &left, lane);
	}
	stamp(a, s, op, STEP_MULTIPLIED);
	slots = (float *)(s.stages + r.at * STEP_STAGE);
	put_part<D>(slots + slot_of<D>(warp * GROUP_MAX), part, a, lane);
	lookers_meet();
	stamp(a, s, op, STEP_SUMMED);
	if (head < (int)a.group)
		leave_head<T, D>(a, s, op, mean_of<T, D>(slots + slot_of<D>(column),
		    newest.score + column, newest.value, lane), to, lane);
	bulk_fence();
	ring_give(r, lane);
}

/*
 * How much each span counts, and one over what all do: a lane has spans lane and
 * lane + 32, whose top and sum lie behind their values.
 */
template <int D> D_INLINE float
weigh_spans(float weight[2], const struct step &a, const struct words &w, const char *from,
    int lane)
{
	uint32_t top[2], sum[2];
	float best, all;

	do {
#pragma unroll
		for (int i = 0; i < 2; i++) {
			const char *of = from + (lane + i * 32) * (D + 4) * 4 + D * 4;
			const bool there = lane + i * 32 < a.n_splits;

			top[i] = word_ask(of, there, w.policy);
			sum[i] = word_ask(of + 4, there, w.policy);
		}
	} while (__any_sync(~0u, max(max(top[0], top[1]), max(sum[0], sum[1])) == NOT_YET));
#pragma unroll
	for (int i = 0; i < 2; i++)
		weight[i] = lane + i * 32 < a.n_splits ? __uint_as_float(top[i]) : -INFINITY;
	best = fmaxf(weight[0], weight[1]);
	for (int i = 16; i > 0; i /= 2)
		best = fmaxf(best, __shfl_xor_sync(~0u, best, i));
	weight[0] = two_to(weight[0] - best);
	weight[1] = two_to(weight[1] - best);
	all = weight[0] * __uint_as_float(sum[0]) + weight[1] * __uint_as_float(sum[1]);
	return 1 / warp_sum(all);
}

/*
 * A query head's spans, a warp each: the context; a lane has four values.  The
 * first spans' are asked for before it is known how much they count.
 */
template <class T, int D> D_INLINE void
add_spans(const struct step &a, const struct site &s, const struct step_op &op, uint32_t seq,
    uint32_t head, int lane)
{
	enum { TOGETHER = 16, SPAN = (D + 4) * 4 };
	const char *const from = s.words.now + op.square + span_at<D>(a, seq, head, 0);
	const char *at = from + lane * 16;
	const bool mine = lane < D / 4;
	float all, weight[2], mean[4] = {};
	uint4 v[TOGETHER];
	int n = mine ? (int)a.n_splits : 0;

#pragma unroll 1
	for (uint32_t first = 0; first < a.n_splits; first += TOGETHER) {
		words_ask<TOGETHER>(s.words, v, at, SPAN, n);
		if (first == 0)
			all = weigh_spans<D>(weight, a, s.words, from, lane);
		words_settle<TOGETHER>(s.words, v, at, SPAN, false);
#pragma unroll
		for (int k = 0; k < TOGETHER; k++) {
			const float one = __shfl_sync(~0u, first + k < 32 ? weight[0] : weight[1],
			    (first + k) % 32);

			mean[0] += one * __uint_as_float(v[k].x);
			mean[1] += one * __uint_as_float(v[k].y);
			mean[2] += one * __uint_as_float(v[k].z);
			mean[3] += one * __uint_as_float(v[k].w);
		}
		at += TOGETHER * SPAN;
		n -= TOGETHER;
	}
	const uint32_t to = op.out + context_at<D>(a, s.batch, seq, head) +
	    lane / 2 * STEP_CONTEXT(s.batch, a.q_size) + lane % 2 * 4;

	stamp_left(a, s, op, mean[0] * all);
	if (mine) {
		words_put(s.words, to, pair<T>(mean[0] * all, mean[1] * all));
		words_put(s.words, to + 8, pair<T>(mean[2] * all, mean[3] * all));
	}
}

template <class T, int D> D_INLINE void
attend_all(const struct step &a, const struct site &s, struct ring &r,
    const struct step_op &op, struct step_part part, int warp, int lane)
{
	const struct heads &h = heads_of(a, s, op);

	for (uint32_t i = 0; i < part.n; i++) {
		const struct mine m = unit_of(a, s, h, part.first + i);

		if (a.n_splits == 1 || m.first < m.end)
			attend<T, D>(a, s, r, h, m, op, warp, lane);
		else
			leave_none<D>(a, s, m, op, warp, lane);
	}
	if (a.n_splits == 1)
		return;
	for (uint32_t i = blockIdx.x + warp * a.n_blocks; i < s.batch * h.heads;
	    i += WARPS * a.n_blocks)
		add_spans<T, D>(a, s, op, i / h.heads, i % h.heads, lane);
}

#endif
