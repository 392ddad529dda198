/* step-site.cuh: what all threads of a block of a step know. */
#ifndef STEP_SITE_CUH
#define STEP_SITE_CUH

enum {
	WARPS = 8,			/* that multiply; then those that add up, those that fetch */
	UNIT = 32,			/* columns that a warp takes at a time */
	GROUP_MAX = 8,			/* query heads that share a key head */
	LOOKED = 16,			/* positions that a warp looks at at a time */
	HALF = WARPS * LOOKED		/* that all do: the first two are looked at together */
};

/* Warps that add up: of one sequence there is little to add. */
static __host__ __device__ constexpr uint32_t
clerks(uint32_t batch)
{
	return batch == 1 ? 1 : 3;
}

/* Warps that fetch: stages and all the rest; of one sequence there is room for one each. */
static __host__ __device__ constexpr uint32_t
fetchers(uint32_t batch)
{
	return batch == 1 ? 2 : 1;
}

static __host__ __device__ constexpr uint32_t
threads(uint32_t batch)
{
	return (WARPS + clerks(batch) + fetchers(batch)) * 32;
}

/* Tiles whose sums are handed over together, but for those of hidden. */
static __host__ __device__ constexpr uint32_t
tiles_a_group(uint32_t batch)
{
	return batch == 1 ? 6 : 4;
}

struct site {
	struct words words;
	unsigned char *stages, *room;	/* shared memory: the ring, and behind it */
	float	*scale;			/* [batch]: 1 / rms of the last h that was multiplied */
	float	*factor;		/* [batch]: to that from the one before */
	unsigned long long *best;	/* [batch] */
	uint32_t *position;		/* [batch]: of the newest */
	uint32_t ready, empty;		/* [2] barriers of sums */
	uint32_t batch;
	bool	 stamped;		/* known when compiled, so that stamps cost nothing */
};

/* From a tile's sums to the next, in floats: of several sequences no two in the same banks. */
static __host__ __device__ inline uint32_t
sums_stride(uint32_t batch)
{
	return batch == 1 ? 2 * WARPS * STEP_ROWS : (WARPS * batch + 1) * STEP_ROWS;
}

/*
 * Of one sequence a warp has two sums of a row, and a row's lie together: where two
 * warps' do, so that those of eight rows are all banks.
 */
D_INLINE uint32_t
four_sums(uint32_t row, uint32_t which)
{
	return row * 2 * WARPS + (which ^ row / 2) * 4;
}

D_INLINE float *
sums_at(const struct step &a, const struct site &s, uint32_t which, uint32_t tile)
{
	return (float *)(s.room + a.room.sums) + (which * a.most_tiles + tile) *
	    sums_stride(s.batch);
}

D_INLINE const struct step_op &
op_of(const struct step &a, const struct site &s, uint32_t i)
{
	return ((const struct step_op *)(s.room + a.room.ops))[i];
}

D_INLINE struct step_part
part_of(const struct step &a, const struct site &s, uint32_t i)
{
	return ((const struct step_part *)(s.room + a.room.parts))[i];
}

D_INLINE const struct heads &
heads_of(const struct step &a, const struct site &s, const struct step_op &op)
{
	return ((const struct heads *)(s.room + a.room.heads))[op.layer];
}

/* It has happened in this warp. */
D_INLINE void
stamp(const struct step &a, const struct site &s, const struct step_op &op, enum step_event e)
{
	const size_t i = op.layer * STEP_VOCAB + op.kind;

	if (s.stamped && threadIdx.x % 32 == 0)
		atomicMax(a.stamp + (blockIdx.x * a.n_ops + i) * STEP_EVENTS + e, clock_ns());
}

/* Results are about to be left: v is one, and must be known before the clock is read. */
D_INLINE void
stamp_left(const struct step &a, const struct site &s, const struct step_op &op, float v)
{
	if (s.stamped && v == v)
		stamp(a, s, op, STEP_LEFT);
}

/* Few tiles, those of the block's own part of hidden, of many columns. */
D_INLINE bool
is_deep(const struct step_op &op)
{
	return op.kind == STEP_OUT || op.kind == STEP_DOWN;
}

/*
 * Where x lies: a sequence's eight columns are a piece.  What tiles have left is
 * a tile's pieces together; the context lies row by row.
 */
