/* choose.cuh: the best experts of a row. */
#ifndef CHOOSE_CUH
#define CHOOSE_CUH

/* A warp a row: the best experts and their shares; the row's scores are used up. */
D_INLINE void
choose_row(const struct route &r, float *score, size_t row, unsigned lane)
{
	const size_t token = r.first == AT_PLACE ? r.place[row].position * r.batch + row :
	    r.first * r.batch + row;
	float top = -INFINITY, all = 0, sum = 0, mine = 0;

	for (size_t e = lane; e < r.experts; e += 32)
		top = fmaxf(top, score[e]);
	for (int i = 16; i > 0; i /= 2)
		top = fmaxf(top, __shfl_xor_sync(~0u, top, i));
	for (size_t e = lane; e < r.experts; e += 32)
		all += score[e] = expf(score[e] - top);
	all = warp_sum(all);
	for (size_t i = 0; i < r.top; i++) {
		float best = -2;
		uint32_t at = 0;

		for (size_t e = lane; e < r.experts; e += 32)
			if (r.told != NULL ? e == r.told[token * r.top + i] : score[e] > best) {
				best = score[e];
				at = e;
			}
		for (int d = 16; d > 0; d /= 2) {
			float other = __shfl_xor_sync(~0u, best, d);
			uint32_t where = __shfl_xor_sync(~0u, at, d);

			if (other > best || (other == best && where < at)) {
				best = other;
				at = where;
			}
		}
		if (at % 32 == lane)
			score[at] = -1;
		sum += mine = best / all;
		if (lane == 0) {
			if (r.kept != NULL)
				r.kept[token * r.top + i] = at;
			r.chosen[row * r.top + i] = at;
			r.share[row * r.top + i] = mine;
		}
	}
	__syncwarp();
	for (size_t i = lane; r.norm && i < r.top; i += 32)
		r.share[row * r.top + i] /= sum;
}

#endif
