/* synth.h: the parts of ns-synth. */
#ifndef SYNTH_H
#define SYNTH_H

#include "checkpoint.h"

/* The text of a config.json that transformers loads; the caller frees it. */
char	*synth_config(const struct arch *, uint64_t shard_bytes);

/* The values of one tensor: any piece of it, in the file's dtype. */
struct fill {
	uint64_t key;
	unsigned size;			/* bytes an element */
	union {
		uint16_t half[4096];
		float	 full[4096];
	} table;
};
void	fill_start(struct fill *, const struct tensor *, uint64_t seed);
/* n elements from number at on, which is a multiple of 4. */
void	fill(const struct fill *, void *to, uint64_t at, size_t n);

/* The whole checkpoint into an existing, empty directory. */
void	synth_write(const struct arch *, uint64_t shard_bytes, const char *config,
	    const char *dir);

#endif
