/*
 * gemv.cu: one row of x through a matrix, at the speed at which it streams.
 *
 * A warp has two rows of the matrix (a gate and its up), 16 bytes a load,
 * eight loads under way; the first of them before the kernel before this one
 * has ended.  x lies in shared memory as words; where it is to be normed, the
 * sum gets the scale.
 */
#include "common.cuh"
#include "best.cuh"
#include "stream.cuh"

enum { WARPS = 8, AHEAD = 4 };

/* x as words in shared memory; of norm h, this warp's part of the square. */
template <class T, bool NORMED> D_INLINE float
stage(T *xs, const struct gemv &a)
{
	float sum = 0;

#pragma unroll 4
	for (uint32_t k = threadIdx.x * 8; !NORMED && k < a.cols; k += WARPS * 256)
		*(uint4 *)(xs + k) = __ldcg((const uint4 *)((const T *)a.x + k));
#pragma unroll 4
	for (uint32_t k = threadIdx.x * 4; NORMED && k < a.cols; k += WARPS * 128) {
		const float4 h = __ldcg((const float4 *)(a.h + k));
		const float4 w = __ldg((const float4 *)(a.norm + k));

		sum += h.x * h.x + h.y * h.y + h.z * h.z + h.w * h.w;
		*(uint2 *)(xs + k) = make_uint2(pair<T>(h.x * w.x, h.y * w.y),
		    pair<T>(h.z * w.z, h.w * w.w));
	}
	return NORMED ? warp_sum(sum) : 0;
}

template <class T, bool NORMED, bool PAIRED, int ROWS>
__global__ void __launch_bounds__(WARPS * 32, 4)
gemv(struct gemv a)
{
	extern __shared__ __align__(16) unsigned char smem[];
	__shared__ float square[WARPS];
	__shared__ unsigned long long all[WARPS];
	T *xs = (T *)smem;
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const uint32_t first = (blockIdx.x * WARPS + warp) * (PAIRED ? 1 : ROWS);
	const char *row[ROWS];
	float sum[ROWS] = {}, old = 0, unit = 1;
	uint4 w[ROWS][AHEAD];
	unsigned long long best = 0;

	let_next_start();
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		row[r] = (const char *)a.w + (size_t)(PAIRED ?
		    min(first, a.rows - 1) + r * a.rows : min(first + r, a.rows - 1)) *
		    a.cols * 2;
	fetch(w, row, lane * 8, a.cols);
	wait_for_last();
	if (NORMED) {
		const float part = stage<T, NORMED>(xs, a);

		if (lane == 0)
			square[warp] = part;
	} else
		stage<T, NORMED>(xs, a);
	if (a.to == GEMV_ADD && lane < ROWS && first + lane < a.rows)
		old = __ldcg((const float *)a.out + first + lane);
	if (a.bias != NULL && lane < ROWS && first + lane < a.rows)
		old += a.bias[first + lane];
	__syncthreads();
	for (uint32_t k = lane * 8; k < a.cols; k += AHEAD * STEP) {
		if (k != lane * 8)
			fetch(w, row, k, a.cols);
#pragma unroll
		for (int i = 0; i < AHEAD; i++) {
			float x[8], v[8];

			if (k + i * STEP >= a.cols)
				break;
			widen<T>(x, *(const uint4 *)(xs + k + i * STEP));
#pragma unroll
			for (int r = 0; r < ROWS; r++) {
				widen<T>(v, w[r][i]);
#pragma unroll
				for (int j = 0; j < 8; j++)
					sum[r] += v[j] * x[j];
			}
		}
	}
	if (NORMED) {
		unit = 0;
		for (int i = 0; i < WARPS; i++)
			unit += square[i];
		unit = 1 / sqrtf(unit / (float)a.cols + a.eps);
	}
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		sum[r] = warp_sum(sum[r]) * unit;
	if (PAIRED) {
		if (lane == 0 && first < a.rows)
			((T *)a.out)[first] = from_float<T>(sum[0] /
			    (1 + __expf(-sum[0])) * sum[ROWS - 1]);
		return;
	}
	if (lane < ROWS && first + lane < a.rows) {
		const float v = (lane == 0 ? sum[0] : sum[ROWS - 1]) + old;

		((float *)a.out)[first + lane] = v;
		best = key(v, first + lane);
	}
	if (a.to != GEMV_LOGITS)
		return;
	best = better(best, __shfl_down_sync(~0u, best, 1));
	if (lane == 0)
		all[warp] = best;
	__syncthreads();
	if (threadIdx.x == 0) {
		for (int i = 0; i < WARPS; i++)
			best = better(best, all[i]);
		a.best[blockIdx.x] = best;
	}
}

template <class T> static void
launch_gemv(const struct queue *q, const struct gemv *a)
{
	const bool paired = a->to == GEMV_SILU;
	const bool few = !paired && a->to != GEMV_LOGITS &&
	    a->rows < 2u * 2 * WARPS * q->n_sms;
	const unsigned rows = paired || few ? WARPS : 2 * WARPS;
	const dim3 grid((a->rows + rows - 1) / rows);
	const size_t shared = (size_t)a->cols * 2;

	if (paired && a->h != NULL)
		launch(q, gemv<T, true, true, 2>, grid, WARPS * 32, shared, *a);
	else if (paired)
		launch(q, gemv<T, false, true, 2>, grid, WARPS * 32, shared, *a);
	else if (a->h != NULL && few)
		launch(q, gemv<T, true, false, 1>, grid, WARPS * 32, shared, *a);
	else if (a->h != NULL)
		launch(q, gemv<T, true, false, 2>, grid, WARPS * 32, shared, *a);
	else if (few)
		launch(q, gemv<T, false, false, 1>, grid, WARPS * 32, shared, *a);
	else
		launch(q, gemv<T, false, false, 2>, grid, WARPS * 32, shared, *a);
}

void
cu_gemv(const struct queue *q, enum word word, const struct gemv *a)
{
	BY_SHORT_WORD(word, launch_gemv<T>(q, a));
}
