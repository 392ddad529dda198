/*
 * step-attention.cuh: a block's units of attention: a sequence's key head and
 * a span of positions, whose keys and values come through the ring.  Spans'
 * results are added up after that, by whom the context is left for the next
 * product.
 */
#ifndef STEP_ATTENTION_CUH
#define STEP_ATTENTION_CUH

/*
 * A turn is 256 positions, in two halves.  Of a half, scores are a warp's of 16
 * positions, two of each of a stage's groups; of values it has sixteen dims of all,
 * or of half of them where a head has 64.  A tensor core's rows of keys, and columns
 * of values, are the first of every group's two, then the second.
 */
template <int D> struct share {
	enum {
		IN = positions_a_stage<D>() / LOOKED, STAGES = WARPS / IN,
		WIDE = D / 16, PARTS = WARPS / WIDE, STEPS = WARPS / PARTS,
		EACH = STEPS / STAGES,	/* steps a stage */
		GROUP = 2 * IN,		/* positions */
		TWO = 2 * D * 2		/* bytes of two positions */
	};
	uint32_t key, value;		/* from where a stage begins */
	uint32_t dim, part;		/* of the dims; of the positions */
	uint32_t put, counts;		/* where its scores' counts go, and its values' are */
};

template <int D> D_INLINE struct share<D>
share_of(uint32_t warp, uint32_t lane)
{
	typedef struct share<D> of;
	const uint32_t dim = warp % of::WIDE * 16, part = warp / of::WIDE, first = part * of::STEPS;
	const uint32_t group = lane % GROUPS * (UNBROKEN + GAP);
	const uint32_t low = lane / 8 % 2, high = lane / 16;

	return { group + warp % of::IN * of::TWO + low * D * 2 + high * 16,
	    VALUES + group + first % of::IN * of::TWO + high * D * 2 + dim * 2 + low * 16, dim, part,
	    (lane % 4 * 8 + lane / 8) * COUNTS + warp * 4 + lane / 4 % 2,
	    lane * COUNTS + first * 4 };
}

/* A warp's first position of a half. */
template <int D> D_INLINE uint32_t
first_of(uint32_t warp)
{
	return warp / share<D>::IN * positions_a_stage<D>() + warp % share<D>::IN * 2;
}

/* Where the next n stages lie, when they are full; instead of more than those, the first. */
template <int D> D_INLINE void
find_stages(uint32_t at[share<D>::STAGES], struct ring r, int n)
{
	at[0] = ring_take(r);
#pragma unroll
	for (int k = 1; k < share<D>::STAGES; k++) {
		at[k] = at[0];
		if (k < n) {
			ring_next(r);
			at[k] = ring_take(r);
		}
	}
}

/* Of a half's stages: a warp's keys; if there are none, others. */
template <int D> D_INLINE void
take_keys(uint32_t key[D / 16][4], const struct share<D> &mine,
    const uint32_t at[share<D>::STAGES], int warp)
{
	take_rows<D>(key, (warp < share<D>::IN ? at[0] : at[share<D>::STAGES - 1]) + mine.key);
}

/* Its values, of n stages. */
template <int D> D_INLINE void
take_values(uint32_t value[share<D>::STEPS][4], const struct share<D> &mine,
    const uint32_t at[share<D>::STAGES], int n)
{
	enum { EACH = share<D>::EACH };

#pragma unroll
	for (int i = 0; i < share<D>::STEPS; i++)
		if (i < EACH || i / EACH < n)
			fragments_turned(value[i], at[i / EACH] + mine.value +
			    i % EACH * share<D>::TWO);
}

/* They have been read; of so many left, the unit's last is not given. */
template <int D> D_INLINE void
give_stages(struct ring &r, int *left, int lane)
{
#pragma unroll
	for (int k = 0; k < share<D>::STAGES; k++)
		if (*left > 0 && --*left > 0)
			ring_give(r, lane);
}

/* All that a warp needs of a turn's first half. */
template <int D> D_INLINE void
take_half(uint32_t key[D / 16][4], uint32_t value[share<D>::STEPS][4],
    const struct share<D> &mine, struct ring &r, int *left, int warp, int lane)
{
	uint32_t at[share<D>::STAGES];

	find_stages<D>(at, r, *left);
	take_keys<D>(key, mine, at, warp);
	take_values<D>(value, mine, at, share<D>::STAGES);
	give_stages<D>(r, left, lane);
}

/* Sums of a lane's two queries: of its two dims; the best score until then. */
struct part_sums {
	float	 o[2][4];
	float2	 top;
};

