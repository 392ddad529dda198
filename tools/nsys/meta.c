/* meta.c: what a capture is and what it holds, as settings. */
#include <ctype.h>

#include "nsys.h"

static const struct {
	const char *key, *table;
	bool	intervals;	/* with a start and an end */
} tables[] = {
	{ "kernel", "CUPTI_ACTIVITY_KIND_KERNEL", true },
	{ "copy", "CUPTI_ACTIVITY_KIND_MEMCPY", true },
	{ "set", "CUPTI_ACTIVITY_KIND_MEMSET", true },
	{ "graph", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", true },
	{ "api", "CUPTI_ACTIVITY_KIND_RUNTIME", true },
	{ "sync", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", true },
	{ "nvtx", "NVTX_EVENTS", false },
	{ "samples", "GPU_METRICS", false },
	{ "memory", "CUDA_GPU_MEMORY_USAGE_EVENTS", false },
	{ "overhead", "PROFILER_OVERHEAD", true },
	{ "diagnostics", "DIAGNOSTIC_EVENT", false },
};

static void
put_count(struct out *out, const char *key, int64_t n)
{
	if (n < 0)
		out_kv(out, key, NULL);
	else
		out_kv_count(out, key, (uint64_t)n);
}

/* One value: the first column of the first row, NA if there is none. */
static void
put_value(struct nsys *n, struct out *out, const char *key, sqlite3_str *sql)
{
	sqlite3_stmt *st = nsys_query(n, sql);
	const char *s = nsys_next(n, st) ? nsys_text(n, st, 0) : NULL;

	out_kv(out, key, s != NULL && *s != '\0' ? s : NULL);
	sqlite3_finalize(st);
}

/* COLUMN of the first row of TABLE, if there is any such thing. */
static void
put_cell(struct nsys *n, struct out *out, const char *key, const char *table,
    const char *column)
{
	const char *name = nsys_table(n, table);

	if (name == NULL || !nsys_has(n, name, column))
		out_kv(out, key, NULL);
	else
		put_value(n, out, key, nsys_sql(n, "SELECT \"%w\" FROM \"%w\" "
		    "NOT INDEXED LIMIT 1", column, name));
}

/* The value of NAME in a TABLE of names and values. */
static void
put_named(struct nsys *n, struct out *out, const char *key, const char *table,
    const char *name)
{
	const char *found = table != NULL ? nsys_table(n, table) : NULL;

	if (found == NULL || !nsys_has(n, found, "name") ||
	    !nsys_has(n, found, "value"))
		out_kv(out, key, NULL);
	else
		put_value(n, out, key, nsys_sql(n, "SELECT value FROM \"%w\" "
		    "NOT INDEXED WHERE name LIKE %Q LIMIT 1", found, name));
}

static void
put_gpus(struct nsys *n, struct out *out)
{
	static const char *const column[] = { "name", "chipName", "smCount",
	    "totalMemory", "l2CacheSize", "memoryBandwidth" };
	static const char *const key[] = { "name", "chip", "sms", "memory_bytes",
	    "l2_bytes", "bytes_per_s" };
	const char *table = nsys_table(n, "TARGET_INFO_GPU");
	sqlite3_str *sql;
	sqlite3_stmt *st;
	uint64_t gpu = 0;

	if (table == NULL) {
		out_kv(out, "n_gpus", NULL);
		return;
	}
	sql = nsys_sql(n, "SELECT NULL");
	for (size_t i = 0; i < sizeof column / sizeof *column; i++)
		nsys_column(n, sql, table, column[i]);
	sqlite3_str_appendf(sql, " FROM \"%w\" t NOT INDEXED ORDER BY %s", table,
	    nsys_has(n, table, "id") ? "t.id" :
	    nsys_has(n, table, "deviceId") ? "t.deviceId" : "1");
	st = nsys_query(n, sql);
	for (; nsys_next(n, st); gpu++)
		for (int i = 0; i < (int)(sizeof column / sizeof *column); i++) {
			char *name = xasprintf("gpu_%llu_%s", (unsigned long long)gpu,
			    key[i]);

			out_kv(out, name, nsys_text(n, st, i + 1));
			free(name);
		}
	sqlite3_finalize(st);
	out_kv_count(out, "n_gpus", gpu);
}

/* Graph launches among the API calls; -1 where calls or their names are absent. */
static int64_t
graph_launches(struct nsys *n)
{
	const char *api = nsys_table(n, "CUPTI_ACTIVITY_KIND_RUNTIME");
	const char *strings = nsys_table(n, "StringIds");
	char *where;
	int64_t rows;

	if (api == NULL || strings == NULL || !nsys_has(n, api, "nameId"))
		return -1;
	where = sqlite3_mprintf("t.nameId IN (SELECT id FROM \"%w\" WHERE value GLOB "
	    "'cudaGraphLaunch*' OR value GLOB 'cuGraphLaunch*')", strings);
	rows = nsys_count(n, api, where);
	sqlite3_free(where);
	return rows;
}

/* Judged by rows: the columns and tables are there in any newer export. */
static const char *
graph_trace(int64_t launches, int64_t nodes, int64_t replays)
{
	if (nodes > 0)
		return replays > 0 ? "both" : "node";
	if (replays > 0)
		return "graph";
	if (launches < 0)
		return NULL;
	return launches > 0 ? "hidden" : "none";
}

static void
put_graphs(struct nsys *n, struct out *out)
{
	const char *kernel = nsys_table(n, "CUPTI_ACTIVITY_KIND_KERNEL");
	int64_t launches = graph_launches(n), nodes = -1;

	if (kernel != NULL && nsys_has(n, kernel, "graphNodeId"))
		nodes = nsys_count(n, kernel, "ifnull(t.graphNodeId, 0) <> 0");
	out_kv(out, "graph_trace", graph_trace(launches, nodes, nsys_count(n,
	    nsys_table(n, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"), "1")));
	put_named(n, out, "graph_trace_asked", "META_DATA_CAPTURE",
	    "%CUDA_GRAPH_TRACE_OPTIONS:MODE");
	put_count(out, "n_graph_launches", launches);
	put_count(out, "n_graph_kernels", nodes);
}

static void
put_tables(struct nsys *n, struct out *out)
{
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
		const char *table = nsys_table(n, tables[i].table);
		char *key = xasprintf("rows_%s", tables[i].key);

		put_count(out, key, nsys_count(n, table, "1"));
		free(key);
		if (!tables[i].intervals)
			continue;
		key = xasprintf("rejected_%s", tables[i].key);
		put_count(out, key, table != NULL && nsys_has(n, table, "start") &&
		    nsys_has(n, table, "end") ? nsys_count(n, table, BAD_INTERVAL) :
		    -1);
		free(key);
	}
}

/* Rows of TABLE for which WHERE is true, where it has the COLUMN this needs. */
static void
put_which(struct nsys *n, struct out *out, const char *key, const char *table,
    const char *column, const char *where)
{
	const char *name = nsys_table(n, table);

	put_count(out, key, name != NULL && nsys_has(n, name, column) ?
	    nsys_count(n, name, where) : -1);
}

void
meta(struct nsys *n, const struct want *want, struct out *out)
{
	const char *api = nsys_table(n, "CUPTI_ACTIVITY_KIND_RUNTIME");

	(void)want;
	out_kv(out, "schema", *n->schema != '\0' ? n->schema : NULL);
	out_kv(out, "schema_table", n->version_table);
	put_named(n, out, "product", n->version_table, "EXPORT_PRODUCT_VERSION");
	put_named(n, out, "host", "TARGET_INFO_SYSTEM_ENV", "Hostname");
	put_named(n, out, "driver", "TARGET_INFO_SYSTEM_ENV", "NvDriverVersion");
	put_cell(n, out, "session_start_utc_ns", "TARGET_INFO_SESSION_START_TIME",
	    "utcEpochNs");
	put_cell(n, out, "duration_ns", "ANALYSIS_DETAILS", "duration");
	put_named(n, out, "sampling_hz", "META_DATA_CAPTURE",
	    "GPU_METRICS_OPTIONS:SAMPLING_FREQUENCY");
	put_gpus(n, out);
	if (api != NULL && nsys_has(n, api, "globalTid"))
		put_value(n, out, "n_processes", nsys_sql(n, "SELECT count(DISTINCT "
		    "globalTid >> 24) FROM \"%w\" NOT INDEXED", api));
	else
		out_kv(out, "n_processes", NULL);
	put_graphs(n, out);
	put_tables(n, out);
	put_which(n, out, "n_open_ranges", "NVTX_EVENTS", "eventType",
	    "t.\"end\" IS NULL AND t.eventType IN (59, 60, 70, 71)");
	put_which(n, out, "n_overflows", "GPU_METRICS", "value", "t.value < 0");
	put_which(n, out, "n_errors", "DIAGNOSTIC_EVENT", "severity",
	    "t.severity = 3");
	put_which(n, out, "n_warnings", "DIAGNOSTIC_EVENT", "severity",
	    "t.severity = 2");
}
