/*
 * intern.h: byte strings as numbers 0, 1, 2, ... in the order in which they
 * first came, so that a table keeps each name once and compares numbers.
 */
#ifndef INTERN_H
#define INTERN_H

#include "ns.h"

struct intern {
	uint32_t n;		/* strings so far */
	size_t	 n_slots, at_cap, used, cap;
	struct intern_slot {	/* open addressing */
		uint32_t number;	/* + 1; 0 is free */
		uint32_t hash;
	} *slot;
	size_t	*at;		/* where each begins in bytes */
	char	*bytes;		/* each followed by a NUL */
};
uint32_t intern(struct intern *, const void *, size_t len);
uint32_t intern_text(struct intern *, const char *);
#define INTERN_NONE UINT32_MAX
uint32_t intern_find(const struct intern *, const void *, size_t len);
const char *interned(const struct intern *, uint32_t);	/* until the next intern */
void	intern_free(struct intern *);

#endif
