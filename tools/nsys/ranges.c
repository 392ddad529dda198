/* ranges.c: NVTX ranges and marks, with the depth at which each is nested. */
#include "nsys.h"

/* ENUM_NSYS_EVENT_TYPE; the second of a pair is the text form, NVTXT. */
enum {
	MARK = 34, PUSH_POP = 59, START_END = 60, TEXT_MARK = 65,
	TEXT_PUSH_POP = 70, TEXT_START_END = 71, DOMAIN_CREATE = 75,
};
enum { START, END, TYPE, TEXT, TEXT_ID, THREAD, DOMAIN };

enum { BUCKETS = 1024 };
#define NONE SIZE_MAX

struct domain {
	int64_t process, id;
	char	*name;
};

/* The ranges of one thread and domain that are open at the row in hand. */
struct stack {
	int64_t	thread, domain;
	size_t	 next;		/* in its bucket; NONE at the end */
	int64_t	*end;
	size_t	 depth, cap;
};

struct ranges {
	struct nsys *n;
	struct out *out;
	struct domain *domain;
	size_t	 n_domain, domain_cap;
	struct stack *stack;
	size_t	 n_stack, stack_cap, bucket[BUCKETS];
	uint64_t open;
};

static const char *
kind_of(int64_t type)
{
	switch (type) {
	case PUSH_POP: case TEXT_PUSH_POP:
		return "push_pop";
	case START_END: case TEXT_START_END:
		return "start_end";
	default:
		return "mark";
	}
}

static const char *
text_of(struct nsys *n, sqlite3_stmt *st)
{
	const char *s = nsys_text(n, st, TEXT);
	int64_t id;

	if (s == NULL && nsys_int(n, st, TEXT_ID, &id))
		s = nsys_string(n, id);
	return s;
}

static sqlite3_stmt *
select_events(struct nsys *n, const char *table, const char *tail)
{
	static const char *const column[] = { "start", "end", "eventType", "text",
	    "textId", "globalTid", "domainId" };
	sqlite3_str *sql = nsys_sql(n, "SELECT t.start");

	for (size_t i = 1; i < sizeof column / sizeof *column; i++)
		nsys_column(n, sql, table, column[i]);
	sqlite3_str_appendf(sql, " FROM \"%w\" t NOT INDEXED %s", table, tail);
	return nsys_query(n, sql);
}

static void
read_domains(struct ranges *r, const char *table)
{
	sqlite3_stmt *st = select_events(r->n, table, "WHERE t.eventType = 75");
	int64_t thread, id;
	const char *s;

	while (nsys_next(r->n, st)) {
		if (!nsys_int(r->n, st, THREAD, &thread) ||
		    !nsys_int(r->n, st, DOMAIN, &id) ||
		    (s = text_of(r->n, st)) == NULL)
			continue;
		r->domain = xgrow(r->domain, &r->domain_cap, r->n_domain + 1,
		    sizeof *r->domain);
		r->domain[r->n_domain++] = (struct domain){ thread >> 24, id,
		    xstrdup(s) };
	}
	sqlite3_finalize(st);
}

static void
put_domain(struct ranges *r, int64_t thread, int64_t id)
{
	char text[32];

	for (size_t i = 0; i < r->n_domain; i++)
		if (r->domain[i].id == id && r->domain[i].process == thread >> 24) {
			out_text(r->out, r->domain[i].name);
			return;
		}
	snprintf(text, sizeof text, "domain %lld", (long long)id);
	out_text(r->out, id == 0 ? "default" : text);
}

static struct stack *
stack_of(struct ranges *r, int64_t thread, int64_t domain)
{
	size_t *head = &r->bucket[((uint64_t)thread * 31 + (uint64_t)domain) % BUCKETS];

	for (size_t i = *head; i != NONE; i = r->stack[i].next)
		if (r->stack[i].thread == thread && r->stack[i].domain == domain)
			return &r->stack[i];
	r->stack = xgrow(r->stack, &r->stack_cap, r->n_stack + 1, sizeof *r->stack);
	r->stack[r->n_stack] = (struct stack){ .thread = thread, .domain = domain,
	    .next = *head };
	*head = r->n_stack;
	return &r->stack[r->n_stack++];
}

