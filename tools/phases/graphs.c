/*
 * graphs.c: windows from the last n graph launches of each process.
 *
 * Which launches are the last is known at the end of the table, so rows are
 * held back from the first that may still lie in a window.  What cannot is
 * let go as soon as the table has shown, for HOLD rows, that it is in order.
 */
#include <err.h>
#include <string.h>

#include "phases.h"

enum { HOLD = 1 << 16 };
#define NO_LAUNCH UINT64_MAX

struct launch {
	uint64_t id;
	int64_t	start, end;	/* of its work on the device */
	const struct window *w;	/* once known */
};
struct process {
	int64_t	pid;
	struct launch *l;	/* by id, that is by call; l[lo..lo + n) */
	size_t	lo, n, cap;
};
struct held {
	size_t	 at;		/* in text: the fields, each with its NUL */
	int64_t	 start, pid;
	uint64_t launch;
};
struct graphs {
	size_t	 want;
	struct emit *e;
	struct process *p;
	size_t	 n_p, cap_p;
	struct held *h;
	size_t	 n_h, cap_h, flush_at;
	char	*text;
	size_t	 len, cap;
	int64_t	 last_start;
	bool	 ordered, gone;	/* gone: some rows are written */
};

static struct process *
process(struct graphs *g, int64_t pid)
{
	for (size_t i = 0; i < g->n_p; i++)
		if (g->p[i].pid == pid)
			return &g->p[i];
	g->p = xgrow(g->p, &g->cap_p, g->n_p + 1, sizeof *g->p);
	g->p[g->n_p] = (struct process){ .pid = pid };
	return &g->p[g->n_p++];
}

