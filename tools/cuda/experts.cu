/*
 * experts.cu: the experts of one new row a sequence, at the speed at which
 * they stream.  An expert that serves several rows does so at once: a warp has
 * its weights in registers and each of those rows in turn.  Sums go in an order
 * that is always the same.
 *
 * choose_experts ends before experts_up begins its work, and only then may
 * experts_down begin: so that one knows the experts before experts_up has ended,
 * and has its first weights under way.
 */
#include "common.cuh"
#include "choose.cuh"
#include "stream.cuh"

/* What a thread holds: of the router's row; of gate and up; of OUT rows of down. */
enum { WARPS = 8, RATED = 8, AHEAD = 4, OUT = 4, OUT_AHEAD = 2 };

/* A row of x, normed, into shared memory; its words into xn, from one block. */
template <class T> D_INLINE void
stage_normed(float *xs, const struct experts &a, uint32_t row)
{
	const float *x = a.x + (size_t)row * a.hidden;
	float sum = 0;

	for (uint32_t k = threadIdx.x * 4; k < a.hidden; k += WARPS * 128) {
		const float4 v = __ldcg((const float4 *)(x + k));

		sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
		*(float4 *)(xs + k) = v;
	}
	sum = 1 / sqrtf(block_sum(sum) / (float)a.hidden + a.eps);
	for (uint32_t k = threadIdx.x * 4; k < a.hidden; k += WARPS * 128) {
		const float4 w = __ldg((const float4 *)(a.norm + k));
		float4 v = *(const float4 *)(xs + k);

		v = make_float4(w.x * (v.x * sum), w.y * (v.y * sum), w.z * (v.z * sum),
		    w.w * (v.w * sum));
		*(float4 *)(xs + k) = v;
		if (blockIdx.x == 0)
			*(uint2 *)((T *)a.xn + (size_t)row * a.hidden + k) =
			    make_uint2(pair<T>(v.x, v.y), pair<T>(v.z, v.w));
	}
	__syncthreads();
}

/* Of pairs, which come first of their expert: those make its server. */
D_INLINE void
serve(const struct experts &a, const uint32_t *chosen, const float *share)
{
	__shared__ bool is_first[EXPERTS_PAIRS];
	const uint32_t top = (uint32_t)a.route.top, pairs = (uint32_t)a.route.rows * top;
	const uint32_t p = threadIdx.x;
	uint32_t rows = 0, before = 0, all = 0;
	bool first = p < pairs;

	for (uint32_t q = 0; first && q < p; q++)
		first = chosen[q] != chosen[p];
	if (p < pairs)
		is_first[p] = first;
	__syncthreads();
	for (uint32_t q = 0; q < pairs; q++) {
		before += q < p && is_first[q];
		all += is_first[q];
	}
	struct server *s = a.server + (first ? before : all + p - before);
	if (p >= pairs || s >= a.server + a.n_servers)
		return;
	for (uint32_t q = p; first && q < pairs; q++)
		if (chosen[q] == chosen[p]) {
			rows |= 1u << q / top;
			s->pair[q / top] = q;
			s->share[q / top] = share[q];
		}
	s->expert = chosen[p];
	s->rows = rows;
}

/* All rows' choices, out of all their scores. */
D_INLINE void
choose_all(const struct experts &a, float *score)
{
	__shared__ uint32_t chosen[EXPERTS_PAIRS];
	__shared__ float share[EXPERTS_PAIRS];
	struct route r = a.route;
	const uint32_t experts = (uint32_t)r.experts, rows = (uint32_t)r.rows;

	r.chosen = chosen;
	r.share = share;
	for (uint32_t i = threadIdx.x; i < rows * experts; i += WARPS * 32)
		score[i] = __ldcg(r.score + i);
	__syncthreads();
	if (threadIdx.x / 32 < rows)
		choose_row(r, score + threadIdx.x / 32 * experts, threadIdx.x / 32,
		    threadIdx.x % 32);
	__syncthreads();
	serve(a, chosen, share);
	for (uint32_t e = threadIdx.x; r.count != NULL && e < experts; e += WARPS * 32) {
		uint32_t n = 0;

		for (uint32_t q = 0; q < rows * (uint32_t)r.top; q++)
			n += chosen[q] == e;
		r.count[(r.place->n_generated * r.n_layers + r.layer) * experts + e] = n;
	}
}

