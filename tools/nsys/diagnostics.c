/* diagnostics.c: what nsys itself had to say. */
#include "nsys.h"

enum { TIME, SEVERITY, SOURCE, PROCESS, TEXT };
enum { RELAYED = 16 };

static const char *const severities[] = {
	"unknown", "info", "warning", "error", "verbose",
};
static const char *const sources[] = {
	"unknown", "injection", "daemon", "analysis",
};

static sqlite3_stmt *
select_events(struct nsys *n, const char *table, const char *where)
{
	static const char *const column[] = { "severity", "source", "globalPid",
	    "text" };
	sqlite3_str *sql;

	nsys_need(n, table, "timestamp severity text");
	sql = nsys_sql(n, "SELECT t.timestamp");
	for (size_t i = 0; i < sizeof column / sizeof *column; i++)
		nsys_column(n, sql, table, column[i]);
	sqlite3_str_appendf(sql, " FROM \"%w\" t NOT INDEXED WHERE %s "
	    "ORDER BY 1, 2, 3, 5, 4", table, where);
	return nsys_query(n, sql);
}

/* On standard error, the messages that bear on the table asked for. */
void
relay(struct nsys *n, const char *where)
{
	const char *table = nsys_table(n, "DIAGNOSTIC_EVENT");
	unsigned long long more = 0, shown = 0;
	sqlite3_stmt *st;
	const char *s;

	if (table == NULL)
		return;
	st = select_events(n, table, where);
	while (nsys_next(n, st)) {
		if ((s = nsys_text(n, st, TEXT)) == NULL)
			continue;
		if (shown < RELAYED) {
			nsys_say(n, "nsys said: %s", s);
			shown++;
		} else
			more++;
	}
	sqlite3_finalize(st);
	if (more != 0)
		nsys_say(n, "and %llu more: see nsys2tsv diagnostics", more);
}

static void
put_word(struct nsys *n, struct out *out, sqlite3_stmt *st, int col,
    const char *const *words, int64_t n_words)
{
	int64_t v;

	out_text(out, nsys_int(n, st, col, &v) && v >= 0 && v < n_words ?
	    words[v] : NULL);
}

void
diagnostics(struct nsys *n, const struct want *want, struct out *out)
{
	const char *table = nsys_table(n, "DIAGNOSTIC_EVENT");
	sqlite3_stmt *st;

	(void)want;
	out_head(out, "time_ns severity source pid text");
	if (table == NULL) {
		nsys_say(n, "no table DIAGNOSTIC_EVENT in this capture: what nsys said "
		    "is not known");
		return;
	}
	st = select_events(n, table, "1");
	while (nsys_next(n, st)) {
		put_int(n, out, st, TIME);
		put_word(n, out, st, SEVERITY, severities, 5);
		put_word(n, out, st, SOURCE, sources, 4);
		put_pid(n, out, st, PROCESS);
		out_text(out, nsys_text(n, st, TEXT));
		out_row(out);
	}
	sqlite3_finalize(st);
}
