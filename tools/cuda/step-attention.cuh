/*
 * step-attention.cuh: a block's units of attention: a sequence's key head and
 * a span of positions, whose keys and values come through the ring.  A warp
 * has 32 positions at a time.  Spans' results are added up in a second turn,
 * by whom the context is left for the next product.
 */
#ifndef STEP_ATTENTION_CUH
#define STEP_ATTENTION_CUH

/* Of the warps that multiply. */
D_INLINE void
warps_meet(void)
{
	threads_meet<1>(WARPS * 32);
}

/* Which element of a head is a lane's i-th (look.cuh). */
template <int D> D_INLINE int
element(int i, int lane)
{
	return lane + i / 2 * 32 + i % 2 * D / 2;
}

/* A warp's heads of a row of qkv: its first, and the eighth after it. */
enum { HEADS = (GROUP_MAX + 2 + WARPS - 1) / WARPS };
template <int D> D_INLINE void
ask_heads(const struct words &w, uint32_t v[HEADS][D / 32], const char *row,
    const struct heads &h, const struct mine &m, int warp, int lane)
{
#pragma unroll
	for (int n = 0; n < HEADS; n++)
#pragma unroll
		for (int i = 0; i < D / 32; i++)
			v[n][i] = word_ask(row + (head_of(h, m, warp + n * WARPS) * D +
			    element<D>(i, lane)) * 4, warp + n * WARPS < m.group + 2, w.policy);
}

template <int D> D_INLINE bool
are_there(const uint32_t v[HEADS][D / 32])
{
	uint32_t most = 0;

#pragma unroll
	for (int i = 0; i < HEADS * D / 32; i++)
		most = max(most, v[i / (D / 32)][i % (D / 32)]);
	return most != NOT_YET;
}

/* A warp a head: queries, the newest key and value, in shared memory and cache. */
template <class T, int D> D_INLINE void
prepare(const struct step &a, const struct site &s, const struct heads &h,
    const struct mine &m, const struct step_op &op, int warp, int lane)
{
	enum { EACH = D / 32 };
	const char *row = s.words.now + op.x + (size_t)m.seq * (h.heads +
	    2 * h.kv_heads) * D * 4;
	uint32_t word[HEADS][EACH];
	struct turn<D> turn;

	stamp(a, s, op, STEP_ASKED);
	ask_heads<D>(s.words, word, row, h, m, warp, lane);
	find_turn<D>(&turn, h, m, head_of(h, m, warp), lane);
	while (!are_there<D>(word))
		ask_heads<D>(s.words, word, row, h, m, warp, lane);
	__syncwarp();
	stamp(a, s, op, STEP_ARRIVED);
#pragma unroll
	for (int n = 0; n < HEADS; n++) {
		const unsigned nth = warp + n * WARPS, head = head_of(h, m, nth);
		T *to = (T *)(s.room + a.room.queries) + nth * D;
		T *cache = (T *)(nth == m.group ? h.k : h.v) + m.base +
		    (size_t)m.position * D;
		float v[EACH];

		if (nth >= m.group + 2)
			break;
		if (n > 0)
			find_turn<D>(&turn, h, m, head, lane);
#pragma unroll
		for (int i = 0; i < EACH; i++)
			v[i] = __uint_as_float(word[n][i]);
		turn_head<D>(v, turn, h, (nth < m.group ? h.q_norm : h.k_norm) != NULL,
		    nth <= m.group);
#pragma unroll
		for (int i = 0; i < EACH; i++) {
			const int at = element<D>(i, lane);

			to[at] = from_float<T>(v[i]);
			if (nth >= m.group && m.end > m.position)
				cache[at] = to[at];
		}
	}
}

/* Positions from j on, as many as a warp looks at, which lie in a stage from row on. */
template <class T, int D> D_INLINE void
look_at(struct sums<D> *sums, const struct step &a, const struct site &s, const struct mine &m,
    uint32_t at, uint32_t row, uint32_t j, int warp, int lane)
{
	const T *query = (const T *)(s.room + a.room.queries) + lane / 4 * D + lane % 4 * 8;
	const T *newest = (const T *)(s.room + a.room.queries) + m.group * D;
	T *ps = (T *)(s.room + a.room.scores) + warp * LOOK * SCORES;
	const uint32_t keys = at + (row + lane / 4) * D * 2 + lane % 4 * 16;
	const uint32_t values = at + (positions_a_stage<D>() + row + lane % 4 * 4) * D * 2 +
	    lane / 4 * 16;
	float was[2], score_of[LOOK][4] = {};
	uint4 k[LOOK][D / 32][2], v[LOOK][D / 64][4];

#pragma unroll
	for (int n = 0; n < LOOK; n++)
#pragma unroll
		for (int i = 0; i < D / 16; i++)
			k[n][i / 2][i % 2] = shared16(keys + (n * 16 + i % 2 * 8) * D * 2 +
			    i / 2 * 64);
	if (j + LOOKED > m.position)
#pragma unroll
		for (int n = 0; n < LOOK; n++)
			put_newest_key<T, D>(k[n], newest, j + n * 16, m.position, lane);
#pragma unroll
	for (int n = 0; n < LOOK; n++)
		score<T, D>(score_of[n], k[n], query, lane / 4 < (int)m.group);
#pragma unroll
	for (int n = 0; n < LOOK; n++)
#pragma unroll
		for (int i = 0; i < D / 16; i++)
			v[n][i / 4][i % 4] = shared16(values + (n * 16 + i % 4) * D * 2 +
			    i / 4 * 128);
	soften<T, D, LOOK>(sums, score_of, ps, was, j, m.end, lane);
	if (j + LOOKED > m.position)
#pragma unroll
		for (int n = 0; n < LOOK; n++)
			put_newest_value<T, D>(v[n], newest + D, j + n * 16, m.position, lane);
	add_values<T, D, LOOK>(sums, v, ps, was, lane);
}