/* A warp's scores of a half's 16 positions, the first of which is j. */
template <class T, int D> D_INLINE void
score_half(float x[4], const uint32_t key[D / 16][4], const uint32_t query[D / 8], uint32_t j,
    uint32_t end, int lane)
{
	products_of<T, D>(x, key, query);
#pragma unroll
	for (int i = 0; i < 4; i++)
		if (j + lane / 4 * share<D>::GROUP + i / 2 >= end)
			x[i] = -INFINITY;
}

/* The best scores of a warp's positions, for all warps. */
D_INLINE void
leave_top(const struct step &a, const struct site &s, const float x[2][4], int warp, int lane)
{
	float best[2];

#pragma unroll
	for (int e = 0; e < 2; e++) {
		best[e] = fmaxf(fmaxf(x[0][e], x[0][2 + e]), fmaxf(x[1][e], x[1][2 + e]));
#pragma unroll
		for (int d = 4; d < 32; d *= 2)
			best[e] = fmaxf(best[e], __shfl_xor_sync(~0u, best[e], d));
	}
	if (lane < 4)
		tops_of(a, s, lane)[warp] = make_float2(best[0], best[1]);
}

/* What sums until now do, now that the best is another. */
D_INLINE void
raise_top(struct part_sums *sums, float2 top)
{
	const float was[2] = { two_to(sums->top.x - top.x), two_to(sums->top.y - top.y) };

#pragma unroll
	for (int i = 0; i < 4; i++) {
		sums->o[0][i] *= was[i % 2];
		sums->o[1][i] *= was[i % 2];
	}
}

/* What a warp's 16 positions of a half count, for all warps. */
template <class T> D_INLINE void
weigh_half(T *to, const float x[4], float2 top)
{
#pragma unroll
	for (int i = 0; i < 4; i++)
		to[i % 2 * 4 * COUNTS + i / 2 * 2] =
		    from_float<T>(two_to(x[i] - (i % 2 == 0 ? top.x : top.y)));
}

/* A warp's dims of a half's values, of which n stages are there, by what they count. */
template <class T, int D> D_INLINE void
add_half(struct part_sums *sums, const uint2 p[share<D>::STEPS],
    const uint32_t value[share<D>::STEPS][4], int n)
{
	enum { STEPS = share<D>::STEPS, EACH = share<D>::EACH };

#pragma unroll
	for (int i = 0; i < STEPS; i++)
		if (i < EACH || i / EACH < n)
			mma<T>(sums->o[i % 2], value[i], p[i].x, p[i].y);
}

/* The sums of a query head's positions: a lane has two values of every 64. */
template <int D> struct mean {
	float	 top, sum;
	float2	 v[D / 64];
};

/* From a query's sums to the next one's, in floats: no two of a store are in the same bank. */
template <int D> D_INLINE constexpr int
slot_of(int query)
{
	return query * (D + 4);
}

