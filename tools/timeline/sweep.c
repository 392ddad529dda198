/*
 * sweep.c: each device's time, as far as it lies in a window, is busy or idle.
 *
 * A device keeps how far it has been accounted for and the ends of the work
 * that runs then.  When its next work starts, the time up to there is cut at
 * those ends into pieces of equal depth, and each piece is clipped to the
 * windows that it meets.
 */
#include "timeline.h"

struct window {
	int64_t	 start, end, pid, step;
	uint32_t phase;
};
struct open {
	size_t	 w;		/* a window that the device is in */
	uint32_t seen;
};
struct device {
	int64_t	 device, done, opaque_until;
	int64_t	 *ends;		/* of running work: a heap, the next one on top */
	size_t	 n_ends, cap_ends;
	struct open *open;
	size_t	 n_open, cap_open, next;	/* next: window not yet met */
	struct row last;	/* of all work so far, what ended last */
	bool	 worked;
	int64_t	 *pids;		/* processes that worked on it */
	size_t	 n_pids, cap_pids;
};
struct sweep {
	struct window *w;
	size_t	 n_w, cap_w;
	struct device *d;
	size_t	 n_d, cap_d;
	struct intern keys;	/* of seen */
	struct seen *seen;
	size_t	 cap_seen;
	bool	 all;		/* w[0] is everything; others do not count */
	uint32_t all_phase;
	int64_t	 max_end;
	on_gap	*gap;
	void	*arg;
};

static void
heap_push(struct device *d, int64_t end)
{
	size_t i = d->n_ends++;

	d->ends = xgrow(d->ends, &d->cap_ends, d->n_ends, sizeof *d->ends);
	for (; i > 0 && d->ends[(i - 1) / 2] > end; i = (i - 1) / 2)
		d->ends[i] = d->ends[(i - 1) / 2];
	d->ends[i] = end;
}

static void
heap_pop(struct device *d)
{
	int64_t x = d->ends[--d->n_ends];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < d->n_ends) {
		if (child + 1 < d->n_ends && d->ends[child + 1] < d->ends[child])
			child++;
		if (d->ends[child] >= x)
			break;
		d->ends[i] = d->ends[child];
		i = child;
	}
	d->ends[i] = x;
}

static uint32_t
seen(struct sweep *s, const struct window *w, int64_t device)
{
	int64_t key[] = { w->phase, w->step, w->pid, device };
	uint32_t n = s->keys.n, i = intern(&s->keys, key, sizeof key);

	s->seen = xgrow(s->seen, &s->cap_seen, s->keys.n, sizeof *s->seen);
	if (i == n)
		s->seen[i] = (struct seen){ .phase = w->phase, .step = w->step,
		    .pid = w->pid, .device = device };
	return i;
}

/* Windows that begin before t are met. */
static void
enter(struct sweep *s, struct device *d, int64_t t)
{
	for (; d->next < s->n_w && s->w[d->next].start < t; d->next++) {
		d->open = xgrow(d->open, &d->cap_open, d->n_open + 1, sizeof *d->open);
		d->open[d->n_open++] = (struct open){ d->next,
		    seen(s, &s->w[d->next], d->device) };
	}
}

static void
leave(struct sweep *s, struct device *d, int64_t t)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_open; i++) {
		const struct window *w = &s->w[d->open[i].w];
		struct seen *c = &s->seen[d->open[i].seen];

		if (w->end > t)
			d->open[n++] = d->open[i];
		else {
			c->n_windows++;
			add_ns(&c->wall, w->end - w->start);
		}
	}
	d->n_open = n;
}

static int64_t
clip(const struct window *w, int64_t *from, int64_t *to)
{
	*from = *from > w->start ? *from : w->start;
	*to = *to < w->end ? *to : w->end;
	return *to > *from ? *to - *from : 0;
}

static void
busy(struct sweep *s, struct device *d, int64_t from, int64_t to)
{
	enter(s, d, to);
	for (size_t i = 0; i < d->n_open; i++) {
		struct seen *c = &s->seen[d->open[i].seen];
		int64_t a = from, b = to, ns = clip(&s->w[d->open[i].w], &a, &b);

		add_ns(&c->busy, ns);
		if (!mul_ok(ns, (int64_t)d->n_ends, &ns))
			ns = INT64_MAX;
		add_ns(&c->work, ns);
		c->opaque |= ns > 0 && from < d->opaque_until;
	}
	leave(s, d, to);
}

