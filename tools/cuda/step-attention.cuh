/*
 * step-attention.cuh: a block's units of attention: a sequence's key head and
 * a span of positions, whose keys and values come through the ring.  Spans'
 * results are added up after that, by whom the context is left for the next
 * product.
 */
#ifndef STEP_ATTENTION_CUH
#define STEP_ATTENTION_CUH

/*
 * A turn is 128 positions.  Scores are a warp's of 16 of them; of values it has
 * sixteen dims of all, or of half of them where a head has 64: two of every eight.
 */
template <int D> struct share {
	enum { TURN = WARPS * LOOKED, STEPS = D / 16, PARTS = WARPS / STEPS };
	int	 dim, part;		/* the first of a lane's two; of the positions */
};

template <int D> D_INLINE struct share<D>
share_of(int warp, int lane)
{
	const int among = warp % share<D>::STEPS;

	return { among / 4 * 64 + lane / 4 * 8 + among % 4 * 2, warp / share<D>::STEPS };
}

/* What a warp needs of a turn, in registers. */
template <int D> struct turn {
	uint4	 key[D / 32][2];
	uint32_t value[share<D>::STEPS][4];
};

template <int D> D_INLINE void
take_keys(uint4 k[D / 32][2], uint32_t at, uint32_t row, int lane)
{
	const uint32_t from = at + (row + lane / 4) * D * 2 + lane % 4 * 16;

#pragma unroll
	for (int i = 0; i < D / 16; i++)
		k[i / 2][i % 2] = shared16(from + i % 2 * 8 * D * 2 + i / 2 * 64);
}

/* Of a stage, the turn's which-th, whose positions are j and those after it. */
template <int D> D_INLINE void
take_stage(struct turn<D> *t, const struct share<D> &mine, uint32_t at, int which, uint32_t j,
    uint32_t end, int warp, int lane)
{
	enum { MOST = positions_a_stage<D>(), IN = MOST / LOOKED, STEPS = share<D>::STEPS };
	const uint32_t values = at + MOST * D * 2 + mine.dim * 2;

	if (warp / IN == which)
		take_keys<D>(t->key, at, warp % IN * LOOKED, lane);
#pragma unroll
	for (int i = 0; i < STEPS; i++) {
		const uint32_t row = (mine.part * STEPS + i) % IN * LOOKED + lane % 4 * 4;

		if (STEPS > IN && i / IN != which)
			continue;
#pragma unroll
		for (int r = 0; r < 4; r++)
			t->value[i][r] = shared4(values + (row + r) * D * 2, j + row + r < end);
	}
}

/* A turn's stages, from the i-th of the unit on; the unit's last is not given. */
template <int D> D_INLINE uint32_t
take_turn(struct turn<D> *t, const struct share<D> &mine, struct ring &r, const struct mine &m,
    uint32_t *i, int warp, int lane)
{
	enum { MOST = positions_a_stage<D>() };
	const uint32_t stages = stages_of<D>(m);
	uint32_t at = 0;

	*t = {};
#pragma unroll
	for (int k = 0; k < share<D>::TURN / MOST; k++) {
		if (*i >= stages)
			break;
		at = ring_take(r);
		take_stage<D>(t, mine, at, k, m.first + *i * MOST, cached_end(m), warp, lane);
		if (++*i < stages)
			ring_give(r, lane);
	}
	return at;
}

/* The best scores of all warps' positions, and of the newest: of a lane's two queries. */
D_INLINE float2
top_of(const struct step &a, const struct site &s, const float *newest, int lane)
{
	float2 top = *(const float2 *)(newest + lane % 4 * 2);

#pragma unroll
	for (int i = 0; i < WARPS; i++) {
		const float2 of = *(const float2 *)(tops_of(a, s) + i * GROUP_MAX + lane % 4 * 2);

		top = make_float2(fmaxf(top.x, of.x), fmaxf(top.y, of.y));
	}
	return top;
}

/* Sums of a lane's two queries: of its two dims, and of what positions count. */
struct part_sums {
	float	 o[2][4], all[4], top[2];
};

