/* model.h: the weights of a decoder, where they lie in the mapped checkpoint. */
#ifndef MODEL_H
#define MODEL_H

#include "checkpoint.h"

struct weight {
	const void *data;		/* NULL: the model has none */
	enum dtype dtype;		/* DT_F32, DT_F16 or DT_BF16 */
	size_t	 rows, cols;		/* a vector is one row */
	int	 fd;			/* where it is too, or -1 */
	uint64_t offset;
};

struct ffn {
	struct weight gate, up;		/* [ffn][hidden] */
	struct weight down;		/* [hidden][ffn] */
};

struct layer {
	struct weight attn_norm;	/* [hidden] */
	struct weight q;		/* [head x dim][hidden] */
	struct weight k, v;		/* [kv_head x dim][hidden] */
	struct weight o;		/* [hidden][head x dim] */
	struct weight q_bias, k_bias, v_bias, o_bias;
	struct weight q_norm, k_norm;	/* [dim] */
	struct weight ffn_norm;		/* [hidden] */
	struct weight router;		/* [expert][hidden]; none: dense */
	struct ffn *ffn;		/* [expert], or the one */
};

struct model {
	const struct arch *arch;
	uint64_t bytes;			/* of the checkpoint's tensors */
	size_t	 hidden, heads, kv_heads, head_dim, vocab, n_layers;
	size_t	 q_size, kv_size;	/* head x dim, kv_head x dim */
	size_t	 ffn, experts, top;	/* widest ffn; experts and how many serve */
	struct weight embed;		/* [vocab][hidden] */
	struct layer *layer;		/* [n_layers] */
	struct weight final_norm;	/* [hidden] */
	struct weight lm_head;		/* [vocab][hidden]; embed, if tied */
};

void	model_open(struct model *, const struct checkpoint *);
void	model_close(struct model *);

#endif
