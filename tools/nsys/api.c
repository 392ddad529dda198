/* api.c: CUDA calls of the CPU. */
#include "nsys.h"

enum { START, END, NAME, THREAD, LAUNCH, RETURN, CLASS };

static void
put_call(struct nsys *n, struct out *out, sqlite3_stmt *st)
{
	static const char *const class[] = { "runtime", "driver" };
	int64_t v;

	put_int(n, out, st, START);
	put_int(n, out, st, END);
	put_string(n, out, st, NAME);
	put_pid(n, out, st, THREAD);
	put_tid(n, out, st, THREAD);
	put_int(n, out, st, LAUNCH);
	put_int(n, out, st, RETURN);
	if (nsys_int(n, st, CLASS, &v) && (v == 0 || v == 1))
		out_text(out, class[v]);
	else
		out_na(out);
	out_row(out);
}

void
api(struct nsys *n, const struct want *want, struct out *out)
{
	static const char *const column[] = { "start", "end", "nameId", "globalTid",
	    "correlationId", "returnValue", "eventClass" };
	const char *table = nsys_table(n, "CUPTI_ACTIVITY_KIND_RUNTIME");
	sqlite3_str *sql;
	sqlite3_stmt *st;
	int64_t rows = 0;

	if (table != NULL)
		nsys_need(n, table, "start end");
	out_head(out, "start_ns end_ns name pid tid launch_id return_value class");
	if (table == NULL || (rows = nsys_count(n, table, "1")) == 0) {
		nsys_say(n, "no CUDA calls in this capture (%s "
		    "CUPTI_ACTIVITY_KIND_RUNTIME); record with --trace=cuda",
		    table == NULL ? "no table" : "no rows in");
		return;
	}
	judge(n, table, (uint64_t)nsys_count(n, table, BAD_INTERVAL),
	    (uint64_t)rows, want->tolerance);
	sql = nsys_sql(n, "SELECT t.start");
	for (size_t i = 1; i < sizeof column / sizeof *column; i++)
		nsys_column(n, sql, table, column[i]);
	sqlite3_str_appendf(sql, " FROM \"%w\" t NOT INDEXED WHERE NOT %s "
	    "ORDER BY 1, 2, 4, 5, 3", table, BAD_INTERVAL);
	st = nsys_query(n, sql);
	while (nsys_next(n, st))
		put_call(n, out, st);
	sqlite3_finalize(st);
}