/* A warp an expert and row; the last block to end chooses. */
template <class T> __global__ void __launch_bounds__(WARPS * 32)
choose_experts(struct experts a)
{
	extern __shared__ __align__(16) unsigned char smem[];
	__shared__ bool last;
	const uint32_t lane = threadIdx.x % 32, experts = (uint32_t)a.route.experts;
	const uint32_t expert = blockIdx.x * WARPS + threadIdx.x / 32;
	const char *const row[1] = { (const char *)a.router +
	    (size_t)min(expert, experts - 1) * a.hidden * 2 };
	float *xs = (float *)smem, sum = 0;
	uint4 w[1][RATED];

	let_next_start();
	fetch(w, row, lane * 8, a.hidden);
	wait_for_last();
	stage_normed<T>(xs, a, blockIdx.y);
	for (uint32_t k = lane * 8; k < a.hidden; k += RATED * STEP) {
		if (k != lane * 8)
			fetch(w, row, k, a.hidden);
#pragma unroll
		for (int i = 0; i < RATED; i++) {
			float v[8];

			if (k + i * STEP >= a.hidden)
				break;
			widen<T>(v, w[0][i]);
#pragma unroll
			for (int j = 0; j < 8; j++)
				sum += v[j] * xs[k + i * STEP + j];
		}
	}
	sum = warp_sum(sum);
	if (lane == 0 && expert < experts)
		a.route.score[blockIdx.y * experts + expert] = sum;
	__threadfence();
	__syncthreads();
	if (threadIdx.x == 0) {
		last = atomicAdd(a.arrived, 1) == gridDim.x * gridDim.y - 1;
		if (last)
			*a.arrived = 0;
		__threadfence();
	}
	__syncthreads();
	if (last)
		choose_all(a, xs);
}

/* Into shared memory. */
D_INLINE void
copy_servers(struct server *to, const struct server *from, uint32_t n)
{
	for (uint32_t i = threadIdx.x; i < n * sizeof *to / 4; i += WARPS * 32)
		((uint32_t *)to)[i] = __ldcg((const uint32_t *)from + i);
	__syncthreads();
}

/* A warp a row of gate and the same of up, of the expert that block y is for. */
template <class T, int ROWS> __global__ void __launch_bounds__(WARPS * 32, ROWS == 1 ? 4 : 3)
experts_up(struct experts a)
{
	extern __shared__ __align__(16) unsigned char smem[];
	__shared__ struct server s;
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t first = blockIdx.x * WARPS + threadIdx.x / 32;
	T *xs = (T *)smem;
	float sum[ROWS][2] = {};
	uint4 w[2][AHEAD];

	wait_for_last();
	let_next_start();
	copy_servers(&s, a.server + blockIdx.y, 1);
	const uint32_t rows = s.rows;
	if (rows == 0)
		return;
	const char *gate = (const char *)a.gate_up + ((size_t)s.expert * 2 * a.ffn +
	    min(first, a.ffn - 1)) * a.hidden * 2;
	const char *const row[2] = { gate, gate + (size_t)a.ffn * a.hidden * 2 };
	fetch(w, row, lane * 8, a.hidden);
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		for (uint32_t k = threadIdx.x * 8; (rows >> r & 1) && k < a.hidden; k += WARPS * 256)
			*(uint4 *)(xs + r * a.hidden + k) = __ldcg((const uint4 *)((const T *)a.xn +
			    r * a.hidden + k));
	__syncthreads();
	for (uint32_t k = lane * 8; k < a.hidden; k += AHEAD * STEP) {
		if (k != lane * 8)
			fetch(w, row, k, a.hidden);
#pragma unroll
		for (int i = 0; i < AHEAD; i++) {
			float g[8], u[8], x[8];

			if (k + i * STEP >= a.hidden)
				break;
			widen<T>(g, w[0][i]);
			widen<T>(u, w[1][i]);
#pragma unroll
			for (int r = 0; r < ROWS; r++) {
				if (ROWS > 1 && (rows >> r & 1) == 0)
					continue;
				widen<T>(x, *(const uint4 *)(xs + r * a.hidden + k + i * STEP));
#pragma unroll
				for (int j = 0; j < 8; j++) {
					sum[r][0] += g[j] * x[j];
					sum[r][1] += u[j] * x[j];
				}
			}
		}
	}
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		const float g = warp_sum(sum[r][0]), u = warp_sum(sum[r][1]);

		if (lane == 0 && first < a.ffn && (rows >> r & 1))
			((T *)a.act)[(size_t)s.pair[r] * a.ffn + first] =
			    from_float<T>(g / (1 + __expf(-g)) * u);
	}
}

/* A warp's columns of OUT rows of an expert's down: piece i of all experts'. */
struct piece {
	const struct server *server;
	uint32_t k;
	bool	 there;			/* for this lane */
};

D_INLINE struct piece
piece_of(const struct experts &a, const struct server *servers, uint32_t i)
{
	const uint32_t each = (a.ffn + STEP - 1) / STEP, s = min(i / each, a.n_servers - 1);
	const uint32_t k = i % each * STEP + threadIdx.x % 32 * 8;

	return (struct piece){ servers + s, k, i / each == s && servers[s].rows != 0 &&
	    k < a.ffn };
}

D_INLINE void
fetch_piece(uint4 (&w)[OUT], const struct experts &a, const struct piece &p)
{
	const char *from = (const char *)a.down + (((size_t)p.server->expert * a.hidden +
	    blockIdx.x * OUT) * a.ffn + p.k) * 2;

#pragma unroll
	for (int o = 0; o < OUT; o++)
		w[o] = p.there ? stream16(from + (size_t)o * a.ffn * 2) :
		    make_uint4(0, 0, 0, 0);
}

/* The activations of a row that the expert serves. */
template <class T> D_INLINE uint4
fetch_act(const struct experts &a, const struct piece &p, int row)
{
	return p.there ? __ldcg((const uint4 *)((const T *)a.act +
	    (size_t)p.server->pair[row] * a.ffn + p.k)) : make_uint4(0, 0, 0, 0);
}

