/*
 * flash.cu: causal attention of many rows on tensor cores.  A block has 64
 * queries of one head, a warp 16 of them; keys and values pass by in tiles of
 * 64, and no score leaves the registers.
 */
#include "common.cuh"
#include "tile.cuh"

enum { QUERIES = 64, KEYS = 64, THREADS = 128 };

/* Byte of a chunk of 8 words in a tile whose rows are D words. */
template <int D> D_INLINE uint32_t
at(int row, int chunk)
{
	return row * D * 2 + ((chunk ^ row) & 7) * 16 + (chunk & ~7) * 16;
}

template <int D> D_INLINE void
fetch(uint32_t to, const void *from, uint32_t first, uint32_t end)
{
	for (int i = threadIdx.x; i < KEYS * D / 8; i += THREADS) {
		const int row = i / (D / 8), c = i % (D / 8);
		const bool there = first + row < end;

		copy16(to + at<D>(row, c), (const char *)from +
		    (there ? ((size_t)(first + row) * D + c * 8) * 2 : 0), there);
	}
}

/* s[16][64] = q k^T */
template <class T, int D> D_INLINE void
scores(float s[KEYS / 8][4], const uint32_t q[D / 16][4], uint32_t keys, int lane)
{
#pragma unroll
	for (int n = 0; n < KEYS / 8; n++)
		s[n][0] = s[n][1] = s[n][2] = s[n][3] = 0;
#pragma unroll
	for (int k = 0; k < D / 16; k++)
#pragma unroll
		for (int n = 0; n < KEYS / 16; n++) {
			uint32_t b[4];

			fragments(b, keys + at<D>(n * 16 + lane / 16 * 8 + lane % 8,
			    2 * k + lane / 8 % 2));
			mma<T>(s[2 * n], q[k], b[0], b[1]);
			mma<T>(s[2 * n + 1], q[k], b[2], b[3]);
		}
}

/* Scores to probabilities; rows lane / 4 and that + 8. */
D_INLINE void
soften(float s[KEYS / 8][4], float top[2], float sum[2], float was[2])
{
#pragma unroll
	for (int r = 0; r < 2; r++) {
		float best = top[r], all = 0, old = top[r];

#pragma unroll
		for (int n = 0; n < KEYS / 8; n++)
			best = fmaxf(best, fmaxf(s[n][2 * r], s[n][2 * r + 1]));
		best = fmaxf(best, __shfl_xor_sync(~0u, best, 1));
		best = fmaxf(best, __shfl_xor_sync(~0u, best, 2));
		top[r] = best;
		if (best == -INFINITY)
			best = 0;
		was[r] = exp2f(old - best);
#pragma unroll
		for (int n = 0; n < KEYS / 8; n++) {
			all += s[n][2 * r] = exp2f(s[n][2 * r] - best);
			all += s[n][2 * r + 1] = exp2f(s[n][2 * r + 1] - best);
		}
		sum[r] = sum[r] * was[r] + all;
	}
}

