/*
 * gemm.cu: products of any shape, whole or in groups of rows that each have a
 * matrix of their own.  Where cuBLASLt is there, it does the large dense ones.
 */
#include "common.cuh"
#include "tile.cuh"

/* The rows of out and the matrix that block y works on. */
struct part {
	const char *w;
	size_t	 first, end;
};

template <int BM> D_INLINE bool
find_part(const struct gemm &g, size_t word_bytes, struct part *p)
{
	size_t y = blockIdx.y;

	p->w = (const char *)g.w;
	if (g.offset == NULL) {
		p->first = y * BM;
		p->end = g.m;
		return true;
	}
	for (size_t i = 0; i < g.groups; i++) {
		size_t n = g.offset[i + 1] - g.offset[i], tiles = (n + BM - 1) / BM;

		if (y < tiles) {
			p->w += i * g.n * g.k * word_bytes;
			p->first = g.offset[i] + y * BM;
			p->end = g.offset[i + 1];
			return true;
		}
		y -= tiles;
	}
	return false;
}

template <class T> D_INLINE void
store(const struct gemm &g, size_t row, size_t col, float v)
{
	const size_t i = row * g.n + col;

	if (g.bias != NULL)
		v += g.bias[col];
	if (g.to == OUT_WORD)
		((T *)g.out)[i] = from_float<T>(v);
	else if (g.to == OUT_F32)
		((float *)g.out)[i] = v;
	else
		((float *)g.out)[i] += v;
}

/* Any word, any shape: 64 x 64 of out a block, 4 x 4 a thread. */
enum { P_TILE = 64, P_DEPTH = 16 };

template <class T> __global__ void __launch_bounds__(256)
plain(struct gemm g)
{
	__shared__ float xs[P_DEPTH][P_TILE + 4], ws[P_DEPTH][P_TILE + 4];
	const size_t n0 = blockIdx.x * (size_t)P_TILE;
	const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
	float acc[4][4] = {};
	struct part p;

	wait_for_last();
	if (!find_part<P_TILE>(g, sizeof(T), &p))
		return;
	for (size_t k0 = 0; k0 < g.k; k0 += P_DEPTH) {
		for (int i = threadIdx.x; i < P_TILE * P_DEPTH; i += 256) {
			size_t r = p.first + i / P_DEPTH, c = n0 + i / P_DEPTH;
			size_t k = k0 + i % P_DEPTH, from = r;

			if (g.from != NULL && r < p.end)
				from = g.from[r];
			xs[i % P_DEPTH][i / P_DEPTH] = r < p.end && k < g.k ?
			    to_float(((const T *)g.x)[from * g.k + k]) : 0;
			ws[i % P_DEPTH][i / P_DEPTH] = c < g.n && k < g.k ?
			    to_float(((const T *)p.w)[c * g.k + k]) : 0;
		}
		__syncthreads();
#pragma unroll
		for (int k = 0; k < P_DEPTH; k++)
#pragma unroll
			for (int a = 0; a < 4; a++)
#pragma unroll
				for (int b = 0; b < 4; b++)
					acc[a][b] += xs[k][ty * 4 + a] * ws[k][tx * 4 + b];
		__syncthreads();
	}
	for (int a = 0; a < 4; a++)
		for (int b = 0; b < 4; b++)
			if (p.first + ty * 4 + a < p.end && n0 + tx * 4 + b < g.n)
				store<T>(g, p.first + ty * 4 + a, n0 + tx * 4 + b, acc[a][b]);
}

/*
 * Tensor cores: 128 columns of out a block, 64 or 128 rows, eight warps.  A row
 * of a tile is 64 bytes; its four chunks are shuffled so that eight rows of one
 * chunk lie in eight banks.
 */
enum { T_N = 128, T_DEPTH = 32, T_STAGES = 4 };

D_INLINE uint32_t
chunk_at(int row, int chunk)
{
	return row * 64 + ((chunk ^ (row / 2)) & 3) * 16;
}

