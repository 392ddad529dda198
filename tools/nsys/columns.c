/* columns.c: what the tables have in common. */
#include "nsys.h"

enum { PID_SHIFT = 24, LOW24 = 0xffffff };

void
put_int(struct nsys *n, struct out *out, sqlite3_stmt *st, int col)
{
	int64_t v;

	if (nsys_int(n, st, col, &v))
		out_int(out, v);
	else
		out_na(out);
}

/* nsys packs host, machine, process and thread into one number. */
void
put_pid(struct nsys *n, struct out *out, sqlite3_stmt *st, int col)
{
	int64_t v;

	if (nsys_int(n, st, col, &v))
		out_int(out, (v >> PID_SHIFT) & LOW24);
	else
		out_na(out);
}

void
put_tid(struct nsys *n, struct out *out, sqlite3_stmt *st, int col)
{
	int64_t v;

	if (nsys_int(n, st, col, &v))
		out_int(out, v & LOW24);
	else
		out_na(out);
}

void
put_string(struct nsys *n, struct out *out, sqlite3_stmt *st, int col)
{
	int64_t id;

	out_text(out, nsys_int(n, st, col, &id) ? nsys_string(n, id) : NULL);
}

void
judge(const struct nsys *n, const char *table, uint64_t bad, uint64_t of,
    double tolerance)
{
	unsigned long long b = bad, all = of;

	if (bad == 0)
		return;
	if ((double)bad > tolerance * (double)of)
		nsys_die(n, "%s: %llu of %llu rows end before they start or have no "
		    "times: records were lost, so no sum is right; record a shorter "
		    "window, or set --tolerance", table, b, all);
	nsys_say(n, "%s: %llu of %llu rows end before they start or have no times: "
	    "left out", table, b, all);
}