/* Of one query head, by one warp, out of the first n slots. */
template <class T, int D> D_INLINE void
leave_head(const struct step &a, const struct site &s, const struct mine &m, const struct step_op &op,
    const float *slots, int n, int query, int lane)
{
	const uint32_t head = m.kv * m.group + query;
	const float *of = slots + query * (D + 2);
	const float top = lane < n ? of[lane * GROUP_MAX * (D + 2) + D] : -INFINITY;
	float best = top, weight, all;
	float2 mean[D / 64] = {};

	for (int i = 16; i > 0; i /= 2)
		best = fmaxf(best, __shfl_xor_sync(~0u, best, i));
	weight = lane < n ? exp2f(top - best) : 0;
	all = warp_sum(lane < n ? weight * of[lane * GROUP_MAX * (D + 2) + D + 1] : 0);
	const float unit = a.n_splits == 1 ? 1 / all : 1;

#pragma unroll
	for (int i = 0; i < WARPS; i++) {
		const float one = __shfl_sync(~0u, weight, i);

		if (i >= n)
			break;
#pragma unroll
		for (int d = 0; d < D / 64; d++) {
			const float2 x = *(const float2 *)(of + i * GROUP_MAX * (D + 2) +
			    d * 64 + lane * 2);

			mean[d].x += one * x.x;
			mean[d].y += one * x.y;
		}
	}
	if (a.n_splits == 1) {
		stamp_left(a, s, op, mean[0].x * unit);
		const uint32_t to = op.out + (m.seq * a.q_size +
		    head * D + lane * 2) * 2;

#pragma unroll
		for (int d = 0; d < D / 64; d++)
			words_put(s.words, to + d * 128, pair<T>(mean[d].x * unit, mean[d].y * unit));
	} else {
		const uint32_t to = op.square + span_at<D>(a, m.seq, head, m.split);

#pragma unroll
		for (int d = 0; d < D / 64; d++) {
			words_put(s.words, to + (d * 64 + lane * 2) * 4, mean[d].x);
			words_put(s.words, to + (d * 64 + lane * 2 + 1) * 4, mean[d].y);
		}
		if (lane < 2)
			words_put(s.words, to + (D + lane) * 4, lane == 0 ? best : all);
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

/* All warps' sums into one, in the room of a stage that has been read. */
template <class T, int D> D_INLINE void
add_up(const struct step &a, const struct site &s, const struct mine &m, const struct step_op &op,
    struct sums<D> *sums, float *slots, int n, int warp, int lane)
{
#pragma unroll
	for (int e = 0; e < 2; e++)
		for (int d = 4; d < 32; d *= 2)
			sums->sum[e] += __shfl_xor_sync(~0u, sums->sum[e], d);
	stamp(a, s, op, STEP_MULTIPLIED);
	warps_meet();
	if (warp < n)
		put_sums<D>(slots + warp * GROUP_MAX * (D + 2), *sums, lane);
	warps_meet();
	stamp(a, s, op, STEP_SUMMED);
	if (warp < m.group)
		leave_head<T, D>(a, s, m, op, slots, n, warp, lane);
	bulk_fence();
}

template <class T, int D> D_INLINE void
attend(const struct step &a, const struct site &s, struct ring &r, const struct heads &h,
    const struct mine &m, const struct step_op &op, int warp, int lane)
{
	const uint32_t most = positions_a_stage<D>(), warps = most / LOOKED;
	struct sums<D> sums = {};
	uint32_t turn = 0;

	if (m.first >= m.end) {
		leave_none<D>(a, s, m, op, warp, lane);
		return;
	}
	prepare<T, D>(a, s, h, m, op, warp, lane);
	warps_meet();
	sums.top[0] = sums.top[1] = -INFINITY;
	for (uint32_t j = m.first; j < m.end; j += most, turn++) {
		const uint32_t at = ring_take(r), row = warp % warps * LOOKED;

		if (turn == 0)
			stamp(a, s, op, STEP_WEIGHTS);
		if (turn % (WARPS / warps) == warp / warps && j + row < m.end)
			look_at<T, D>(&sums, a, s, m, at, row, j + row, warp, lane);
		if (j + most >= m.end)
			add_up<T, D>(a, s, m, op, &sums, (float *)(s.stages +
			    (at - r.data)), min((int)(m.end - m.first + LOOKED - 1) / LOOKED,
			    (int)WARPS), warp,
			    lane);
		ring_give(r, lane);
	}
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
	weight[0] = exp2f(weight[0] - best);
	weight[1] = exp2f(weight[1] - best);
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

	for (uint32_t i = 0; i < part.n; i++)
		attend<T, D>(a, s, r, h, unit_of(a, s, h, part.first + i), op, warp, lane);
	if (a.n_splits == 1)
		return;
	for (uint32_t i = blockIdx.x + warp * a.n_blocks; i < s.batch * h.heads;
	    i += WARPS * a.n_blocks)
		add_spans<T, D>(a, s, op, i / h.heads, i % h.heads, lane);
}

#endif