/* Rows come by start, so what ended before this one started is done. */
static size_t
nest(struct stack *s, int64_t start, int64_t end)
{
	while (s->depth > 0 && s->end[s->depth - 1] <= start)
		s->depth--;
	s->end = xgrow(s->end, &s->cap, s->depth + 1, sizeof *s->end);
	s->end[s->depth++] = end;
	return s->depth - 1;
}

static void
put_range(struct ranges *r, sqlite3_stmt *st)
{
	int64_t start, end = INT64_MAX, type, thread = 0, domain = 0;
	const char *kind;

	nsys_int(r->n, st, TYPE, &type);
	nsys_int(r->n, st, START, &start);
	nsys_int(r->n, st, THREAD, &thread);
	nsys_int(r->n, st, DOMAIN, &domain);
	kind = kind_of(type);
	out_int(r->out, start);
	if (*kind == 'm')
		out_int(r->out, start);
	else if (nsys_int(r->n, st, END, &end))
		out_int(r->out, end);
	else {
		out_na(r->out);
		r->open++;
	}
	out_text(r->out, kind);
	put_domain(r, thread, domain);
	out_text(r->out, text_of(r->n, st));
	put_pid(r->n, r->out, st, THREAD);
	put_tid(r->n, r->out, st, THREAD);
	if (*kind == 'p')
		out_count(r->out, nest(stack_of(r, thread, domain), start, end));
	else
		out_na(r->out);
	out_row(r->out);
}

static void
ranges_free(struct ranges *r)
{
	while (r->n_domain > 0)
		free(r->domain[--r->n_domain].name);
	while (r->n_stack > 0)
		free(r->stack[--r->n_stack].end);
	free(r->domain);
	free(r->stack);
}

void
ranges(struct nsys *n, const struct want *want, struct out *out)
{
	static const char which[] = "t.eventType IN (34, 59, 60, 65, 70, 71)";
	static const char bad[] = "t.eventType IN (34, 59, 60, 65, 70, 71) AND "
	    "(t.start IS NULL OR t.\"end\" < t.start)";
	struct ranges r = { .n = n, .out = out };
	const char *table = nsys_table(n, "NVTX_EVENTS");
	sqlite3_stmt *st;
	int64_t rows;

	if (table != NULL)
		nsys_need(n, table, "start end eventType");
	out_head(out, "start_ns end_ns kind domain name pid tid depth");
	if (table == NULL || (rows = nsys_count(n, table, which)) == 0) {
		nsys_say(n, "no NVTX ranges in this capture (%s NVTX_EVENTS); record "
		    "with --trace=nvtx a program that has some", table == NULL ?
		    "no table" : "no ranges in");
		return;
	}
	memset(r.bucket, 0xff, sizeof r.bucket);	/* NONE */
	read_domains(&r, table);
	judge(n, table, (uint64_t)nsys_count(n, table, bad), (uint64_t)rows,
	    want->tolerance);
	st = select_events(n, table, "WHERE t.eventType IN (34, 59, 60, 65, 70, 71) "
	    "AND t.start IS NOT NULL AND (t.\"end\" IS NULL OR t.\"end\" >= t.start) "
	    "ORDER BY t.start, t.\"end\" IS NOT NULL, t.\"end\" DESC, 6, 3, 7, 4, 5");
	while (nsys_next(n, st))
		put_range(&r, st);
	sqlite3_finalize(st);
	if (r.open != 0)
		nsys_say(n, "%llu ranges have no end: end_ns is NA",
		    (unsigned long long)r.open);
	ranges_free(&r);
}
