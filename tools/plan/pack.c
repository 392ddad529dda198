/*
 * pack.c: metrics into groups that take few passes together.
 *
 * What must share a pass opens the first group, which then takes only what is
 * free there: which of them, is tried until all together take no more passes
 * than CUPTI would without that wish.  Each other metric goes where it adds
 * fewest passes, and groups are merged while that saves any.  What fits beside
 * what is CUPTI's to say.
 */
#include <err.h>
#include <limits.h>

#include "plan.h"

static void
group_add(struct group *g, const char **name, size_t n)
{
	const char **all = xalloc(g->n + n, sizeof *all);

	if (g->n > 0)
		memcpy(all, g->name, g->n * sizeof *all);
	memcpy(all + g->n, name, n * sizeof *all);
	free(g->name);
	g->name = all;
	g->n += n;
}

/* Passes that both take together. */
static unsigned
together(const struct cupti *c, const struct group *g, const char **name, size_t n)
{
	struct group both = { 0 };
	unsigned n_passes;

	if (g->n > 0)
		group_add(&both, g->name, g->n);
	group_add(&both, name, n);
	n_passes = cupti_passes(c, both.name, both.n);
	free(both.name);
	return n_passes;
}

static void
place(struct plan *p, const char **name, const struct cupti *c)
{
	unsigned alone = cupti_passes(c, name, 1), fewest = alone;
	size_t to = p->n;

	for (size_t i = 0; i < p->n; i++) {
		unsigned n = together(c, &p->group[i], name, 1);
		unsigned more = n - p->group[i].n_passes;

		if (n != 0 && more < fewest && (i > 0 || more == 0)) {
			fewest = more;
			to = i;
		}
	}
	if (to == p->n)
		p->n++;
	group_add(&p->group[to], name, 1);
	p->group[to].n_passes += fewest;
}

/* The one merger that saves most; false if none saves a pass. */
static bool
merge(struct plan *p, size_t from, const struct cupti *c)
{
	size_t a = 0, b = 0;
	unsigned most = 0;

	for (size_t i = from; i < p->n; i++)
		for (size_t j = i + 1; j < p->n; j++) {
			const struct group *g = &p->group[i], *o = &p->group[j];
			unsigned n = together(c, g, o->name, o->n);
			unsigned sum = g->n_passes + o->n_passes;

			if (n != 0 && n < sum && sum - n > most) {
				most = sum - n;
				a = i;
				b = j;
			}
		}
	if (most == 0)
		return false;
	group_add(&p->group[a], p->group[b].name, p->group[b].n);
	p->group[a].n_passes += p->group[b].n_passes - most;
	free(p->group[b].name);
	for (p->n--; b < p->n; b++)
		p->group[b] = p->group[b + 1];
	p->group[p->n] = (struct group){ 0 };
	return true;
}

void
pack_check(const struct wanted *w, const struct cupti *c)
{
	for (size_t i = 0; i < w->n; i++)
		if (cupti_passes(c, w->name + i, 1) == 0)
			errx(NS_TROUBLE, "%s: chip %s cannot count it%s",
			    w->name[i], c->chip, c->profiler == PM_SAMPLING ?
			    " by sampling" : "");
}

static void
add_if_free(struct group *g, struct group *left, const char **name,
    const struct cupti *c)
{
	group_add(together(c, g, name, 1) == g->n_passes ? g : left, name, 1);
}

/*
 * The first group, with seed before the others (NULL: none), and what is left.
 * Returns how many passes both take.
 */
static unsigned
fill(struct group *g, struct group *left, const struct wanted *w,
    const char **seed, const struct cupti *c)
{
	*g = *left = (struct group){ 0 };
	group_add(g, w->name, w->n_must);
	g->n_passes = cupti_passes(c, w->name, w->n_must);
	if (g->n_passes == 0)
		errx(NS_TROUBLE, "memory, sentinels and time cannot be "
		    "counted in one run on this chip");
	if (seed != NULL)
		add_if_free(g, left, seed, c);
	for (size_t i = w->n_must; i < w->n; i++)
		if (w->name + i != seed)
			add_if_free(g, left, w->name + i, c);
	if (left->n == 0)
		return g->n_passes;
	left->n_passes = cupti_passes(c, left->name, left->n);
	return left->n_passes == 0 ? UINT_MAX : g->n_passes + left->n_passes;
}

static void
first_group(struct group *g, struct group *left, const struct wanted *w,
    const struct cupti *c)
{
	unsigned n = fill(g, left, w, NULL, c);
	unsigned all = cupti_passes(c, w->name, w->n);

	for (size_t i = w->n_must; i < w->n && n > all; i++) {
		struct group tried, rest;
		unsigned m = fill(&tried, &rest, w, w->name + i, c);

		if (m < n) {
			struct group t = *g, r = *left;

			*g = tried;
			*left = rest;
			tried = t;
			rest = r;
			n = m;
		}
		free(tried.name);
		free(rest.name);
	}
}

static unsigned
passes_from(const struct plan *p, size_t from)
{
	unsigned n = 0;

	for (size_t i = from; i < p->n; i++)
		n += p->group[i].n_passes;
	return n;
}

void
pack(struct plan *p, const struct wanted *w, const struct cupti *c)
{
	size_t first = w->n_must > 0 ? 1 : 0;
	struct group left = { 0 };

	*p = (struct plan){ .group = xalloc(w->n + 1, sizeof *p->group) };
	if (first > 0)
		first_group(p->group, &left, w, c);
	else {
		group_add(&left, w->name, w->n);
		left.n_passes = cupti_passes(c, w->name, w->n);
	}
	p->n = first;
	for (size_t i = 0; i < left.n; i++)
		place(p, left.name + i, c);
	while (merge(p, first, c))
		;
	if (left.n_passes == 0 || left.n_passes >= passes_from(p, first)) {
		free(left.name);
		return;
	}
	while (p->n > first)		/* one group of all takes fewer */
		free(p->group[--p->n].name);
	p->group[p->n++] = left;
}

void
plan_free(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->group[i].name);
	free(p->group);
}
