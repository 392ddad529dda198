/*
 * step-newest.cuh: the new row's heads, as they come, and its position, which is
 * not in the cache yet.  The warp that adds up puts it there, and leaves its score
 * and value for those who looked at the others.
 */
#ifndef STEP_NEWEST_CUH
#define STEP_NEWEST_CUH

/* Of the warps that multiply and the first that adds up. */
D_INLINE void
lookers_meet(void)
{
	threads_meet<1>((WARPS + 1) * 32);
}

/* In shared memory: each column's score by the newest key; the newest value. */
template <class T> struct newest {
	float	*score;
	T	*value;
};

template <class T> D_INLINE struct newest<T>
newest_of(const struct step &a, const struct site &s)
{
	float *const score = (float *)(s.room + a.room.newest);

	return { score, (T *)(score + GROUP_MAX) };
}

/* A group's n-th head: its queries, then key, then value. */
template <class T, int D> D_INLINE T *
head_room(const struct step &a, const struct site &s, unsigned n)
{
	return (T *)(s.room + a.room.row) + n * (D + 8);
}

/*
 * A head of the new row, as D / 8 lanes have it: four elements of its first half,
 * and those that they turn with.  All of it is asked for before there is time to wait.
 */
template <int D> struct new_head {
	enum { LANES = D / 8 };
	const char *from;
	bool	 there, normed;
	uint4	 word[2];
	float	 cos[4], sin[4], norm[2][4], eps, scale;
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
	bool turned;

	n->nth = warp + lane / n->LANES * WARPS;
	n->at = lane % n->LANES * 4;
	n->there = n->nth < m.group + 2;
	n->from = s.words.now + op.x + ((m.seq * (h.heads + 2 * h.kv_heads) +
	    (n->there ? head_of(h, m, n->nth) : 0)) * D + n->at) * 4;
	stamp(a, s, op, STEP_ASKED);
	words_ask<2>(s.words, n->word, n->from, D / 2 * 4, n->there ? 2 : 0);
	settle(&n->nth);		/* the rest while they are under way */
	settle(&n->at);
	turned = n->nth <= m.group;
	norm = n->nth < m.group ? h.q_norm : h.k_norm;
	n->normed = turned && norm != NULL;
	n->eps = h.eps;
	n->scale = n->nth < m.group ? score_unit<D>() : 1;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		n->cos[i] = n->norm[0][i] = n->norm[1][i] = 1;
		n->sin[i] = 0;
	}
	if (turned) {
		four_of(n->cos, h.cos + (size_t)m.position * (D / 2) + n->at);
		four_of(n->sin, h.sin + (size_t)m.position * (D / 2) + n->at);
	}
	if (n->normed) {
		four_of(n->norm[0], norm + n->at);
		four_of(n->norm[1], norm + D / 2 + n->at);
	}
}

/* Normed and turned: turned while the sum of the head's squares is on its way between lanes. */
template <int D> D_INLINE void
turn_head(float v[2][4], const struct new_head<D> &n)
{
	float part[2] = {}, sum, scale = n.scale;

#pragma unroll
	for (int i = 0; i < 8; i++)
		part[i % 2] += v[i / 4][i % 4] * v[i / 4][i % 4];
	sum = part[0] + part[1];
#pragma unroll
	for (int i = 0; i < 4; i++) {
		const float more = 1 << i < n.LANES ? __shfl_xor_sync(~0u, sum, 1 << i) : 0;
		const float a = n.norm[0][i] * v[0][i], b = n.norm[1][i] * v[1][i];

		v[0][i] = a * n.cos[i] - b * n.sin[i];
		v[1][i] = b * n.cos[i] + a * n.sin[i];
		settle(&v[0][i]);
		settle(&v[1][i]);
		sum += more;
	}
	if (n.normed)
		scale *= rsqrtf(sum / (float)D + n.eps);
#pragma unroll
	for (int i = 0; i < 8; i++)
		v[i / 4][i % 4] *= scale;
}

/* A warp's heads, when they are there: normed, turned and, queries, to scale, into shared memory. */
template <class T, int D> D_INLINE void
take_heads(const struct step &a, const struct site &s, struct new_head<D> &n,
    const struct step_op &op)
{
	float v[2][4];

	words_settle<2>(s.words, n.word, n.from, D / 2 * 4, false);
	stamp(a, s, op, STEP_ARRIVED);
#pragma unroll
	for (int i = 0; i < 8; i++)
		v[i / 4][i % 4] = __uint_as_float(((const uint32_t *)&n.word[i / 4])[i % 4]);
	turn_head<D>(v, n);
	if (n.there)
#pragma unroll
		for (int i = 0; i < 2; i++)
			*(uint2 *)(head_room<T, D>(a, s, n.nth) + i * D / 2 + n.at) =
			    make_uint2(pair<T>(v[i][0], v[i][1]), pair<T>(v[i][2], v[i][3]));
}

