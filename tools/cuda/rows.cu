/* rows.cu: tokens to rows, rows to unit mean square, gates to activations. */
#include "common.cuh"

template <class T> __global__ void
embed(float *x, const T *table, const uint32_t *token, size_t hidden)
{
	const T *from = table + token[blockIdx.x] * hidden;

	wait_for_last();
	for (size_t i = threadIdx.x; i < hidden; i += blockDim.x)
		x[blockIdx.x * hidden + i] = to_float(from[i]);
}

template <class T> __global__ void
norm(T *out, float *x, struct addends add, const float *weight, float eps, size_t hidden)
{
	const size_t stride = gridDim.x * hidden, row = blockIdx.x * hidden;
	float sum = 0;

	let_next_start();
	wait_for_last();
	out += row;
	x += row;
	for (size_t i = threadIdx.x; i < hidden; i += blockDim.x) {
		float v = x[i];

		for (size_t p = 0; p < add.n; p++)
			v += add.part[p * stride + row + i];
		if (add.n > 0)
			x[i] = v;
		sum += v * v;
	}
	sum = 1 / sqrtf(block_sum(sum) / (float)hidden + eps);
	for (size_t i = threadIdx.x; i < hidden; i += blockDim.x)
		out[i] = from_float<T>(weight[i] * (x[i] * sum));
}

enum { FOURS = 4 };		/* at most, of a row, a thread's */

D_INLINE void
put4(float *out, float a, float b, float c, float d)
{
	*(float4 *)out = make_float4(a, b, c, d);
}

template <class T> D_INLINE void
put4(T *out, float a, float b, float c, float d)
{
	*(uint2 *)out = make_uint2(pair<T>(a, b), pair<T>(c, d));
}

D_INLINE float4
plus(float4 a, float4 b)
{
	return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/* A thread's fours of a row, with what is to be added to them. */
D_INLINE void
add_sums(float4 v[FOURS], float4 *x, const float4 *part, unsigned n_parts, size_t stride,
    unsigned n)
{
#pragma unroll 4
	for (unsigned p = 0; p < n_parts; p++)
#pragma unroll
		for (unsigned i = 0, at = threadIdx.x; i < FOURS; i++, at += blockDim.x)
			if (at < n)
				v[i] = plus(v[i], __ldcg(part + p * stride + at));
#pragma unroll
	for (unsigned i = 0, at = threadIdx.x; i < FOURS; i++, at += blockDim.x)
		if (at < n)
			x[at] = v[i];
}

/* The same of n times four values, read once; the weights before the row is there. */
template <class T> __global__ void
norm4(T *out, float4 *x, struct addends add, const float4 *weight, float eps, unsigned n)
{
	const size_t row = blockIdx.x * (size_t)n;
	float4 v[FOURS], w[FOURS];
	float sum = 0;

	let_next_start();
	out += row * 4;
	x += row;
#pragma unroll
	for (unsigned i = 0, at = threadIdx.x; i < FOURS; i++, at += blockDim.x)
		if (at < n)
			w[i] = weight[at];
	wait_for_last();
#pragma unroll
	for (unsigned i = 0, at = threadIdx.x; i < FOURS; i++, at += blockDim.x)
		v[i] = at < n ? __ldcg(x + at) : make_float4(0, 0, 0, 0);
	if (add.n > 0)
		add_sums(v, x, (const float4 *)add.part + row, add.n, gridDim.x * (size_t)n, n);
#pragma unroll
	for (unsigned i = 0; i < FOURS; i++)
		sum += v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z + v[i].w * v[i].w;
	sum = 1 / sqrtf(block_sum(sum) / (float)(n * 4) + eps);
#pragma unroll
	for (unsigned i = 0, at = threadIdx.x; i < FOURS; i++, at += blockDim.x)
		if (at < n)
			put4(out + at * (size_t)4, w[i].x * (v[i].x * sum), w[i].y * (v[i].y * sum),
			    w[i].z * (v[i].z * sum), w[i].w * (v[i].w * sum));
}

template <class T> __global__ void
silu(T *act, const T *gate_up, size_t n)
{
	const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	const T *row = gate_up + blockIdx.y * 2 * n;

	wait_for_last();
	if (i < n) {
		float g = to_float(row[i]), u = to_float(row[n + i]);

		act[blockIdx.y * n + i] = from_float<T>(g / (1 + expf(-g)) * u);
	}
}

/* The same, eight words at a time. */
template <class T> __global__ void
silu8(uint4 *act, const uint4 *gate_up, size_t n)
{
	const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	const uint4 *row = gate_up + blockIdx.y * 2 * n;
	uint4 gate, up, out;

	wait_for_last();
	if (i >= n)
		return;
	gate = row[i];
	up = row[n + i];
	for (int j = 0; j < 4; j++) {
		const T *g = (const T *)((const uint32_t *)&gate + j);
		const T *u = (const T *)((const uint32_t *)&up + j);
		float a = to_float(g[0]), b = to_float(g[1]);

		((uint32_t *)&out)[j] = pair<T>(a / (1 + __expf(-a)) * to_float(u[0]),
		    b / (1 + __expf(-b)) * to_float(u[1]));
	}
	act[blockIdx.y * n + i] = out;
}

void
cu_embed(const struct queue *q, enum word word, float *x, const void *table,
    const uint32_t *token, size_t hidden, size_t rows)
{
	BY_WORD(word, launch(q, embed<T>, dim3(rows), 256, 0, x, (const T *)table,
	    token, hidden));
}

void
cu_norm(const struct queue *q, enum word word, void *out, float *x, struct addends add,
    const float *weight, float eps, size_t hidden, size_t rows)
{
	const size_t n = hidden / 4, threads = min((n + 63) / 64 * 32, (size_t)1024);

	if (hidden % 4 == 0 && n <= FOURS * threads)
		BY_WORD(word, launch(q, norm4<T>, dim3(rows), threads, 0, (T *)out,
		    (float4 *)x, add, (const float4 *)weight, eps, n));
	else
		BY_WORD(word, launch(q, norm<T>, dim3(rows), 512, 0, (T *)out, x, add,
		    weight, eps, hidden));
}

void
cu_silu(const struct queue *q, enum word word, void *act, const void *gate_up,
    size_t n, size_t rows)
{
	/* A grid is at most 65535 high. */
	for (size_t done = 0; done < rows; done += 32768) {
		const unsigned some = rows - done < 32768 ? rows - done : 32768;
		const size_t size = word == WORD_F32 ? 4 : 2;
		char *out = (char *)act + done * n * size;
		const char *in = (const char *)gate_up + done * 2 * n * size;

		if (word != WORD_F32 && n % 8 == 0)
			BY_SHORT_WORD(word, launch(q, silu8<T>, dim3((n / 8 + 255) / 256, some),
			    256, 0, (uint4 *)out, (const uint4 *)in, n / 8));
		else
			BY_WORD(word, launch(q, silu<T>, dim3((n + 255) / 256, some), 256, 0,
			    (T *)out, (const T *)in, n));
	}
}
