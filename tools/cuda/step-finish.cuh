/*
 * step-finish.cuh: the warps that add up what the others have multiplied, make
 * results of it and leave them for the other blocks.  They also keep the
 * residual stream of their block's tiles; the first ends the step.
 */
#ifndef STEP_FINISH_CUH
#define STEP_FINISH_CUH

struct clerk {
	uint32_t at, turn;		/* which of the two groups of sums */
	uint32_t nth;			/* of the block's */
	int	 lane;
	float	 scale, factor;		/* of one sequence; of more, in shared memory */
};

/* Of the warps that add up, if there are several. */
D_INLINE void
clerks_meet(const struct site &s)
{
	if (clerks(s.batch) > 1)
		threads_meet<2>(clerks(s.batch) * 32);
}

/*
 * One result: lanes of eight have a tile's rows for a sequence.  All but the sum
 * is known before there are sums.
 */
struct value {
	uint32_t sums;			/* of its row, in shared memory */
	float	*hidden;		/* where the residual stream has it */
	uint32_t seq, row;
	float	 bias, norm;		/* bias: with what hidden has so far */
	float	 scale;			/* of the sum, or of an h that is left */
	uint32_t to;			/* where its word lies, or the lane's of its piece */
	bool	 there;
};

/* The kinds that differ in what becomes of sums: STEP_OUT stands for STEP_DOWN, too. */
template <int KIND> D_INLINE uint32_t
place_of(const struct site &s, const struct step_op &op, uint32_t seq, uint32_t row)
{
	return op.out + (KIND == STEP_QKV ? (seq * op.rows + row) * 4 :
	    row / STEP_ROWS * STEP_PIECE(s.batch, op.rows) + seq * 16 + row % 4 * 4);
}

/* The i-th result of a group of n tiles from the first on. */
template <int KIND> D_INLINE struct value
value_of(const struct step &a, const struct site &s, const struct clerk &c,
    const struct step_op &op, uint32_t first, uint32_t n, uint32_t i)
{
	const uint32_t pair = i / STEP_ROWS, t = pair / s.batch, seq = pair - t * s.batch;
	const uint32_t row = (first + t) * STEP_ROWS + i % STEP_ROWS, tile = min(t, n - 1);
	const bool there = t < n && row < op.rows;
	const uint32_t at = s.batch == 1 ? four_sums(i % STEP_ROWS, 0) :
	    seq * STEP_ROWS + i % STEP_ROWS;
	float *const hidden = (float *)(s.room + a.room.residual) +
	    (tile * s.batch + seq) * STEP_ROWS + i % STEP_ROWS;
	uint32_t sums = (uint32_t)__cvta_generic_to_shared(sums_at(a, s, c.at,
	    KIND == STEP_GATE ? tile * 2 : tile) + at);
	float bias = there && op.bias != NULL ? __ldg(op.bias + row) : 0;

	if (KIND == STEP_OUT && there)
		bias += *hidden;
	settle(&sums);
	return { sums, hidden, seq, row, bias,
	    KIND == STEP_OUT && there && op.norm != NULL ? __ldg(op.norm + row) : 0, 1,
	    place_of<KIND>(s, op, seq, row), there };
}

/* A row's sums of all warps. */
D_INLINE float
add_warps(const struct site &s, uint32_t sums)
{
	float part[4] = {};

	if (s.batch == 1)
#pragma unroll
		for (int i = 0; i < WARPS / 2; i++) {
			const uint4 v = shared16(sums ^ i * 16);

			part[i] = __uint_as_float(v.x) + __uint_as_float(v.y) +
			    (__uint_as_float(v.z) + __uint_as_float(v.w));
		}
	else
#pragma unroll
		for (int i = 0; i < WARPS; i++)
			part[i % 4] += __uint_as_float(shared4(sums + i * s.batch * STEP_ROWS * 4));
	return part[0] + part[1] + (part[2] + part[3]);
}

/* Lanes that have all of a row's squares among them; of few squares four times as many do. */
enum { QUADS = STEP_WIDE / STEP_ROWS / 4 / 32 };
D_INLINE uint32_t
lanes_of(uint32_t quads)
{
	return quads <= 8 * QUADS ? 8 : 32;
}

