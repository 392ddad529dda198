/* ncu.h: what the parts of ncu2tsv share. */
#ifndef NCU_H
#define NCU_H

#include <csv.h>

#include "ns.h"

/* lines.c */
struct lines {
	FILE	*fp;
	const char *path;		/* for messages */
	uint64_t no;			/* of the line in hand, from 1 */
	char	*buf;
	size_t	cap, pos, len;
	bool	eof;
	struct progress progress;	/* of a regular file */
	uint64_t done;
};
void	lines_open(struct lines *, const char *path);	/* NULL or "-": stdin */
const char *lines_next(struct lines *, size_t *len);
void	lines_close(struct lines *);

/* unit.c: a unit of ncu's is a power of ten of a base unit. */
struct unit {
	char	base[40];		/* "byte/s"; "" for a bare count */
	int	shift;			/* value x 10^shift is in base units */
};
bool	unit_parse(const char *, struct unit *);

/*
 * number.c: a cell as decimal digits in base units, or why it is none.  The
 * point is moved, nothing is computed, nothing rounded.
 */
enum cell { CELL_NUMBER, CELL_MISSING, CELL_TEXT, CELL_LOCALE, CELL_BAD };
enum { NUMBER_MAX = 128 };
struct point {				/* is . the decimal point of this file? */
	bool	known;
	char	doubt[24];		/* the first cell that could be both */
	uint64_t line;			/* where it stands; 0: nowhere */
};
enum cell number(const char *cell, int shift, char out[static NUMBER_MAX],
	    const char **why, struct point *, uint64_t line);

/* nvtx.c: ranges to phase and step. */
struct phase {
	char	name[16];		/* "" if none is known */
	bool	has_step;
	uint64_t step;
};
bool	phase_parse(const char *range, struct phase *);	/* "decode.3" */
void	phase_find(char *cell, struct phase *, const char **innermost);

/* picks.c: --metrics and --ranges. */
struct pick {
	char	*name;
	bool	seen;
};
struct picks {
	const char *what;		/* "metric" */
	size_t	n;			/* 0: everything is wanted */
	struct pick *pick;
	size_t	n_there, cap;
	char	**there;
};
void	picks_parse(struct picks *, const char *list);
struct pick *picks_find(struct picks *, const char *name);
void	picks_there(struct picks *, const char *name);
void	picks_check(const struct picks *, const char *path);	/* dies */
void	picks_free(struct picks *);

/* cut.c: the wanted fields of a line alone, the rest skipped unread. */
struct cut {
	size_t	ncol, nwant;
	size_t	*want;			/* ascending */
	char	*buf;
	size_t	cap;
};
bool	cut(struct cut *, const char *line, size_t len, size_t *out_len);

/* talk.c: what ncu and others say around and instead of a table. */
enum { TALK_MAX = 300 };
struct talk {
	const char *path;
	bool	any;			/* a line of ncu's own */
	bool	text_report;
	char	error[TALK_MAX];	/* the first ==ERROR== line */
	char	reason[TALK_MAX];	/* the line that says most, by rank */
	const char *remedy;
	int	rank;
	char	first[TALK_MAX];	/* the first line that is not ncu's */
};
void	talk_sniff(const char *path, const char *bytes, size_t len);
void	talk_line(struct talk *, const char *line, size_t len);
_Noreturn void talk_no_table(const struct talk *);

/* table.c: the columns under a header. */
enum key {			/* those that hold no metric, by what they say */
	ID, PID, KERNEL, PUSH, START, BLOCK, GRID, DEVICE,
	SECTION, ITEM, METRIC, UNIT, VALUE, N_KEYS
};
struct column {
	char	*name;
	bool	keep;			/* its cells are needed */
	bool	metric;			/* raw page: a wanted metric */
	struct unit unit;
};
struct launch {
	uint64_t pid, id;
};
struct once {				/* a metric of the launch in hand */
	uint64_t name, value;		/* hashes; name 0: free */
};
/* A piece of an output row, made once a launch. */
struct piece {
	struct out out;
	char	*text;
	size_t	len;
};

struct ncu {
	struct lines in;
	struct talk talk;
	struct picks picks, ranges;
	struct point point;
	struct cut cut;
	struct csv_parser csv;
	struct out out;
	struct phase phase;		/* of --phase */
	const char *page;		/* of --page */

	unsigned run;			/* tables so far */
	bool	details, units_seen;
	size_t	ncol, key[N_KEYS];
	struct column *col;

	const size_t *map;		/* columns of the fields to come; NULL: all */
	size_t	n, *at, cells_len, cells_cap;
	char	*cells;			/* the fields of a row, each with its NUL */
	size_t	row_len;		/* bytes of it so far */
	bool	mid, ended, extra;
	bool	whole;			/* the line in hand ends as lines do */

	struct launch last, *seen;	/* highest id of each process of this run */
	size_t	n_seen, seen_cap, n_once, once_cap;
	struct once *once;
	struct piece head, tail;
	uint64_t n_launches, n_rows;
};

_Noreturn void bad(const struct ncu *, const char *what, const char *which);
_Noreturn void bad_cell(const struct ncu *, const char *metric, const char *what,
	    const char *text);
char	*cell(const struct ncu *, size_t col);		/* NULL: a shorter row */
char	*key(const struct ncu *, enum key);		/* NULL: no such column */
void	clean(char *);			/* control bytes, as in out_text */
extern const char *const key_name[N_KEYS];
void	header(struct ncu *);
void	units(struct ncu *);
void	drop_columns(struct ncu *);

/* launch.c */
void	launches_open(struct ncu *);
void	find_launch(struct ncu *);
void	launches_close(struct ncu *);

/* value.c */
void	value(struct ncu *, const char *metric, const char *text, const struct unit *,
	    const char *section);

#endif
