/*
 * step-attention.cuh: a block's units of attention: a sequence's key head and
 * a span of positions, whose keys and values come through the ring.  A warp
 * has 16 positions at a time.  Spans' results are added up in a second turn,
 * by whom the context is left for the next product.
 */
#ifndef STEP_ATTENTION_CUH
#define STEP_ATTENTION_CUH

/* Of 16 positions of a stage, from row on: a lane's share of fragments. */
template <int D> D_INLINE void
take_keys(uint4 k[D / 32][2], uint32_t at, uint32_t row, int lane)
{
	const uint32_t from = at + (row + lane / 4) * D * 2 + lane % 4 * 16;

#pragma unroll
	for (int i = 0; i < D / 16; i++)
		k[i / 2][i % 2] = shared16(from + i % 2 * 8 * D * 2 + i / 2 * 64);
}

/* Zeros for what is beyond the n that are there. */
template <int D> D_INLINE void
take_values(uint4 v[D / 64][4], uint32_t at, uint32_t row, uint32_t n, int lane)
{
	const uint32_t first = lane % 4 * 4;
	const uint32_t from = at + (positions_a_stage<D>() + row + first) * D * 2 + lane / 4 * 16;

#pragma unroll
	for (int i = 0; i < D / 16; i++)
		v[i / 4][i % 4] = shared16(from + i % 4 * D * 2 + i / 4 * 128,
		    first + i % 4 < n);
}

/* The sums of a query head's positions: a lane has two values of every 64. */
template <int D> struct mean {
	float	 top, sum;
	float2	 v[D / 64];
};

/* Of the first n slots, all of them of the same top, and the newest position. */
template <class T, int D> D_INLINE struct mean<D>
mean_of(const float *slots, int n, const struct newest<T> &newest, int query, int lane)
{
	const float *of = slots + sums_row(query) * (D + 2), weight = newest.weight[query];
	struct mean<D> mean = { newest.top[query], weight };

#pragma unroll
	for (int d = 0; d < D / 64; d++) {
		const float2 x = unpair<T>(*(const uint32_t *)(newest.value + d * 64 + lane * 2));

		mean.v[d] = make_float2(weight * x.x, weight * x.y);
	}
#pragma unroll
	for (int i = 0; i < WARPS; i++, of += GROUP_MAX * (D + 2))
		if (i < n) {
			mean.sum += of[D + 1];
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
		const uint32_t to = op.out + (m.seq * a.q_size + head * D + lane * 2) * 2;
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

/* A warp's sums, to the top of all of them. */
template <int D> D_INLINE void
scale_sums(struct sums<D> *sums, const float *tops, const float *newest, int lane)
{
	float2 top = *(const float2 *)(newest + lane % 4 * 2);
	float by[2];

#pragma unroll
	for (int i = 0; i < WARPS; i++) {
		const float2 of = *(const float2 *)(tops + i * GROUP_MAX + lane % 4 * 2);

		top = make_float2(fmaxf(top.x, of.x), fmaxf(top.y, of.y));
	}
	by[0] = two_to(sums->top[0] - top.x);
	by[1] = two_to(sums->top[1] - top.y);
#pragma unroll
	for (int i = 0; i < D / 16 * 4; i++)
		sums->o[i / 4][i % 4] *= by[i % 2];
#pragma unroll
	for (int e = 0; e < 2; e++)
		sums->sum[e] *= by[e];
}

/* All warps' sums into one, in the room of a stage that has been read. */
template <class T, int D> D_INLINE void
add_up(const struct step &a, const struct site &s, const struct mine &m, const struct step_op &op,
    struct sums<D> *sums, float *slots, int warp, int lane)
{
	const int blocks = (cached_end(m) - m.first + LOOKED - 1) / LOOKED;
	const int n = min(blocks, (int)WARPS);
	const struct newest<T> newest = newest_of<T>(a, s);

#pragma unroll
	for (int e = 0; e < 2; e++)
		for (int d = 4; d < 32; d *= 2)
			sums->sum[e] += __shfl_xor_sync(~0u, sums->sum[e], d);
	if (lane < 4)
		*(float2 *)(tops_of(a, s) + warp * GROUP_MAX + lane * 2) =
		    make_float2(sums->top[0], sums->top[1]);
	stamp(a, s, op, STEP_MULTIPLIED);
	lookers_meet();
	if (warp < n) {
		scale_sums<D>(sums, tops_of(a, s), newest.score, lane);
		put_sums<D>(slots + warp * GROUP_MAX * (D + 2), *sums, m.group, lane);
	}
	lookers_meet();
	stamp(a, s, op, STEP_SUMMED);
	if (warp < m.group)
		leave_head<T, D>(a, s, m, op, mean_of<T, D>(slots, n, newest, warp, lane),
		    warp, lane);
	bulk_fence();
}

/* Gives stages of a unit, of which it is at the i-th, until the n-th: its address. */
D_INLINE uint32_t
ring_go(struct ring &r, uint32_t &i, uint32_t n, int lane)
{
	for (; i < n; i++) {
		ring_take(r);
		ring_give(r, lane);
	}
	return ring_take(r);
}

/*
 * A warp has every eighth 16 positions; its first keys are in registers before
 * it waits for its heads, and values before it waits for the others'.
 */
template <class T, int D> D_INLINE void
attend(const struct step &a, const struct site &s, struct ring &r, const struct heads &h,
    const struct mine &m, const struct step_op &op, int warp, int lane)
{
	const uint32_t most = positions_a_stage<D>(), row = warp * LOOKED % most;
	const uint32_t last = stages_of<D>(m) - 1;
	T *const ps = (T *)(s.room + a.room.scores) + warp * SCORES;
	struct sums<D> sums = { {}, { -INFINITY, -INFINITY } };
	uint4 k[D / 32][2], v[D / 64][4], query[D / 32];
	uint32_t i = 0, j = m.first + warp * LOOKED;
	struct new_head<D> head;
	uint32_t at;

	find_head<D>(&head, s, op, h, m, warp, lane);
	at = ring_go(r, i, min(warp * LOOKED / most, last), lane);
	take_keys<D>(k, at, row, lane);
	take_heads<T, D>(a, s, h, head, op);
	take_values<D>(v, at, row, j < cached_end(m) ? cached_end(m) - j : 0, lane);
	lookers_meet();
	stamp(a, s, op, STEP_WEIGHTS);
	take_queries<T, D>(query, a, s, m, lane);
#pragma unroll 1
	while (j < cached_end(m)) {
		float score_of[4], was[2];

		score<T, D>(score_of, k, query);
		soften<T, D>(&sums, score_of, ps, was, j, cached_end(m), lane);
		add_values<T, D>(&sums, v, ps, was, lane);
		j += WARPS * LOOKED;
		if (j >= cached_end(m))
			break;
		at = ring_go(r, i, (j - m.first) / most, lane);
		take_keys<D>(k, at, row, lane);
		take_values<D>(v, at, row, cached_end(m) - j, lane);
	}
	at = ring_go(r, i, last, lane);
	add_up<T, D>(a, s, m, op, &sums, (float *)(s.stages + (at - r.data)), warp, lane);
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
	} while (max(max(top[0], top[1]), max(sum[0], sum[1])) == NOT_YET);
	__syncwarp();
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
	const uint32_t to = op.out + (seq * a.q_size + head * D +
	    lane * 4) * 2;

	stamp_left(a, s, op, mean[0] * all);
	if (mine) {
		words_put(s.words, to, pair<T>(mean[0] * all, mean[1] * all));
		words_put(s.words, to + 4, pair<T>(mean[2] * all, mean[3] * all));
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