/* Of the parts' sums, and the newest position. */
template <class T, int D> D_INLINE struct mean<D>
mean_of(const float *slots, const struct newest<T> &newest, int query, int lane)
{
	const float *of = slots + slot_of<D>(query), weight = newest.weight[query];
	struct mean<D> mean = { newest.top[query], newest.sum[query] };

#pragma unroll
	for (int d = 0; d < D / 64; d++) {
		const float2 x = unpair<T>(*(const uint32_t *)(newest.value + d * 64 + lane * 2));

		mean.v[d] = make_float2(weight * x.x, weight * x.y);
	}
#pragma unroll
	for (int i = 0; i < share<D>::PARTS; i++, of += slot_of<D>(GROUP_MAX))
#pragma unroll
		for (int d = 0; d < D / 64; d++) {
			const float2 x = *(const float2 *)(of + d * 64 + lane * 2);

			mean.v[d].x += x.x;
			mean.v[d].y += x.y;
		}
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
	if (a.n_splits == 1) {
		const uint32_t apart = STEP_CONTEXT(s.batch, a.q_size);
		const uint32_t at = to + lane / 4 * apart + piece_word(lane % 4) * 4;
		const float unit = __fdividef(1, mean.sum);

		stamp_left(a, s, op, mean.v[0].x * unit);
#pragma unroll
		for (int d = 0; d < D / 64; d++)
			words_leave(s.words, at + d * 8 * apart,
			    pair<T>(mean.v[d].x * unit, mean.v[d].y * unit));
#pragma unroll
		for (int d = 0; d < D / 64; d++)
			words_wipe(s.words, at + d * 8 * apart);
	} else {
#pragma unroll
		for (int d = 0; d < D / 64; d++) {
			words_put(s.words, to + (d * 64 + lane * 2) * 4, mean.v[d].x);
			words_put(s.words, to + (d * 64 + lane * 2 + 1) * 4, mean.v[d].y);
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

/* A warp's part of the sums, in the room of keys that have been read. */
template <int D> D_INLINE void
put_part(float *slots, const struct part_sums &sums, const struct share<D> &mine, int lane)
{
	float *const to = slots + slot_of<D>(mine.part * GROUP_MAX + lane % 4 * 2) + mine.dim +
	    lane / 4;

#pragma unroll
	for (int i = 0; i < 4; i++)
		to[slot_of<D>(i % 2) + i / 2 * 8] = sums.o[0][i] + sums.o[1][i];
}

/*
 * Turn by turn: a warp's first keys and values are in registers before it waits
 * for its heads.  The second half's come there when the first's have been used.
 */
template <class T, int D> D_INLINE void
attend(const struct step &a, const struct site &s, struct ring &r, const struct heads &h,
    const struct mine &m, const struct step_op &op, int warp, int lane)
{
	enum { STAGES = share<D>::STAGES };
	const struct newest<T> newest = newest_of<T>(a, s);
	struct part_sums sums = {};
	int left = stages_of<D>(m);
	struct new_head<D> new_one = {};
	uint32_t key[D / 16][4], value[share<D>::STEPS][4], query[D / 8];
	float *slots;

	ask_head<D>(&new_one, a, s, op, h, m, warp, lane);
	settle(&lane);			/* all the rest while words are under way */
	lane %= 32u;
	struct share<D> mine = share_of<D>(warp, lane);
	const int head = WARPS - 1 - warp;	/* whose sums it adds: the first are busy longest */
	uint32_t j = m.first + first_of<D>(warp), queries = queries_at<T, D>(a, s, lane);
	uint32_t to = left_at<D>(a, s, m, op, head);

	settle(&to);
	settle(&queries);
	settle(&mine.put);
	settle(&mine.counts);
	take_half<D>(key, value, mine, r, &left, warp, lane);
	take_heads<T, D>(a, s, new_one, op);
	lookers_meet();
	stamp(a, s, op, STEP_WEIGHTS);
	take_queries<D>(query, queries);
#pragma unroll 1
	for (bool any = false;; any = true) {
		float x[2][4] = { {}, { -INFINITY, -INFINITY, -INFINITY, -INFINITY } };
		const int more = left;
		uint32_t at[STAGES];
		uint2 p[share<D>::STEPS];
		float2 top;

		score_half<T, D>(x[0], key, query, j, cached_end(m), lane);
		if (more > 0)
			find_stages<D>(at, r, more);
		if (j + HALF < cached_end(m)) {
			take_keys<D>(key, mine, at, warp);
			score_half<T, D>(x[1], key, query, j + HALF, cached_end(m), lane);
		}
		leave_top(a, s, x, warp, lane);
		lookers_meet();
		top = top_of(a, s, any ? sums.top :
		    *(const float2 *)(newest.score + lane % 4 * 2), lane);
		weigh_half<T>(counts_of<T>(a, s, 0) + mine.put, x[0], top);
		if (more > 0)
			weigh_half<T>(counts_of<T>(a, s, 1) + mine.put, x[1], top);
		if (any)
			raise_top(&sums, top);
		sums.top = top;
		lookers_meet();
		take_counts<T, share<D>::STEPS>(p, counts_of<T>(a, s, 0) + mine.counts);
		add_half<T, D>(&sums, p, value, STAGES);
		if (more > 0) {
			take_counts<T, share<D>::STEPS>(p, counts_of<T>(a, s, 1) + mine.counts);
			take_values<D>(value, mine, at, more);
			give_stages<D>(r, &left, lane);
			add_half<T, D>(&sums, p, value, more);
		}
		if (left == 0)
			break;
		j += 2 * HALF;
		take_half<D>(key, value, mine, r, &left, warp, lane);
	}
	stamp(a, s, op, STEP_MULTIPLIED);
	slots = (float *)(s.stages + r.at * STEP_STAGE);
	put_part<D>(slots, sums, mine, lane);
	lookers_meet();
	stamp(a, s, op, STEP_SUMMED);
	if (head < (int)m.group)
		leave_head<T, D>(a, s, op, mean_of<T, D>(slots, newest, head, lane), to, lane);
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
