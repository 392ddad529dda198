/*
 * backend.h: what runs a model.  ns-worker makes the tokens, opens the phases
 * and writes the tables; a backend does the arithmetic, and keeps the tokens
 * it generates to itself until they are asked for.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include "model.h"

struct plan {
	size_t	 prompt, generate;	/* tokens of each sequence */
	size_t	 batch;			/* sequences */
	bool	 keep_logits, keep_routing;
};

/* Of the last prefill and the decodes after it: row 0 is the prefill's. */
struct result {
	const uint32_t *token;		/* [1 + generate][batch] */
	const float *logits;		/* [1 + generate][batch][vocab] */
	const uint32_t *routing;	/* [1 + generate][layer][expert] tokens */
};

struct backend {
	const char *name;
	uint64_t (*need)(const struct model *, const struct plan *); /* bytes */
	void	*(*open)(const struct model *, const struct plan *);
	/* Each of these two returns when the device has done its work. */
	void	 (*prefill)(void *, const uint32_t *token);	/* [prompt][batch] */
	void	 (*decode)(void *, size_t step);	/* the token that step gave on */
	struct result (*result)(void *);
	void	 (*close)(void *);
};
extern const struct backend backend_cpu;

#endif
