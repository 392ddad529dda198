/*
 * decode.cu: attention of one new row a sequence.  A block has the query heads
 * that share a key head, and a span of positions; keys and values go from the
 * cache straight into the fragments of a tensor core.  The block whose span
 * has the newest position puts it into the cache; the last block of a key head
 * to end adds up the spans.
 */
#include "common.cuh"
#include "look.cuh"

enum { WARPS = 8, GROUP = 8, STEP = 16 * WARPS, SPLITS = SPLITS_MAX };

D_INLINE struct mine
find(const struct heads &h, const struct split &s)
{
	const uint32_t seq = blockIdx.z, kv = blockIdx.y;
	const uint32_t position = h.place[seq].position, all = position + 1;
	const uint32_t begin = h.window != 0 && all > h.window ? all - h.window : 0;
	const uint32_t each = ((all - begin + s.n_splits - 1) / s.n_splits + 15) / 16 * 16;

	return (struct mine){ seq, kv, (seq * h.kv_heads + kv) * (size_t)h.n_positions * h.dim,
	    h.heads / h.kv_heads, position, min(begin + blockIdx.x * each, all),
	    min(begin + (blockIdx.x + 1) * each, all), blockIdx.x };
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

/* The part of the span that is in the cache already: on its way to L2. */
template <class T> D_INLINE void
ahead(const struct heads &h, const struct mine &m)
{
	const size_t line = 128 / sizeof(T);
	const uint32_t end = min(min(m.end, m.position), m.first + 2 * STEP);

	for (size_t i = m.first * (size_t)h.dim + threadIdx.x * line;
	    i < end * (size_t)h.dim; i += blockDim.x * line) {
		ask_ahead((const T *)h.k + m.base + i);
		ask_ahead((const T *)h.v + m.base + i);
	}
}

/* Queries, the newest key and the newest value, as words in shared memory. */
template <class T, int D> D_INLINE void
prepare(T *qs, const struct heads &h, const struct mine &m, struct addends qkv,
    const struct turn<D> t[2], int warp, int lane)
{
	const bool newest = m.position >= m.first && m.position < m.end;
	const size_t row = (h.heads + 2 * h.kv_heads) * (size_t)D;
	float v[2][D / 32] = {};

#pragma unroll 4
	for (size_t p = 0; p < qkv.n; p++)
#pragma unroll
		for (int n = 0; n < 2; n++)
#pragma unroll
			for (int i = 0; i < D / 32; i++)
				if (warp + n * WARPS < m.group + 2)
					v[n][i] += __ldcg(qkv.part + (p * h.batch + m.seq) * row +
					    head_of(h, m, warp + n * WARPS) * D + lane + i / 2 * 32 +
					    i % 2 * D / 2);
#pragma unroll
	for (int n = 0; n < 2; n++) {
		const unsigned i = warp + n * WARPS;
		T *cache = (T *)(i == m.group ? h.k : h.v) + m.base +
		    (size_t)m.position * D;

		if (i >= m.group + 2)
			break;
		turn_head<D>(v[n], t[n], h, (i < m.group ? h.q_norm : h.k_norm) != NULL,
		    i <= m.group);
#pragma unroll
		for (int j = 0; j < D / 32; j++) {
			const int at = lane + j / 2 * 32 + j % 2 * D / 2;
			const T word = from_float<T>(v[n][j]);

			qs[i * D + at] = word;
			if (i >= m.group && newest)
				cache[at] = word;
		}
	}
}

/* Keys and values of 16 positions, as a lane's share of fragments. */
template <int D> struct block {
	uint4	 k[D / 32][2], v[D / 64][4];
};

/* From position j on; what is not in the cache is of no account. */
template <class T, int D> D_INLINE void
fetch(struct block<D> *b, const struct heads &h, const struct mine &m, uint32_t j, int lane)
{
	const int g = lane / 4, t = lane % 4;
	const uint32_t last = max(min(m.end, m.position), 1u) - 1;
	const T *k = (const T *)h.k + m.base + t * 8, *v = (const T *)h.v + m.base + g * 8;

#pragma unroll
	for (int i = 0; i < D / 32; i++) {
		b->k[i][0] = __ldcg((const uint4 *)(k + (size_t)min(j + g, last) * D + i * 32));
		b->k[i][1] = __ldcg((const uint4 *)(k + (size_t)min(j + g + 8, last) * D + i * 32));
	}
#pragma unroll
	for (int i = 0; i < D / 64; i++)
#pragma unroll
		for (int r = 0; r < 4; r++)
			b->v[i][r] = __ldcg((const uint4 *)(v +
			    (size_t)min(j + t * 4 + r, last) * D + i * 64));
}

/* The warp's positions; two blocks of them have been fetched, without the newest. */
template <class T, int D> D_INLINE void
look_all(struct sums<D> *a, struct block<D> b[2], const struct heads &h,
    const struct mine &m, const T *qs, T *ps, int warp, int lane)
{
	const int g = lane / 4, t = lane % 4;
	const uint32_t start = m.first + warp * 16;
	uint4 query[D / 32] = {};
	float was[2];

	if (g < (int)m.group)
#pragma unroll
		for (int i = 0; i < D / 32; i++)
			query[i] = *(const uint4 *)(qs + g * D + t * 8 + i * 32);
	for (uint32_t j = start; j < m.end; j += STEP) {
		if (j != start && j + STEP < m.end)
			fetch<T, D>(&b[1], h, m, j + STEP, lane);
		if (j + 16 > m.position) {
			put_newest_key<T, D>(b[0].k, qs + m.group * D, j, m.position, lane);
			put_newest_value<T, D>(b[0].v, qs + (m.group + 1) * D, j, m.position,
			    lane);
		}
		float s[4];

		score<T, D>(s, b[0].k, query);
		soften<T, D>(a, s, ps, was, j, m.end, lane);
		add_values<T, D>(a, b[0].v, ps, was, lane);
		b[0] = b[1];
	}
#pragma unroll
	for (int e = 0; e < 2; e++)
		for (int d = 4; d < 32; d *= 2)
			a->sum[e] += __shfl_xor_sync(~0u, a->sum[e], d);
}

/*
 * What each of n results counts for each query: n at most 256, a warp a query.
 * A result is D values, then their top and sum.
 */
template <int D> D_INLINE void
weigh(float *weight, const float *part, size_t stride, int n, unsigned query,
    int lane, float *top, float *sum)
{
	const float *p = part + query * (D + 2) + D;
	float best = -INFINITY, all = 0;

	for (int i = lane; i < n; i += 32)
		best = fmaxf(best, __ldcg(p + i * stride));
	for (int i = 16; i > 0; i /= 2)
		best = fmaxf(best, __shfl_xor_sync(~0u, best, i));
	for (int i = lane; i < n; i += 32) {
		const float x = __ldcg(p + i * stride);
		const float w = x == -INFINITY ? 0 : exp2f(x - best);

		weight[i] = w;
		all += w * __ldcg(p + i * stride + 1);
	}
	*top = best;
	*sum = warp_sum(all);
}

template <class T, int D> __global__ void __launch_bounds__(WARPS * 32)
decode(struct heads h, struct split split, struct addends qkv, T *out)
{
	extern __shared__ __align__(16) unsigned char smem[];
	float *part = (float *)smem;		/* [warp][GROUP][D + 2] */
	T *qs = (T *)(part + WARPS * GROUP * (D + 2));		/* [group + 2][D] */
	T *ps = qs + (GROUP + 2) * D;			/* [warp][GROUP][20] */
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const struct mine m = find(h, split);
	const size_t head = (size_t)m.seq * h.kv_heads + m.kv, each = m.group * (D + 2);
	float *mine = split.part + head * split.n_splits * each;
	struct sums<D> a = {};
	struct block<D> b[2];
	struct turn<D> turns[2];
	__shared__ float weight[GROUP * SPLITS];
	__shared__ bool last;

	let_next_start();
	fetch<T, D>(&b[0], h, m, m.first + warp * 16, lane);
	fetch<T, D>(&b[1], h, m, m.first + warp * 16 + STEP, lane);
#pragma unroll
	for (int n = 0; n < 2; n++)
		if (warp + n * WARPS < m.group + 2)
			find_turn<D>(&turns[n], h, m, head_of(h, m, warp + n * WARPS), lane);
	ahead<T>(h, m);
	wait_for_last();
	prepare<T, D>(qs, h, m, qkv, turns, warp, lane);
	__syncthreads();
	a.top[0] = a.top[1] = -INFINITY;
	look_all<T, D>(&a, b, h, m, qs, ps + warp * GROUP * 20, warp, lane);
	float *to = part + warp * GROUP * (D + 2);
	put_sums<D>(to, a, m.group, lane);
	__syncthreads();
	/* Each warp a query, of which it has all that is needed. */
	if (warp < (int)m.group) {
		const bool alone = split.n_splits == 1;
		float *p = mine + blockIdx.x * each + warp * (D + 2);
		float best = -INFINITY, all = 0, x = -INFINITY, mean[D / 32] = {};

		to = part + sums_row(warp) * (D + 2);
		if (lane < WARPS)
			best = x = to[lane * GROUP * (D + 2) + D];
		for (int i = 4; i > 0; i /= 2)
			best = fmaxf(best, __shfl_xor_sync(~0u, best, i));
		x = x == -INFINITY ? 0 : exp2f(x - best);
		if (lane < WARPS)
			all = x * to[lane * GROUP * (D + 2) + D + 1];
		all = warp_sum(all);
		best = __shfl_sync(~0u, best, 0);
#pragma unroll
		for (int i = 0; i < WARPS; i++) {
			const float one = __shfl_sync(~0u, x, i);

#pragma unroll
			for (int d = 0; d < D / 32; d++)
				mean[d] += one * to[i * GROUP * (D + 2) + d * 32 + lane];
		}
#pragma unroll
		for (int d = 0; d < D / 32; d++)
			if (alone)
				out[((size_t)m.seq * h.heads + m.kv * m.group + warp) * D + d * 32 + lane] =
				    from_float<T>(mean[d] / all);
			else
				p[d * 32 + lane] = mean[d];
		if (!alone && lane == 0) {
			p[D] = best;
			p[D + 1] = all;
		}
	}
	if (split.n_splits == 1)
		return;
	__threadfence();
	__syncthreads();
	if (threadIdx.x == 0) {
		last = atomicAdd(split.arrived + head, 1) == split.n_splits - 1;
		if (last)
			split.arrived[head] = 0;
		__threadfence();
	}
	__syncthreads();
	if (last && warp < (int)m.group) {
		float top, sum, mean[D / 32] = {}, *w = weight + warp * SPLITS;
		const float *p = mine + warp * (D + 2) + lane;

		weigh<D>(w, mine, each, split.n_splits, warp, lane, &top, &sum);
		__syncwarp();
#pragma unroll 4
		for (uint32_t i = 0; i < split.n_splits; i++)
#pragma unroll
			for (int d = 0; d < D / 32; d++)
				mean[d] += w[i] * __ldcg(p + i * each + d * 32);
#pragma unroll
		for (int d = 0; d < D / 32; d++)
			out[((size_t)m.seq * h.heads + m.kv * m.group + warp) * D + d * 32 + lane] =
			    from_float<T>(mean[d] / sum);
	}
}

template <class T, int D> static void
launch_decode(const struct queue *q, const struct heads *h, const struct split *s,
    struct addends qkv, void *out)
{
	const unsigned shared = WARPS * GROUP * (D + 2) * 4 + (GROUP + 2) * D * 2 +
	    WARPS * GROUP * 20 * 2;

	cudaFuncSetAttribute(decode<T, D>, cudaFuncAttributeMaxDynamicSharedMemorySize,
	    shared);
	launch(q, decode<T, D>, dim3(s->n_splits, h->kv_heads, h->batch), WARPS * 32,
	    shared, *h, *s, qkv, (T *)out);
}

bool
cu_decode_can(enum word word, const struct heads *h)
{
	return word != WORD_F32 && (h->dim == 64 || h->dim == 128) &&
	    h->heads / h->kv_heads <= GROUP;
}

void
cu_decode(const struct queue *q, enum word word, const struct heads *h,
    const struct split *s, struct addends qkv, void *out)
{
	if (h->dim == 64)
		BY_SHORT_WORD(word, (launch_decode<T, 64>(q, h, s, qkv, out)));
	else
		BY_SHORT_WORD(word, (launch_decode<T, 128>(q, h, s, qkv, out)));
}
