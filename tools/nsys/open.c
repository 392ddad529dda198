/* open.c: open an export, or say exactly why it is none and what to do. */
#include <err.h>

#include "nsys.h"

enum { LONGEST = 1 << 26, CACHE_KIB = 8192 };

/* What a file that is not SQLite may be, by its first bytes. */
static const struct {
	const char *magic, *what, *remedy;
} others[] = {
	{ "Time (%)", "nsys stats CSV", "it holds sums without times; " },
	{ "Time(%)", "nsys stats CSV", "it holds sums without times; " },
	{ "\"Time", "nsys stats CSV", "it holds sums without times; " },
	{ "\xfd" "7zXZ", "xz-compressed", "unpack it: xz -d; or " },
	{ "\x1f\x8b", "gzip-compressed", "unpack it: gunzip; or " },
	{ "\x28\xb5\x2f\xfd", "zstd-compressed", "unpack it: zstd -d; or " },
	{ "PK\x03\x04", "a zip archive", "unpack it; or " },
	{ "\x89HDF", "an HDF5 export", "" },
	{ "PAR1", "a Parquet export", "" },
	{ "ARROW1", "an Arrow export", "" },
	{ "{", "JSON", "" },
	{ "[", "JSON", "" },
	{ "version https://git-lfs", "a Git LFS pointer", "git lfs pull; or " },
};

_Noreturn static void
not_sqlite(const struct nsys *n, const char *head)
{
	const char *dot = strrchr(n->path, '.');

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strncmp(head, others[i].magic, strlen(others[i].magic)) == 0)
			nsys_die(n, "not an SQLite file: %s; %s%s", others[i].what,
			    others[i].remedy, nsys_again);
	if (dot != NULL && (strcmp(dot, ".nsys-rep") == 0 ||
	    strcmp(dot, ".qdrep") == 0 || strcmp(dot, ".qdstrm") == 0))
		nsys_die(n, "not an SQLite file: a report as nsys records it; %s",
		    nsys_again);
	nsys_die(n, "not an SQLite file (encrypted, or no export at all); %s",
	    nsys_again);
}

static uint64_t
big_endian(const unsigned char *p, size_t bytes)
{
	uint64_t n = 0;

	while (bytes-- > 0)
		n = n << 8 | *p++;
	return n;
}

struct head {
	unsigned char byte[101];	/* ends with a NUL */
	size_t	 got;
	long	 size;		/* of the file; -1 where it has none */
};

static struct head
read_head(const char *path)
{
	struct head h = { .size = -1 };
	FILE *fp = fopen(path, "r");

	if (fp == NULL)
		err(NS_TROUBLE, "%s", path);
	h.got = fread(h.byte, 1, sizeof h.byte - 1, fp);
	if (ferror(fp))
		err(NS_TROUBLE, "%s", path);
	if (fseek(fp, 0, SEEK_END) == 0)
		h.size = ftell(fp);
	fclose(fp);
	return h;
}

/* The first 100 bytes tell what SQLite would find out late or not at all. */
static void
check_head(const struct nsys *n)
{
	struct head h = read_head(n->path);
	uint64_t page = big_endian(h.byte + 16, 2);
	uint64_t pages = big_endian(h.byte + 28, 4);

	if (h.size < 0)
		nsys_die(n, "an SQLite file cannot be read from a pipe: write it to "
		    "disk");
	if (h.got == 0)
		nsys_die(n, "empty: the export was interrupted; %s", nsys_again);
	if (big_endian(h.byte, 8) == 0 && big_endian(h.byte + 8, 8) == 0)
		nsys_die(n, "its header is all zero: the export was interrupted; %s",
		    nsys_again);
	if (memcmp(h.byte, "SQLite format 3", 16) != 0)
		not_sqlite(n, (const char *)h.byte);
	page = page == 1 ? 65536 : page;
	if (h.got < sizeof h.byte - 1 || (memcmp(h.byte + 24, h.byte + 92, 4) == 0 &&
	    (uint64_t)h.size < page * pages))
		nsys_die(n, "cut short: it ends after %ld bytes; copy it again, or %s",
		    h.size, nsys_again);
}

/* A journal beside it means that a writer stopped half-way, or still writes. */
static void
check_beside(const struct nsys *n)
{
	static const char *const suffix[] = { "-journal", "-wal" };

	for (size_t i = 0; i < 2; i++) {
		char *name = xasprintf("%s%s", n->path, suffix[i]);
		FILE *fp = fopen(name, "r");
		bool busy = fp != NULL && getc(fp) != EOF;

		if (fp != NULL)
			fclose(fp);
		if (busy)
			nsys_die(n, "'%s' lies beside it: a writer is at work or "
			    "was interrupted; wait for it, or %s", name, nsys_again);
		free(name);
	}
}

