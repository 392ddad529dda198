/*
 * table.h: a whole table in memory, for a reader that needs it more than once
 * or out of order.  A filter reads row by row instead: ns.h.
 */
#ifndef TABLE_H
#define TABLE_H

#include "ns.h"

struct table {
	char	*path;
	size_t	 n, ncol, cap;
	char	**col;
	char	***row;		/* row[i][j]: clean UTF-8 without control bytes */
};

/* False if there is no such file; dies on anything else that is wrong. */
bool	table_read(struct table *, const char *path);
void	table_need(const struct table *, const char *names);	/* "phase step" */
size_t	table_find(const struct table *, const char *name);	/* or TSV_NONE */

/* A field; NULL or NAN where it is NA or there is no such column. */
const char *table_text(const struct table *, size_t row, const char *name);
double	table_num(const struct table *, size_t row, const char *name);
bool	table_is(const struct table *, size_t row, const char *name, const char *);
void	table_free(struct table *);

/* A copy in clean UTF-8: control bytes as spaces, bytes that are none as '?'. */
char	*text_clean(const char *);

#endif
