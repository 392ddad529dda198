/* calls.c: what the CPU called, from api.tsv, and when it waited. */
#include "timeline.h"

/* Blocking copies wait too; their asynchronous kin do not. */
bool
is_wait(const char *call)
{
	return strstr(call, "Synchronize") != NULL ||
	    ((strncmp(call, "cudaMemcpy", 10) == 0 || strncmp(call, "cuMemcpy", 8) == 0) &&
	    strstr(call, "Async") == NULL);
}

struct api {
	struct tsv t;
	size_t	 start, end, name, pid;
};

static void
api_open(struct api *a, const char *path)
{
	tsv_open(&a->t, path);
	a->start = tsv_col(&a->t, "start_ns");
	a->end = tsv_col(&a->t, "end_ns");
	a->name = tsv_col(&a->t, "name");
	a->pid = tsv_col(&a->t, "pid");
}

/* The next call that has both times. */
static bool
api_next(struct api *a, struct wait *w)
{
	while (tsv_next(&a->t)) {
		if (!tsv_int(&a->t, a->start, &w->start) ||
		    !tsv_int(&a->t, a->end, &w->end))
			continue;
		if (w->end < w->start || w->start < -MAX_TIME || w->end > MAX_TIME)
			tsv_die(&a->t, a->end, "before start_ns, or beyond 73 years");
		if (!tsv_int(&a->t, a->pid, &w->pid))
			w->pid = NONE;
		return true;
	}
	return false;
}

static int
by_pid(const void *va, const void *vb)
{
	const struct wait *a = va, *b = vb;

	return order(a->pid, b->pid) ?: order(a->start, b->start);
}

void
waits_read(struct waits *waits, const char *path)
{
	struct api a;
	struct wait w;

	api_open(&a, path);
	while (api_next(&a, &w)) {
		if (!is_wait(tsv_text(&a.t, a.name)))
			continue;
		waits->w = xgrow(waits->w, &waits->cap, waits->n + 1, sizeof w);
		waits->w[waits->n++] = w;
	}
	tsv_close(&a.t);
	if (waits->n == 0)
		return;
	qsort(waits->w, waits->n, sizeof w, by_pid);
	for (struct wait *p = waits->w + 1; p < waits->w + waits->n; p++)
		if (p->pid == p[-1].pid && p->end < p[-1].end)
			p->end = p[-1].end;
}

int64_t
waits_until(const struct waits *waits, int64_t pid, int64_t t)
{
	const struct wait key = { .pid = pid, .start = t };
	size_t lo = 0, hi = waits->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (by_pid(&waits->w[mid], &key) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 0 && waits->w[lo - 1].pid == pid && waits->w[lo - 1].end > t ?
	    waits->w[lo - 1].end : t;
}

struct call {
	uint32_t phase, name;
	int64_t	 order;		/* of the phase */
	uint64_t n;
	int64_t	sum, max;
};
struct calls {
	struct intern keys, phases, *names;
	struct call *c;
	size_t	 cap;
};

static void
count(struct calls *all, uint32_t phase, uint32_t name, int64_t dur)
{
	uint32_t key[] = { phase, name }, n = all->keys.n;
	uint32_t i = intern(&all->keys, key, sizeof key);

	all->c = xgrow(all->c, &all->cap, (size_t)n + 1, sizeof *all->c);
	if (i == n)
		all->c[i] = (struct call){ .phase = phase, .name = name,
		    .order = intern(&all->phases, &phase, sizeof phase) };
	all->c[i].n++;
	add_ns(&all->c[i].sum, dur);
	if (dur > all->c[i].max)
		all->c[i].max = dur;
}

static int
by_sum(const void *va, const void *vb, void *names)
{
	const struct call *a = va, *b = vb;

	return order(a->order, b->order) ?: order(b->sum, a->sum) ?:
	    strcmp(interned(names, a->name), interned(names, b->name));
}

static void
print(struct calls *all)
{
	struct out out;

	if (all->keys.n > 0)
		qsort_r(all->c, all->keys.n, sizeof *all->c, by_sum, all->names);
	out_open(&out, NULL);
	out_head(&out, "phase name n_calls sum_ns mean_ns max_ns waits");
	for (size_t i = 0; i < all->keys.n; i++) {
		const struct call *c = &all->c[i];

		out_text(&out, interned(all->names, c->phase));
		out_text(&out, interned(all->names, c->name));
		out_count(&out, c->n);
		out_int(&out, c->sum);
		out_num(&out, (double)c->sum / (double)c->n);
		out_int(&out, c->max);
		out_int(&out, is_wait(interned(all->names, c->name)));
		out_row(&out);
	}
	out_close(&out);
}

/* A call counts in each window that it began in; latest[i] is the latest end
 * of windows 0 to i, which are in order of start. */
void
calls_print(const char *path, const struct row *w, size_t n, struct intern *names)
{
	int64_t *latest = xalloc(n, sizeof *latest);
	struct calls all = { .names = names };
	struct wait call;
	struct api a;

	for (size_t i = 0; i < n; i++) {
		latest[i] = i > 0 && latest[i - 1] > w[i].end ? latest[i - 1] : w[i].end;
		intern(&all.phases, &w[i].phase, sizeof w[i].phase);
	}
	api_open(&a, path);
	while (api_next(&a, &call)) {
		uint32_t name = intern_text(names, tsv_text(&a.t, a.name));
		size_t lo = 0, hi = n;

		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;

			if (w[mid].start <= call.start)
				lo = mid + 1;
			else
				hi = mid;
		}
		for (; lo > 0 && latest[lo - 1] > call.start; lo--)
			if (w[lo - 1].end > call.start && (w[lo - 1].pid == NONE ||
			    w[lo - 1].pid == call.pid))
				count(&all, w[lo - 1].phase, name, call.end - call.start);
	}
	tsv_close(&a.t);
	print(&all);
	intern_free(&all.keys);
	intern_free(&all.phases);
	free(all.c);
	free(latest);
}
