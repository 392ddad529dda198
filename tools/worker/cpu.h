/* cpu.h: the parts of the reference forward, a file each. */
#ifndef CPU_H
#define CPU_H

#include "backend.h"

struct range {
	size_t	 first, last;		/* the last is not in it */
	size_t	 thread;		/* whose part it is */
};
typedef void loop_part(const void *arg, struct range);
struct threads *threads_open(void);
/* 0 .. n - 1, shared out in multiples of grain. */
void	split(struct threads *, size_t n, size_t grain, loop_part *, const void *arg);
void	threads_close(struct threads *);

/*
 * Rows of activations through a matrix: out[n][rows of w] from x[n][cols of w].
 * Each row of w is read from memory once, whatever n.
 */
struct product {
	const struct weight *w;
	const struct weight *up;	/* out = silu(w x) * (up x) */
	const struct weight *bias;
	const float *x;
	float	*out;
	size_t	 n;
	const uint32_t *from;		/* [n] rows of x to take; NULL: all */
	const uint32_t *to;		/* [n] rows of out to put; NULL: all */
	const float *scale;		/* [n] */
	bool	 add;			/* out += */
};
void	product(struct threads *, const struct product *);

void	embed(float *x, const struct weight *, const uint32_t *token, size_t n);
void	rms_norm(struct threads *, float *out, const float *x,
	    const struct weight *, double eps, size_t n);

struct rope_table {
	float	*cos, *sin;		/* [position][dim / 2] */
	size_t	 half;
};
void	rope_open(struct rope_table *, const struct arch *, size_t n_positions);
struct turn {
	const struct rope_table *table;
	float	*x;			/* [pos][seq][head][dim] */
	size_t	 first, n_pos, batch, heads;
};
void	rope(struct threads *, const struct turn *);
void	rope_close(struct rope_table *);

/* Where a layer's keys and values lie, and who looks at them. */
struct attention {
	float	*q;			/* [pos][seq][head][dim], becomes the output */
	const float *k, *v;		/* [pos][seq][kv_head][dim] from position 0 */
	float	*score;			/* [thread][group][position] */
	size_t	 first, n_pos, batch;	/* positions first .. first + n_pos - 1 */
	size_t	 heads, kv_heads, dim, window, n_positions;
};
void	attention(struct threads *, const struct attention *);

/* Which experts serve which rows; all of it made anew for each layer. */
struct routes {
	float	*score;			/* [n][expert] */
	uint32_t *chosen;		/* [n][top] */
	float	*share;			/* [n][top] */
	uint32_t *row;			/* [n] that the expert in hand serves */
	float	*row_share;		/* [n] */
	const uint32_t *told;		/* [n][top] to choose; or NULL */
};
void	ffn(struct threads *, float *x, const float *h, float *scratch,
	    const struct layer *, const struct model *, struct routes *,
	    uint32_t *count, size_t n);

#endif
