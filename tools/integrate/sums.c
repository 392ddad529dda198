/*
 * sums.c: samples, shared out among the windows that their periods meet.
 *
 * A sample that lies in a window with all of its busy time is the window's,
 * whole.  One that has busy time on both sides of an edge is divided as that
 * time is, and is an edge sample.  One without any, or if the work is not
 * known, is divided as its period is.  docs/08-nsys-sampling.md measures this.
 */
#include <err.h>
#include <string.h>

#include "integrate.h"

struct share {
	size_t	 sum;
	double	 of;		/* in (0, 1] */
};
struct columns {
	size_t time, gpu, metric, unit, value, period, why;
};

static struct gpu *
gpu_of(struct sums *s, int64_t number)
{
	for (size_t i = 0; i < s->n_gpu; i++)
		if (s->gpu[i].number == number)
			return &s->gpu[i];
	s->gpu = xgrow(s->gpu, &s->gpu_cap, s->n_gpu + 1, sizeof *s->gpu);
	s->gpu[s->n_gpu] = (struct gpu){ .number = number, .time = INT64_MIN,
	    .place = xalloc(s->win->n_sums, sizeof(struct place)) };
	for (size_t i = 0; !s->win->all && i < s->win->n; i++) {
		const struct window *w = &s->win->w[i];

		int64_t *wanted = &s->gpu[s->n_gpu].place[w->sum].wanted;

		if (!add_ok(*wanted, w->end - w->start, wanted))
			errx(NS_TROUBLE, "the windows of phase %s are longer than any "
			    "session", terminal_safe(w->phase));
	}
	return &s->gpu[s->n_gpu++];
}

/* Those that end before the time in hand are done with; samples are in order. */
static void
meet(struct sums *s, int64_t time, int64_t until)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_open; i++)
		if (s->win->w[s->open[i]].end > time)
			s->open[n++] = s->open[i];
	s->n_open = n;
	for (; s->next < s->win->n && s->win->w[s->next].start < until; s->next++) {
		s->open = xgrow(s->open, &s->open_cap, s->n_open + 1, sizeof *s->open);
		s->open[s->n_open++] = s->next;
	}
}

static double
share_of(const struct sums *s, int64_t from, int64_t to, int64_t time, int64_t until)
{
	int64_t busy = 0;

	if (from >= to)
		return 0;
	if (s->win->worked)
		busy = busy_within(s->win, time, until);
	if (busy > 0)
		return (double)busy_within(s->win, from, to) / (double)busy;
	return s->busy ? 0 : (double)(to - from) / (double)(until - time);
}

/* Of windows that touch, one sum may have a share in each. */
static void
add_share(struct gpu *g, size_t sum, double of)
{
	size_t i = 0;

	while (i < g->n_share && g->share[i].sum != sum)
		i++;
	if (i == g->n_share) {
		g->share = xgrow(g->share, &g->share_cap, g->n_share + 1,
		    sizeof *g->share);
		g->share[g->n_share++] = (struct share){ .sum = sum };
		g->place[sum].n++;
	}
	of += g->share[i].of;
	g->share[i].of = of > 1 - 1e-9 ? 1 : of;
}

/* A new time at which a GPU was sampled: which sums have which share of it. */
static void
begin_period(struct sums *s, struct gpu *g, int64_t time, int64_t period)
{
	int64_t until = time + period;

	g->time = time;
	g->period = period;
	g->n_share = 0;
	if (g->n_periods < PERIODS) {
		g->periods = xgrow(g->periods, &g->periods_cap, g->n_periods + 1,
		    sizeof *g->periods);
		g->periods[g->n_periods++] = period;
	}
	meet(s, time, until);
	for (size_t i = 0; i < s->n_open; i++) {
		const struct window *w = &s->win->w[s->open[i]];
		int64_t from = time > w->start ? time : w->start;
		int64_t to = until < w->end ? until : w->end;
		struct place *p = &g->place[w->sum];
		double of = share_of(s, from, to, time, until);

		if (to > from) {
			if (!add_ok(p->covered, to - from, &p->covered))
				errx(NS_TROUBLE, "samples overlap: their periods add up "
				    "to more than 64 bits");
			p->longest = period > p->longest ? period : p->longest;
		}
		if (of > 0)
			add_share(g, w->sum, of);
	}
}

