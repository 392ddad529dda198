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

/*
 * Scores of 16 positions against the queries, of which a lane has elements
 * i * 32 + t * 8 to + 7 of query g.  A lane's 16 bytes of a key are a tensor
 * core's rows g and g + 8 at a time: the second half of the other's result is
 * another position's that nobody needs.
 */
template <class T, int D> D_INLINE void
score(float s[4], const uint4 k[D / 32][2], const uint4 query[D / 32])
{
	float part[2][2][4] = {};

#pragma unroll
	for (int i = 0; i < D / 32; i++) {
		const uint4 q = query[i];

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

/* From a product of a query and a key to the exponent of two. */
template <int D> D_INLINE float
score_unit(void)
{
	return 1.44269504f / sqrtf((float)D);
}

/* Softened: what 16 positions weigh, and what the sums until then do. */
template <class T, int D> D_INLINE void
soften(struct sums<D> *a, const float s[4], T *ps, float was[2], uint32_t j, uint32_t end,
    int lane)
{
	const int g = lane / 4, t = lane % 4;

#pragma unroll
	for (int e = 0; e < 2; e++) {
		float x[2], best = a->top[e];

#pragma unroll
		for (int i = 0; i < 2; i++) {
			x[i] = j + g + i * 8 < end ? s[i * 2 + e] * score_unit<D>() : -INFINITY;
			best = fmaxf(best, x[i]);
		}
		best = fmaxf(best, __shfl_xor_sync(~0u, best, 4));
		best = fmaxf(best, __shfl_xor_sync(~0u, best, 8));
		best = fmaxf(best, __shfl_xor_sync(~0u, best, 16));
		was[e] = two_to(a->top[e] - best);
		a->top[e] = best;
		a->sum[e] *= was[e];
#pragma unroll
		for (int i = 0; i < 2; i++) {
			const float y = two_to(x[i] - best);

			a->sum[e] += y;
			ps[(2 * t + e) * 20 + g + i * 8] = from_float<T>(y);
		}
	}
	__syncwarp();
}

/* Their values, by those scores. */
template <class T, int D> D_INLINE void
add_values(struct sums<D> *a, const uint4 v[D / 64][4], const T *ps, const float was[2],
    int lane)
{
	const uint2 p = *(const uint2 *)(ps + lane / 4 * 20 + lane % 4 * 4);

#pragma unroll
	for (int i = 0; i < D / 16; i++) {
		const uint4 *r = v[i / 4];
		const uint32_t w[4] = { ((const uint32_t *)&r[0])[i % 4],
		    ((const uint32_t *)&r[1])[i % 4], ((const uint32_t *)&r[2])[i % 4],
		    ((const uint32_t *)&r[3])[i % 4] };
		const uint32_t turned[4] = { __byte_perm(w[0], w[1], 0x5410),
		    __byte_perm(w[0], w[1], 0x7632), __byte_perm(w[2], w[3], 0x5410),
		    __byte_perm(w[2], w[3], 0x7632) };

#pragma unroll
		for (int e = 0; e < 4; e++)
			a->o[i][e] *= was[e % 2];
		mma<T>(a->o[i], turned, p.x, p.y);
	}
	__syncwarp();
}

/* Where a head's sums lie among eight: in one store of a warp no two in the same bank. */
D_INLINE int
sums_row(int head)
{
	return head / 2 + head % 2 * 4;
}

/* Of so many heads, into [sums_row][D + 2]: D values, then their top and their sum. */
template <int D> D_INLINE void
put_sums(float *to, const struct sums<D> &a, int heads, int lane)
{
	const int g = lane / 4, t = lane % 4;

#pragma unroll
	for (int e = 0; e < 2; e++) {
		float *of = to + sums_row(2 * t + e) * (D + 2);

		if (2 * t + e >= heads)
			break;
#pragma unroll
		for (int i = 0; i < D / 16; i++)
			*(float2 *)(of + dim_of(i, g)) = make_float2(a.o[i][e], a.o[i][2 + e]);
		if (g == 0)
			*(float2 *)(of + D) = make_float2(a.top[e], a.sum[e]);
	}
}

#endif
