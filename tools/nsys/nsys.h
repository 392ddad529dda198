/*
 * nsys.h: an Nsight Systems SQLite export, opened read-only and read by name:
 * versions add columns in the middle, leave out empty tables and rename few.
 */
#ifndef NSYS_H
#define NSYS_H

#include <sqlite3.h>

#include "ns.h"

enum { NAMES = 1024 };		/* strings kept at hand */

struct nsys {
	sqlite3	*db;
	const char *path;
	char	 schema[32];	/* "3.20.3", or "" */
	const char *version_table;	/* NULL if there is none */
	sqlite3_stmt *string;	/* id -> text; NULL without a StringIds */
	struct { int64_t id; char *text; bool known; } name[NAMES];
	char	**table;	/* names that nsys_table has given out */
	size_t	 n_table, cap;
};

/* open.c */
void	nsys_open(struct nsys *, const char *path);
void	nsys_close(struct nsys *);

/* db.c */
extern const char nsys_again[];		/* how to export it again */
const char *nsys_table(struct nsys *, const char *name);	/* NULL if absent */
bool	nsys_has(struct nsys *, const char *table, const char *column);
void	nsys_need(struct nsys *, const char *table, const char *columns);
			/* "start end": dies unless it has them all */
int64_t	nsys_count(struct nsys *, const char *table, const char *where);
			/* rows t for which the SQL is true; -1 if no table */
sqlite3_stmt *nsys_query(struct nsys *, sqlite3_str *sql);	/* takes sql */
void	nsys_run(struct nsys *, sqlite3_str *sql);
sqlite3_str *nsys_sql(struct nsys *, const char *fmt, ...);
void	nsys_column(struct nsys *, sqlite3_str *, const char *table,
	    const char *column);	/* ", t.column", or ", NULL" if absent */
bool	nsys_next(struct nsys *, sqlite3_stmt *);
bool	nsys_int(struct nsys *, sqlite3_stmt *, int col, int64_t *); /* false: NULL */
const char *nsys_text(struct nsys *, sqlite3_stmt *, int col);	/* or NULL */
const char *nsys_string(struct nsys *, int64_t id);		/* or NULL */
void	nsys_say(const struct nsys *, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
_Noreturn void nsys_sql_die(const struct nsys *);	/* what SQLite says */
_Noreturn void nsys_die(const struct nsys *, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));

/* columns.c: how a column of the output is written; NULL is NA. */
void	put_int(struct nsys *, struct out *, sqlite3_stmt *, int col);
void	put_pid(struct nsys *, struct out *, sqlite3_stmt *, int col);
void	put_tid(struct nsys *, struct out *, sqlite3_stmt *, int col);
void	put_string(struct nsys *, struct out *, sqlite3_stmt *, int col);

/*
 * SQL that is true of an interval t which lies: dropped records come back with
 * an end before the start or with no times at all.
 */
#define BAD_INTERVAL "(t.start IS NULL OR t.\"end\" IS NULL OR " \
	"t.\"end\" < t.start OR (t.start = 0 AND t.\"end\" = 0))"
/* Say how many of them lie; refuse the table if more than the tolerated share. */
void	judge(const struct nsys *, const char *table, uint64_t bad, uint64_t of,
	    double tolerance);

/* diagnostics.c: nsys's messages t for which the SQL is true, on stderr. */
void	relay(struct nsys *, const char *where);

/* One subcommand each. */
struct want {
	const char *name;	/* short, mangled, demangled */
	double	 tolerance;	/* share of rejected rows that is still a capture */
};
void	work(struct nsys *, const struct want *, struct out *);
void	ranges(struct nsys *, const struct want *, struct out *);
void	api(struct nsys *, const struct want *, struct out *);
void	samples(struct nsys *, const struct want *, struct out *);
void	meta(struct nsys *, const struct want *, struct out *);
void	diagnostics(struct nsys *, const struct want *, struct out *);

#endif
