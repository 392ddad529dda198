/*
 * head.cuh: a head in a warp's registers.  Lane l has the elements l, l + 32,
 * ... of the first half in v[0], v[2], ..., their partners in v[1], v[3], ....
 */
#ifndef HEAD_CUH
#define HEAD_CUH

enum { HEAD_MAX = 16, DIM_MAX = HEAD_MAX * 32 };

template <class S> D_INLINE void
head_read(float v[HEAD_MAX], const S *in, const struct heads &h, unsigned head,
    unsigned lane)
{
	const unsigned half = h.dim / 2;

#pragma unroll
	for (int i = 0; i < HEAD_MAX / 2; i++) {
		unsigned at = lane + i * 32;

		if (at >= half)
			break;
		v[2 * i] = to_float(__ldcg(in + at));
		v[2 * i + 1] = to_float(__ldcg(in + at + half));
		if (h.bias != NULL) {
			v[2 * i] += h.bias[head * h.dim + at];
			v[2 * i + 1] += h.bias[head * h.dim + at + half];
		}
	}
}

/* Norm, if the model has one, and rotation; of queries and keys. */
D_INLINE void
head_turn(float v[HEAD_MAX], const struct heads &h, unsigned head,
    size_t position, unsigned lane)
{
	const unsigned half = h.dim / 2;
	const float *norm = head < h.heads ? h.q_norm : h.k_norm;
	const float *c = h.cos + position * half, *s = h.sin + position * half;
	float unit = 0;

	if (norm != NULL) {
#pragma unroll
		for (int i = 0; i < HEAD_MAX / 2; i++)
			if (lane + i * 32 < half)
				unit += v[2 * i] * v[2 * i] + v[2 * i + 1] * v[2 * i + 1];
		unit = 1 / sqrtf(warp_sum(unit) / (float)h.dim + h.eps);
	}
#pragma unroll
	for (int i = 0; i < HEAD_MAX / 2; i++) {
		unsigned at = lane + i * 32;
		float a, b;

		if (at >= half)
			break;
		a = v[2 * i];
		b = v[2 * i + 1];
		if (norm != NULL) {
			a = norm[at] * (a * unit);
			b = norm[at + half] * (b * unit);
		}
		v[2 * i] = a * c[at] - b * s[at];
		v[2 * i + 1] = b * c[at] + a * s[at];
	}
}

template <class S> D_INLINE void
head_write(S *out, const float v[HEAD_MAX], const struct heads &h, unsigned lane)
{
	const unsigned half = h.dim / 2;

#pragma unroll
	for (int i = 0; i < HEAD_MAX / 2; i++) {
		unsigned at = lane + i * 32;

		if (at >= half)
			break;
		out[at] = from_float<S>(v[2 * i]);
		out[at + half] = from_float<S>(v[2 * i + 1]);
	}
}

#endif
