/*
 * checkpoint.h: a Hugging Face directory, read from untrusted bytes.
 *
 * checkpoint_open reads config.json and the header of every safetensors file,
 * checks each length and product against the file, holds index and headers
 * against each other, and gives every tensor a role.  Whatever is wrong ends
 * in a message naming file, tensor and remedy, and exit 2.  The data itself is
 * not touched until checkpoint_map.
 *
 * A model that is read well but cannot be run here (another family, quantised
 * weights, another rope) is not an error: arch_unsupported says why, and its
 * tensors are not held against the architecture.
 */
#ifndef CHECKPOINT_H
#define CHECKPOINT_H

#include "ns.h"

enum dtype {
	DT_BOOL, DT_U8, DT_I8, DT_I16, DT_U16, DT_I32, DT_U32, DT_I64, DT_U64,
	DT_F16, DT_BF16, DT_F32, DT_F64, DT_C64, DT_F8_E4M3, DT_F8_E5M2,
	DT_F8_E8M0, DT_F8_E4M3FNUZ, DT_F8_E5M2FNUZ, DT_F4, DT_F6_E2M3,
	DT_F6_E3M2, DT_COUNT
};
const char *dtype_name(enum dtype);		/* "BF16", as in the header */
unsigned dtype_bits(enum dtype);
bool	dtype_parse(const char *, enum dtype *);	/* in either case */

enum role {
	ROLE_EMBED, ROLE_ATTN_NORM, ROLE_Q, ROLE_K, ROLE_V, ROLE_O,
	ROLE_Q_BIAS, ROLE_K_BIAS, ROLE_V_BIAS, ROLE_O_BIAS, ROLE_Q_NORM,
	ROLE_K_NORM, ROLE_FFN_NORM, ROLE_GATE, ROLE_UP, ROLE_DOWN, ROLE_ROUTER,
	ROLE_EXPERT_GATE, ROLE_EXPERT_UP, ROLE_EXPERT_DOWN, ROLE_FINAL_NORM,
	ROLE_LM_HEAD, ROLE_OTHER, ROLE_COUNT
};
const char *role_name(enum role);		/* "expert_gate" */

enum { MAX_DIMS = 8 };
struct tensor {
	char	*name;
	enum dtype dtype;
	enum role role;
	int	 layer, expert;			/* -1: none */
	unsigned n_dims;
	uint64_t dim[MAX_DIMS];			/* outermost first */
	uint64_t n_elements, bytes;
	size_t	 file;				/* index into checkpoint.file */
	uint64_t offset;			/* of its data, from the file's start */
};
struct tensor_list {
	size_t	 n, cap;
	struct tensor *tensor;
};
void	tensor_list_free(struct tensor_list *);

enum rope { ROPE_DEFAULT, ROPE_LLAMA3 };

enum { MAX_LAYERS = 1024, MAX_EXPERTS = 4096 };
struct layers {					/* a set of them */
	uint64_t bit[MAX_LAYERS / 64];
};

/* What config.json says, under one set of names whatever the family. */
struct arch {
	char	 architecture[64];		/* "Qwen3ForCausalLM" */
	char	 model_type[64];		/* "qwen3" */
	uint64_t n_layers, hidden_size, n_heads, n_kv_heads, head_dim;
	uint64_t ffn_size;			/* of a dense layer */
	uint64_t vocab_size, max_positions;
	uint64_t sliding_window;		/* 0: none */
	struct layers window_layers;		/* those that it is used in */
	bool	 tied;				/* lm_head is the embedding */
	bool	 tied_unsaid;			/* config.json leaves it open */
	bool	 qkv_bias, o_bias, qk_norm;
	double	 norm_eps, rope_theta;
	enum rope rope;
	double	 rope_factor, rope_low_freq, rope_high_freq, rope_old_context;
	uint64_t n_experts, n_experts_per_token, expert_ffn_size; /* 0: dense */
	bool	 norm_topk;			/* routing weights sum to 1 */
	uint64_t sparse_step;			/* layer i is MoE if (i+1) % it == 0 */
	struct layers mlp_only_layers;		/* and not one of these */
	enum dtype dtype;			/* as config.json says; or DT_COUNT */
	bool	 synthetic;			/* made by ns-synth */
	uint64_t seed;				/* that it was made with */
	char	 unsupported[160];		/* why the worker cannot run it */
};
bool	arch_layer_is_moe(const struct arch *, uint64_t layer);
uint64_t arch_window(const struct arch *, uint64_t layer);	/* 0: none */
const char *arch_unsupported(const struct arch *);	/* the reason, or NULL */

/* One config.json; the bytes go into the fingerprint unless that is NULL. */
void	config_read(const char *path, struct arch *, uint64_t *fingerprint);
/* The same as settings: the names and values of model.kv. */
void	arch_write(const struct arch *, struct out *);
void	arch_read(struct arch *, const struct kv *);	/* dies if they make no model */
bool	arch_has_key(const char *);		/* is it a setting of these? */

struct checkpoint {
	char	*dir;
	size_t	 n_files;
	char	**file;				/* names within dir */
	uint64_t *file_bytes;
	size_t	 n_tensors;
	struct tensor *tensor;			/* by file, then offset */
	const struct tensor **by_role;		/* the same by role, layer, expert */
	struct arch arch;
	uint64_t bytes, n_parameters;		/* over all tensors */
	uint64_t fingerprint;			/* of config and headers, FNV-1a */
	const void **map;			/* one a file, once mapped */
	int	*fd;				/* the same; -1: read, not mapped */
};
void	checkpoint_open(struct checkpoint *, const char *dir);
const struct tensor *checkpoint_find(const struct checkpoint *, enum role,
	    int layer, int expert);		/* NULL if absent */
void	checkpoint_map(struct checkpoint *);	/* mmap every file, read-only */
const void *checkpoint_data(const struct checkpoint *, const struct tensor *);
void	checkpoint_close(struct checkpoint *);

/* The name that role bears in a family's checkpoints; a static buffer. */
const char *tensor_name(const struct arch *, enum role, int layer, int expert);
/* Role, layer and expert out of a name: ROLE_OTHER where it is not known. */
void	tensor_role(struct tensor *);
/* Every tensor that the architecture needs, named and shaped, front to back. */
void	arch_tensors(const struct arch *, struct tensor_list *);

/*
 * One safetensors file's header alone: its tensors are appended to the list
 * by offset.  Returns the size of the file.
 */
uint64_t safetensors_read(const char *path, size_t file_index,
	    struct tensor_list *, uint64_t *fingerprint);

/* FNV-1a, to be begun with FNV_START. */
#define FNV_START UINT64_C(0xcbf29ce484222325)
void	fnv(uint64_t *, const void *, size_t);

#endif
