/* source.h: what the parts of ns-source share. */
#ifndef SOURCE_H
#define SOURCE_H

#include "intern.h"

enum { MAX_REASONS = 40 };	/* that a page can name; OTHER is what none names */
#define NO_PRODUCER SIZE_MAX

struct instruction {
	uint64_t address;
	char	*text, *line;		/* line: FILE:LINE, or NULL */
	double	 n_samples, n_executed;	/* all of these: NAN where missing */
	double	 sectors, ideal_sectors, wavefronts, ideal_wavefronts;
	double	*stall;			/* of each reason; OTHER among them */
	size_t	 producer;		/* of what it mostly waits for; an index */
};
struct block {			/* a kernel as the page has it */
	char	*kernel;
	uint64_t line;			/* of the file, where it begins */
	size_t	 n, cap;
	struct instruction *i;
	struct intern files, addresses;	/* of a page with source lines */
	bool	 again;			/* printed twice: the one before is the same */
};
struct launch {			/* a row of the raw page */
	char	*id, *kernel, *grid, *block;
	double	 shared_bytes;		/* NAN: not known */
	const struct block *at;
};
struct page {
	const char *path;
	struct intern reasons;		/* as ns-detail names them */
	size_t	 n, cap;
	struct block *b;
	size_t	 n_launches, launches_cap;
	struct launch *l;
};

/* page.c */
void	page_read(struct page *, const char *path);	/* NULL or "-": stdin */
void	page_free(struct page *);
#define OTHER 0			/* the number of that reason */

/* launches.c: which block is which launch's. */
void	launches_join(struct page *);

/* waits.c */
void	producers_find(struct page *);
uint32_t main_stall(const struct page *, const double *stall, double *most);
							/* INTERN_NONE: none */

/* reading.c */
char	*reading(const struct page *, const struct block *);

/* Sums over instructions; a missing one is left out, NAN if all are. */
struct sums {
	size_t	 n;
	double	 n_samples, n_executed, sectors, wavefronts;
	double	 sectors_ratio, wavefronts_ratio;	/* over ideal */
	double	 stall[MAX_REASONS];
	double	 both_sectors, ideal_sectors, both_wavefronts, ideal_wavefronts;
};
void	sums_add(struct sums *, const struct instruction *, size_t n_reasons);
void	sums_end(struct sums *);
#define SUMS_NONE (struct sums){ .n_executed = NAN, .sectors = NAN, .wavefronts = NAN }

#endif
