/* readset.h: what a step of a model reads, writes and computes. */
#ifndef READSET_H
#define READSET_H

#include "ns.h"

/* What a step does with a tensor of some role. */
enum use {
	USE_ROWS,	/* reads the rows of its tokens */
	USE_VECTOR,	/* reads it; norms and biases, negligible work */
	USE_MATMUL,	/* reads it, multiplies every token with it */
	USE_EXPERT,	/* reads the experts that were chosen */
	USE_HEAD,	/* multiplies the last position of every sequence */
	USE_CACHE	/* no tensor: keys and values, or activations */
};
struct role {
	const char *name;
	enum use use;
};
enum {
	R_EMBED, R_Q = 2, R_K, R_V, R_GATE = 13, R_EXPERT_GATE = 17,
	R_LM_HEAD = 21, R_CACHE, R_ACTIVATION, N_ROLES
};
extern const struct role roles[N_ROLES];

#define NO_EXPERT UINT64_MAX	/* or all of them in one tensor */
struct tensor {
	size_t	 role;
	uint64_t layer, expert, width, n_elements, bytes; /* width: outermost */
};
struct model {
	size_t	 n, cap;
	struct tensor *tensor;
	bool	 tied, moe;		/* moe: it has expert tensors */
	uint64_t window;		/* 0: none */
	const char *window_layers;	/* "0,2"; NULL: all */
	uint64_t n_experts, n_chosen;
	struct kv kv;
};
void	model_read(struct model *, const char *kv, const char *tensors);
uint64_t model_window(const struct model *, uint64_t layer);
void	model_free(struct model *);

/* Which experts were chosen, if that is known. */
struct route {
	uint64_t decode, step, layer, expert;	/* decode: 0 prefill, 1 decode */
	uint64_t n_tokens;
};
struct routing {
	const char *path;
	size_t	 n, cap;
	struct route *route;
};
void	routing_read(struct routing *, const char *path);
/* The experts of one layer in one step, by number; their tokens must be n. */
const struct route *routing_layer(const struct routing *, uint64_t decode,
	    uint64_t step, uint64_t layer, uint64_t n, size_t *n_experts);
const struct route *routing_expert(const struct route *, size_t n,
	    uint64_t expert);				/* NULL: not chosen */

struct workload {
	uint64_t prompt, generate, batch, kv_bytes, activation_bytes;
};
struct cost {
	uint64_t read, write, flop;
	double	 expected_read, expected_flop;	/* where only odds are known */
};
void	step_cost(const struct model *, const struct routing *,
	    const struct workload *, bool decode, uint64_t step,
	    struct cost cost[N_ROLES]);

/* Sums and products of sizes, or a message and exit 2. */
uint64_t times(uint64_t, uint64_t);
uint64_t plus(uint64_t, uint64_t);

#endif
