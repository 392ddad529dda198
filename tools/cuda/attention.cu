/*
 * attention.cu: a block a query head of a row, for every word and head size:
 * plain, and right.  flash.cu and decode.cu are the fast ones.
 */
#include "common.cuh"

enum { TILE = 128, DIM_MAX = 512, PER_THREAD = DIM_MAX / TILE };

template <class T> __global__ void __launch_bounds__(TILE)
attention(struct heads h, const T *q, T *out, uint32_t first)
{
	__shared__ float query[DIM_MAX], p[TILE], all[TILE / 32];
	const size_t row = blockIdx.x, seq = row % h.batch, head = blockIdx.y;
	const uint32_t end = first == AT_PLACE ? h.place[seq].position + 1 :
	    first + row / h.batch + 1;
	const uint32_t begin = h.window != 0 && end > h.window ? end - h.window : 0;
	const size_t base = (seq * h.kv_heads + head / (h.heads / h.kv_heads)) *
	    h.n_positions * h.dim;
	const T *k = (const T *)h.k + base, *v = (const T *)h.v + base;
	const float scale = 1 / sqrtf((float)h.dim);
	float acc[PER_THREAD] = {}, top = -INFINITY, sum = 0;

	wait_for_last();
	for (unsigned i = threadIdx.x; i < h.dim; i += TILE)
		query[i] = to_float(q[(row * h.heads + head) * h.dim + i]);
	__syncthreads();
	for (uint32_t j0 = begin; j0 < end; j0 += TILE) {
		const uint32_t j = j0 + threadIdx.x, n = min((uint32_t)TILE, end - j0);
		float score = -INFINITY, was = top, best;

		if (j < end) {
			score = 0;
			for (unsigned i = 0; i < h.dim; i++)
				score += query[i] * to_float(k[(size_t)j * h.dim + i]);
			score *= scale;
		}
		best = score;
		for (int i = 16; i > 0; i /= 2)
			best = fmaxf(best, __shfl_xor_sync(~0u, best, i));
		if (threadIdx.x % 32 == 0)
			all[threadIdx.x / 32] = best;
		__syncthreads();
		for (int i = 0; i < TILE / 32; i++)
			top = fmaxf(top, all[i]);
		p[threadIdx.x] = j < end ? expf(score - top) : 0;
		__syncthreads();
		was = expf(was - top);
		sum *= was;
		for (uint32_t i = 0; i < n; i++)
			sum += p[i];
#pragma unroll
		for (int d = 0; d < PER_THREAD; d++) {
			unsigned at = threadIdx.x + d * TILE;

			if (at >= h.dim)
				break;
			acc[d] *= was;
			for (uint32_t i = 0; i < n; i++)
				acc[d] += p[i] * to_float(v[(size_t)(j0 + i) * h.dim + at]);
		}
		__syncthreads();
	}
#pragma unroll
	for (int d = 0; d < PER_THREAD; d++)
		if (threadIdx.x + d * TILE < h.dim)
			out[(row * h.heads + head) * h.dim + threadIdx.x + d * TILE] =
			    from_float<T>(acc[d] / sum);
}

void
cu_attention(const struct queue *q, enum word word, const struct heads *h,
    const void *query, void *out, uint32_t first, size_t rows)
{
	BY_WORD(word, launch(q, attention<T>, dim3(rows, h->heads), TILE, 0, *h,
	    (const T *)query, (T *)out, first));
}