/*
 * A tensor core's columns are queries, of which a lane has two: of up to four queries
 * the same twice.
 */
D_INLINE bool
are_twice(const struct step &a)
{
	return a.group <= GROUP_MAX / 2;
}

D_INLINE uint32_t
column_of(const struct step &a, uint32_t query)
{
	return are_twice(a) ? query * 2 : query;
}

/* Where rows of queries begin: of column lane % 8, or of the last. */
template <class T, int D> D_INLINE uint32_t
queries_at(const struct step &a, const struct site &s, uint32_t lane)
{
	const uint32_t query = are_twice(a) ? lane % 8 / 2 : lane % 8;
	const T *head = head_room<T, D>(a, s, min(query, a.group - 1));

	return (uint32_t)__cvta_generic_to_shared(head) + lane / 8 * 16;
}

/* A lane's words of them: of column lane / 4. */
template <int D> D_INLINE void
take_queries(uint32_t query[D / 8], uint32_t from)
{
#pragma unroll
	for (int i = 0; i < D / 32; i++)
		fragments(query + i * 4, from + i * 64);
}

/* Rows of keys. */
template <int D> D_INLINE void
take_rows(uint32_t key[D / 16][4], uint32_t from)
{
#pragma unroll
	for (int i = 0; i < D / 16; i++)
		fragments(key[i], from + i * 32);
}

/* Of N times 16 keys and a lane's two columns: of keys lane / 4 and lane / 4 + 8 of the factor. */
template <class T, int D, int N> D_INLINE void
products_of(float x[N][4], const uint32_t key[N][D / 16][4], const uint32_t query[D / 8])
{
	float part[N][2][4] = {};

#pragma unroll
	for (int i = 0; i < D / 16; i++)
#pragma unroll
		for (int k = 0; k < N; k++)
			mma<T>(part[k][i % 2], key[k][i], query[i * 2], query[i * 2 + 1]);
#pragma unroll
	for (int i = 0; i < N * 4; i++)
		x[i / 4][i % 4] = part[i / 4][0][i % 4] + part[i / 4][1][i % 4];
}

/* Of the newest key, which is all 16. */
template <class T, int D> D_INLINE void
score_newest(const struct step &a, const struct site &s, const struct mine &m, int lane)
{
	const T *const head = head_room<T, D>(a, s, a.group);
	uint32_t query[D / 8], key[1][D / 16][4];
	float x[1][4];

	take_queries<D>(query, queries_at<T, D>(a, s, lane));
	take_rows<D>(key[0], (uint32_t)__cvta_generic_to_shared(head) + lane / 16 * 16);
	products_of<T, D, 1>(x, key, query);
	if (lane < 4)
		((float2 *)newest_of<T>(a, s).score)[lane] = has_newest(m) ?
		    make_float2(x[0][0], x[0][1]) : make_float2(-INFINITY, -INFINITY);
}

/* What a lane keeps of the key and the value; the value stays in shared memory, too. */
template <int D> struct kept {
	uint32_t word[2][D / 64];
};

template <class T, int D> D_INLINE void
take_kept(struct kept<D> *k, const struct step &a, const struct site &s, int lane)
{
	const T *from = head_room<T, D>(a, s, a.group) + lane * 2;
	T *to = newest_of<T>(a, s).value + lane * 2;

#pragma unroll
	for (int d = 0; d < D / 64; d++) {
		k->word[0][d] = *(const uint32_t *)(from + d * 64);
		k->word[1][d] = *(const uint32_t *)(from + D + 8 + d * 64);
		*(uint32_t *)(to + d * 64) = k->word[1][d];
	}
}

/* Into the cache. */
template <class T, int D> D_INLINE void
keep_newest(const struct kept<D> &k, const struct heads &h, const struct mine &m, int lane)
{
	const size_t row = m.base + (size_t)m.position * D + lane * 2;

	if (has_newest(m))
#pragma unroll
		for (int d = 0; d < D / 64; d++) {
			*(uint32_t *)((T *)h.k + row + d * 64) = k.word[0][d];
			*(uint32_t *)((T *)h.v + row + d * 64) = k.word[1][d];
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
		struct kept<D> kept;

		if (m.first >= m.end)
			continue;
		lookers_meet();		/* heads are there */
		score_newest<T, D>(a, s, m, lane);
		take_kept<T, D>(&kept, a, s, lane);
		lookers_meet();		/* parts are */
		keep_newest<T, D>(kept, h, m, lane);
	}
}

#endif
