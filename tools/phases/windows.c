/* windows.c: windows by name, and the innermost one at a moment. */
#include <string.h>

#include "phases.h"

/* From time on the window is the innermost of its process; NULL: none is. */
struct segment {
	int64_t	time;
	const struct window *w;
};
struct pid_segments {
	int64_t	 pid;
	struct segment *s;
	size_t	 n, at;		/* at: where the last find ended */
};
enum { UNNUMBERED = -1 };
struct edge {
	int64_t	time;
	bool	 opens;
	size_t	 w;
};

/* For qsort: compares come one after the other, joined by ?: */
static int
order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

void
windows_add(struct windows *win, const struct window *w)
{
	win->w = xgrow(win->w, &win->cap, win->n + 1, sizeof *win->w);
	win->w[win->n++] = *w;
}

/*
 * `decode.3` is step 3 of decode; a name without a number is numbered later.
 * phase is NULL, or the part of the name that is one, of len bytes.
 */
void
window_name(struct window *w, const char *name, const char *phase, size_t len)
{
	size_t end = strlen(name), digits = end;
	uint64_t step;
	bool numbered;

	while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	numbered = parse_count(name + digits, &step) && step <= INT64_MAX;
	if (phase == NULL) {
		phase = name;
		len = numbered ? digits : end;
		while (numbered && len > 0 && strchr("./_:#- ", name[len - 1]) != NULL)
			len--;
		if (len == 0)
			len = end;
	}
	w->phase = xasprintf("%.*s", (int)len, phase);
	w->step = numbered ? (int64_t)step : UNNUMBERED;
}

static int
by_start(const void *va, const void *vb)
{
	const struct window *a = va, *b = vb;

	return order(a->start, b->start) ?:
	    order(b->end, a->end) ?:	/* the outer one first */
	    order(a->pid, b->pid) ?: order(a->step, b->step);
}

/* By process and phase, then start: the order in which steps are counted. */
static int
by_phase(const void *va, const void *vb)
{
	const struct window *a = *(struct window *const *)va;
	const struct window *b = *(struct window *const *)vb;

	return order(a->pid, b->pid) ?: strcmp(a->phase, b->phase) ?: by_start(a, b);
}

static void
number(struct windows *win)
{
	struct window **p = xalloc(win->n, sizeof *p);
	int64_t step = 0;

	for (size_t i = 0; i < win->n; i++)
		p[i] = &win->w[i];
	qsort(p, win->n, sizeof *p, by_phase);
	for (size_t i = 0; i < win->n; i++) {
		if (i > 0 && (p[i]->pid != p[i - 1]->pid ||
		    strcmp(p[i]->phase, p[i - 1]->phase) != 0))
			step = 0;
		if (p[i]->step == UNNUMBERED)
			p[i]->step = step++;
	}
	free(p);
}

static int
by_time(const void *va, const void *vb)
{
	const struct edge *a = va, *b = vb;

	return order(a->time, b->time) ?:
	    order(a->opens, b->opens) ?:	/* [start, end): ends first */
	    order((int64_t)a->w, (int64_t)b->w);
}

/* Sweep the edges of one process; the window that began last is innermost. */
static void
sweep(struct windows *win, struct pid_segments *p, struct edge *e, size_t n)
{
	size_t *stack = xalloc(n, sizeof *stack), depth = 0;
	bool *closed = xalloc(win->n, sizeof *closed);

	p->s = xalloc(n + 1, sizeof *p->s);
	p->s[p->n++] = (struct segment){ INT64_MIN, NULL };
	qsort(e, n, sizeof *e, by_time);
	for (size_t i = 0; i < n; i++) {
		if (e[i].opens)
			stack[depth++] = e[i].w;
		else
			closed[e[i].w] = true;
		while (depth > 0 && closed[stack[depth - 1]])
			depth--;
		p->s[p->n++] = (struct segment){ e[i].time,
		    depth > 0 ? &win->w[stack[depth - 1]] : NULL };
	}
	free(stack);
	free(closed);
}

void
windows_index(struct windows *win)
{
	struct edge *e = xalloc(2 * win->n, sizeof *e);

	number(win);
	qsort(win->w, win->n, sizeof *win->w, by_start);
	win->by_pid = xalloc(win->n, sizeof *win->by_pid);
	for (size_t i = 0; i < win->n; i++) {
		struct pid_segments *p = win->by_pid;
		size_t n = 0;

		while (p < win->by_pid + win->n_pids && p->pid != win->w[i].pid)
			p++;
		if (p < win->by_pid + win->n_pids)
			continue;
		p->pid = win->w[i].pid;
		win->n_pids++;
		for (size_t j = i; j < win->n; j++) {
			const struct window *w = &win->w[j];

			if (w->pid != p->pid || w->start >= w->end)
				continue;
			e[n++] = (struct edge){ w->start, true, j };
			e[n++] = (struct edge){ w->end, false, j };
		}
		sweep(win, p, e, n);
	}
	free(e);
}

/* Rows come nearly in order: look where the last one was, then search. */
static const struct window *
find(struct pid_segments *p, int64_t t)
{
	size_t lo = p->at, hi = p->n;

	if (p->s[lo].time > t || (lo + 1 < p->n && p->s[lo + 1].time <= t)) {
		for (lo = 0; hi - lo > 1;) {
			size_t mid = lo + (hi - lo) / 2;

			if (p->s[mid].time <= t)
				lo = mid;
			else
				hi = mid;
		}
		p->at = lo;
	}
	return p->s[lo].w;
}

const struct window *
windows_find(const struct windows *win, int64_t pid, int64_t t)
{
	const struct window *w = NULL;

	for (size_t i = 0; i < win->n_pids && w == NULL; i++)
		if (win->by_pid[i].pid == pid || win->by_pid[i].pid == ANY_PID ||
		    pid == ANY_PID)
			w = find(&win->by_pid[i], t);
	return w;
}

void
windows_free(struct windows *win)
{
	for (size_t i = 0; i < win->n; i++)
		free(win->w[i].phase);
	for (size_t i = 0; i < win->n_pids; i++)
		free(win->by_pid[i].s);
	free(win->w);
	free(win->by_pid);
}