/* immutable: no lock, no journal, no file beside it, read-only folder or not. */
static char *
uri(const char *path)
{
	static const char hex[] = "0123456789ABCDEF";
	char *s = xalloc(3 * strlen(path) + 64, 1), *p = s;

	p += snprintf(p, 16, "file:%s", *path == '/' ? "//" : "");
	for (; *path != '\0'; path++)
		if (strchr("%?#", *path) != NULL) {
			*p++ = '%';
			*p++ = hex[(unsigned char)*path >> 4];
			*p++ = hex[*path & 15];
		} else
			*p++ = *path;
	snprintf(p, 32, "?immutable=1&mode=ro");
	return s;
}

static void
settings(struct nsys *n)
{
	sqlite3_db_config(n->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(n->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(n->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(n->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(n->db, SQLITE_LIMIT_LENGTH, LONGEST);
	nsys_run(n, nsys_sql(n, "PRAGMA cell_size_check = ON"));
	nsys_run(n, nsys_sql(n, "PRAGMA temp_store = FILE"));
	nsys_run(n, nsys_sql(n, "PRAGMA cache_size = -%d", CACHE_KIB));
	nsys_run(n, nsys_sql(n, "PRAGMA temp.cache_size = -%d", CACHE_KIB));
	nsys_run(n, nsys_sql(n, "PRAGMA automatic_index = OFF"));
}

static void
check_version(struct nsys *n)
{
	enum { NEWEST_MAJOR = 3, NEWEST_MINOR = 25 };
	unsigned major, minor;
	sqlite3_stmt *st;
	const char *s;

	if ((n->version_table = nsys_table(n, "META_DATA_EXPORT")) == NULL)
		n->version_table = nsys_table(n, "EXPORT_META_DATA");
	if (n->version_table == NULL) {
		nsys_say(n, "no schema version in this export: columns are taken "
		    "by their names");
		return;
	}
	st = nsys_query(n, nsys_sql(n, "SELECT value FROM \"%w\" WHERE name = "
	    "'EXPORT_SCHEMA_VERSION'", n->version_table));
	if (nsys_next(n, st) && (s = nsys_text(n, st, 0)) != NULL)
		snprintf(n->schema, sizeof n->schema, "%s", s);
	sqlite3_finalize(st);
	if (sscanf(n->schema, "%u.%u", &major, &minor) != 2)
		nsys_say(n, "no schema version in %s: columns are taken by their "
		    "names", n->version_table);
	else if (major < 2 || major > NEWEST_MAJOR)
		nsys_die(n, "schema %s: only 2.x and 3.x are known, and a new major "
		    "version may mean anything; export with an nsys that writes "
		    "them, or get a newer nsbench", n->schema);
	else if (major == NEWEST_MAJOR && minor > NEWEST_MINOR)
		nsys_say(n, "schema %s is newer than 3.%d: columns are taken by "
		    "their names, and what was renamed is missing", n->schema,
		    NEWEST_MINOR);
}

static void
check_kind(struct nsys *n)
{
	const char *kernel = nsys_table(n, "CUPTI_ACTIVITY_KIND_KERNEL");

	if (nsys_table(n, "StringTable") != NULL ||
	    (kernel != NULL && nsys_has(n, kernel, "_id_")))
		nsys_die(n, "an nvprof database: its tables have the same names and "
		    "other columns; record again with nsys profile");
	if (nsys_table(n, "StringIds") == NULL &&
	    nsys_table(n, "META_DATA_EXPORT") == NULL)
		nsys_die(n, "an SQLite file, but no export of Nsight Systems: it has "
		    "no table StringIds or META_DATA_EXPORT; %s", nsys_again);
}

/* By id; through an index of our own where id is not the key already. */
static void
prepare_strings(struct nsys *n)
{
	const char *table = nsys_table(n, "StringIds");
	sqlite3_stmt *st;

	if (table == NULL)
		return;
	st = nsys_query(n, nsys_sql(n, "SELECT 1 FROM pragma_table_info(%Q) WHERE "
	    "name = 'id' AND pk = 1 AND type = 'INTEGER' COLLATE NOCASE", table));
	if (!nsys_next(n, st)) {
		nsys_run(n, nsys_sql(n, "CREATE TEMP TABLE string(id INTEGER PRIMARY "
		    "KEY, value)"));
		nsys_run(n, nsys_sql(n, "INSERT OR IGNORE INTO temp.string SELECT id, "
		    "value FROM \"%w\" NOT INDEXED WHERE typeof(id) = 'integer'",
		    table));
		table = "string";
	}
	sqlite3_finalize(st);
	n->string = nsys_query(n, nsys_sql(n, "SELECT value FROM \"%w\" "
	    "NOT INDEXED WHERE id = ?1", table));
}

void
nsys_open(struct nsys *n, const char *path)
{
	char *name;

	n->path = path;
	check_head(n);
	check_beside(n);
	name = uri(path);
	if (sqlite3_open_v2(name, &n->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI |
	    SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		nsys_sql_die(n);
	free(name);
	settings(n);
	check_kind(n);
	check_version(n);
	prepare_strings(n);
}

void
nsys_close(struct nsys *n)
{
	for (size_t i = 0; i < NAMES; i++)
		free(n->name[i].text);
	while (n->n_table > 0)
		free(n->table[--n->n_table]);
	free(n->table);
	sqlite3_finalize(n->string);
	sqlite3_close(n->db);
}
