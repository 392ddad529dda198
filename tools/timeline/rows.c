/*
 * rows.c: the work table in order of its starts, whatever its own order.
 *
 * Rows are read BATCH at a time.  A table that is out of order within the first
 * batch is read whole and sorted; one that is in order streams, and what is out
 * of order within a later batch is put right there.
 */
#include <err.h>
#include <string.h>

#include "timeline.h"

enum { BATCH = 1 << 16 };
enum { START, END_, KIND, DEVICE, PID, LAUNCH, GRAPH, PHASE, STEP, NAME };
static const char *const column[] = { "start_ns", "end_ns", "kind", "device",
    "pid", "launch_ns", "graph_launch_id", "phase", "step", "name" };

void
rows_open(struct rows *rows, const char *path, struct intern *names, bool want_names)
{
	*rows = (struct rows){ .names = names, .want_names = want_names,
	    .released = INT64_MIN, .more = true };
	tsv_open(&rows->t, path);
	for (size_t i = 0; i < sizeof column / sizeof *column; i++)
		rows->col[i] = tsv_col(&rows->t, column[i]);
}

static int64_t
number(const struct rows *rows, size_t c)
{
	int64_t n;

	return tsv_int(&rows->t, rows->col[c], &n) ? n : NONE;
}

static enum kind
kind(const struct rows *rows)
{
	static const char *const name[] = { "window", "kernel", "copy", "set", "graph" };
	const char *s = rows->t.val[rows->col[KIND]];

	for (int k = 0; k < (int)(sizeof name / sizeof *name); k++)
		if (strcmp(s, name[k]) == 0)
			return (enum kind)k;
	tsv_die(&rows->t, rows->col[KIND], "'%s': kernel, copy, set, graph or "
	    "window was expected", s);
}

static void
parse(struct rows *rows, struct row *r)
{
	const struct tsv *t = &rows->t;
	const char *phase = tsv_text(t, rows->col[PHASE]);

	r->start = number(rows, START);
	r->end = number(rows, END_);
	if (r->start == NONE || r->end == NONE)
		tsv_die(t, rows->col[r->start == NONE ? START : END_], "may not be NA");
	if (r->end < r->start)
		tsv_die(t, rows->col[END_], "before start_ns");
	if (r->start < -MAX_TIME || r->end > MAX_TIME)
		tsv_die(t, rows->col[START], "not a time: beyond 73 years");
	r->kind = kind(rows);
	r->device = number(rows, DEVICE);
	r->pid = number(rows, PID);
	r->launch = number(rows, LAUNCH);
	r->graph = number(rows, GRAPH);
	r->step = number(rows, STEP);
	if (strcmp(phase, "NA") == 0)
		r->phase = INTERN_NONE;
	else if (rows->n > 0 && rows->r[rows->n - 1].phase != INTERN_NONE &&
	    strcmp(interned(rows->names, rows->r[rows->n - 1].phase), phase) == 0)
		r->phase = rows->r[rows->n - 1].phase;
	else
		r->phase = intern_text(rows->names, phase);
	r->name = rows->want_names && r->kind != KIND_WINDOW ?
	    intern_text(rows->names, tsv_text(t, rows->col[NAME])) : INTERN_NONE;
	if (r->kind == KIND_WINDOW && (r->phase == INTERN_NONE || r->step == NONE))
		tsv_die(t, rows->col[PHASE], "a window has a phase and a step");
}

static int
by_text(const struct intern *names, uint32_t a, uint32_t b)
{
	if (a == b || a == INTERN_NONE || b == INTERN_NONE)
		return order(a == INTERN_NONE, b == INTERN_NONE);
	return strcmp(interned(names, a), interned(names, b));
}

/* Total, but for rows that are alike in all that counts. */
static int
by_start(const void *va, const void *vb, void *names)
{
	const struct row *a = va, *b = vb;

	return order(a->start, b->start) ?:
	    order(a->kind != KIND_WINDOW, b->kind != KIND_WINDOW) ?:
	    order(a->end, b->end) ?:
	    order(a->kind, b->kind) ?:
	    order(a->device, b->device) ?:
	    order(a->pid, b->pid) ?:
	    order(a->launch, b->launch) ?:
	    order(a->graph, b->graph) ?:
	    order(a->step, b->step) ?:
	    by_text(names, a->phase, b->phase) ?:
	    by_text(names, a->name, b->name);
}

static void
fill(struct rows *rows)
{
	bool ordered = true, first = !rows->any;
	size_t want = rows->n + BATCH;

	rows->any = true;
	for (; rows->more && (rows->n < want || (first && !ordered)); rows->n++) {
		struct row *r;

		if (!(rows->more = tsv_next(&rows->t)))
			break;
		rows->r = xgrow(rows->r, &rows->cap, rows->n + 1, sizeof *rows->r);
		r = &rows->r[rows->n];
		parse(rows, r);
		if (rows->n > 0)
			ordered &= by_start(r - 1, r, rows->names) <= 0;
		if (r->start < rows->released)
			tsv_die(&rows->t, rows->col[START], "out of order after "
			    "more than %d rows in order: sort the rows first: "
			    "sort -n", BATCH);
	}
	if (!ordered)
		qsort_r(rows->r, rows->n, sizeof *rows->r, by_start, rows->names);
	/* Rows of the last start wait for the others of that start. */
	rows->ready = rows->n;
	while (rows->more && rows->ready > 0 &&
	    rows->r[rows->ready - 1].start == rows->r[rows->n - 1].start)
		rows->ready--;
}

const struct row *
rows_next(struct rows *rows)
{
	while (rows->at == rows->ready) {
		if (!rows->more)
			return NULL;
		if (rows->at > 0)
			rows->released = rows->r[rows->at - 1].start;
		rows->n -= rows->at;
		if (rows->n > 0)
			memmove(rows->r, rows->r + rows->at, rows->n * sizeof *rows->r);
		rows->at = 0;
		fill(rows);
	}
	return &rows->r[rows->at++];
}

void
rows_close(struct rows *rows)
{
	tsv_close(&rows->t);
	free(rows->r);
}