/* Squares of N sequences' rows, in a lane: what is missing is asked for again. */
template <int N> D_INLINE void
ask_squares(uint4 v[N][QUADS], const struct step &a, const struct site &s,
    const struct step_op &op, uint32_t seq, int lane)
{
	const uint32_t quads = a.hidden / STEP_ROWS / 4;
	const uint32_t apart = STEP_QUAD(s.batch), lanes = lanes_of(quads);
	const char *const from = s.words.now + op.square + (seq * quads + lane % lanes) * apart;
	uint32_t most;

#pragma unroll
	for (int i = 0; i < N * QUADS; i++) {
		const bool there = seq + i / QUADS < s.batch &&
		    lane % lanes + i % QUADS * lanes < quads;
		const uint32_t word = there ? NOT_YET : 0;

		v[i / QUADS][i % QUADS] = make_uint4(word, word, word, word);
	}
	do {
		most = 0;
#pragma unroll
		for (int i = 0; i < N * QUADS; i++) {
			uint4 &one = v[i / QUADS][i % QUADS];

			word_again(&one, from + (i / QUADS * quads + i % QUADS * lanes) * apart,
			    words_most(0, one) == NOT_YET, s.words.policy);
		}
#pragma unroll
		for (int i = 0; i < N * QUADS; i++)
			most = words_most(most, v[i / QUADS][i % QUADS]);
	} while (__any_sync(~0u, most == NOT_YET));
	__syncwarp();			/* the last scale has been used by all */
}

/*
 * One over the root mean square of each sequence's hidden row.  Its x was left
 * with the one before, so that it is of the size of what 16 bits hold best.
 */
template <int N> D_INLINE void
find_scale(const struct step &a, const struct site &s, struct clerk &c, const struct step_op &op)
{
	const uint32_t seq = c.nth * N, lanes = lanes_of(a.hidden / STEP_ROWS / 4);
	float each = __fdividef(1, (float)a.hidden), last = __fdividef(1, c.scale), scale[N];
	uint4 v[N][QUADS];

	static_assert(N == 1 || clerks(STEP_BATCH) * N >= STEP_BATCH);
	settle(&each);
	settle(&last);
	ask_squares<N>(v, a, s, op, seq, c.lane);
#pragma unroll
	for (int k = 0; k < N; k++) {
		float sum = 0;

#pragma unroll
		for (int i = 0; i < QUADS; i++)
			sum += __uint_as_float(v[k][i].x) + __uint_as_float(v[k][i].y) +
			    (__uint_as_float(v[k][i].z) + __uint_as_float(v[k][i].w));
#pragma unroll
		for (int d = 1; d < 32; d *= 2)
			if (d < 8 || lanes > 8)
				sum += __shfl_xor_sync(~0u, sum, d);
		scale[k] = rsqrtf(sum * each + a.eps);
	}
	c.scale = scale[0];
	c.factor = scale[0] * last;
	if (N == 1)
		return;
	clerks_meet(s);			/* the last ones are used no more */
#pragma unroll
	for (int k = 0; k < N; k++)
		if (c.lane == k && seq + k < s.batch) {
			s.factor[seq + k] = __fdividef(scale[k], s.scale[seq + k]);
			s.scale[seq + k] = scale[k];
		}
	__syncwarp();
	clerks_meet(s);
}

/*
 * Two of eight rows' values as the word of their piece of x that lies at lane % 4, a
 * lane a row.
 */
template <class T> D_INLINE uint32_t
piece_of(float mine, int lane)
{
	const int first = lane / STEP_ROWS * STEP_ROWS + piece_word(lane % 4) * 2;
	const float low = __shfl_sync(~0u, mine, first);

	return pair<T>(low, __shfl_sync(~0u, mine, first + 1));
}

D_INLINE bool
has_piece(const struct value &v, int lane)
{
	return v.there && lane % STEP_ROWS < 4;
}

/*
 * A new h: what is multiplied next but for the scale, and its square; what is left
 * before what is wiped.
 */
template <class T> D_INLINE void
leave_hidden(const struct step &a, const struct site &s, const struct step_op &op,
    const struct value &v, float h, int lane)
{
	const uint32_t word = piece_of<T>(h * v.norm * v.scale, lane);
	const uint32_t tile = (v.seq * a.hidden + v.row) / STEP_ROWS;
	const uint32_t to = op.out_square + tile / 4 * STEP_QUAD(s.batch) + tile % 4 * 4;
	const bool piece = has_piece(v, lane), first = v.there && lane % STEP_ROWS == 0;
	float square = v.there ? h * h : 0;

	if (piece)
		words_leave(s.words, v.to, word);
#pragma unroll
	for (int i = 1; i < STEP_ROWS; i *= 2)
		square += __shfl_xor_sync(~0u, square, i);
	if (first)
		words_leave(s.words, to, word_of(square));
	if (piece)
		words_wipe(s.words, v.to);
	if (first)
		words_wipe(s.words, to);
}

/*
 * The embedding of the last token is h: as if a layer before the first gave it.
 * By all threads, before any weights are asked for.
 */