template <class T, int BM> D_INLINE void
fetch(const struct gemm &g, const struct part &p, size_t k0, uint32_t to, size_t n0)
{
	for (int i = threadIdx.x; i < (BM + T_N) * 4; i += 256) {
		const bool is_x = i < BM * 4;
		const int r = (is_x ? i : i - BM * 4) / 4, c = i % 4;
		size_t k = k0 + c * 8, row = is_x ? p.first + r : n0 + r;
		bool there = k < g.k && (is_x ? row < p.end : row < g.n);
		const T *from = is_x ? (const T *)g.x : (const T *)p.w;

		if (there) {
			if (is_x && g.from != NULL)
				row = g.from[row];
			from += row * g.k + k;
		}
		copy16(to + (is_x ? 0 : BM * 64) + chunk_at(r, c), from, there);
	}
}

template <class T, int BM> __global__ void __launch_bounds__(256)
tensor(struct gemm g)
{
	extern __shared__ __align__(128) unsigned char smem[];
	constexpr int WM = BM / 2, STAGE = (BM + T_N) * 64;
	const size_t n0 = blockIdx.x * (size_t)T_N;
	const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const int wm = warp / 4 * WM, wn = warp % 4 * 32;
	const int steps = (g.k + T_DEPTH - 1) / T_DEPTH;
	float acc[WM / 16][4][4] = {};
	struct part p;

	wait_for_last();
	if (!find_part<BM>(g, sizeof(T), &p))
		return;
	for (int s = 0; s < T_STAGES - 1; s++) {
		if (s < steps)
			fetch<T, BM>(g, p, s * T_DEPTH, shared_at(smem) + s * STAGE, n0);
		copy_commit();
	}
	for (int s = 0; s < steps; s++) {
		const uint32_t xs = shared_at(smem) + s % T_STAGES * STAGE;
		const uint32_t ws = xs + BM * 64;
		const int next = s + T_STAGES - 1;

		copy_wait<T_STAGES - 2>();
		__syncthreads();
		if (next < steps)
			fetch<T, BM>(g, p, (size_t)next * T_DEPTH, shared_at(smem) +
			    next % T_STAGES * STAGE, n0);
		copy_commit();
#pragma unroll
		for (int k = 0; k < 2; k++) {
			uint32_t a[WM / 16][4], b[2][4];

#pragma unroll
			for (int i = 0; i < WM / 16; i++)
				fragments(a[i], xs + chunk_at(wm + i * 16 + lane % 16,
				    2 * k + lane / 16));
#pragma unroll
			for (int j = 0; j < 2; j++)
				fragments(b[j], ws + chunk_at(wn + j * 16 + lane / 16 * 8 +
				    lane % 8, 2 * k + lane / 8 % 2));
#pragma unroll
			for (int i = 0; i < WM / 16; i++)
#pragma unroll
				for (int j = 0; j < 4; j++)
					mma<T>(acc[i][j], a[i], b[j / 2][j % 2 * 2],
					    b[j / 2][j % 2 * 2 + 1]);
		}
	}
#pragma unroll
	for (int i = 0; i < WM / 16; i++)
#pragma unroll
		for (int j = 0; j < 4; j++)
#pragma unroll
			for (int e = 0; e < 4; e++) {
				size_t row = p.first + wm + i * 16 + lane / 4 + e / 2 * 8;
				size_t col = n0 + wn + j * 8 + lane % 4 * 2 + e % 2;

				if (row < p.end && col < g.n)
					store<T>(g, row, col, acc[i][j][e]);
			}
}

template <class T, int BM> static void
launch_tensor(const struct queue *q, const struct gemm *g)
{
	const unsigned shared = T_STAGES * (BM + T_N) * 64;

	cudaFuncSetAttribute(tensor<T, BM>, cudaFuncAttributeMaxDynamicSharedMemorySize,
	    shared);
	launch(q, tensor<T, BM>, dim3((g->n + T_N - 1) / T_N, (g->m + BM - 1) / BM +
	    g->groups), 256, shared, *g);
}

void
cu_gemm(const struct queue *q, enum word word, const struct gemm *g)
{
	if (word == WORD_F32 || g->k % 8 != 0)
		BY_WORD(word, launch(q, plain<T>, dim3((g->n + P_TILE - 1) / P_TILE,
		    (g->m + P_TILE - 1) / P_TILE + g->groups), 256, 0, *g));
	else if (g->m <= 64)
		BY_SHORT_WORD(word, (launch_tensor<T, 64>(q, g)));
	else
		BY_SHORT_WORD(word, (launch_tensor<T, 128>(q, g)));
}