template <class T, int D> __global__ void __launch_bounds__(THREADS)
flash(struct heads h, const T *q, T *out, uint32_t first, uint32_t n_pos)
{
	extern __shared__ __align__(128) unsigned char smem[];
	constexpr uint32_t TILE = KEYS * D * 2;
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const size_t head = blockIdx.y, seq = blockIdx.z;
	/* The longest rows begin first. */
	const uint32_t q0 = (gridDim.x - 1 - blockIdx.x) * QUERIES;
	const uint32_t end = first + min(q0 + QUERIES, n_pos);
	const uint32_t from = h.window != 0 && first + q0 + 1 > h.window ?
	    (first + q0 + 1 - h.window) / KEYS * KEYS : 0;
	const size_t base = (seq * h.kv_heads + head / (h.heads / h.kv_heads)) *
	    h.n_positions * D;
	const uint32_t at_k = shared_at(smem), at_v = at_k + 2 * TILE;
	const float scale = 1.44269504f / sqrtf((float)D);
	const T *k = (const T *)h.k + base, *v = (const T *)h.v + base;
	const int tiles = (end - from + KEYS - 1) / KEYS;
	float o[D / 8][4] = {}, top[2] = { -INFINITY, -INFINITY }, sum[2] = {}, was[2];
	uint32_t qf[D / 16][4];

	/* Queries as fragments, straight from memory. */
#pragma unroll
	for (int i = 0; i < D / 16; i++)
#pragma unroll
		for (int r = 0; r < 4; r++) {
			uint32_t row = q0 + warp * 16 + lane / 4 + r % 2 * 8;
			const T *p = q + (((size_t)row * h.batch + seq) * h.heads + head) * D +
			    i * 16 + r / 2 * 8 + lane % 4 * 2;

			qf[i][r] = row < n_pos ? *(const uint32_t *)p : 0;
		}
	fetch<D>(at_k, k, from, end);
	fetch<D>(at_v, v, from, end);
	copy_commit();
	for (int t = 0; t < tiles; t++) {
		const uint32_t j0 = from + t * KEYS, keys = at_k + t % 2 * TILE;
		const uint32_t values = at_v + t % 2 * TILE;
		float s[KEYS / 8][4];

		if (t + 1 < tiles) {
			fetch<D>(at_k + (t + 1) % 2 * TILE, k, j0 + KEYS, end);
			fetch<D>(at_v + (t + 1) % 2 * TILE, v, j0 + KEYS, end);
		}
		copy_commit();
		copy_wait<1>();
		__syncthreads();
		scores<T, D>(s, qf, keys, lane);
#pragma unroll
		for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
			for (int e = 0; e < 4; e++) {
				uint32_t j = j0 + n * 8 + lane % 4 * 2 + e % 2;
				uint32_t i = first + q0 + warp * 16 + lane / 4 + e / 2 * 8;
				bool seen = j <= i && (h.window == 0 || j + h.window > i);

				s[n][e] = seen ? s[n][e] * scale : -INFINITY;
			}
		soften(s, top, sum, was);
#pragma unroll
		for (int d = 0; d < D / 8; d++)
#pragma unroll
			for (int e = 0; e < 4; e++)
				o[d][e] *= was[e / 2];
#pragma unroll
		for (int n = 0; n < KEYS / 16; n++) {
			const uint32_t p[4] = { pair<T>(s[2 * n][0], s[2 * n][1]),
			    pair<T>(s[2 * n][2], s[2 * n][3]),
			    pair<T>(s[2 * n + 1][0], s[2 * n + 1][1]),
			    pair<T>(s[2 * n + 1][2], s[2 * n + 1][3]) };

#pragma unroll
			for (int d = 0; d < D / 16; d++) {
				uint32_t b[4];

				fragments_turned(b, values + at<D>(n * 16 + lane / 8 % 2 * 8 +
				    lane % 8, 2 * d + lane / 16));
				mma<T>(o[2 * d], p, b[0], b[1]);
				mma<T>(o[2 * d + 1], p, b[2], b[3]);
			}
		}
		__syncthreads();
	}
#pragma unroll
	for (int r = 0; r < 2; r++) {
		uint32_t row = q0 + warp * 16 + lane / 4 + r * 8;
		T *to = out + (((size_t)row * h.batch + seq) * h.heads + head) * D;

		sum[r] += __shfl_xor_sync(~0u, sum[r], 1);
		sum[r] += __shfl_xor_sync(~0u, sum[r], 2);
		for (int d = 0; row < n_pos && d < D / 8; d++)
			*(uint32_t *)(to + d * 8 + lane % 4 * 2) =
			    pair<T>(o[d][2 * r] / sum[r], o[d][2 * r + 1] / sum[r]);
	}
}

template <class T, int D> static void
launch_flash(const struct queue *q, const struct heads *h, const void *query,
    void *out, uint32_t first, size_t rows)
{
	const unsigned shared = 4 * KEYS * D * 2, n_pos = rows / h->batch;
	struct queue alone = *q;

	alone.overlap = false;
	cudaFuncSetAttribute(flash<T, D>, cudaFuncAttributeMaxDynamicSharedMemorySize,
	    shared);
	launch(&alone, flash<T, D>, dim3((n_pos + QUERIES - 1) / QUERIES, h->heads,
	    h->batch), THREADS, shared, *h, (const T *)query, (T *)out, first, n_pos);
}

bool
cu_flash_can(enum word word, const struct heads *h)
{
	return word != WORD_F32 && (h->dim == 64 || h->dim == 128) &&
	    h->heads < 65536 && h->batch < 65536;
}

void
cu_flash(const struct queue *q, enum word word, const struct heads *h,
    const void *query, void *out, uint32_t first, size_t rows)
{
	if (h->dim == 64)
		BY_SHORT_WORD(word, (launch_flash<T, 64>(q, h, query, out, first, rows)));
	else
		BY_SHORT_WORD(word, (launch_flash<T, 128>(q, h, query, out, first, rows)));
}