/* A warp's scores of its 16 positions; the best of them, for all warps. */
template <class T, int D> D_INLINE void
score_turn(float x[4], const struct step &a, const struct site &s, const struct turn<D> &t,
    const uint4 query[D / 32], uint32_t j, uint32_t end, int warp, int lane)
{
	float best[2] = { -INFINITY, -INFINITY };

	score<T, D>(x, t.key, query);
#pragma unroll
	for (int i = 0; i < 4; i++) {
		x[i] = j + lane / 4 + i / 2 * 8 < end ? x[i] * score_unit<D>() : -INFINITY;
		best[i % 2] = fmaxf(best[i % 2], x[i]);
	}
#pragma unroll
	for (int d = 4; d < 32; d *= 2)
#pragma unroll
		for (int e = 0; e < 2; e++)
			best[e] = fmaxf(best[e], __shfl_xor_sync(~0u, best[e], d));
	if (lane < 4)
		*(float2 *)(tops_of(a, s) + warp * GROUP_MAX + lane * 2) =
		    make_float2(best[0], best[1]);
}

/* What they count, for all warps; and what the sums until then do. */
template <class T> D_INLINE void
weigh_turn(struct part_sums *sums, T *ps, const float x[4], float2 top, int lane)
{
	const float best[2] = { fmaxf(sums->top[0], top.x), fmaxf(sums->top[1], top.y) };

#pragma unroll
	for (int i = 0; i < 4; i++)
		ps[(lane % 4 * 2 + i % 2) * 20 + lane / 4 + i / 2 * 8] =
		    from_float<T>(two_to(x[i] - best[i % 2]));
#pragma unroll
	for (int e = 0; e < 2; e++) {
		const float was = two_to(sums->top[e] - best[e]);

		sums->top[e] = best[e];
		sums->all[e] *= was;
#pragma unroll
		for (int k = 0; k < 2; k++) {
			sums->o[k][e] *= was;
			sums->o[k][2 + e] *= was;
		}
	}
}

/* A warp's dims of all its positions' values, by what they count. */
template <class T, int D> D_INLINE void
add_turn(struct part_sums *sums, const struct turn<D> &t, const T *ps, int lane)
{
	const uint32_t one = pair<T>(1, 1), ones[4] = { one, one, one, one };

#pragma unroll
	for (int i = 0; i < share<D>::STEPS; i++) {
		const uint2 p = *(const uint2 *)(ps + i * SCORES + lane / 4 * 20 + lane % 4 * 4);
		const uint32_t *v = t.value[i];
		const uint32_t turned[4] = { __byte_perm(v[0], v[1], 0x5410),
		    __byte_perm(v[0], v[1], 0x7632), __byte_perm(v[2], v[3], 0x5410),
		    __byte_perm(v[2], v[3], 0x7632) };

		mma<T>(sums->o[i % 2], turned, p.x, p.y);
		mma<T>(sums->all, ones, p.x, p.y);
	}
}

/* The sums of a query head's positions: a lane has two values of every 64. */
template <int D> struct mean {
	float	 top, sum;
	float2	 v[D / 64];
};

/* Of the parts' sums, and the newest position. */
template <class T, int D> D_INLINE struct mean<D>
mean_of(const float *slots, const struct newest<T> &newest, int query, int lane)
{
	const float *of = slots + sums_row(query) * (D + 2), weight = newest.weight[query];
	struct mean<D> mean = { newest.top[query], weight };

#pragma unroll
	for (int d = 0; d < D / 64; d++) {
		const float2 x = unpair<T>(*(const uint32_t *)(newest.value + d * 64 + lane * 2));

		mean.v[d] = make_float2(weight * x.x, weight * x.y);
	}
#pragma unroll
	for (int i = 0; i < share<D>::PARTS; i++, of += GROUP_MAX * (D + 2)) {
		mean.sum += of[D];
#pragma unroll
		for (int d = 0; d < D / 64; d++) {
			const float2 x = *(const float2 *)(of + d * 64 + lane * 2);

			mean.v[d].x += x.x;
			mean.v[d].y += x.y;
		}
	}
	return mean;
}

