/* engine.h: the host's side of the CUDA backend, a file each. */
#ifndef ENGINE_H
#define ENGINE_H

#include "../worker/worker.h"
#include "cuda.h"
#include "step.h"
#include "wide-plan.h"

/* device.c: the one device, and words for what goes wrong. */
void	device_check(cudaError_t, const char *what);	/* dies */
struct cudaDeviceProp device_open(void);
uint64_t device_available(void);
uint64_t device_used(void);

/* watch.c */
bool	watch_wanted(void);
void	watch_range(const char *name);	/* NULL closes the last */
void	watch_profile(bool on);
extern const struct counter watch_counter;

/* One allocation, cut up; a base of NULL only adds up. */
struct arena {
	char	*base;
	size_t	 used;
};
void	*take(struct arena *, size_t n, size_t size);

/* weights.c: the matrices as words, the vectors as floats. */
struct matrix {
	void	*w;			/* all of [groups][rows][cols] */
	size_t	 rows, cols, groups;
};
struct device_layer {
	struct matrix qkv, o, gate_up, down, router;	/* gate above up */
	float	*attn_norm, *ffn_norm, *qkv_bias, *o_bias, *q_norm, *k_norm;
};
struct weights {
	enum word word;
	size_t	 word_bytes;
	struct matrix embed, lm_head;
	float	*final_norm;
	struct device_layer *layer;
};
void	weights_lay(struct weights *, const struct model *, struct arena *);
struct loaded weights_load(const struct weights *, const struct model *);
void	weights_free(struct weights *);

/* load.c: from where it is mapped to the device, by several threads. */
struct load {
	const struct weight *from;
	void	*to;
	enum word as;
	size_t	 piece;			/* its first, of all that are sent */
};
struct loads {
	struct load *load;
	size_t	 n, cap;
};
void	load_add(struct loads *, const struct weight *, void *to, enum word as);
struct loaded load_all(struct loads *);

/* blas.c: cuBLASLt, if there is one. */
struct blas;
struct blas *blas_open(void *workspace, size_t bytes);	/* NULL: none */
bool	blas_gemm(struct blas *, cudaStream_t, enum word, const struct gemm *);
/* blas-tune.c: what becomes of the products of few rows so far; outs are used up. */
bool	blas_tune(struct blas *, cudaStream_t);	/* false: all stays */
void	blas_close(struct blas *);
enum { BLAS_WORKSPACE = 32 << 20 };

struct engine {
	const struct model *m;
	struct plan plan;
	struct weights weights;
	struct queue queue;
	struct blas *blas;
	void	*memory;
	size_t	 chunk, n_positions;	/* positions that prefill takes at a time */
	bool	 stepping;		/* decode by one kernel a step */
	bool	 streaming;		/* or by the kernels for one sequence */
	bool	 streaming_experts;	/* of it, experts by those for few rows */

	/* On the device. */
	float	*x;			/* [row][hidden] */
	void	*xn, *q, *context;	/* words: [row][hidden], [row][q_size] twice */
	void	*qkv;			/* [row][q + 2 kv] words; floats in decode */
	void	*gate_up, *act;		/* [pair][2 ffn], [pair][ffn] */
	float	*y;			/* [pair][hidden], of a mixture */
	float	*parts;			/* [WIDE_SPANS][row][hidden, or q + 2 kv], for cu_wide */
	size_t	 n_parts;		/* of them, not yet added to x */
	float	*cos, *sin;
	void	*kv;
	uint32_t *prompt;		/* [prompt][batch] */
	void	*workspace;
	struct split split;
	struct route route;
	struct experts experts;		/* what is the same in all layers */
	struct finish finish;
	size_t	 n_best_streaming;
	struct step step;
	unsigned long long *stamp;	/* for one step of those; or NULL */

	/* On the host. */
	cudaGraphExec_t graph;
	cudaEvent_t *begun, *ended;	/* [1 + generate]; the prefill's first */
	size_t	 launched;
	struct loaded loaded;
	struct result result;
};

/* heads.c */
struct heads heads_of(const struct engine *, size_t layer);

/* forward.c: what is queued, in what order. */
void	forward_prefill(struct engine *);
void	forward_decode(struct engine *);
struct experts experts_of(const struct engine *, size_t layer);	/* in decode */

/* step-lay.c: a decode step as one kernel, where that can be. */
void	step_lay(struct engine *, struct arena *);
bool	step_open(struct engine *);
struct stamps step_stamps(const struct step *);	/* out of its stamp */

#endif
