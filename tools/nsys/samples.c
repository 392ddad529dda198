/* samples.c: GPU metrics, in base units and with what cannot be true left out. */
#include <ctype.h>

#include "nsys.h"

enum { TIME, TYPE, METRIC, VALUE };
enum { GPU_BITS = 0xff };	/* of a typeId: nsys's number of the GPU */
enum { MOST_GPUS = 256 };

/* What stands in the brackets of a metric's name. */
static const struct label {
	const char *text, *unit;
	int64_t	scale, limit;	/* to base units; more than this is base already */
} labels[] = {
	{ "MHz", "hz", 1000000, 100000 },
	{ "GHz", "hz", 1000000000, 100 },
	{ "Hz", "hz", 1, INT64_MAX },
	{ "GB/s", "bytes_per_s", 1000000000, 100000 },
	{ "Bytes", "bytes", 1, INT64_MAX },
	{ "bytes", "bytes", 1, INT64_MAX },
	{ "Sum", "count", 1, INT64_MAX },
	{ "sum", "count", 1, INT64_MAX },
};

struct metric {
	int64_t	type, id;
	char	*name, *unit;	/* NULL: NA */
	const struct label *label;
	int64_t	scale;
	bool	 cut;		/* its negative values lack 2^24 */
	uint64_t restored, overflows;
};

/* A GPU's sampling times, read one ahead of its samples. */
struct gpu {
	int64_t	type, now, next;
	sqlite3_stmt *times;	/* NULL at the end */
};

struct samples {
	struct nsys *n;
	struct out *out;
	const char *table;
	struct metric *metric;
	size_t	 n_metric, metric_cap;
	struct gpu *gpu;
	size_t	 n_gpu, gpu_cap;
};

/* "DRAM Read Bandwidth [Throughput %]" -> percent_int, with its label if known. */
static char *
unit_of(const char *name, const struct label **label)
{
	const char *open = strrchr(name, '['), *close = strrchr(name, ']');
	char *unit;

	if (open == NULL || close == NULL || close <= open + 1)
		return NULL;
	unit = xasprintf("%.*s", (int)(close - open - 1), open + 1);
	for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
		if (strcmp(unit, labels[i].text) == 0) {
			bool bytes = strcmp(labels[i].unit, "count") == 0 &&
			    strstr(name, "__bytes") != NULL;

			free(unit);
			*label = &labels[i];
			return xstrdup(bytes ? "bytes" : labels[i].unit);
		}
	if (strchr(unit, '%') != NULL) {
		free(unit);
		return xstrdup("percent_int");
	}
	for (char *p = unit; *p != '\0'; p++)
		*p = isalnum((unsigned char)*p) ? (char)tolower((unsigned char)*p) : '_';
	return unit;
}