template <class T> D_INLINE void
read_hidden(const struct step &a, const struct site &s)
{
	const struct step_part part = a.part[(size_t)blockIdx.x * a.n_ops + STEP_OUT];
	float *to = (float *)(s.room + a.room.residual);

#pragma unroll 1
	for (uint32_t i = threadIdx.x; i < part.n * s.batch * STEP_ROWS; i += threads(s.batch)) {
		const uint32_t tile = part.first + i / STEP_ROWS / s.batch;
		const uint32_t row = tile * STEP_ROWS + i % STEP_ROWS;
		const uint32_t seq = i / STEP_ROWS % s.batch;
		const uint32_t *token = a.finish.token +
		    (a.finish.place[seq].n_generated - 1) * s.batch;

		line_expect(a.first_norm + row);
		to[i] = to_float(((const T *)a.finish.embed)[token[seq] * (size_t)a.hidden + row]);
	}
}

template <class T> D_INLINE void
leave_first(const struct step &a, const struct site &s, const struct clerk &c)
{
	const struct step_part part = part_of(a, s, STEP_OUT);
	const struct step_op &next = op_of(a, s, STEP_QKV);
	struct step_op before = op_of(a, s, STEP_OUT);

	before.bias = NULL;
	before.norm = a.first_norm;
	before.out = next.x;
	before.out_square = next.square;
#pragma unroll 1
	for (uint32_t i = c.nth * 32; i < part.n * s.batch * STEP_ROWS; i += clerks(s.batch) * 32) {
		const struct value v = value_of<STEP_OUT>(a, s, c, before, part.first, part.n,
		    i + c.lane);

		leave_hidden<T>(a, s, before, v, v.bias, c.lane);
	}
}

D_INLINE void
leave_logit(const struct step &a, const struct site &s, const struct value &v, float logit,
    int lane)
{
	unsigned long long b = v.there ? key(logit, v.row) : 0;

	if (v.there && a.finish.keep != NULL)
		a.finish.keep[(a.finish.place[v.seq].n_generated * a.finish.batch + v.seq) *
		    a.finish.vocab + v.row] = logit;
#pragma unroll
	for (int i = 1; i < STEP_ROWS; i *= 2)
		b = better(b, __shfl_xor_sync(~0u, b, i));
	if (lane % STEP_ROWS == 0)
		atomicMax(s.best + v.seq, b);
}

/* The sum over columns, and what becomes of it. */
template <int KIND> D_INLINE float
result_of(const struct site &s, const struct value &v)
{
	float sum = add_warps(s, v.sums);
	const float up = KIND == STEP_GATE ? add_warps(s, v.sums + sums_stride(s.batch) * 4) : 0;

	if (KIND == STEP_OUT) {
		sum += v.bias;
		if (v.there)
			*v.hidden = sum;
		return sum;
	}
	sum = sum * v.scale + v.bias;
	if (KIND == STEP_GATE)
		sum = __fdividef(sum, 1 + __expf(-sum)) * (v.scale * up);
	return sum;
}

template <class T, int KIND> D_INLINE void
leave(const struct step &a, const struct site &s, const struct step_op &op,
    const struct value &v, float y, int lane)
{
	if (KIND == STEP_OUT)
		leave_hidden<T>(a, s, op, v, y, lane);
	else if (KIND == STEP_VOCAB)
		leave_logit(a, s, v, y, lane);
	else if (KIND == STEP_GATE) {
		const uint32_t word = piece_of<T>(y, lane);

		if (has_piece(v, lane))
			words_put(s.words, v.to, word);
	} else if (v.there)
		words_put(s.words, v.to, y);
}

/* N results a lane, all of them on their way at a time. */
template <class T, int N, int KIND> D_INLINE void
finish_values(const struct step &a, const struct site &s, const struct clerk &c,
    const struct step_op &op, const struct value v[N])
{
	float y[N];

#pragma unroll
	for (int k = 0; k < N; k++)
		y[k] = result_of<KIND>(s, v[k]);
	stamp_left(a, s, op, y[N - 1]);
#pragma unroll
	for (int k = 0; k < N; k++)
		if (N == 1 || __any_sync(~0u, v[k].there))
			leave<T, KIND>(a, s, op, v[k], y[k], c.lane);
}

template <int N, int KIND> D_INLINE void
values_of(struct value v[N], const struct step &a, const struct site &s, const struct clerk &c,
    const struct step_op &op, uint32_t first, uint32_t n, uint32_t i)
{
#pragma unroll
	for (int k = 0; k < N; k++)
		v[k] = value_of<KIND>(a, s, c, op, first, n, i + k * 32 + c.lane);
}

template <int N, int KIND> D_INLINE void
scale_values(struct value v[N], const struct site &s, const struct clerk &c)
{
	if (N == 1)
		v[0].scale = KIND == STEP_OUT ? c.scale : c.factor;
	else
#pragma unroll
		for (int k = 0; k < N; k++)
			v[k].scale = KIND == STEP_OUT ? s.scale[v[k].seq] : s.factor[v[k].seq];
}