static void
idle(struct sweep *s, struct device *d, int64_t from, int64_t to,
    const struct row *after)
{
	enter(s, d, to);
	for (size_t i = 0; i < d->n_open; i++) {
		struct seen *c = &s->seen[d->open[i].seen];
		int64_t a = from, b = to, ns = clip(&s->w[d->open[i].w], &a, &b);

		if (ns == 0)
			continue;
		c->n_gaps++;
		if (ns > c->largest_gap)
			c->largest_gap = ns;
		if (s->gap != NULL)
			s->gap(s->arg, &(struct gap){ .phase = c->phase,
			    .step = c->step, .pid = c->pid, .device = c->device,
			    .start = a, .dur = ns },
			    d->worked ? &d->last : NULL, after);
	}
	leave(s, d, to);
}

static void
account(struct sweep *s, struct device *d, int64_t to, const struct row *next)
{
	int64_t from = d->done;

	while (d->n_ends > 0 && from < to) {
		int64_t end = d->ends[0] < to ? d->ends[0] : to;

		if (end > from)
			busy(s, d, from, end);
		from = end;
		while (d->n_ends > 0 && d->ends[0] <= from)
			heap_pop(d);
	}
	if (from < to)
		idle(s, d, from, to, next);
	d->done = to;
}

static struct device *
device(struct sweep *s, int64_t number)
{
	for (size_t i = 0; i < s->n_d; i++)
		if (s->d[i].device == number)
			return &s->d[i];
	s->d = xgrow(s->d, &s->cap_d, s->n_d + 1, sizeof *s->d);
	s->d[s->n_d] = (struct device){ .device = number, .done = INT64_MIN,
	    .opaque_until = INT64_MIN };
	return &s->d[s->n_d++];
}

static bool
has_pid(const struct device *d, int64_t pid)
{
	for (size_t i = 0; i < d->n_pids; i++)
		if (d->pids[i] == pid)
			return true;
	return false;
}

struct sweep *
sweep_new(on_gap *gap, void *arg)
{
	struct sweep *s = xalloc(1, sizeof *s);

	s->gap = gap;
	s->arg = arg;
	s->max_end = INT64_MIN;
	return s;
}

void
sweep_all(struct sweep *s, uint32_t phase)
{
	s->all = true;
	s->all_phase = phase;
}

static void
add_window(struct sweep *s, const struct window *w)
{
	s->w = xgrow(s->w, &s->cap_w, s->n_w + 1, sizeof *s->w);
	s->w[s->n_w++] = *w;
}

void
sweep_row(struct sweep *s, const struct row *r)
{
	struct device *d;

	if (r->kind == KIND_WINDOW) {
		if (!s->all)
			add_window(s, &(struct window){ r->start, r->end,
			    r->pid, r->step, r->phase });
		return;
	}
	if (s->all && s->n_w == 0)
		add_window(s, &(struct window){ .start = r->start,
		    .end = INT64_MAX, .pid = NONE, .phase = s->all_phase });
	d = device(s, r->device);
	account(s, d, r->start, r);
	if (!has_pid(d, r->pid)) {
		d->pids = xgrow(d->pids, &d->cap_pids, d->n_pids + 1, sizeof *d->pids);
		d->pids[d->n_pids++] = r->pid;
	}
	if (r->end > r->start)
		heap_push(d, r->end);
	if (r->kind == KIND_GRAPH && r->end > d->opaque_until)
		d->opaque_until = r->end;
	if (!d->worked || r->end >= d->last.end)
		d->last = *r;
	d->worked = true;
	if (r->end > s->max_end)
		s->max_end = r->end;
}

/* Device NONE, if none worked, has what no device has. */
void
sweep_end(struct sweep *s)
{
	if (s->all && s->n_w > 0)
		s->w[0].end = s->max_end;
	device(s, NONE);
	for (size_t i = 0; i < s->n_d; i++)
		account(s, &s->d[i], INT64_MAX, NULL);
}

const struct seen *
sweep_seen(const struct sweep *s, size_t *n)
{
	*n = s->keys.n;
	return s->seen;
}

/* Does work of this process count for the device? */
bool
sweep_uses(const struct sweep *s, int64_t pid, int64_t number)
{
	bool any = false;

	for (size_t i = 0; i < s->n_d; i++) {
		const struct device *d = &s->d[i];
		bool uses = d->worked && (pid == NONE || has_pid(d, pid) ||
		    has_pid(d, NONE));

		if (uses && d->device == number)
			return true;
		any |= uses;
	}
	return !any && number == NONE;
}

void
sweep_free(struct sweep *s)
{
	for (size_t i = 0; i < s->n_d; i++) {
		free(s->d[i].ends);
		free(s->d[i].open);
		free(s->d[i].pids);
	}
	intern_free(&s->keys);
	free(s->seen);
	free(s->w);
	free(s->d);
	free(s);
}