static int
by_id(const void *a, const void *b)
{
	const struct metric *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static struct metric *
find(struct samples *s, int64_t type, int64_t id)
{
	struct metric key = { .type = type, .id = id };

	return s->n_metric == 0 ? NULL :
	    bsearch(&key, s->metric, s->n_metric, sizeof key, by_id);
}

static void
read_metrics(struct samples *s)
{
	const char *table = nsys_table(s->n, "TARGET_INFO_GPU_METRICS");
	sqlite3_stmt *st;
	struct metric m;
	const char *name;

	if (table == NULL)
		nsys_die(s->n, "%s without TARGET_INFO_GPU_METRICS: the numbers have "
		    "no names", s->table);
	nsys_need(s->n, table, "typeId metricId metricName");
	st = nsys_query(s->n, nsys_sql(s->n, "SELECT typeId, metricId, metricName "
	    "FROM \"%w\" NOT INDEXED GROUP BY 1, 2", table));
	while (nsys_next(s->n, st)) {
		m = (struct metric){ .scale = 1 };
		if (!nsys_int(s->n, st, 0, &m.type) || !nsys_int(s->n, st, 1, &m.id) ||
		    (name = nsys_text(s->n, st, 2)) == NULL)
			continue;
		m.name = xstrdup(name);
		m.unit = unit_of(name, &m.label);
		s->metric = xgrow(s->metric, &s->metric_cap, s->n_metric + 1,
		    sizeof *s->metric);
		s->metric[s->n_metric++] = m;
	}
	sqlite3_finalize(st);
	if (s->n_metric > 0)
		qsort(s->metric, s->n_metric, sizeof *s->metric, by_id);
}

/*
 * nsys labels clocks [MHz] and stores Hz: the factor is for its display only.
 * One value beyond its label's limit shows that this capture is so.
 */
static void
choose_scale(struct samples *s)
{
	bool labelled = false, base = false;
	struct metric *m;
	sqlite3_stmt *st;
	int64_t type, id, v;

	for (size_t i = 0; i < s->n_metric; i++)
		labelled |= s->metric[i].label != NULL && s->metric[i].label->scale != 1;
	if (!labelled)
		return;
	st = nsys_query(s->n, nsys_sql(s->n, "SELECT typeId, metricId, value FROM "
	    "\"%w\" NOT INDEXED WHERE value > 100", s->table));
	while (!base && nsys_next(s->n, st))
		base = nsys_int(s->n, st, 0, &type) && nsys_int(s->n, st, 1, &id) &&
		    nsys_int(s->n, st, 2, &v) && (m = find(s, type, id)) != NULL &&
		    m->label != NULL && v > m->label->limit;
	sqlite3_finalize(st);
	for (size_t i = 0; !base && i < s->n_metric; i++)
		if (s->metric[i].label != NULL)
			s->metric[i].scale = s->metric[i].label->scale;
	if (base)
		nsys_say(s->n, "metrics labelled [MHz] or [GB/s] hold Hz and bytes per "
		    "second: written as hz and bytes_per_s");
}

/*
 * nsys keeps a metric of a capture in as few bytes as its largest value takes,
 * and reads them back as signed: from 2^23 on, three bytes come out negative.
 * They are so, and 2^24 restores them, if nothing of the metric is beyond three
 * signed bytes and something is beyond two (docs/08-nsys-sampling.md).
 */
static void
find_cut(struct samples *s)
{
	enum { TWO = 1 << 15, THREE = 1 << 23 };
	int64_t type, id, low, high;
	struct metric *m;
	sqlite3_stmt *st;

	st = nsys_query(s->n, nsys_sql(s->n, "SELECT typeId, metricId, min(value), "
	    "max(value) FROM \"%w\" NOT INDEXED GROUP BY 1, 2 HAVING min(value) < 0",
	    s->table));
	while (nsys_next(s->n, st))
		if (nsys_int(s->n, st, 0, &type) && nsys_int(s->n, st, 1, &id) &&
		    nsys_int(s->n, st, 2, &low) && nsys_int(s->n, st, 3, &high) &&
		    (m = find(s, type, id)) != NULL)
			m->cut = low >= -THREE && high < THREE &&
			    (low < -TWO || high >= TWO);
	sqlite3_finalize(st);
}

/* The time after now, if there is one. */
static void
look_ahead(struct samples *s, struct gpu *g)
{
	g->now = g->next;
	if (nsys_next(s->n, g->times) && nsys_int(s->n, g->times, 0, &g->next))
		return;
	sqlite3_finalize(g->times);
	g->times = NULL;
}

static struct gpu *
gpu_of(struct samples *s, int64_t type)
{
	struct gpu *g;

	for (size_t i = 0; i < s->n_gpu; i++)
		if (s->gpu[i].type == type)
			return &s->gpu[i];
	if (s->n_gpu == MOST_GPUS)
		nsys_die(s->n, "%s: more than %d GPUs", s->table, MOST_GPUS);
	s->gpu = xgrow(s->gpu, &s->gpu_cap, s->n_gpu + 1, sizeof *s->gpu);
	g = &s->gpu[s->n_gpu++];
	*g = (struct gpu){ .type = type };
	g->times = nsys_query(s->n, nsys_sql(s->n, "SELECT DISTINCT timestamp FROM "
	    "\"%w\" NOT INDEXED WHERE typeId = %lld ORDER BY 1", s->table,
	    (long long)type));
	look_ahead(s, g);
	look_ahead(s, g);
	return g;
}

/* A sample bears the time at which its period began (docs/05-formats.md). */
static void
put_period(struct samples *s, int64_t type, int64_t time)
{
	struct gpu *g = gpu_of(s, type);
	int64_t period;

	while (g->times != NULL && g->now < time)
		look_ahead(s, g);
	if (g->times != NULL && !__builtin_sub_overflow(g->next, g->now, &period))
		out_int(s->out, period);
	else
		out_na(s->out);
}

/* False, and why, if it is not known; why alone if it is not as it was read. */
static bool
value_of(struct samples *s, sqlite3_stmt *st, struct metric *m, int64_t *v,
    const char **why)
{
	*why = NULL;
	if (!nsys_int(s->n, st, VALUE, v)) {
		*why = "absent";
		return false;
	}
	if (*v < 0 && m->cut) {
		*v += 1 << 24;
		*why = "restored";
		m->restored++;
	}
	if (*v >= 0 && mul_ok(*v, m->scale, v))
		return true;
	*why = "overflow";
	m->overflows++;
	return false;
}

static void
put_sample(struct samples *s, sqlite3_stmt *st)
{
	const char *why;
	int64_t time, type, id, v = 0;
	struct metric *m;

	if (!nsys_int(s->n, st, TIME, &time) || !nsys_int(s->n, st, TYPE, &type) ||
	    !nsys_int(s->n, st, METRIC, &id))
		nsys_die(s->n, "%s: a sample without time, GPU or metric", s->table);
	if ((m = find(s, type, id)) == NULL)
		nsys_die(s->n, "%s: metric %lld of GPU %lld has no name in "
		    "TARGET_INFO_GPU_METRICS", s->table, (long long)id,
		    (long long)type & GPU_BITS);
	out_int(s->out, time);
	out_int(s->out, type & GPU_BITS);
	out_text(s->out, m->name);
	out_text(s->out, m->unit);
	if (value_of(s, st, m, &v, &why))
		out_int(s->out, v);
	else
		out_na(s->out);
	put_period(s, type, time);
	out_text(s->out, why);
	out_row(s->out);
}

static void
end(struct samples *s)
{
	for (size_t i = 0; i < s->n_metric; i++) {
		struct metric *m = &s->metric[i];

		if (m->restored != 0)
			nsys_say(s->n, "%s: %llu samples lacked 2^24, by the way in "
			    "which nsys keeps them, and have it again", m->name,
			    (unsigned long long)m->restored);
		if (m->overflows != 0)
			nsys_say(s->n, "%s: %llu samples are negative: value is NA; "
			    "sample at another rate", m->name,
			    (unsigned long long)m->overflows);
		free(m->name);
		free(m->unit);
	}
	for (size_t i = 0; i < s->n_gpu; i++)
		sqlite3_finalize(s->gpu[i].times);
	free(s->metric);
	free(s->gpu);
}

static void
say_none(struct nsys *n, const char *table)
{
	const char *json = nsys_table(n, "GENERIC_EVENTS");

	if (nsys_count(n, json, "1") > 0)
		nsys_say(n, "no GPU_METRICS: an old nsys keeps them as JSON in "
		    "GENERIC_EVENTS; export the .nsys-rep with a newer nsys");
	else
		nsys_say(n, "no GPU metrics in this capture (%s GPU_METRICS); record "
		    "with --gpu-metrics-devices=all", table == NULL ? "no table" :
		    "no rows in");
}

void
samples(struct nsys *n, const struct want *want, struct out *out)
{
	struct samples s = { .n = n, .out = out,
	    .table = nsys_table(n, "GPU_METRICS") };
	int64_t rows = nsys_count(n, s.table, "1");
	struct progress bar;
	uint64_t done = 0;
	sqlite3_stmt *st;

	(void)want;
	out_head(out, "time_ns gpu metric unit value period_ns why");
	relay(n, "t.severity = 3 OR (t.severity = 2 AND t.text LIKE '%metric%')");
	if (rows <= 0) {
		say_none(n, s.table);
		return;
	}
	nsys_need(n, s.table, "timestamp typeId metricId value");
	read_metrics(&s);
	choose_scale(&s);
	find_cut(&s);
	st = nsys_query(n, nsys_sql(n, "SELECT timestamp, typeId, metricId, value "
	    "FROM \"%w\" NOT INDEXED ORDER BY 1, 2, 3, 4", s.table));
	progress_start(&bar, "nsys2tsv samples", (uint64_t)rows);
	while (nsys_next(n, st)) {
		put_sample(&s, st);
		progress(&bar, ++done);
	}
	progress_end(&bar);
	sqlite3_finalize(st);
	end(&s);
}