struct layout {
	uint32_t piece, seq;		/* bytes from one to the next */
};

D_INLINE struct layout
layout_of(const struct step_op &op, uint32_t batch)
{
	if (op.kind == STEP_OUT)
		return { STEP_CONTEXT(batch, op.cols),
		    op.cols / 8 * STEP_CONTEXT(batch, op.cols) };
	return { STEP_PIECE(batch, op.cols), 16 };
}

/* Where the context of a sequence's head begins, in bytes. */
template <int D> D_INLINE uint32_t
context_at(const struct step &a, uint32_t batch, uint32_t seq, uint32_t head)
{
	return (seq * a.q_size + head * D) / 8 * STEP_CONTEXT(batch, a.q_size);
}

/* In a piece the second word lies third, and the third second, as a tensor core has them. */
D_INLINE uint32_t
piece_word(uint32_t i)
{
	return i % 2 * 2 + i / 2;
}

/* How tiles of so many columns lie in a stage. */
D_INLINE uint32_t
tiles_a_stage(uint32_t cols)
{
	return cols <= STEP_COLS / 2 ? 2 : 1;
}

/* Bytes from row to row: two rows' 64 bytes are all banks. */
D_INLINE uint32_t
pitch_of(uint32_t cols)
{
	return (cols * 2 + 127) / 128 * 128 + 64;
}

/* Both below 65536: exact then, and sooner there than of integers. */
D_INLINE uint32_t
quotient(uint32_t a, uint32_t b)
{
	return (uint32_t)__fdividef((float)a + 0.5f, (float)b);
}

/* A unit of attention: a sequence's key head, and a span of positions. */
D_INLINE struct mine
unit_of(const struct step &a, const struct site &s, const struct heads &h, uint32_t unit)
{
	const uint32_t head = a.n_splits == 1 ? unit : quotient(unit, a.n_splits);
	const uint32_t seq = s.batch == 1 ? 0 : quotient(head, h.kv_heads);
	const uint32_t position = s.position[seq], all = position + 1;
	const uint32_t begin = h.window != 0 && all > h.window ? all - h.window : 0;
	struct mine m = { seq, head - seq * h.kv_heads, head * (size_t)h.n_positions * h.dim,
	    a.group, position, begin, all, 0 };

	if (a.n_splits > 1) {
		const uint32_t some = (all - begin + a.n_splits - 1) / a.n_splits;
		const uint32_t each = (some + LOOKED - 1) / LOOKED * LOOKED;

		m.split = unit - head * a.n_splits;
		m.first = min(begin + m.split * each, all);
		m.end = min(begin + (m.split + 1) * each, all);
	}
	return m;
}

/* Where a span's result lies: D values, then their top and their sum. */
template <int D> D_INLINE uint32_t
span_at(const struct step &a, uint32_t seq, uint32_t head, uint32_t split)
{
	return ((seq * (a.q_size / D) + head) * a.n_splits + split) * (D + 4) * 4;
}

/* Does it end with the newest position, which is not in the cache? */
D_INLINE bool
has_newest(const struct mine &m)
{
	return m.first < m.end && m.end > m.position;
}

/* Where those of its positions end that are in the cache. */
D_INLINE uint32_t
cached_end(const struct mine &m)
{
	return min(m.end, m.position);
}

/*
 * Positions of a unit that lie in a stage: their keys, then their values, either in
 * eight groups of so many bytes, a gap behind each: a row of every group are eight
 * in different banks.
 */
enum { GROUPS = 8, UNBROKEN = 2048, GAP = 16, VALUES = STEP_STAGE / 2 };
template <int D> D_INLINE constexpr uint32_t
positions_a_stage(void)
{
	return STEP_STAGE / (4 * D) / LOOKED * LOOKED;
}

D_INLINE constexpr uint32_t
gapped(uint32_t byte)
{
	return byte + byte / UNBROKEN * GAP;
}

/* One at least, for its sums, if it has a position. */
template <int D> D_INLINE uint32_t
stages_of(const struct mine &m)
{
	const uint32_t most = positions_a_stage<D>();

	return m.first >= m.end ? 0 : max((cached_end(m) - m.first + most - 1) / most, 1u);
}

#endif
