/* db.c: an open export, read by name: queries, tables, columns, strings. */
#include <err.h>
#include <stdarg.h>

#include "nsys.h"

enum { NAME_KEPT = 8192 };

const char nsys_again[] = "export it again: nsys export --type sqlite "
    "--force-overwrite=true -o X.sqlite X.nsys-rep";

void
nsys_say(const struct nsys *n, const char *fmt, ...)
{
	char what[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	warnx("%s: %s", n->path, terminal_safe(what));
}

void
nsys_die(const struct nsys *n, const char *fmt, ...)
{
	char what[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	errx(NS_TROUBLE, "%s: %s", n->path, terminal_safe(what));
}

void
nsys_sql_die(const struct nsys *n)
{
	int code = sqlite3_errcode(n->db) & 0xff;

	if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
		nsys_die(n, "damaged (%s): %s", sqlite3_errmsg(n->db), nsys_again);
	if (code == SQLITE_FULL || code == SQLITE_CANTOPEN || code == SQLITE_IOERR)
		nsys_die(n, "%s: sorting needs room for temporary files of the "
		    "size of the capture; SQLITE_TMPDIR=DIR says where",
		    sqlite3_errmsg(n->db));
	nsys_die(n, "%s", sqlite3_errmsg(n->db));
}

sqlite3_str *
nsys_sql(struct nsys *n, const char *fmt, ...)
{
	sqlite3_str *s = sqlite3_str_new(n->db);
	va_list ap;

	va_start(ap, fmt);
	sqlite3_str_vappendf(s, fmt, ap);
	va_end(ap);
	return s;
}

sqlite3_stmt *
nsys_query(struct nsys *n, sqlite3_str *sql)
{
	sqlite3_stmt *st = NULL;
	char *text = sqlite3_str_finish(sql);

	if (text == NULL)
		errx(NS_TROUBLE, "out of memory");
	if (sqlite3_prepare_v2(n->db, text, -1, &st, NULL) != SQLITE_OK)
		nsys_sql_die(n);
	sqlite3_free(text);
	return st;
}

void
nsys_run(struct nsys *n, sqlite3_str *sql)
{
	sqlite3_stmt *st = nsys_query(n, sql);

	while (nsys_next(n, st))
		;
	sqlite3_finalize(st);
}

bool
nsys_next(struct nsys *n, sqlite3_stmt *st)
{
	int code = sqlite3_step(st);

	if (code != SQLITE_ROW && code != SQLITE_DONE)
		nsys_sql_die(n);
	return code == SQLITE_ROW;
}

bool
nsys_int(struct nsys *n, sqlite3_stmt *st, int col, int64_t *out)
{
	switch (sqlite3_column_type(st, col)) {
	case SQLITE_INTEGER:
		*out = sqlite3_column_int64(st, col);
		return true;
	case SQLITE_NULL:
		return false;
	default:
		nsys_die(n, "%s: not an integer: '%.60s'",
		    sqlite3_column_name(st, col), sqlite3_column_text(st, col));
	}
}

const char *
nsys_text(struct nsys *n, sqlite3_stmt *st, int col)
{
	const char *s = (const char *)sqlite3_column_text(st, col);

	if (s == NULL && sqlite3_column_type(st, col) != SQLITE_NULL)
		nsys_sql_die(n);
	return s;
}

/* The text of a StringIds row.  Most captures have a few hundred of them. */
const char *
nsys_string(struct nsys *n, int64_t id)
{
	size_t at = (uint64_t)id % NAMES;
	const char *s = NULL;

	if (n->string == NULL)
		return NULL;
	if (n->name[at].known && n->name[at].id == id)
		return n->name[at].text;
	sqlite3_reset(n->string);
	sqlite3_bind_int64(n->string, 1, id);
	if (nsys_next(n, n->string))
		s = nsys_text(n, n->string, 0);
	if (s != NULL && strlen(s) >= NAME_KEPT)
		return s;
	free(n->name[at].text);
	n->name[at].text = s != NULL ? xstrdup(s) : NULL;
	n->name[at].id = id;
	n->name[at].known = true;
	return n->name[at].text;
}

/*
 * The table of that name, or of that name with a version (_V2).  A view or a
 * virtual table would run what it pleases, so neither counts.
 */
const char *
nsys_table(struct nsys *n, const char *name)
{
	sqlite3_stmt *st = nsys_query(n, nsys_sql(n, "SELECT name FROM sqlite_master "
	    "WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%%' AND (name = %Q "
	    "OR name GLOB '%q_V[0-9]' OR name GLOB '%q_V[0-9][0-9]') "
	    "ORDER BY name <> %Q, name DESC", name, name, name, name));
	char *found = nsys_next(n, st) ? xstrdup(nsys_text(n, st, 0)) : NULL;

	sqlite3_finalize(st);
	if (found == NULL)
		return NULL;
	n->table = xgrow(n->table, &n->cap, n->n_table + 1, sizeof *n->table);
	return n->table[n->n_table++] = found;
}

bool
nsys_has(struct nsys *n, const char *table, const char *column)
{
	sqlite3_stmt *st = nsys_query(n, nsys_sql(n, "SELECT 1 FROM "
	    "pragma_table_info(%Q) WHERE name = %Q", table, column));
	bool has = nsys_next(n, st);

	sqlite3_finalize(st);
	return has;
}

void
nsys_need(struct nsys *n, const char *table, const char *columns)
{
	while (*columns != '\0') {
		size_t len = strcspn(columns, " ");
		char *one = xasprintf("%.*s", (int)len, columns);

		if (!nsys_has(n, table, one))
			nsys_die(n, "%s: no column '%s': not a table of nsys", table,
			    one);
		free(one);
		columns += len + (columns[len] == ' ');
	}
}

void
nsys_column(struct nsys *n, sqlite3_str *sql, const char *table, const char *column)
{
	if (nsys_has(n, table, column))
		sqlite3_str_appendf(sql, ", t.\"%w\" AS \"%w.%w\"", column, table,
		    column);
	else
		sqlite3_str_appendall(sql, ", NULL");
}

int64_t
nsys_count(struct nsys *n, const char *table, const char *where)
{
	int64_t rows = -1;
	sqlite3_stmt *st;

	if (table == NULL)
		return -1;
	st = nsys_query(n, nsys_sql(n, "SELECT count(*) FROM \"%w\" t NOT INDEXED "
	    "WHERE %s", table, where));
	if (nsys_next(n, st))
		rows = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return rows;
}

