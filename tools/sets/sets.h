/* sets.h: a platform's sampled metrics, and what a capture made of them. */
#ifndef SETS_H
#define SETS_H

#include "ns.h"

struct metrics {
	const char *set;
	char	**id;		/* without the .sum, each once */
	size_t	 n, cap;
};

bool	is_word(const char *);	/* letters, digits, _ . -: harmless in YAML */

/*
 * Which version of the format this nsys reads, by the installed set for the
 * chip: PATH, or the first in the folder PATH.  Dies where there is none.
 */
char	*stock_version(const char *path, const char *chip);

/* What a capture has of the set; NS_NO if a higher rate would have more. */
int	check(const struct metrics *, const char *sampled, const char *diagnostics);

#endif