template <class T, int D> D_INLINE void
leave_head(const struct step &a, const struct site &s, const struct mine &m, const struct step_op &op,
    const struct mean<D> &mean, int query, int lane)
{
	const uint32_t head = m.kv * m.group + query;

	if (a.n_splits == 1) {
		const uint32_t to = op.out + (m.seq * a.q_size + head * D) * 2 + lane / 4 * 16 +
		    piece_word(lane % 4) * 4;
		const float unit = 1 / mean.sum;

		stamp_left(a, s, op, mean.v[0].x * unit);
#pragma unroll
		for (int d = 0; d < D / 64; d++)
			words_put(s.words, to + d * 128, pair<T>(mean.v[d].x * unit,
			    mean.v[d].y * unit));
	} else {
		const uint32_t to = op.square + span_at<D>(a, m.seq, head, m.split);

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
			words_put(s.words, op.square + span_at<D>(a, m.seq,
			    m.kv * m.group + warp, m.split) + i * 4,
			    i == D ? -INFINITY : 0.0f);
}

/* A warp's part of the sums, in the room of a stage that has been read. */
template <int D> D_INLINE void
put_part(float *slots, const struct part_sums &sums, const struct share<D> &mine, int warp,
    int lane)
{
	float *const slot = slots + mine.part * GROUP_MAX * (D + 2);

#pragma unroll
	for (int e = 0; e < 2; e++) {
		float *of = slot + sums_row(lane % 4 * 2 + e) * (D + 2);

		*(float2 *)(of + mine.dim) = make_float2(sums.o[0][e] + sums.o[1][e],
		    sums.o[0][2 + e] + sums.o[1][2 + e]);
		if (warp % share<D>::STEPS == 0 && lane < 4)
			of[D] = sums.all[e];
	}
}

/*
 * Turn by turn: a warp's first keys and values are in registers before it waits
 * for its heads.
 */
template <class T, int D> D_INLINE void
attend(const struct step &a, const struct site &s, struct ring &r, const struct heads &h,
    const struct mine &m, const struct step_op &op, int warp, int lane)
{
	const struct share<D> mine = share_of<D>(warp, lane);
	const struct newest<T> newest = newest_of<T>(a, s);
	T *const ps = (T *)(s.room + a.room.scores);
	struct part_sums sums = { {}, {}, { -INFINITY, -INFINITY } };
	uint32_t i = 0, j = m.first + warp * LOOKED, at;
	struct turn<D> turn;
	struct new_head<D> head = {};
	uint4 query[D / 32];
	float *slots;

	ask_head<D>(&head, a, s, op, h, m, warp, lane);
	at = take_turn<D>(&turn, mine, r, m, &i, warp, lane);
	take_heads<T, D>(a, s, h, head, op);
	lookers_meet();
	stamp(a, s, op, STEP_WEIGHTS);
	take_queries<T, D>(query, a, s, m, lane);
#pragma unroll 1
	for (;;) {
		float x[4];

		score_turn<T, D>(x, a, s, turn, query, j, cached_end(m), warp, lane);
		lookers_meet();
		weigh_turn<T>(&sums, ps + warp * SCORES, x, top_of(a, s, newest.score, lane), lane);
		lookers_meet();
		add_turn<T, D>(&sums, turn, ps + mine.part * share<D>::STEPS * SCORES, lane);
		if (i >= stages_of<D>(m))
			break;
		j += share<D>::TURN;
		at = take_turn<D>(&turn, mine, r, m, &i, warp, lane);
	}
	stamp(a, s, op, STEP_MULTIPLIED);
	slots = (float *)(s.stages + (at - r.data));
	put_part<D>(slots, sums, mine, warp, lane);
	lookers_meet();
	stamp(a, s, op, STEP_SUMMED);
	if (warp < m.group)
		leave_head<T, D>(a, s, m, op, mean_of<T, D>(slots, newest, warp, lane), warp, lane);
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
	const uint32_t to = op.out + (seq * a.q_size + head * D) * 2 + lane / 2 * 16 +
	    lane % 2 * 4;

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

		if (m.first < m.end)
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