static const struct metric *
metric_of(struct sums *s, const char *shown, const char *unit, uint32_t *number)
{
	uint32_t n = s->shown.n;
	struct metric *m;

	*number = intern_text(&s->shown, shown);
	s->metric = xgrow(s->metric, &s->metric_cap, s->shown.n, sizeof *s->metric);
	m = &s->metric[*number];
	if (*number < n)
		return m;
	*m = (struct metric){ .shown = xstrdup(shown), .unit = xstrdup(unit) };
	m->name = names_metric(s->names, shown, unit, &m->why);
	if (m->name == NULL)
		return m;
	m->why = NULL;
	s->n_counters++;
	for (uint32_t i = 0; i < n; i++)
		if (s->metric[i].name != NULL &&
		    strcmp(s->metric[i].name, m->name) == 0)
			errx(NS_TROUBLE, "'%s' and '%s' both count %s: it would be "
			    "summed twice", terminal_safe(s->metric[i].shown),
			    terminal_safe(m->shown), terminal_safe(m->name));
	return m;
}

static struct cell *
cell_of(struct place *p, uint32_t metric)
{
	size_t before = p->cap;

	p->cell = xgrow(p->cell, &p->cap, (size_t)metric + 1, sizeof *p->cell);
	memset(p->cell + before, 0, (p->cap - before) * sizeof *p->cell);
	return &p->cell[metric];
}

static void
add_sample(struct gpu *g, uint32_t metric, double value, bool overflow)
{
	for (size_t i = 0; i < g->n_share; i++) {
		struct place *p = &g->place[g->share[i].sum];
		struct cell *c = cell_of(p, metric);

		c->n++;
		if (value >= 0) {
			c->value += g->share[i].of * value;
			c->edge += g->share[i].of < 1 ? value : 0;
		} else if (overflow)
			c->n_overflow++;
		else
			c->n_absent++;
	}
}

/* The row in hand: its time, and the period, which a GPU's last sample lacks. */
static struct gpu *
row_gpu(struct sums *s, const struct tsv *t, const struct columns *col)
{
	int64_t time, period, number;
	struct gpu *g;

	if (!tsv_int(t, col->gpu, &number) || number < 0)
		tsv_die(t, col->gpu, "the number of a GPU was expected");
	if (s->only != ANY_GPU && number != s->only)
		return NULL;
	if (!tsv_int(t, col->time, &time) || time < INT64_MIN / 4 ||
	    time > INT64_MAX / 4)
		tsv_die(t, col->time, "a time within a session was expected");
	if (time < s->time)
		tsv_die(t, col->time, "out of order: sort the rows first: sort -n");
	s->time = time;
	g = gpu_of(s, number);
	if (!tsv_int(t, col->period, &period))
		period = g->time == time || g->n_periods > 0 ? g->period : 1;
	else if (period <= 0 || period > INT64_MAX / 4)
		tsv_die(t, col->period, "a time above 0 was expected");
	if (g->time != time)
		begin_period(s, g, time, period);
	return g;
}

void
sums_read(struct sums *s, const char *path)
{
	struct columns col;
	struct tsv t;

	s->time = INT64_MIN;
	tsv_open(&t, path);
	col.time = tsv_col(&t, "time_ns");
	col.gpu = tsv_col(&t, "gpu");
	col.metric = tsv_col(&t, "metric");
	col.unit = tsv_col(&t, "unit");
	col.value = tsv_col(&t, "value");
	col.period = tsv_col(&t, "period_ns");
	col.why = tsv_col(&t, "why");
	while (tsv_next(&t)) {
		struct gpu *g = row_gpu(s, &t, &col);
		double value = tsv_num(&t, col.value);
		uint32_t number;

		if (g != NULL && metric_of(s, tsv_text(&t, col.metric),
		    tsv_text(&t, col.unit), &number)->name != NULL)
			add_sample(g, number, value, value < 0 ||
			    strcmp(t.val[col.why], "overflow") == 0);
	}
	tsv_close(&t);
}

static int
by_size(const void *va, const void *vb)
{
	int64_t a = *(const int64_t *)va, b = *(const int64_t *)vb;

	return (a > b) - (a < b);
}

int64_t
usual_period(struct gpu *g)
{
	if (g->n_periods == 0)
		return 0;
	qsort(g->periods, g->n_periods, sizeof *g->periods, by_size);
	return g->periods[g->n_periods / 2];
}

void
sums_free(struct sums *s)
{
	for (size_t i = 0; i < s->n_gpu; i++) {
		for (size_t k = 0; k < s->win->n_sums; k++)
			free(s->gpu[i].place[k].cell);
		free(s->gpu[i].place);
		free(s->gpu[i].share);
		free(s->gpu[i].periods);
	}
	for (uint32_t m = 0; m < s->shown.n; m++) {
		free(s->metric[m].shown);
		free(s->metric[m].name);
		free(s->metric[m].unit);
	}
	free(s->gpu);
	free(s->metric);
	free(s->open);
	intern_free(&s->shown);
}