/* The piece's products with those of each row; of a single one they are there. */
template <class T, int ROWS> D_INLINE void
add_piece(float (&sum)[ROWS][OUT], const uint4 (&w)[OUT], const struct experts &a,
    const struct piece &p, uint4 act)
{
	const uint32_t rows = p.server->rows;

#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		float x[8], v[8];

		if (!p.there || (ROWS > 1 && (rows >> r & 1) == 0))
			continue;
		widen<T>(x, ROWS == 1 ? act : fetch_act<T>(a, p, r));
#pragma unroll
		for (int o = 0; o < OUT; o++) {
			float one = 0;

			widen<T>(v, w[o]);
#pragma unroll
			for (int j = 0; j < 8; j++)
				one += v[j] * x[j];
			sum[r][o] += p.server->share[r] * one;
		}
	}
}

/* A block OUT columns of x: its warps have the pieces of all experts in turns. */
template <class T, int ROWS> __global__ void __launch_bounds__(WARPS * 32, ROWS == 1 ? 4 : 2)
experts_down(struct experts a)
{
	__shared__ struct server servers[EXPERTS_PAIRS];
	__shared__ float part[WARPS][ROWS][OUT];
	const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const uint32_t pieces = (a.ffn + STEP - 1) / STEP * a.n_servers;
	float sum[ROWS][OUT] = {};
	struct piece p[OUT_AHEAD];
	uint4 w[OUT_AHEAD][OUT], act[OUT_AHEAD];

	let_next_start();
	copy_servers(servers, a.server, a.n_servers);
#pragma unroll
	for (int j = 0; j < OUT_AHEAD; j++) {
		p[j] = piece_of(a, servers, warp + j * WARPS);
		fetch_piece(w[j], a, p[j]);
	}
	wait_for_last();
#pragma unroll
	for (int j = 0; ROWS == 1 && j < OUT_AHEAD; j++)
		act[j] = fetch_act<T>(a, p[j], 0);
	for (uint32_t i = warp; i < pieces; i += OUT_AHEAD * WARPS) {
#pragma unroll
		for (int j = 0; j < OUT_AHEAD; j++) {
			add_piece<T, ROWS>(sum, w[j], a, p[j], act[j]);
			p[j] = piece_of(a, servers, i + (j + OUT_AHEAD) * WARPS);
			fetch_piece(w[j], a, p[j]);
			if (ROWS == 1)
				act[j] = fetch_act<T>(a, p[j], 0);
		}
	}
#pragma unroll
	for (int r = 0; r < ROWS; r++)
#pragma unroll
		for (int o = 0; o < OUT; o++) {
			const float v = warp_sum(sum[r][o]);

			if (lane == 0)
				part[warp][r][o] = v;
		}
	__syncthreads();
	if (threadIdx.x < a.route.rows * OUT) {
		const uint32_t r = threadIdx.x / OUT, o = threadIdx.x % OUT;
		float *x = a.x + (size_t)r * a.hidden + blockIdx.x * OUT + o;
		float v = __ldcg(x);

		for (int i = 0; i < WARPS; i++)
			v += part[i][r][o];
		*x = v;
	}
}

template <class T, int ROWS> static void
launch_experts(const struct queue *q, const struct experts *a)
{
	const uint32_t rows = (uint32_t)a->route.rows, experts = (uint32_t)a->route.experts;
	const unsigned floats = max(a->hidden, rows * experts) * sizeof(float);
	const unsigned words = ROWS * a->hidden * sizeof(T);

	cudaFuncSetAttribute(choose_experts<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
	    floats);
	cudaFuncSetAttribute(experts_up<T, ROWS>, cudaFuncAttributeMaxDynamicSharedMemorySize,
	    words);
	launch(q, choose_experts<T>, dim3((experts + WARPS - 1) / WARPS, rows), WARPS * 32,
	    floats, *a);
	launch(q, experts_up<T, ROWS>, dim3((a->ffn + WARPS - 1) / WARPS, a->n_servers),
	    WARPS * 32, words, *a);
	launch(q, experts_down<T, ROWS>, dim3(a->hidden / OUT), WARPS * 32, 0, *a);
}

bool
cu_experts_can(enum word word, const struct experts *a)
{
	const size_t rows = a->route.rows;

	return word != WORD_F32 && rows <= EXPERTS_ROWS &&
	    rows * a->route.top <= EXPERTS_PAIRS && rows * a->route.experts <= EXPERTS_COLS &&
	    a->hidden % 8 == 0 && a->ffn % 8 == 0 &&
	    a->hidden <= (rows == 1 ? EXPERTS_COLS : EXPERTS_COLS / 2);
}

void
cu_experts(const struct queue *q, enum word word, const struct experts *a)
{
	if (a->route.rows == 1)
		BY_SHORT_WORD(word, (launch_experts<T, 1>(q, a)));
	else
		BY_SHORT_WORD(word, (launch_experts<T, EXPERTS_ROWS>(q, a)));
}
