/*
 * step-newest.cuh: the new row's heads, as they come, and its position, which is
 * not in the cache yet.  The warp that adds up puts it there, and leaves what it
 * comes to for those who looked at the others.
 */
#ifndef STEP_NEWEST_CUH
#define STEP_NEWEST_CUH

/* Of the warps that multiply and the first that adds up. */
D_INLINE void
lookers_meet(void)
{
	threads_meet<1>((WARPS + 1) * 32);
}

/* In shared memory: each query's score by the newest key, and how much it counts. */
template <class T> struct newest {
	float	*score, *weight;
	float	*top;			/* the best score of all positions */
	T	*value;
};

template <class T> D_INLINE struct newest<T>
newest_of(const struct step &a, const struct site &s)
{
	float *const score = (float *)(s.room + a.room.newest);

	return { score, score + GROUP_MAX, score + 2 * GROUP_MAX, (T *)(score + 3 * GROUP_MAX) };
}

/* A group's n-th head: its queries, then key, then value. */
template <class T, int D> D_INLINE T *
head_room(const struct step &a, const struct site &s, unsigned n)
{
	return (T *)(s.room + a.room.row) + n * D;
}

/*
 * A head of the new row, as D / 8 lanes have it: four elements of its first half,
 * and those that they turn with.  All of it is asked for before there is time to wait.
 */
template <int D> struct new_head {
	enum { LANES = D / 8 };
	const char *from;
	bool	 there, turned, normed;
	uint4	 word[2];
	float	 cos[4], sin[4], norm[2][4];
	unsigned nth;
	int	 at;
};

D_INLINE void
four_of(float to[4], const float *from)
{
	*(float4 *)to = __ldg((const float4 *)from);
}

template <int D> D_INLINE void
ask_head(struct new_head<D> *n, const struct step &a, const struct site &s,
    const struct step_op &op, const struct heads &h, const struct mine &m, int warp, int lane)
{
	const float *norm;

	n->nth = warp + lane / n->LANES * WARPS;
	n->at = lane % n->LANES * 4;
	n->there = n->nth < m.group + 2;
	n->turned = n->nth <= m.group;
	norm = n->nth < m.group ? h.q_norm : h.k_norm;
	n->normed = n->turned && norm != NULL;
	n->from = s.words.now + op.x + (((size_t)m.seq * (h.heads + 2 * h.kv_heads) +
	    (n->there ? head_of(h, m, n->nth) : 0)) * D + n->at) * 4;
	stamp(a, s, op, STEP_ASKED);
	words_ask<2>(s.words, n->word, n->from, D / 2 * 4, n->there ? 2 : 0);
	if (n->turned) {
		four_of(n->cos, h.cos + (size_t)m.position * (D / 2) + n->at);
		four_of(n->sin, h.sin + (size_t)m.position * (D / 2) + n->at);
	}
	if (n->normed) {
		four_of(n->norm[0], norm + n->at);
		four_of(n->norm[1], norm + D / 2 + n->at);
	}
}

/* One over the root mean square of each head of a warp. */
template <int D> D_INLINE float
unit_of_head(const float v[2][4], float eps)
{
	float sum = 0;

#pragma unroll
	for (int i = 0; i < 8; i++)
		sum += v[i / 4][i % 4] * v[i / 4][i % 4];
#pragma unroll
	for (int i = 1; i < new_head<D>::LANES; i *= 2)
		sum += __shfl_xor_sync(~0u, sum, i);
	return rsqrtf(sum / (float)D + eps);
}

template <int D> D_INLINE void
turn_head(float v[2][4], const struct new_head<D> &n, const struct heads &h)
{
	const float unit = h.q_norm != NULL ? unit_of_head<D>(v, h.eps) : 1;

#pragma unroll
	for (int i = 0; i < 4; i++) {
		const float a = n.normed ? n.norm[0][i] * (v[0][i] * unit) : v[0][i];
		const float b = n.normed ? n.norm[1][i] * (v[1][i] * unit) : v[1][i];

		v[0][i] = n.turned ? a * n.cos[i] - b * n.sin[i] : a;
		v[1][i] = n.turned ? b * n.cos[i] + a * n.sin[i] : b;
	}
}

/* A warp's heads, when they are there: normed and turned, into shared memory. */
template <class T, int D> D_INLINE void
take_heads(const struct step &a, const struct site &s, const struct heads &h,
    struct new_head<D> &n, const struct step_op &op)
{
	float v[2][4];

	words_settle<2>(s.words, n.word, n.from, D / 2 * 4, false);
	stamp(a, s, op, STEP_ARRIVED);
#pragma unroll
	for (int i = 0; i < 8; i++)
		v[i / 4][i % 4] = __uint_as_float(((const uint32_t *)&n.word[i / 4])[i % 4]);
	turn_head<D>(v, n, h);
	if (n.there)
#pragma unroll
		for (int i = 0; i < 2; i++)
			*(uint2 *)(head_room<T, D>(a, s, n.nth) + i * D / 2 + n.at) =
			    make_uint2(pair<T>(v[i][0], v[i][1]), pair<T>(v[i][2], v[i][3]));
}

