/*
 * cuda.h: the kernels of ns-worker's CUDA backend, as C sees them.  Every
 * function queues work on a stream and returns.  Rows of activations are
 * ordered by position, then by sequence, as in the CPU backend; "word" is the
 * type of the matrices, the cache, and what enters a matrix product.
 */
#ifndef CUDA_H
#define CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum word { WORD_F32, WORD_F16, WORD_BF16 };

/* Where a sequence stands; advanced on the device when a step ends. */
struct place {
	uint32_t position;		/* of the row that comes next */
	uint32_t n_generated;
};

struct queue {
	cudaStream_t stream;
	bool	 overlap;		/* a kernel may start while the one before ends */
	int	 n_sms;
};

const void *cu_probe(void);		/* a kernel: is there code for this device? */

/* rows.cu: one row, or one value, at a time. */
void	cu_embed(const struct queue *, enum word, float *x, const void *table,
	    const uint32_t *token, size_t hidden, size_t rows);
/* To be added up: n times [row][value]. */
struct addends {
	const float *part;
	size_t	 n;
};
void	cu_norm(const struct queue *, enum word, void *out, float *x, struct addends,
	    const float *weight, float eps, size_t hidden, size_t rows);
/* act[row][n] = silu(gate) * up from gate_up[row][2 n] */
void	cu_silu(const struct queue *, enum word, void *act, const void *gate_up,
	    size_t n, size_t rows);

/* finish.cu: the greatest logit, the next token, its embedding, one step on. */
struct finish {
	const float *logits;		/* [batch][vocab] */
	float	*keep;			/* [1 + generate][batch][vocab], or NULL */
	unsigned long long *best;	/* [batch][n_best] */
	size_t	 n_best;
	uint32_t *token;		/* [1 + generate][batch] */
	float	*top;			/* [batch] */
	struct place *place;		/* [batch] */
	const void *embed;
	float	*x;			/* [batch][hidden] */
	size_t	 vocab, hidden, batch;
};
void	cu_best(const struct queue *, const struct finish *);	/* fills best */
void	cu_finish(const struct queue *, enum word, const struct finish *);
void	cu_place(const struct queue *, struct place *, size_t batch,
	    uint32_t position, uint32_t n_generated);

/* As the first position of rows: each sequence's place. */
#define AT_PLACE UINT32_MAX

/* What attention needs to know of a layer. */
struct heads {
	void	*k, *v;			/* the cache: [seq][kv_head][position][dim] */
	const float *bias;		/* of q, k, v together; or NULL */
	const float *q_norm, *k_norm;	/* [dim]; or NULL */
	const float *cos, *sin;		/* [position][dim / 2] */
	const struct place *place;
	float	 eps;
	uint32_t heads, kv_heads, dim, window, n_positions, batch;
};
/* rope.cu: q, k, v of rows -> q, normed and turned; k, v into the cache. */
void	cu_rope(const struct queue *, enum word, const struct heads *,
	    const void *qkv, void *q, uint32_t first, size_t rows);
/* attention.cu, flash.cu: rows from position first on, over all before them. */
void	cu_attention(const struct queue *, enum word, const struct heads *,
	    const void *q, void *out, uint32_t first, size_t rows);
bool	cu_flash_can(enum word, const struct heads *);
void	cu_flash(const struct queue *, enum word, const struct heads *,
	    const void *q, void *out, uint32_t first, size_t rows);
enum { SPLITS_MAX = 256 };
/* decode.cu: one row a sequence, out of f32 q, k, v in parts; rope and cache included. */
struct split {
	float	*part;			/* [seq][kv_head][n_splits][group][dim + 2] */
	unsigned *arrived;		/* [seq][kv_head] */
	uint32_t n_splits;
};
bool	cu_decode_can(enum word, const struct heads *);
void	cu_decode(const struct queue *, enum word, const struct heads *,
	    const struct split *, struct addends qkv, void *out);

/* gemm.cu: out[m][n] from x[m][k] and w[n][k], any shape, any word. */
enum gemm_out { OUT_WORD, OUT_F32, OUT_ADD };	/* OUT_ADD: f32, added */
struct gemm {
	const void *x, *w;
	void	*out;
	const float *bias;		/* [n], or NULL; not where w is in groups */
	size_t	 m, n, k;
	enum gemm_out to;
	/* Grouped: rows offset[g] .. offset[g + 1] of out go through matrix g. */
	const uint32_t *offset;
	const uint32_t *from;		/* [m] rows of x; NULL: the same */
	size_t	 groups;
};
void	cu_gemm(const struct queue *, enum word, const struct gemm *);

