/*
 * look.cuh: one new row's attention, a warp 16 positions at a time.  Its head
 * has query heads, up to eight, that share a key head; keys and values come as
 * fragments of a tensor core.
 */
#ifndef LOOK_CUH
#define LOOK_CUH

struct mine {
	uint32_t seq, kv;
	size_t	 base;			/* of the head's cache, in words */
	uint32_t group, position, first, end, split;
};

/*
 * A lane has the elements l, l + 32, ... of a head's first half, and those they
 * turn with: what turns them is there before they are.
 */
template <int D> struct turn {
	float	 cos[D / 64], sin[D / 64], norm[D / 32], bias[D / 32];
};

template <int D> D_INLINE void
find_turn(struct turn<D> *t, const struct heads &h, const struct mine &m,
    unsigned head, int lane)
{
	const float *norm = head < h.heads ? h.q_norm : h.k_norm;

#pragma unroll
	for (int i = 0; i < D / 64; i++) {
		const int at = lane + i * 32;

		t->cos[i] = __ldg(h.cos + (size_t)m.position * (D / 2) + at);
		t->sin[i] = __ldg(h.sin + (size_t)m.position * (D / 2) + at);
#pragma unroll
		for (int r = 0; r < 2; r++) {
			t->norm[2 * i + r] = norm != NULL ? __ldg(norm + at + r * D / 2) : 1;
			t->bias[2 * i + r] = h.bias != NULL ?
			    h.bias[head * D + at + r * D / 2] : 0;
		}
	}
}

/* Of queries and keys; a value only gets its bias. */
template <int D> D_INLINE void
turn_head(float v[D / 32], const struct turn<D> &t, const struct heads &h,
    bool normed, bool turned)
{
	float unit = 0;

#pragma unroll
	for (int i = 0; i < D / 32; i++) {
		v[i] += t.bias[i];
		unit += v[i] * v[i];
	}
	if (!turned)
		return;
	unit = normed ? rsqrtf(warp_sum(unit) / (float)D + h.eps) : 1;
#pragma unroll
	for (int i = 0; i < D / 64; i++) {
		const float a = t.norm[2 * i] * (v[2 * i] * unit);
		const float b = t.norm[2 * i + 1] * (v[2 * i + 1] * unit);

		v[2 * i] = a * t.cos[i] - b * t.sin[i];
		v[2 * i + 1] = b * t.cos[i] + a * t.sin[i];
	}
}

/* Which of the group's queries, then key, then value, is n; as a head of qkv. */
D_INLINE unsigned
head_of(const struct heads &h, const struct mine &m, unsigned n)
{
	return n < m.group ? m.kv * m.group + n :
	    h.heads + (n - m.group) * h.kv_heads + m.kv;
}

/*
 * What a warp knows: the sums of its positions, for heads 2t and 2t + 1, t being
 * lane % 4.  Of o[i], g being lane / 4: value dim_of(i, g) of both heads, then
 * the one after it.
 */
template <int D> struct sums {
	float	 o[D / 16][4], top[2], sum[2];
};

D_INLINE int
dim_of(int i, int g)
{
	return i / 4 * 64 + g * 8 + i % 4 * 2;
}

/* The newest position, and those after it, which count for nothing. */
template <class T, int D> D_INLINE void
put_newest_key(uint4 k[D / 32][2], const T *key, uint32_t j, uint32_t position, int lane)
{
	const int g = lane / 4, t = lane % 4;

#pragma unroll
	for (int i = 0; i < D / 32; i++)
#pragma unroll
		for (int r = 0; r < 2; r++)
			if (j + g + r * 8 >= position)
				k[i][r] = *(const uint4 *)(key + i * 32 + t * 8);
}

template <class T, int D> D_INLINE void
put_newest_value(uint4 v[D / 64][4], const T *value, uint32_t j, uint32_t position, int lane)
{
	const int g = lane / 4, t = lane % 4;

#pragma unroll
	for (int i = 0; i < D / 64; i++)
#pragma unroll
		for (int r = 0; r < 4; r++)
			if (j + t * 4 + r >= position)
				v[i][r] = *(const uint4 *)(value + i * 64 + g * 8);
}

/*
 * Scores of 16 positions against the queries.  A lane's 16 bytes of a key are a
 * tensor core's rows g and g + 8 at a time: the second half of the other's
 * result is another position's that nobody needs.
 */