/* What a lane has of a head in shared memory as a fragment. */
template <class T, int D> D_INLINE void
take_fragment(uint4 f[D / 32], const T *head, int lane)
{
#pragma unroll
	for (int i = 0; i < D / 32; i++)
		f[i] = *(const uint4 *)(head + i * 32 + lane % 4 * 8);
}

/* Of all queries, query lane / 4; zeros, if there are fewer. */
template <class T, int D> D_INLINE void
take_queries(uint4 f[D / 32], const struct step &a, const struct site &s,
    const struct mine &m, int lane)
{
	if (lane / 4 < (int)m.group)
		take_fragment<T, D>(f, head_room<T, D>(a, s, lane / 4), lane);
	else
#pragma unroll
		for (int i = 0; i < D / 32; i++)
			f[i] = make_uint4(0, 0, 0, 0);
}

/* Of a lane's elements of two heads. */
template <class T, int D> D_INLINE float
product_of(const uint4 a[D / 32], const uint4 b[D / 32])
{
	float sum[2] = {};

#pragma unroll
	for (int i = 0; i < D / 8; i++) {
		const float2 x = unpair<T>(((const uint32_t *)&a[i / 4])[i % 4]);
		const float2 y = unpair<T>(((const uint32_t *)&b[i / 4])[i % 4]);

		sum[0] += x.x * y.x;
		sum[1] += x.y * y.y;
	}
	return sum[0] + sum[1];
}

/* Of the newest key and every query. */
template <class T, int D> D_INLINE void
score_newest(const struct step &a, const struct site &s, const struct mine &m, int lane)
{
	uint4 query[D / 32], key[D / 32];
	float score;

	take_queries<T, D>(query, a, s, m, lane);
	take_fragment<T, D>(key, head_room<T, D>(a, s, m.group), lane);
	score = product_of<T, D>(query, key) * score_unit<D>();
	score += __shfl_xor_sync(~0u, score, 1);
	score += __shfl_xor_sync(~0u, score, 2);
	if (lane % 4 == 0)
		newest_of<T>(a, s).score[lane / 4] = has_newest(m) ? score : -INFINITY;
}

/* In shared memory: of each warp's positions, the best score of each query. */
D_INLINE float *
tops_of(const struct step &a, const struct site &s)
{
	return (float *)(s.room + a.room.tops);
}

/* Turns of a unit, one at least. */
template <int D> D_INLINE uint32_t
turns_of(const struct mine &m)
{
	const uint32_t a_turn = WARPS * LOOKED / positions_a_stage<D>();

	return (stages_of<D>(m) + a_turn - 1) / a_turn;
}

/* Of all warps' positions and the newest, turn after turn: a lane a query. */
template <class T, int D> D_INLINE void
weigh_newest(const struct step &a, const struct site &s, const struct mine &m, int lane)
{
	const struct newest<T> newest = newest_of<T>(a, s);
	const int query = lane % GROUP_MAX;
	float top = newest.score[query];

#pragma unroll 1
	for (uint32_t n = turns_of<D>(m); n > 0; n--) {
		lookers_meet();		/* tops are there */
#pragma unroll
		for (int i = 0; i < WARPS; i++)
			top = fmaxf(top, tops_of(a, s)[i * GROUP_MAX + query]);
		lookers_meet();		/* and what positions count */
	}
	if (lane < GROUP_MAX) {
		newest.top[query] = top;
		newest.weight[query] = two_to(newest.score[query] - top);
	}
}

/*
 * Once all heads are there: key and value into the cache, a lane so much of each.
 * Of another span's position the value is none.
 */
template <class T, int D> D_INLINE void
keep_newest(const struct step &a, const struct site &s, const struct heads &h,
    const struct mine &m, int lane)
{
	const size_t row = m.base + (size_t)m.position * D;
	const bool has = has_newest(m);

#pragma unroll
	for (int i = lane * 2; i < D; i += 64) {
		const uint32_t key = *(uint32_t *)(head_room<T, D>(a, s, m.group) + i);
		const uint32_t value = *(uint32_t *)(head_room<T, D>(a, s, m.group + 1) + i);

		*(uint32_t *)(newest_of<T>(a, s).value + i) = has ? value : 0;
		if (has) {
			*(uint32_t *)((T *)h.k + row + i) = key;
			*(uint32_t *)((T *)h.v + row + i) = value;
		}
	}
}

/* In every span that has a position, so that all meet. */
template <class T, int D> D_INLINE void
look_at_newest(const struct step &a, const struct site &s, const struct step_op &op,
    struct step_part part, int lane)
{
	const struct heads &h = heads_of(a, s, op);

#pragma unroll 1
	for (uint32_t i = 0; i < part.n; i++) {
		const struct mine m = unit_of(a, s, h, part.first + i);

		if (m.first >= m.end)
			continue;
		lookers_meet();		/* heads are there */
		score_newest<T, D>(a, s, m, lane);
		keep_newest<T, D>(a, s, h, m, lane);
		__syncwarp();
		weigh_newest<T, D>(a, s, m, lane);
		lookers_meet();		/* sums are */
	}
}

#endif
