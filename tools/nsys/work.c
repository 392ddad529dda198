/*
 * work.c: everything the GPU did, by start time.  One cursor a kind, each
 * sorted by SQLite only if it is not so already, merged here: no table is ever
 * held in memory.
 */
#include "nsys.h"

/* Columns of a cursor.  The first KEYS are the order of rows. */
enum {
	START, END, DEVICE, STREAM, PROCESS, LAUNCH, KEYS,
	LAUNCH_START = KEYS, BY_GRAPH, NAME, NAME2, NAME3,
	GRID_X, GRID_Y, GRID_Z, BLOCK_X, BLOCK_Y, BLOCK_Z,
	REGISTERS, STATIC, DYNAMIC, BYTES
};

static const struct kind {
	const char *kind, *table;
	const char *column[4];	/* NAME..NAME3 (of --name), BYTES */
} kinds[] = {	/* in the order in which equal times are written */
	{ "copy", "CUPTI_ACTIVITY_KIND_MEMCPY", { "copyKind", "", "", "bytes" } },
	{ "graph", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", { "graphId", "", "", "" } },
	{ "kernel", "CUPTI_ACTIVITY_KIND_KERNEL", { "", "", "", "" } },
	{ "set", "CUPTI_ACTIVITY_KIND_MEMSET", { "", "", "", "bytes" } },
};
enum { KINDS = sizeof kinds / sizeof *kinds, COPY = 0, GRAPH, KERNEL, SET };

struct cursor {
	const struct kind *kind;
	sqlite3_stmt *st;	/* NULL at the end, or where there is no table */
	int64_t	start, end;	/* of the row in hand */
};

/* CUpti_ActivityMemcpyKind */
static const char *const copies[] = {
	"copy", "copy HtoD", "copy DtoH", "copy HtoA", "copy AtoH", "copy AtoA",
	"copy AtoD", "copy DtoA", "copy DtoD", "copy HtoH", "copy PtoP",
	"copy unified HtoD", "copy unified DtoH", "copy unified DtoD",
};

static const char *const key_columns[KEYS] = {
	"start", "end", "deviceId", "streamId", "globalPid", "correlationId",
};

struct work {
	struct nsys *n;
	const struct want *want;
	struct out *out;
	struct cursor cursor[KINDS];
	uint64_t total;		/* rows of all kinds */
	uint64_t by_graph, replays;	/* written: nodes of graphs, opaque graphs */
	char	*process;	/* SQL for the process of a row t without one */
};

/* The calls that launched, by process and id: launch(process, id, start, graph). */
static void
index_launches(struct nsys *n)
{
	const char *api = nsys_table(n, "CUPTI_ACTIVITY_KIND_RUNTIME");
	const char *strings = nsys_table(n, "StringIds");

	nsys_run(n, nsys_sql(n, "CREATE TEMP TABLE launch(process INTEGER, "
	    "id INTEGER, start INTEGER, graph INTEGER, PRIMARY KEY (process, id)) "
	    "WITHOUT ROWID"));
	if (api == NULL || !nsys_has(n, api, "globalTid") ||
	    !nsys_has(n, api, "correlationId")) {
		nsys_say(n, "no API calls (CUPTI_ACTIVITY_KIND_RUNTIME) in this "
		    "capture: launch_ns is NA; record with --trace=cuda");
		return;
	}
	nsys_run(n, nsys_sql(n, "INSERT INTO temp.launch "
	    "SELECT t.globalTid & ~16777215, t.correlationId, min(t.start), "
	    "max(%s IN (SELECT id FROM \"%w\" WHERE value GLOB 'cudaGraphLaunch*' "
	    "OR value GLOB 'cuGraphLaunch*')) FROM \"%w\" t NOT INDEXED WHERE "
	    "t.correlationId IS NOT NULL AND t.globalTid IS NOT NULL GROUP BY 1, 2",
	    nsys_has(n, api, "nameId") ? "t.nameId" : "NULL",
	    strings != NULL ? strings : "launch", api));
}

/* Where work has no process column, one process in the capture is that one. */
static char *
only_process(struct nsys *n)
{
	sqlite3_stmt *st = nsys_query(n, nsys_sql(n, "SELECT min(process) FROM "
	    "temp.launch HAVING min(process) = max(process)"));
	int64_t v;
	char *sql = nsys_next(n, st) && nsys_int(n, st, 0, &v) ?
	    xasprintf("%lld", (long long)v) : xstrdup("NULL");

	sqlite3_finalize(st);
	return sql;
}

static void
columns_of(struct work *w, sqlite3_str *sql, const char *table,
    const struct kind *kind)
{
	static const char *const kernel[] = { "gridX", "gridY", "gridZ", "blockX",
	    "blockY", "blockZ", "registersPerThread", "staticSharedMemory",
	    "dynamicSharedMemory" };
	static const char *const names[] = { "shortName", "demangledName",
	    "mangledName" };
	size_t first = 0;

	while (strncmp(names[first], w->want->name, 3) != 0)
		first++;
	for (size_t i = 0; i < 3; i++)
		nsys_column(w->n, sql, table, kind != &kinds[KERNEL] ?
		    kind->column[i] : names[i == 0 ? first : i - (i <= first)]);
	for (size_t i = 0; i < sizeof kernel / sizeof *kernel; i++)
		nsys_column(w->n, sql, table, kernel[i]);
	nsys_column(w->n, sql, table, kind->column[3]);
}

/* The keys alone, then (unless keys_only) the rest with the launching call. */
static sqlite3_stmt *
select_rows(struct work *w, const char *table, const struct kind *kind,
    bool keys_only, const char *tail)
{
	sqlite3_str *sql = nsys_sql(w->n, "SELECT ");
	const char *process = w->process;

	nsys_need(w->n, table, "start end");
	for (size_t i = 0; i < KEYS; i++) {
		bool has = nsys_has(w->n, table, key_columns[i]);

		if (i == PROCESS && has)
			process = "t.globalPid & ~16777215";
		sqlite3_str_appendf(sql, i != 0 ? ", " : "");
		if (i == PROCESS)
			sqlite3_str_appendall(sql, process);
		else if (has)
			sqlite3_str_appendf(sql, "t.\"%w\" AS \"%w.%w\"",
			    key_columns[i], table, key_columns[i]);
		else
			sqlite3_str_appendall(sql, "NULL");
	}
	if (!keys_only) {
		sqlite3_str_appendf(sql, ", l.start, %s OR l.graph = 1",
		    nsys_has(w->n, table, "graphNodeId") ?
		    "ifnull(t.graphNodeId, 0) <> 0" : "0");
		columns_of(w, sql, table, kind);
	}
	sqlite3_str_appendf(sql, " FROM \"%w\" t NOT INDEXED", table);
	if (!keys_only)
		sqlite3_str_appendf(sql, " LEFT JOIN temp.launch l ON "
		    "l.process = %s AND l.id = %s", process,
		    nsys_has(w->n, table, "correlationId") ?
		    "t.correlationId" : "NULL");
	sqlite3_str_appendall(sql, tail);
	return nsys_query(w->n, sql);
}

/* One pass: how many rows lie, and do they stand in the order of the output? */
static bool
inspect(struct work *w, const char *table, const struct kind *kind)
{
	sqlite3_stmt *st = select_rows(w, table, kind, true, "");
	int64_t last[KEYS], key[KEYS];
	uint64_t rows = 0, bad = 0;
	bool sorted = true;

	while (nsys_next(w->n, st)) {
		bool known = true;
		size_t i = 0;

		for (int c = START; c < KEYS; c++)
			if (!nsys_int(w->n, st, c, &key[c])) {
				key[c] = INT64_MIN;
				known &= c > END;
			}
		bad += !known || key[END] < key[START] ||
		    (key[START] == 0 && key[END] == 0);
		while (rows > 0 && i < KEYS - 1 && key[i] == last[i])
			i++;
		sorted &= rows == 0 || key[i] >= last[i];
		memcpy(last, key, sizeof last);
		rows++;
	}
	sqlite3_finalize(st);
	judge(w->n, table, bad, rows, w->want->tolerance);
	w->total += rows - bad;
	return sorted;
}

static void
advance(struct work *w, struct cursor *c)
{
	if (nsys_next(w->n, c->st)) {
		nsys_int(w->n, c->st, START, &c->start);
		nsys_int(w->n, c->st, END, &c->end);
		return;
	}
	sqlite3_finalize(c->st);
	c->st = NULL;
}

static void
open_cursor(struct work *w, struct cursor *c, const struct kind *kind)
{
	const char *table = nsys_table(w->n, kind->table);
	char *tail;

	c->kind = kind;
	if (table == NULL)
		return;
	tail = xasprintf(" WHERE NOT %s%s", BAD_INTERVAL,
	    inspect(w, table, kind) ? "" : " ORDER BY 1, 2, 3, 4, 5, 6");
	c->st = select_rows(w, table, kind, false, tail);
	free(tail);
	advance(w, c);
}

static struct cursor *
earliest(struct work *w)
{
	struct cursor *min = NULL;

	for (size_t i = 0; i < KINDS; i++) {
		struct cursor *c = &w->cursor[i];

		if (c->st != NULL && (min == NULL || c->start < min->start ||
		    (c->start == min->start && c->end < min->end)))
			min = c;
	}
	return min;
}

static void
put_name(struct work *w, struct cursor *c)
{
	char text[32];
	int64_t id;

	if (c->kind == &kinds[KERNEL]) {
		for (int i = NAME; i <= NAME3; i++) {
			const char *s = nsys_int(w->n, c->st, i, &id) ?
			    nsys_string(w->n, id) : NULL;

			if (s != NULL || i == NAME3) {
				out_text(w->out, s);
				return;
			}
		}
	}
	if (c->kind == &kinds[SET] || !nsys_int(w->n, c->st, NAME, &id)) {
		out_text(w->out, c->kind->kind);
		return;
	}
	if (c->kind == &kinds[COPY] && id >= 0 &&
	    (size_t)id < sizeof copies / sizeof *copies) {
		out_text(w->out, copies[id]);
		return;
	}
	snprintf(text, sizeof text, "%s %lld", c->kind->kind, (long long)id);
	out_text(w->out, text);
}

static void
put_shape(struct work *w, struct cursor *c, int col)
{
	char text[80];
	int64_t x, y, z;

	if (!nsys_int(w->n, c->st, col, &x))
		out_na(w->out);
	else {
		y = z = 1;
		nsys_int(w->n, c->st, col + 1, &y);
		nsys_int(w->n, c->st, col + 2, &z);
		snprintf(text, sizeof text, "%lldx%lldx%lld", (long long)x,
		    (long long)y, (long long)z);
		out_text(w->out, text);
	}
}

static void
put_shared(struct work *w, struct cursor *c)
{
	int64_t fixed, dynamic, sum;

	if (nsys_int(w->n, c->st, STATIC, &fixed) &&
	    nsys_int(w->n, c->st, DYNAMIC, &dynamic) && add_ok(fixed, dynamic, &sum))
		out_int(w->out, sum);
	else
		out_na(w->out);
}

static void
put_row(struct work *w, struct cursor *c)
{
	struct out *out = w->out;
	int64_t by_graph = 0;

	out_int(out, c->start);
	out_int(out, c->end);
	out_text(out, c->kind->kind);
	put_int(w->n, out, c->st, DEVICE);
	put_pid(w->n, out, c->st, PROCESS);
	put_int(w->n, out, c->st, STREAM);
	put_int(w->n, out, c->st, LAUNCH_START);
	put_int(w->n, out, c->st, LAUNCH);
	nsys_int(w->n, c->st, BY_GRAPH, &by_graph);
	w->replays += c->kind == &kinds[GRAPH];
	w->by_graph += by_graph != 0 && c->kind != &kinds[GRAPH];
	if (by_graph != 0 || c->kind == &kinds[GRAPH])
		put_int(w->n, out, c->st, LAUNCH);
	else
		out_na(out);
	out_na(out);
	out_na(out);
	put_name(w, c);
	put_shape(w, c, GRID_X);
	put_shape(w, c, BLOCK_X);
	put_int(w->n, out, c->st, REGISTERS);
	put_shared(w, c);
	put_int(w->n, out, c->st, BYTES);
	out_row(out);
}

/* Graphs hide kernels, and a GPU that looks idle then may be busy. */
static void
say_graphs(struct work *w)
{
	static const char how[] = "record with --cuda-graph-trace=node";
	int64_t launches = nsys_count(w->n, "launch", "graph = 1");

	if (w->replays != 0)
		nsys_say(w->n, "%llu replays of graphs are opaque: their kernels are "
		    "not in this capture; %s", (unsigned long long)w->replays, how);
	else if (launches > 0 && w->by_graph == 0)
		nsys_say(w->n, "%lld launches of graphs, and nothing of what they did "
		    "is in this capture: the GPU looks idle where it was not; %s",
		    (long long)launches, how);
}

void
work(struct nsys *n, const struct want *want, struct out *out)
{
	struct work w = { .n = n, .want = want, .out = out };
	struct progress bar;
	struct cursor *c;
	uint64_t done = 0;

	relay(n, "t.severity = 3 OR t.text LIKE 'Not all %'");
	index_launches(n);
	w.process = only_process(n);
	for (size_t i = 0; i < KINDS; i++)
		open_cursor(&w, &w.cursor[i], &kinds[i]);
	if (w.total == 0)
		nsys_say(n, "no work of the GPU in this capture: no rows in "
		    "CUPTI_ACTIVITY_KIND_KERNEL, _MEMCPY, _MEMSET or _GRAPH_TRACE; "
		    "record with --trace=cuda");
	out_head(out, "start_ns end_ns kind device pid stream launch_ns launch_id "
	    "graph_launch_id phase step name grid block registers shared_bytes bytes");
	progress_start(&bar, "nsys2tsv work", w.total);
	for (; (c = earliest(&w)) != NULL; advance(&w, c)) {
		put_row(&w, c);
		progress(&bar, ++done);
	}
	progress_end(&bar);
	say_graphs(&w);
	free(w.process);
}