/*
 * wide.cu: x through w for more rows than the step's kernel takes; false: not a
 * product for it.  n_parts may be NULL where there are none.
 */
enum wide_to {
	WIDE_PARTS,			/* f32 [part][batch][rows], WIDE_SPANS parts at most */
	WIDE_SILU,			/* words [batch][rows / 2]: silu(gate) * up, gate above up */
	WIDE_BEST			/* keys [batch][part], a part a multiprocessor at most */
};
enum { WIDE_LEAST = 9, WIDE_MOST = 64 };	/* rows of x */
struct wide {
	const void *w;			/* [rows][cols] words */
	const void *x;			/* [batch][cols] words */
	void	*out;
	float	*logits;		/* [batch][rows], of WIDE_BEST; or NULL */
	uint32_t batch, rows, cols;
	enum wide_to to;
};
bool	cu_wide(const struct queue *, enum word, const struct wide *, size_t *n_parts);

/*
 * moe.cu: score[row][expert] of the normed x, which is not rounded to a word
 * here: near ties must fall as they do where all is f32.
 */
struct router {
	const void *w;			/* [expert][hidden] short words */
	const float *x, *norm;		/* [row][hidden], [hidden] */
	float	 eps;
	float	*score;
	size_t	 rows, experts, hidden;
};
void	cu_router(const struct queue *, enum word, const struct router *);
/* Who serves whom. */
struct route {
	float	*score;			/* [row][expert]; used up */
	uint32_t *chosen;		/* [row][top] */
	float	*share;			/* [row][top] */
	uint32_t *offset;		/* [expert + 1] of the pairs below */
	uint32_t *from;			/* [row x top] the pair's row */
	uint32_t *where;		/* [row][top] the pair */
	uint32_t *count;		/* [steps][layer][expert], or NULL */
	/* Of this layer's tokens, [position][sequence][top]: to choose; chosen; or NULL. */
	const uint32_t *told;
	uint32_t *kept;
	const struct place *place;	/* tells the step of count */
	size_t	 rows, batch, experts, top, layer, n_layers;
	uint32_t first;			/* position of rows, or AT_PLACE */
	bool	 norm;
};
void	cu_route(const struct queue *, const struct route *);
/* x[row] += the sum over its pairs of share x y[pair] */
void	cu_gather(const struct queue *, float *x, const float *y,
	    const struct route *, size_t hidden);

/*
 * experts.cu: x += the experts' sum of normed x, for one new row a sequence, as
 * fast as the experts stream.  The weights of each are read once, whomever it
 * serves: so no more rows than a warp has sums for.
 */
enum { EXPERTS_ROWS = 8, EXPERTS_PAIRS = 64, EXPERTS_COLS = 12288 };	/* at most: of one row */
struct server {				/* an expert, and whom it serves */
	uint32_t expert, rows;		/* a bit a row */
	uint32_t pair[EXPERTS_ROWS];	/* the row's: row x top + rank */
	float	 share[EXPERTS_ROWS];
};
struct experts {
	const void *router, *gate_up, *down;	/* [expert] of each; gate above up */
	const float *norm;
	float	*x;			/* [row][hidden] */
	void	*xn, *act;		/* words: [row][hidden], [pair][ffn] */
	struct server *server;		/* [n_servers]; those without rows last */
	unsigned *arrived;		/* 0 */
	struct route route;		/* score, count, told, kept and place of it */
	float	 eps;
	uint32_t hidden, ffn, n_servers;	/* at most: pairs, or all experts */
};
bool	cu_experts_can(enum word, const struct experts *);
void	cu_experts(const struct queue *, enum word, const struct experts *);

/* gemv.cu: one row of x through a matrix, as fast as it streams. */
enum gemv_out { GEMV_ADD, GEMV_F32, GEMV_SILU, GEMV_LOGITS };
enum { GEMV_COLS = 24576, GEMV_LOGITS_ROWS = 16 };	/* at most; that share a best */
struct gemv {
	const void *w;			/* [rows][cols]; GEMV_SILU: gate, then up */
	const void *x;			/* [cols] words, unless normed here */
	const float *h, *norm;		/* [cols]: x = norm h / rms(h) */
	float	 eps;
	const float *bias;		/* [rows] or NULL */
	void	*out;			/* [rows] */
	unsigned long long *best;	/* [rows / 16], for GEMV_LOGITS */
	uint32_t rows, cols;
	enum gemv_out to;
};
void	cu_gemv(const struct queue *, enum word, const struct gemv *);

#ifdef __cplusplus
}
#endif
#endif
