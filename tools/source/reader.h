/* reader.h: a source page while it is read, a row at a time. */
#ifndef READER_H
#define READER_H

#include <csv.h>

#include "source.h"

enum key { ADDRESS, LINE, TEXT, SAMPLES, EXECUTED, SECTORS, IDEAL_SECTORS, WAVEFRONTS,
	IDEAL_WAVEFRONTS, ID, PID, KERNEL, GRID, BLOCK, STATIC, DYNAMIC, N_KEYS };

struct reader {
	struct page *page;
	const char *path;
	FILE	*fp;
	uint64_t no, begun;		/* line in hand; where its row began */
	char	*line;
	size_t	 line_cap;
	struct csv_parser csv;
	char	**cell;			/* of the row in hand */
	size_t	 n, cap;
	bool	 ended;
	enum { NOTHING, RAW_UNITS, RAW, SOURCE } under;
	size_t	 ncol, key[N_KEYS];
	char	**col;
	uint32_t *reason;		/* of each column; INTERN_NONE: no stall */
	char	*kernel, *file, *last_line;
	struct block *b;		/* that the rows are of */
	bool	 fresh;			/* a new kernel name, no header yet */
};

/* rows.c */
_Noreturn void bad(const struct reader *, const char *what, const char *which);
void	row(struct reader *);
void	drop_header(struct reader *);

#endif
