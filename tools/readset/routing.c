/* routing.c: routing.tsv, which experts served how many tokens of a step. */
#include <err.h>

#include "readset.h"

static int
cmp_route(const void *a, const void *b)
{
	const struct route *x = a, *y = b;

	if (x->decode != y->decode)
		return x->decode < y->decode ? -1 : 1;
	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (x->layer != y->layer)
		return x->layer < y->layer ? -1 : 1;
	return (x->expert > y->expert) - (x->expert < y->expert);
}

static void
check_unique(const struct routing *r)
{
	for (size_t i = 1; i < r->n; i++)
		if (cmp_route(&r->route[i - 1], &r->route[i]) == 0)
			errx(NS_TROUBLE, "%s: %s step %llu, layer %llu, expert "
			    "%llu stands twice", r->path,
			    r->route[i].decode ? "decode" : "prefill",
			    (unsigned long long)r->route[i].step,
			    (unsigned long long)r->route[i].layer,
			    (unsigned long long)r->route[i].expert);
}

void
routing_read(struct routing *r, const char *path)
{
	size_t phase, step, layer, expert, n_tokens;
	struct tsv t;

	*r = (struct routing){ .path = path };
	tsv_open(&t, path);
	phase = tsv_col(&t, "phase");
	step = tsv_col(&t, "step");
	layer = tsv_col(&t, "layer");
	expert = tsv_col(&t, "expert");
	n_tokens = tsv_col(&t, "n_tokens");
	while (tsv_next(&t)) {
		bool decode = strcmp(t.val[phase], "decode") == 0;

		if (!decode && strcmp(t.val[phase], "prefill") != 0)
			tsv_die(&t, phase, "prefill or decode was expected, found "
			    "'%s'", t.val[phase]);
		r->route = xgrow(r->route, &r->cap, r->n + 1, sizeof *r->route);
		r->route[r->n++] = (struct route){ decode, tsv_count(&t, step),
		    tsv_count(&t, layer), tsv_count(&t, expert),
		    tsv_count(&t, n_tokens) };
	}
	tsv_close(&t);
	if (r->n > 0)
		qsort(r->route, r->n, sizeof *r->route, cmp_route);
	check_unique(r);
}

/* The first route that is not before key. */
static size_t
lower(const struct routing *r, const struct route *key)
{
	size_t from = 0, to = r->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (cmp_route(&r->route[mid], key) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

const struct route *
routing_layer(const struct routing *r, uint64_t decode, uint64_t step,
    uint64_t layer, uint64_t n, size_t *n_experts)
{
	size_t from = lower(r, &(struct route){ decode, step, layer, 0, 0 }), i;
	uint64_t sum = 0;

	for (i = from; i < r->n && r->route[i].decode == decode &&
	    r->route[i].step == step && r->route[i].layer == layer; i++)
		sum = plus(sum, r->route[i].n_tokens);
	if (sum != n)
		errx(NS_TROUBLE, "%s: %s step %llu, layer %llu: the experts served "
		    "%llu tokens, the workload has %llu (tokens x experts a "
		    "token): it is of another run", r->path,
		    decode ? "decode" : "prefill", (unsigned long long)step,
		    (unsigned long long)layer, (unsigned long long)sum,
		    (unsigned long long)n);
	*n_experts = i - from;
	return r->route + from;
}

const struct route *
routing_expert(const struct route *r, size_t n, uint64_t expert)
{
	for (size_t i = 0; i < n && r[i].expert <= expert; i++)
		if (r[i].expert == expert)
			return &r[i];
	return NULL;
}
