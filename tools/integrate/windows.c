/* windows.c: windows out of a table, and how busy the device was meanwhile. */
#include <err.h>
#include <string.h>

#include "integrate.h"

static void
add_window(struct windows *win, const struct tsv *t, size_t phase, size_t step,
    int64_t start, int64_t end)
{
	struct window w = { .start = start, .end = end };

	w.phase = xstrdup(tsv_text(t, phase));
	if (!tsv_int(t, step, &w.step))
		tsv_die(t, step, "may not be NA in a window");
	win->w = xgrow(win->w, &win->cap, win->n + 1, sizeof *win->w);
	win->w[win->n++] = w;
}

/* Work comes nearly in order: most of it lengthens the interval before. */
static void
add_busy(struct windows *win, int64_t start, int64_t end)
{
	struct interval *last = win->n_busy > 0 ? &win->busy[win->n_busy - 1] : NULL;

	if (last != NULL && start >= last->start && start <= last->end) {
		last->end = end > last->end ? end : last->end;
		return;
	}
	win->busy = xgrow(win->busy, &win->busy_cap, win->n_busy + 1,
	    sizeof *win->busy);
	win->busy[win->n_busy++] = (struct interval){ .start = start, .end = end };
}

static int
by_start(const void *va, const void *vb)
{
	const struct interval *a = va, *b = vb;

	return (a->start > b->start) - (a->start < b->start);
}

static void
unite(struct windows *win)
{
	struct interval *b = win->busy;
	int64_t total = 0;
	size_t n = 0;

	if (win->n_busy > 0)
		qsort(b, win->n_busy, sizeof *b, by_start);
	for (size_t i = 0; i < win->n_busy; i++)
		if (n > 0 && b[i].start <= b[n - 1].end)
			b[n - 1].end = b[i].end > b[n - 1].end ? b[i].end : b[n - 1].end;
		else
			b[n++] = b[i];
	win->n_busy = n;
	for (size_t i = 0; i < n; i++) {
		b[i].before = total;
		total += b[i].end - b[i].start;
	}
}

/* Windows of one phase and step, repeats, become neighbours. */
static int
by_name(const void *va, const void *vb)
{
	const struct window *a = va, *b = vb;

	return strcmp(a->phase, b->phase) ?:
	    (a->step > b->step) - (a->step < b->step) ?:
	    (a->start > b->start) - (a->start < b->start) ?:
	    (b->end > a->end) - (b->end < a->end);
}

static int
by_time(const void *va, const void *vb)
{
	const struct window *a = va, *b = vb;

	return (a->start > b->start) - (a->start < b->start) ?:
	    (b->end > a->end) - (b->end < a->end) ?: by_name(va, vb);
}

static void
number(struct windows *win)
{
	struct window *w = win->w;

	if (win->n == 0)
		return;
	qsort(w, win->n, sizeof *w, by_name);
	for (size_t i = 1; i < win->n; i++)
		if (w[i].step == w[i - 1].step &&
		    strcmp(w[i].phase, w[i - 1].phase) == 0)
			w[i].nth = w[i - 1].nth + 1;
	qsort(w, win->n, sizeof *w, by_time);
}

/* Each window is a sum of its own, or part of its phase's. */
static void
assign_sums(struct windows *win)
{
	free(win->first);
	win->first = xalloc(win->n, sizeof *win->first);
	win->n_sums = 0;
	for (size_t i = 0; i < win->n; i++) {
		size_t k = win->totals ? 0 : win->n_sums;

		while (k < win->n_sums && strcmp(win->w[win->first[k]].phase,
		    win->w[i].phase) != 0)
			k++;
		if (k == win->n_sums)
			win->first[win->n_sums++] = i;
		win->w[i].sum = k;
	}
}

void
windows_read(struct windows *win, const char *path)
{
	size_t start, end, kind, phase, step;
	struct tsv t;

	tsv_open(&t, path);
	start = tsv_col(&t, "start_ns");
	end = tsv_col(&t, "end_ns");
	phase = tsv_col(&t, "phase");
	step = tsv_col(&t, "step");
	kind = tsv_find(&t, "kind");
	win->worked = kind != TSV_NONE;
	while (tsv_next(&t)) {
		int64_t from, to;

		if (!tsv_int(&t, start, &from) || !tsv_int(&t, end, &to))
			tsv_die(&t, start, "start and end may not be NA");
		if (to < from || from < INT64_MIN / 4 || to > INT64_MAX / 4)
			tsv_die(&t, end, to < from ? "before start_ns" :
			    "beyond any session");
		if (win->worked && strcmp(t.val[kind], "window") != 0)
			add_busy(win, from, to);
		else if (!win->all)
			add_window(win, &t, phase, step, from, to);
	}
	if (win->n == 0)
		errx(NS_TROUBLE, "%s: no window in it: ns-phases puts them in, or "
		    "take --all", t.name);
	tsv_close(&t);
	unite(win);
	number(win);
	if (!win->all)
		assign_sums(win);
}

void
windows_all(struct windows *win)
{
	win->all = true;
	win->w = xgrow(win->w, &win->cap, 1, sizeof *win->w);
	win->w[win->n++] = (struct window){ .phase = xstrdup("all"),
	    .start = INT64_MIN, .end = INT64_MAX };
	assign_sums(win);
}

/* Busy time up to t. */
static int64_t
busy_until(const struct windows *win, int64_t t)
{
	size_t lo = 0, hi = win->n_busy;
	const struct interval *b;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (win->busy[mid].start < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0)
		return 0;
	b = &win->busy[lo - 1];
	return b->before + (t < b->end ? t : b->end) - b->start;
}

int64_t
busy_within(const struct windows *win, int64_t start, int64_t end)
{
	return busy_until(win, end) - busy_until(win, start);
}

void
windows_free(struct windows *win)
{
	for (size_t i = 0; i < win->n; i++)
		free(win->w[i].phase);
	free(win->w);
	free(win->first);
	free(win->busy);
}