/* Of a group of tiles; all but their sums is asked for before there are any. */
template <class T, int N, int KIND> D_INLINE void
finish_group(const struct step &a, const struct site &s, struct clerk &c,
    const struct step_op &op, uint32_t first, uint32_t n, struct value v[N])
{
	const uint32_t values = n * s.batch * STEP_ROWS, each = clerks(s.batch) * N * 32;

	scale_values<N, KIND>(v, s, c);
	barrier_wait(s.ready + c.at * 8, c.turn);
	if (c.nth * N * 32 < values)
		stamp(a, s, op, STEP_SUMMED);
#pragma unroll 1
	for (uint32_t i = c.nth * N * 32; i < values; i += each) {
		finish_values<T, N, KIND>(a, s, c, op, v);
		if (i + each < values) {
			values_of<N, KIND>(v, a, s, c, op, first, n, i + each);
			scale_values<N, KIND>(v, s, c);
		}
	}
	warp_arrive(s.empty + c.at * 8, c.lane);
	c.at ^= 1;
	c.turn ^= c.at == 0;
}

template <class T, int N, int KIND> D_INLINE void
finish_product(const struct step &a, const struct site &s, struct clerk &c,
    const struct step_op op, struct step_part part)
{
	const uint32_t halves = KIND == STEP_GATE ? 2 : 1, n = part.n / halves;
	const uint32_t group = (KIND == STEP_OUT ? STEP_DEEP : tiles_a_group(s.batch)) / halves;

#pragma unroll 1
	for (uint32_t j = 0; j < n || j == 0; j += group) {
		const uint32_t tiles = min(group, n - j);
		struct value v[N];

		values_of<N, KIND>(v, a, s, c, op, part.first + j, tiles, c.nth * N * 32);
		if (j == 0 && KIND != STEP_OUT) {
			find_scale<N>(a, s, c, op);
			if (c.nth == 0)
				stamp(a, s, op, STEP_SCALED);
		}
		if (n > 0)
			finish_group<T, N, KIND>(a, s, c, op, part.first + j, tiles, v);
	}
}

/* By the last block to end: the next tokens, and on to the next step. */
D_INLINE void
end_step(const struct step &a, const struct site &s, int lane)
{
	const struct finish &f = a.finish;
	uint32_t before = 0;

	__syncwarp();
	if (lane < s.batch)
		f.best[lane * a.n_blocks + blockIdx.x] = s.best[lane];
	__threadfence();
	__syncwarp();
	if (lane == 0)
		before = atomicAdd(a.done, 1);
	if (__shfl_sync(~0u, before, 0) != a.n_blocks - 1)
		return;
	__threadfence();
	__syncwarp();
#pragma unroll 1
	for (uint32_t seq = 0; seq < s.batch; seq++) {
		unsigned long long b = 0;

		for (uint32_t i = lane; i < a.n_blocks; i += 32)
			b = better(b, __ldcg(f.best + seq * a.n_blocks + i));
		b = warp_best(b);
		if (lane == 0) {
			const uint32_t n = f.place[seq].n_generated;

			f.token[n * f.batch + seq] = key_index(b) < f.vocab ? key_index(b) : 0;
			f.top[seq] = key_value(b);
			f.place[seq].n_generated = n + 1;
			f.place[seq].position++;
		}
	}
	if (lane == 0) {
		*a.done = 0;
		++*a.turn;
	}
}

template <class T, int N> D_INLINE void
finish_op(const struct step &a, const struct site &s, struct clerk &c, const struct step_op &op,
    struct step_part part)
{
	if (is_deep(op))
		finish_product<T, N, STEP_OUT>(a, s, c, op, part);
	else if (op.kind == STEP_GATE)
		finish_product<T, N, STEP_GATE>(a, s, c, op, part);
	else if (op.kind == STEP_QKV)
		finish_product<T, N, STEP_QKV>(a, s, c, op, part);
	else
		finish_product<T, N, STEP_VOCAB>(a, s, c, op, part);
}

template <class T, int D, bool ONE> D_INLINE void
finish_all(const struct step &a, struct site s, uint32_t nth, int lane)
{
	struct clerk c = { 0, 0, nth, lane, 1, 1 };

	settle(&s.words.now);
	settle(&s.words.other);
	leave_first<T>(a, s, c);
#pragma unroll 1
	for (uint32_t i = 0; i < a.n_ops; i++) {
		const struct step_op &op = op_of(a, s, i);
		const struct step_part part = part_of(a, s, i);

		if (op.kind != STEP_ATTEND)
			finish_op<T, ONE ? 1 : 3>(a, s, c, op, part);
		else if (nth == 0)
			look_at_newest<T, D>(a, s, op, part, lane);
	}
	clerks_meet(s);
	if (nth == 0)
		end_step(a, s, lane);
}

#endif