template <class T, int D> D_INLINE void
score(float s[4], const uint4 k[D / 32][2], const T *query, bool there)
{
	float part[2][2][4] = {};

#pragma unroll
	for (int i = 0; i < D / 32; i++) {
		const uint4 q = there ? *(const uint4 *)(query + i * 32) :
		    make_uint4(0, 0, 0, 0);

#pragma unroll
		for (int r = 0; r < 2; r++) {
			mma<T>(part[r][0], (const uint32_t *)&k[i][r], q.x, q.z);
			mma<T>(part[r][1], (const uint32_t *)&k[i][r], q.y, q.w);
		}
	}
#pragma unroll
	for (int r = 0; r < 2; r++)
#pragma unroll
		for (int e = 0; e < 2; e++)
			s[2 * r + e] = part[r][0][e] + part[r][1][2 + e];
}

enum { SCORES = 8 * 20 };		/* words of a warp's, of 16 positions */

/* Softened, G times 16 of them: what they weigh, and what the sums until then do. */
template <class T, int D, int G> D_INLINE void
soften(struct sums<D> *a, const float s[G][4], T *ps, float was[2], uint32_t j, uint32_t end,
    int lane)
{
	const int g = lane / 4, t = lane % 4;
	const float scale = 1.44269504f / sqrtf((float)D);

#pragma unroll
	for (int e = 0; e < 2; e++) {
		float x[G][2], best = a->top[e];

#pragma unroll
		for (int i = 0; i < 2 * G; i++) {
			x[i / 2][i % 2] = j + g + i * 8 < end ? s[i / 2][i % 2 * 2 + e] * scale :
			    -INFINITY;
			best = fmaxf(best, x[i / 2][i % 2]);
		}
		best = fmaxf(best, __shfl_xor_sync(~0u, best, 4));
		best = fmaxf(best, __shfl_xor_sync(~0u, best, 8));
		best = fmaxf(best, __shfl_xor_sync(~0u, best, 16));
		was[e] = exp2f(a->top[e] - best);
		a->top[e] = best;
		a->sum[e] *= was[e];
#pragma unroll
		for (int i = 0; i < 2 * G; i++) {
			const float y = exp2f(x[i / 2][i % 2] - best);

			a->sum[e] += y;
			ps[i / 2 * SCORES + (2 * t + e) * 20 + g + i % 2 * 8] = from_float<T>(y);
		}
	}
	__syncwarp();
}

/* Their values, by those scores. */
template <class T, int D, int G> D_INLINE void
add_values(struct sums<D> *a, const uint4 v[G][D / 64][4], const T *ps, const float was[2],
    int lane)
{
	uint2 p[G];

#pragma unroll
	for (int n = 0; n < G; n++)
		p[n] = *(const uint2 *)(ps + n * SCORES + lane / 4 * 20 + lane % 4 * 4);
#pragma unroll
	for (int i = 0; i < D / 16; i++) {
#pragma unroll
		for (int e = 0; e < 4; e++)
			a->o[i][e] *= was[e % 2];
#pragma unroll
		for (int n = 0; n < G; n++) {
			const uint4 *r = v[n][i / 4];
			const uint32_t w[4] = { ((const uint32_t *)&r[0])[i % 4],
			    ((const uint32_t *)&r[1])[i % 4], ((const uint32_t *)&r[2])[i % 4],
			    ((const uint32_t *)&r[3])[i % 4] };
			const uint32_t turned[4] = { __byte_perm(w[0], w[1], 0x5410),
			    __byte_perm(w[0], w[1], 0x7632), __byte_perm(w[2], w[3], 0x5410),
			    __byte_perm(w[2], w[3], 0x7632) };

			mma<T>(a->o[i], turned, p[n].x, p[n].y);
		}
	}
	__syncwarp();
}

/* Into [head][D + 2]: D values, then their top and their sum. */
template <int D> D_INLINE void
put_sums(float *to, const struct sums<D> &a, int lane)
{
	const int g = lane / 4, t = lane % 4;

#pragma unroll
	for (int e = 0; e < 2; e++) {
		float *of = to + (2 * t + e) * (D + 2);

#pragma unroll
		for (int i = 0; i < D / 16; i++)
			*(float2 *)(of + dim_of(i, g)) = make_float2(a.o[i][e], a.o[i][2 + e]);
		if (g == 0)
			*(float2 *)(of + D) = make_float2(a.top[e], a.sum[e]);
	}
}

#endif
