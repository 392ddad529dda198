/*
 * backend.h: what runs a model.  ns-worker makes the tokens, opens the phases
 * and writes the tables; a backend does the arithmetic, and keeps the tokens
 * it generates to itself until they are asked for.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include "model.h"

/* How a decode step is cut into kernels, where a backend has a choice. */
enum step_cut { STEP_AUTO, STEP_KERNELS, STEP_EXPERTS, STEP_PERSISTENT, STEP_CUTS };
extern const char *const step_words[STEP_CUTS];

struct plan {
	size_t	 prompt, generate;	/* tokens of each sequence */
	size_t	 batch;			/* sequences */
	bool	 keep_logits, keep_routing, keep_experts;
	const uint32_t *experts;	/* [layer][position][batch][top] to take; or NULL */
	enum step_cut step;
	bool	 keep_stamps;
	bool	 watched;		/* a phase's work is queued and done in its range */
};

/* Of the last prefill and the decodes after it: row 0 is the prefill's. */
struct result {
	const uint32_t *token;		/* [1 + generate][batch] */
	const float *logits;		/* [1 + generate][batch][vocab] */
	const uint32_t *routing;	/* [1 + generate][layer][expert] tokens */
	const uint32_t *experts;	/* [layer][position][batch][top] */
};

/* How the weights came to the device; none of it where they are used as mapped. */
struct loaded {
	uint64_t bytes, dur_ns, n_threads;
};

/* What was counted in ranges of a run, which was repeated until all was. */
struct counts {
	size_t	 n_metrics, n_ranges, n_passes;
	const char **metric;
	const char **unit;		/* of each metric; NULL: a bare count */
	const char **range;		/* their names, as they were opened */
	double	*value;			/* [range][metric]; not finite: there is none */
};
struct count;				/* how a device counts */
struct counter {
	struct count *(*open)(const char **metric, size_t n, size_t n_ranges); /* dies */
	size_t	 (*passes)(const struct count *);	/* that it will take */
	void	 (*run)(struct count *, void (*work)(void *), void *);	/* each pass */
	void	 (*range)(struct count *, const char *name);	/* NULL closes it */
	struct counts (*read)(const struct count *);	/* after run; names until close */
	void	 (*close)(struct count *);
};

/* When what happened within a decode step that is one kernel; 0: it did not. */
struct stamps {
	size_t	 n_blocks, n_ops, n_kinds, n_events;
	const char *const *kind;	/* [n_kinds]: a layer's, in turns; the step's last */
	const char *const *event;	/* [n_events] */
	uint64_t *ns;			/* [block][op][event] by the device's clock; to be freed */
};
void	stamps_write(const char *path, const struct stamps *);

/* What may be NULL is said; bytes of 0 are not known. */
struct backend {
	const char *name;
	uint64_t (*available)(void);		/* bytes for weights and the rest */
	uint64_t (*need)(const struct model *, const struct plan *); /* bytes */
	void	*(*open)(const struct model *, const struct plan *);
	struct loaded (*loaded)(void *);	/* by open; or NULL */
	/* Each of these two returns when the device has done its work. */
	void	 (*prefill)(void *, const uint32_t *token);	/* [prompt][batch] */
	void	 (*decode)(void *, size_t step);	/* the token that step gave on */
	/* By the device's clock, once all is done: 0 the prefill, then a step each. */
	uint64_t (*device_ns)(void *, size_t i);	/* or NULL */
	enum step_cut (*step)(void *);		/* that it took; or NULL: it has no choice */
	uint64_t (*used)(void);			/* bytes, as the driver says; or NULL */
	bool	 (*watched)(void);		/* does a tool ask for ranges?; or NULL */
	void	 (*range)(const char *name);	/* NULL closes the last; or NULL */
	void	 (*profile)(bool on);		/* or NULL */
	const struct counter *counter;		/* or NULL */
	struct result (*result)(void *);
	struct stamps (*stamps)(void *);	/* of the last step, which is done again; or NULL */
	void	 (*close)(void *);
};
extern const struct backend backend_cpu, backend_cuda;

#endif