/* Where id is or would be among the launches kept. */
static size_t
place(const struct process *p, uint64_t id)
{
	size_t lo = p->lo, hi = p->lo + p->n;

	if (p->n > 0 && p->l[hi - 1].id < id)
		return hi;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->l[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void
note_launch(struct graphs *g, const struct held *h, int64_t end)
{
	struct process *p = process(g, h->pid);
	size_t i = place(p, h->launch), last = p->lo + p->n;

	if (i < last && p->l[i].id == h->launch) {
		if (h->start < p->l[i].start)
			p->l[i].start = h->start;
		if (end > p->l[i].end)
			p->l[i].end = end;
		return;
	}
	if (p->n == g->want) {
		if (i == p->lo)
			return;		/* before the last n */
		p->lo++;
		p->n--;
	}
	if (p->lo > g->want) {
		memmove(p->l, p->l + p->lo, p->n * sizeof *p->l);
		i -= p->lo;
		p->lo = 0;
	}
	last = p->lo + p->n;
	p->l = xgrow(p->l, &p->cap, last + 1, sizeof *p->l);
	memmove(p->l + i + 1, p->l + i, (last - i) * sizeof *p->l);
	p->l[i] = (struct launch){ h->launch, h->start, end, NULL };
	p->n++;
}

static const struct window *
window_of(struct graphs *g, const struct held *h)
{
	const struct process *p = process(g, h->pid);
	size_t i = place(p, h->launch);

	if (g->e->win == NULL)
		return NULL;
	if (h->launch == NO_LAUNCH)
		return windows_find(g->e->win, h->pid, h->start);
	return i < p->lo + p->n && p->l[i].id == h->launch ? p->l[i].w : NULL;
}

/* Write the first n rows held, and drop them. */
static void
let_go(struct graphs *g, size_t n)
{
	size_t used = n < g->n_h ? g->h[n].at : g->len;

	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++) {
		char *s = g->text + g->h[i].at;

		for (size_t c = 0; c < g->e->t->ncol; c++, s += strlen(s) + 1)
			g->e->t->val[c] = s;
		emit_row(g->e, g->h[i].start, window_of(g, &g->h[i]));
	}
	memmove(g->text, g->text + used, g->len - used);
	memmove(g->h, g->h + n, (g->n_h - n) * sizeof *g->h);
	g->len -= used;
	g->n_h -= n;
	for (size_t i = 0; i < g->n_h; i++)
		g->h[i].at -= used;
	g->gone = true;
}

/* Rows before every launch that is kept are in no window. */
static void
flush(struct graphs *g)
{
	int64_t bound = g->last_start;
	size_t n = 0;

	for (const struct process *p = g->p; p < g->p + g->n_p; p++)
		for (size_t i = p->lo; i < p->lo + p->n; i++)
			if (p->l[i].start < bound)
				bound = p->l[i].start;
	while (n < g->n_h && g->h[n].start < bound)
		n++;
	let_go(g, n);
	g->flush_at = 2 * g->n_h > HOLD ? 2 * g->n_h : HOLD;
}

static void
hold(struct graphs *g, const struct held *h)
{
	const struct tsv *t = g->e->t;
	const char *last = t->val[t->ncol - 1];
	size_t n = (size_t)(last + strlen(last) + 1 - t->val[0]);

	if (h->start < g->last_start) {
		if (g->gone)
			tsv_die(t, g->e->start, "out of order after more than "
			    "%d rows in order: sort the rows first: sort -n", HOLD);
		g->ordered = false;
	}
	g->last_start = h->start;
	g->text = xgrow(g->text, &g->cap, g->len + n, 1);
	memcpy(g->text + g->len, t->val[0], n);
	g->h = xgrow(g->h, &g->cap_h, g->n_h + 1, sizeof *g->h);
	g->h[g->n_h] = *h;
	g->h[g->n_h++].at = g->len;
	g->len += n;
	if (g->ordered && g->n_h >= g->flush_at)
		flush(g);
}

/* A step lasts from its first work to that of the next; the last, to its end. */
static void
make_windows(struct graphs *g, struct windows *win)
{
	size_t most = 0;

	for (struct process *p = g->p; p < g->p + g->n_p; p++) {
		struct launch *l = p->l + p->lo;
		int64_t end = INT64_MIN;

		most = p->n > most ? p->n : most;
		if (p->n < g->want)
			continue;	/* not the process that was meant */
		for (size_t i = 0; i < p->n; i++)
			end = l[i].end > end ? l[i].end : end;
		for (size_t i = 0; i < p->n; i++) {
			int64_t next = i + 1 < p->n ? l[i + 1].start : end;

			windows_add(win, &(struct window){ xstrdup("decode"),
			    (int64_t)i, l[i].start,
			    next > l[i].start ? next : l[i].start, p->pid });
		}
	}
	if (win->n == 0 && most > 0)
		errx(NS_TROUBLE, "%s: no process launched %zu graphs: ask for "
		    "--last-graphs %zu at most", g->e->t->name, g->want, most);
	if (win->n == 0)
		errx(NS_TROUBLE, "%s: no graph launch in it: take the windows "
		    "from ranges (--nvtx) or from times (--window)",
		    g->e->t->name);
	windows_index(win);
	for (size_t i = 0; i < win->n; i++) {
		struct process *p = process(g, win->w[i].pid);

		p->l[p->lo + (size_t)win->w[i].step].w = &win->w[i];
	}
}

void
last_graphs(struct emit *e, struct windows *win, size_t n, bool windows_only)
{
	struct graphs g = { .want = n, .e = e, .flush_at = HOLD,
	    .ordered = true, .last_start = INT64_MIN };
	size_t launch = tsv_col(e->t, "graph_launch_id");

	while (tsv_next(e->t)) {
		struct held h = { .pid = ANY_PID, .launch = NO_LAUNCH };
		int64_t end;

		if (!tsv_int(e->t, e->start, &h.start) || !tsv_int(e->t, e->end, &end))
			tsv_die(e->t, e->start, "start and end may not be NA");
		tsv_int(e->t, e->pid, &h.pid);
		if (!tsv_is_na(e->t, launch)) {
			h.launch = tsv_count(e->t, launch);
			note_launch(&g, &h, end);
		}
		if (!windows_only)
			hold(&g, &h);
	}
	make_windows(&g, win);
	e->win = win;
	let_go(&g, g.n_h);
	for (struct process *p = g.p; p < g.p + g.n_p; p++)
		free(p->l);
	free(g.p);
	free(g.h);
	free(g.text);
}
