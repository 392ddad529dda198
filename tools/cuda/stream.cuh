/*
 * stream.cuh: a warp's rows of a matrix, 16 bytes a load, several loads under
 * way; and their words as floats.
 */
#ifndef STREAM_CUH
#define STREAM_CUH

enum { STEP = 256 };			/* columns of a warp's load */

/* Eight words as floats. */
template <class T> D_INLINE void widen(float out[8], uint4 v);
template <> __device__ __forceinline__ void
widen<bf16>(float out[8], uint4 v)
{
	const uint32_t w[4] = { v.x, v.y, v.z, v.w };

#pragma unroll
	for (int i = 0; i < 4; i++) {
		out[2 * i] = __uint_as_float(w[i] << 16);
		out[2 * i + 1] = __uint_as_float(w[i] & 0xffff0000);
	}
}
template <> __device__ __forceinline__ void
widen<half>(float out[8], uint4 v)
{
	const half2 *w = (const half2 *)&v;

#pragma unroll
	for (int i = 0; i < 4; i++) {
		const float2 f = __half22float2(w[i]);

		out[2 * i] = f.x;
		out[2 * i + 1] = f.y;
	}
}

/* AHEAD loads of each of a warp's rows, from column k on. */
template <int ROWS, int AHEAD> D_INLINE void
fetch(uint4 (&w)[ROWS][AHEAD], const char *const (&row)[ROWS], uint32_t k, uint32_t cols)
{
#pragma unroll
	for (int r = 0; r < ROWS; r++)
#pragma unroll
		for (int i = 0; i < AHEAD; i++)
			w[r][i] = k + i * STEP < cols ? stream16(row[r] +
			    (size_t)(k + i * STEP) * 2) : make_uint4(0, 0, 0, 0);
}

#endif
