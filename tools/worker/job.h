/* job.h: one run of ns-worker: what was asked, what came of it. */
#ifndef JOB_H
#define JOB_H

#include "worker.h"

struct options {
	const char *model, *tokens, *loading, *footprint, *routing, *logits;
	const char *dump_tokens, *dump_experts, *experts, *counters, *stamps, *settings;
	const struct backend *backend;
	struct metrics metrics;		/* to be counted; or none */
	struct plan plan;
	uint64_t repeats, warmup, seed;
	bool	 prompt_given, profile;
};

struct timing {
	uint64_t repeat, step, start_ns, dur_ns, dev_ns;
	bool	 prefill;
};

struct run {
	const struct options *o;
	struct checkpoint checkpoint;
	struct model model;
	void	*engine;
	uint32_t *prompt;		/* [prompt][batch] */
	uint32_t *experts;		/* those told, or NULL */
	uint64_t start_ns, allocated;	/* bytes, weights included */
	struct timing *timing;
	size_t	 n_timing, cap_timing;
	struct count *count;		/* in measured repeats; or NULL */
	struct footprint *footprint;
	size_t	 n_footprint, cap_footprint;
	struct progress progress;
	uint64_t done;			/* steps, for the progress line */
};

struct options options_parse(int argc, char **argv);

/* The tables, to standard output or to where the options say. */
void	write_baseline(const struct run *);
void	write_settings(const struct run *);
void	write_loading(const struct run *);
void	write_footprint(const struct run *);
void	write_routing(const struct run *, const uint32_t *count);
void	write_logits(const struct run *, const float *logits);
void	write_tokens(const struct run *, const uint32_t *generated);

#endif
