/* worker.h: what ns-worker does around a backend. */
#ifndef WORKER_H
#define WORKER_H

#include "backend.h"

/* Prompts, [prompt][batch]: random by seed, or out of a file. */
uint32_t *tokens_random(const struct plan *, size_t vocab, uint64_t seed);
struct ids {
	uint32_t *id;
	size_t	 n, cap;
};
void	ids_read(struct ids *, const char *path, size_t vocab);
uint32_t *tokens_given(const struct plan *, const struct ids *, const char *path);

/* Choices of experts: [layer][position][sequence][top]. */
size_t	experts_count(const struct plan *, const struct model *);	/* dies if none */
uint32_t *experts_read(const char *path, const struct plan *, const struct model *);
void	experts_write(const char *path, const uint32_t *, const struct plan *,
	    const struct model *);

/* Metrics to count, out of a list, and the table of what they came to. */
struct metrics {
	char	*text;
	const char **name;
	size_t	 n, cap;
};
void	metrics_parse(struct metrics *, const char *list);	/* dies unless each once */
void	metrics_free(struct metrics *);
void	counters_write(const char *path, const struct counts *);
void	counts_free(struct counts *);

/* Memory at one moment. */
struct footprint {
	uint64_t time_ns, allocator, driver, process, system;	/* bytes; 0: not known */
};
struct footprint footprint_now(uint64_t start_ns, uint64_t allocator);
uint64_t memory_available(void);			/* bytes; 0: not known */

/* Phases for callgrind; nothing without valgrind. */
bool	marks_on(void);
void	marks_prepare(void);		/* before anything is allocated */
void	marks_start(void);		/* the cache is empty, counting begins */
void	marks_open(void);
void	marks_close(const char *phase, size_t step);
void	marks_stop(void);

#endif
