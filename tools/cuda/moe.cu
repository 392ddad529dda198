/* moe.cu: which experts serve which rows, and their sum. */
#include "common.cuh"
#include "choose.cuh"

/* A block's rows and columns at a time; the experts of each of its eight warps. */
enum { ROWS = 8, COLS = 1024, EXPERTS = 4, WARPS = 8 };

/* Eight words of a row of n, zeros after its end. */
template <class T> D_INLINE void
eight(float out[8], const T *row, size_t k, size_t n)
{
	uint4 v = {};
	const T *w = (const T *)&v;

	if (n % 8 == 0)
		v = *(const uint4 *)(row + k);
	for (int i = 0; i < 8; i++)
		out[i] = n % 8 == 0 ? to_float(w[i]) : k + i < n ? to_float(row[k + i]) : 0;
}

template <class T> __global__ void __launch_bounds__(WARPS * 32)
router(struct router a)
{
	__shared__ __align__(16) float xs[ROWS][COLS];
	__shared__ float unit[ROWS];
	const size_t first = blockIdx.y * (size_t)ROWS, lane = threadIdx.x % 32;
	const size_t warp = threadIdx.x / 32, rows = min((size_t)ROWS, a.rows - first);
	const size_t expert = (blockIdx.x * WARPS + warp) * EXPERTS;
	const float *x = a.x + first * a.hidden;
	float sum[EXPERTS][ROWS] = {}, square = 0;

	wait_for_last();
	for (size_t i = lane; warp < rows && i < a.hidden; i += 32)
		square += x[warp * a.hidden + i] * x[warp * a.hidden + i];
	square = warp_sum(square);
	if (lane == 0)
		unit[warp] = 1 / sqrtf(square / (float)a.hidden + a.eps);
	for (size_t k0 = 0; k0 < a.hidden; k0 += COLS) {
		__syncthreads();
		for (size_t i = threadIdx.x; i < rows * COLS; i += WARPS * 32) {
			const size_t r = i / COLS, c = k0 + i % COLS;

			xs[r][i % COLS] = c < a.hidden ?
			    a.norm[c] * (x[r * a.hidden + c] * unit[r]) : 0;
		}
		__syncthreads();
		for (size_t k = lane * 8; expert < a.experts && k < COLS &&
		    k0 + k < a.hidden; k += 256) {
			float w[EXPERTS][8];

#pragma unroll
			for (int e = 0; e < EXPERTS; e++)
				eight<T>(w[e], (const T *)a.w + min(expert + e, a.experts - 1) *
				    a.hidden, k0 + k, a.hidden);
#pragma unroll
			for (int r = 0; r < ROWS; r++) {
				if (r >= (int)rows)
					break;
#pragma unroll
				for (int i = 0; i < 8; i++)
#pragma unroll
					for (int e = 0; e < EXPERTS; e++)
						sum[e][r] += w[e][i] * xs[r][k + i];
			}
		}
	}
#pragma unroll
	for (int e = 0; e < EXPERTS; e++)
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			const float s = warp_sum(sum[e][r]);

			if (lane == 0 && r < (int)rows && expert + e < a.experts)
				a.score[(first + r) * a.experts + expert + e] = s;
		}
}

__global__ void
choose(struct route r)
{
	const size_t row = blockIdx.x * (size_t)(blockDim.x / 32) + threadIdx.x / 32;

	wait_for_last();
	if (row < r.rows)
		choose_row(r, r.score + row * r.experts, row, threadIdx.x % 32);
}

/* A block an expert: how many pairs are its own; those of a thread in *mine. */
D_INLINE uint32_t
count_mine(const struct route &r, size_t *first, size_t *end)
{
	const size_t n = r.rows * r.top, each = (n + blockDim.x - 1) / blockDim.x;
	uint32_t mine = 0;

	*first = threadIdx.x * each;
	*end = *first + each < n ? *first + each : n;
	for (size_t i = *first; i < *end; i++)
		mine += r.chosen[i] == blockIdx.x;
	return mine;
}

__global__ void
count(struct route r)
{
	size_t first, end;
	uint32_t n;

	wait_for_last();
	n = (uint32_t)block_sum((float)count_mine(r, &first, &end));
	if (threadIdx.x != 0)
		return;
	r.offset[r.experts + 1 + blockIdx.x] = n;
	if (r.count != NULL) {
		uint32_t *c = r.count + (r.place->n_generated * r.n_layers + r.layer) *
		    r.experts + blockIdx.x;

		/* A prefill in chunks adds up. */
		*c = r.first != AT_PLACE && r.first > 0 ? *c + n : n;
	}
}

__global__ void __launch_bounds__(256)
sort(struct route r)
{
	__shared__ uint32_t before[256], base;
	size_t first, end;
	uint32_t at;

	wait_for_last();
	before[threadIdx.x] = count_mine(r, &first, &end);
	__syncthreads();
	if (threadIdx.x == 0) {
		base = 0;
		for (size_t e = 0; e < blockIdx.x; e++)
			base += r.offset[r.experts + 1 + e];
		r.offset[blockIdx.x] = base;
		if (blockIdx.x + 1 == r.experts)
			r.offset[r.experts] = r.rows * r.top;
		for (int i = 0, sum = 0; i < 256; i++) {
			uint32_t n = before[i];

			before[i] = sum;
			sum += n;
		}
	}
	__syncthreads();
	at = base + before[threadIdx.x];
	for (size_t i = first; i < end; i++)
		if (r.chosen[i] == blockIdx.x) {
			r.from[at] = i / r.top;
			r.where[i] = at++;
		}
}

__global__ void
gather(float *x, const float *y, struct route r, size_t hidden)
{
	const size_t row = blockIdx.x;

	wait_for_last();
	for (size_t c = threadIdx.x; c < hidden; c += blockDim.x) {
		float sum = x[row * hidden + c];

		for (size_t i = 0; i < r.top; i++)
			sum += r.share[row * r.top + i] *
			    y[r.where[row * r.top + i] * hidden + c];
		x[row * hidden + c] = sum;
	}
}

void
cu_router(const struct queue *q, enum word word, const struct router *a)
{
	const dim3 grid((a->experts + WARPS * EXPERTS - 1) / (WARPS * EXPERTS),
	    (a->rows + ROWS - 1) / ROWS);

	BY_SHORT_WORD(word, launch(q, router<T>, grid, WARPS * 32, 0, *a));
}

void
cu_route(const struct queue *q, const struct route *r)
{
	launch(q, choose, dim3((r->rows + 3) / 4), 128, 0, *r);
	launch(q, count, dim3(r->experts), 256, 0, *r);
	launch(q, sort, dim3(r->experts), 256, 0, *r);
}

void
cu_gather(const struct queue *q, float *x, const float *y, const struct route *r,
    size_t hidden)
{
	launch(q, gather, dim3(r->rows), 256, 0, x, y, *r, hidden);
}
