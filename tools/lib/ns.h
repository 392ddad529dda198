/*
 * ns.h: what every tool shares: one face, tables in, tables out, settings,
 * and a clean ending.  docs/05-formats.md is the grammar this implements.
 */
#ifndef NS_H
#define NS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "banned.h"

enum { NS_OK = 0, NS_NO = 1, NS_TROUBLE = 2 };	/* exit status, as in diff(1) */

/*
 * The face of a tool.  --help and --version come from here, and so does the
 * usage line; tests/man.t holds each man page's SYNOPSIS against it.
 */
struct opt {
	int	    letter;	/* 'c', or a number above 255: long form only */
	const char *name;	/* "ceilings" */
	const char *arg;	/* "FILE"; NULL for a flag */
	const char *help;	/* one line */
};
struct tool {
	const char *name;
	const char *purpose;	/* one sentence */
	const char *operands;	/* "[FILE]", or "" */
	const char *in;		/* input columns; NULL if it reads none */
	const char *out;	/* output columns */
	const char *example;
	const struct opt *opts;	/* ends with a letter of 0; NULL if none */
};
int	tool_opt(const struct tool *, int argc, char **argv);	/* as getopt */
_Noreturn void tool_usage(const struct tool *);		/* to stderr, exit 2 */
uint64_t opt_count(const char *name, const char *arg);	/* dies unless a count */
double	opt_num(const char *name, const char *arg);	/* dies unless finite */

/* A table read row by row. Line 1 names the columns; every row is as wide. */
struct tsv {
	FILE	*fp;
	const char *name;	/* for messages */
	uint64_t line;		/* of the row in hand; the header is 1 */
	size_t	 ncol;
	char	**col, **val;	/* column names, fields of the row in hand */
	char	*head, *buf;
	size_t	 cap, pos, len;	/* of buf: size, next row, end of data */
	bool	 eof;
};
#define TSV_NONE SIZE_MAX
void	tsv_open(struct tsv *, const char *path);	/* NULL or "-": stdin */
size_t	tsv_col(const struct tsv *, const char *name);	/* dies if absent */
size_t	tsv_find(const struct tsv *, const char *name);	/* or TSV_NONE */
bool	tsv_next(struct tsv *);				/* false at the end */
const char *tsv_text(const struct tsv *, size_t col);	/* dies if empty */
bool	tsv_is_na(const struct tsv *, size_t col);
double	tsv_num(const struct tsv *, size_t col);	/* NAN if NA */
bool	tsv_int(const struct tsv *, size_t col, int64_t *);  /* false if NA */
uint64_t tsv_count(const struct tsv *, size_t col);	/* dies if NA or < 0 */
_Noreturn void tsv_die(const struct tsv *, size_t col, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));	/* FILE:LINE: COLUMN: ... */
void	tsv_close(struct tsv *);

/*
 * Settings: name=value lines.  Values hold only [A-Za-z0-9._/:,@+-], so that
 * C, make and sh all read the same file.
 */
struct kv {
	size_t	 n;
	char	**key, **val;
	const char *path;
};
extern const char kv_name_chars[], kv_value_chars[];
void	kv_read(struct kv *, const char *path);	/* appends; NULL or "-": stdin */
const char *kv_get(const struct kv *, const char *key);	/* NULL if absent or NA */
const char *kv_need(const struct kv *, const char *key);	/* dies */
double	kv_num(const struct kv *, const char *key);	/* NAN if absent or NA */
uint64_t kv_count(const struct kv *, const char *key);	/* dies if absent */
void	kv_free(struct kv *);

/*
 * Output.  out_open(NULL) is standard output; a named file is written beside
 * its name and renamed by out_close, so that a partial one is never seen; what is
 * no regular file, as a pipe, is written itself.
 */
struct out {
	FILE	*fp;
	const char *name;
	char	*tmp;		/* NULL where nothing is renamed */
	bool	 mid;		/* within a row */
};
void	out_open(struct out *, const char *path);
void	out_head(struct out *, const char *names);	/* "phase step value" */
void	out_text(struct out *, const char *);	/* NULL: NA; cleans control bytes */
void	out_fields(struct out *, const struct tsv *, size_t from, size_t to);
				/* [from, to) of the row in hand, as read */
void	out_int(struct out *, int64_t);
void	out_count(struct out *, uint64_t);
void	out_num(struct out *, double);		/* %.12g; NA unless finite */
void	out_sum(struct out *, double);		/* of counts: all digits if whole */
void	out_na(struct out *);
void	out_row(struct out *);			/* ends the row */
void	out_kv(struct out *, const char *key, const char *val);	/* NULL: NA */
void	out_kv_count(struct out *, const char *key, uint64_t);
void	out_kv_num(struct out *, const char *key, double);
void	out_close(struct out *);		/* was it all written? */

/* Numbers out of text: whole string or false. */
bool	parse_int(const char *, int64_t *);
bool	parse_count(const char *, uint64_t *);
bool	parse_num(const char *, double *);

/* Is word among the words of list, joined by commas? */
bool	listed(const char *list, const char *word);

/* Text that a terminal may be shown: control bytes become '?'. */
char	*terminal_safe(char *);
bool	is_terminal_safe(const char *);

/* Memory that is there, or a message and exit 2. */
void	*xalloc(size_t n, size_t size);		/* zeroed */
void	*xgrow(void *, size_t *cap, size_t need, size_t size);
char	*xstrdup(const char *);
char	*xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Products and sums of untrusted sizes: false on overflow. */
#define mul_ok(a, b, out) (!__builtin_mul_overflow((a), (b), (out)))
#define add_ok(a, b, out) (!__builtin_add_overflow((a), (b), (out)))

/* A line on stderr once work has taken a second: LABEL done/total, with rate. */
struct progress {
	const char *label;
	uint64_t total, next_ns, start_ns;
	bool	 shown;
};
void	progress_start(struct progress *, const char *label, uint64_t total);
void	progress(struct progress *, uint64_t done);
void	progress_end(struct progress *);

uint64_t now_ns(void);				/* monotonic */

#endif
