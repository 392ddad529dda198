/*
 * nsys2tsv under libFuzzer.  The first byte says which table and options.  The
 * rest is a file if it begins as SQLite does, else SQL, each statement of which
 * is run where it can be: mutations of it reach schemas and types that no
 * flipped bit of a file would.
 */
#define main tool_main
#include "../../tools/nsys2tsv.c"
#include "fuzz.h"

enum { STEPS = 20000, LONGEST = 1 << 16 };

static int
stop(void *unused)
{
	(void)unused;
	return 1;
}

/* Seeds are SQL and mutations are too: they may touch nothing but their file. */
static int
deny(void *unused, int op, const char *a, const char *b, const char *c, const char *d)
{
	(void)unused, (void)a, (void)b, (void)c, (void)d;
	return op == SQLITE_ATTACH || op == SQLITE_PRAGMA ? SQLITE_DENY : SQLITE_OK;
}

static void
run_all(sqlite3 *db, const char *sql)
{
	while (*sql != '\0') {
		const char *end = sql;
		sqlite3_stmt *st = NULL;

		if (sqlite3_prepare_v2(db, sql, -1, &st, &end) == SQLITE_OK)
			while (sqlite3_step(st) == SQLITE_ROW)
				;
		sqlite3_finalize(st);
		if (end == sql && (end = strchr(sql, ';')) == NULL)
			return;
		sql = end + (*end == ';');
	}
}

static void
build(const char *path, const char *sql)
{
	sqlite3 *db;

	if (sqlite3_open(path, &db) == SQLITE_OK) {
		sqlite3_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
		    "PRAGMA page_size = 512; BEGIN", NULL, NULL, NULL);
		sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LONGEST);
		sqlite3_set_authorizer(db, deny, NULL);
		sqlite3_progress_handler(db, STEPS, stop, NULL);
		run_all(db, sql);
		sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	}
	sqlite3_close(db);
}

static void
put_input(const char *path, const uint8_t *in, size_t len)
{
	char *text;
	FILE *fp;

	unlink(path);
	if (len >= 15 && memcmp(in, "SQLite format 3", 15) == 0) {
		if ((fp = fopen(path, "w")) == NULL ||
		    fwrite(in, 1, len, fp) != len || fclose(fp) != 0)
			abort();
		return;
	}
	text = xalloc(len + 1, 1);
	memcpy(text, in, len);
	build(path, text);
	free(text);
}

static void
take_back(struct nsys *n)
{
	sqlite3_stmt *st;

	while (n->db != NULL && (st = sqlite3_next_stmt(n->db, NULL)) != NULL)
		sqlite3_finalize(st);
	n->string = NULL;
	nsys_close(n);
}

static char path[64];

static void
forget(void)
{
	unlink(path);
}

int
LLVMFuzzerTestOneInput(const uint8_t *in, size_t len)
{
	static const char *const names[] = { "short", "demangled", "mangled", "short" };
	static struct nsys n;
	static struct out out;
	struct want want;

	if (len < 1)
		return -1;
	if (out.fp == NULL) {
		snprintf(path, sizeof path, "/dev/shm/fuzz-%ld", (long)getpid());
		atexit(forget);
		out = (struct out){ .fp = fopen("/dev/null", "w"), .name = "null" };
	}
	n = (struct nsys){ .db = NULL };
	want = (struct want){ names[in[0] >> 3 & 3], in[0] & 32 ? 0 : 1 };
	put_input(path, in + 1, len - 1);
	if (fuzz_try()) {
		nsys_open(&n, path);
		commands[(in[0] & 7) % 6].print(&n, &want, &out);
	}
	take_back(&n);
	return 0;
}
