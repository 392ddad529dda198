/*
 * step.c: what one step must move and compute.
 *
 * Every weight that is executed is read once a step, whatever the number of
 * tokens.  Keys and values are written once; a decode step reads those of
 * earlier positions, while in prefill, and for the newest position, they are
 * used as they are made and need not come from memory.  Activations stay in
 * the caches; the prefill, which is the widest step, makes them first.
 */
#include <err.h>
#include <math.h>

#include "readset.h"

struct step {
	const struct model *m;
	const struct routing *routing;	/* NULL: not known */
	const struct workload *w;
	bool	 decode;
	uint64_t number, n_tokens;	/* tokens of all sequences */
	struct cost *cost;
};

uint64_t
times(uint64_t a, uint64_t b)
{
	uint64_t n;

	if (!mul_ok(a, b, &n))
		errx(NS_TROUBLE, "%llu x %llu: more than 64 bits: sizes or "
		    "workload are wrong", (unsigned long long)a,
		    (unsigned long long)b);
	return n;
}

uint64_t
plus(uint64_t a, uint64_t b)
{
	uint64_t n;

	if (!add_ok(a, b, &n))
		errx(NS_TROUBLE, "%llu + %llu: more than 64 bits: sizes or "
		    "workload are wrong", (unsigned long long)a,
		    (unsigned long long)b);
	return n;
}

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void
add(struct cost *c, uint64_t read, uint64_t write, uint64_t flop)
{
	c->read = plus(c->read, read);
	c->write = plus(c->write, write);
	c->flop = plus(c->flop, flop);
}

static uint64_t
matmul_flop(uint64_t n_elements, uint64_t n_tokens)
{
	return times(times(2, n_elements), n_tokens);
}

/*
 * Pairs of a query and a key in one head of one sequence: no key comes after
 * its query, or so long before it that the window, which counts the query's
 * own position too, has passed.
 */
static uint64_t
n_pairs(const struct step *s, uint64_t window)
{
	uint64_t n = s->w->prompt, limit = window != 0 ? window : UINT64_MAX;

	if (s->decode)
		return least(plus(plus(n, s->number), 1), limit);
	limit = least(n, limit);
	return plus(times(limit, limit + 1) / 2, times(n - limit, limit));
}

static void
cache(struct step *s, const struct tensor *t)
{
	uint64_t window = model_window(s->m, t->layer);
	uint64_t row = times(t->width, s->w->kv_bytes), past = 0;

	if (t->role == R_Q) {
		add(&s->cost[R_CACHE], 0, 0, times(times(4, t->width),
		    times(n_pairs(s, window), s->w->batch)));
		return;
	}
	if (s->decode)
		past = n_pairs(s, window) - 1;
	add(&s->cost[R_CACHE], times(row, times(past, s->w->batch)),
	    times(row, s->n_tokens), 0);
}

/* No routing known: as if every expert were as likely as any other. */
static void
expert_odds(struct step *s, const struct tensor *t)
{
	double share = (double)s->m->n_chosen / (double)s->m->n_experts;
	double n = (double)s->n_tokens;
	struct cost *c = &s->cost[t->role];

	c->expected_read += (double)t->bytes * -expm1(n * log1p(-share));
	c->expected_flop += 2 * (double)t->n_elements * n * share;
}

static void
expert(struct step *s, const struct tensor *t)
{
	uint64_t n_served = times(s->n_tokens, s->m->n_chosen);
	const struct route *route, *mine;
	size_t n;

	if (s->routing == NULL) {
		expert_odds(s, t);
		return;
	}
	route = routing_layer(s->routing, s->decode, s->number, t->layer,
	    n_served, &n);
	if (t->expert == NO_EXPERT)
		add(&s->cost[t->role], times(t->bytes / t->width, n), 0,
		    matmul_flop(t->n_elements / t->width, n_served));
	else if ((mine = routing_expert(route, n, t->expert)) != NULL)
		add(&s->cost[t->role], t->bytes, 0,
		    matmul_flop(t->n_elements, mine->n_tokens));
}

static void
use(struct step *s, const struct tensor *t)
{
	struct cost *c = &s->cost[t->role];
	uint64_t batch = s->w->batch;

	switch (roles[t->role].use) {
	case USE_ROWS:
		add(c, times(t->bytes / t->width, least(s->n_tokens, t->width)),
		    0, 0);
		if (s->m->tied)
			add(&s->cost[R_LM_HEAD], t->bytes, 0,
			    matmul_flop(t->n_elements, batch));
		break;
	case USE_VECTOR:
		add(c, t->bytes, 0, 0);
		break;
	case USE_MATMUL:
		add(c, t->bytes, 0, matmul_flop(t->n_elements, s->n_tokens));
		if (t->role == R_Q || t->role == R_K || t->role == R_V)
			cache(s, t);
		break;
	case USE_EXPERT:
		expert(s, t);
		break;
	case USE_HEAD:
		if (!s->m->tied)
			add(c, t->bytes, 0, matmul_flop(t->n_elements, batch));
		break;
	case USE_CACHE:
		break;
	}
}

/* A row of activations: the residual, its norm, and the widest in between. */
static uint64_t
activations(const struct model *m)
{
	uint64_t hidden = 0, widest = 0;

	for (size_t i = 0; i < m->n; i++) {
		const struct tensor *t = &m->tensor[i];

		if (t->role == R_Q)
			hidden = t->n_elements / t->width;
		if ((t->role == R_Q || t->role == R_GATE || (t->role ==
		    R_EXPERT_GATE && t->expert != NO_EXPERT)) && t->width > widest)
			widest = t->width;
	}
	return plus(times(2, hidden), widest);
}

void
step_cost(const struct model *m, const struct routing *routing,
    const struct workload *w, bool decode, uint64_t number,
    struct cost cost[N_ROLES])
{
	struct step s = { .m = m, .routing = routing, .w = w, .decode = decode,
	    .number = number, .cost = cost,
	    .n_tokens = decode ? w->batch : times(w->prompt, w->batch) };

	memset(cost, 0, N_ROLES * sizeof *cost);
	for (size_t i = 0; i < m->n; i++)
		use(&s, &m->tensor[i]);
	if (!decode && w->activation_bytes != 0)
		add(&cost[R_ACTIVATION], 0, times(times(s.n_tokens,
		    activations(m)), w->activation_bytes), 0);
}
