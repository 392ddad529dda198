/* read.c: stamps in any order as the ops of a step. */
#include <err.h>

#include "stamps.h"

static const char *const events[N_EVENTS] = {
	"asked", "arrived", "weights", "multiplied", "scaled", "summed", "left",
};

struct row {
	uint64_t block, op;
	uint32_t kind;
	enum event event;
	int64_t	 time_ns;
};
struct rows {
	struct row *v;
	size_t	 n, cap;
};

static enum event
event_of(const struct tsv *t, size_t col)
{
	const char *s = tsv_text(t, col);

	for (enum event e = 0; e < N_EVENTS; e++)
		if (strcmp(s, events[e]) == 0)
			return e;
	tsv_die(t, col, "no event of a step: '%s': asked, arrived, weights, multiplied, "
	    "scaled, summed or left was expected", s);
}

static struct rows
rows_read(struct step *s, const char *path)
{
	struct rows r = { 0 };
	struct tsv t;
	size_t block, op, kind, event, time;

	tsv_open(&t, path);
	s->name = t.name;
	block = tsv_col(&t, "block");
	op = tsv_col(&t, "op");
	kind = tsv_col(&t, "kind");
	event = tsv_col(&t, "event");
	time = tsv_col(&t, "time_ns");
	while (tsv_next(&t)) {
		struct row one = { .block = tsv_count(&t, block), .op = tsv_count(&t, op),
		    .kind = intern_text(&s->kinds, tsv_text(&t, kind)),
		    .event = event_of(&t, event) };

		if (tsv_is_na(&t, kind))
			tsv_die(&t, kind, "an op of no kind");
		if (!tsv_int(&t, time, &one.time_ns))
			continue;
		if (one.time_ns < 0)
			tsv_die(&t, time, "before the first event: '%s'", t.val[time]);
		r.v = xgrow(r.v, &r.cap, r.n + 1, sizeof *r.v);
		r.v[r.n++] = one;
	}
	tsv_close(&t);
	return r;
}

static int
by_op(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->op != y->op ? (x->op > y->op) - (x->op < y->op) :
	    x->block != y->block ? (x->block > y->block) - (x->block < y->block) :
	    (int)x->event - (int)y->event;
}

static void
add_part(struct step *s, size_t *cap, const struct row *r)
{
	struct part p = { .block = r->block, .op = r->op };

	for (size_t e = 0; e < N_EVENTS; e++)
		p.at[e] = NEVER;
	s->part = xgrow(s->part, cap, s->n_parts + 1, sizeof *s->part);
	s->part[s->n_parts++] = p;
}

static void
add_op(struct step *s, size_t *cap, const struct row *r)
{
	if (r->op != s->n_ops)
		errx(NS_TROUBLE, "%s: op %zu has no row: not a whole step", s->name,
		    s->n_ops);
	s->op = xgrow(s->op, cap, s->n_ops + 1, sizeof *s->op);
	s->op[s->n_ops++] = (struct op){ .kind = r->kind };
}

/* An op a kind, a block's event a row. */
static void
collect(struct step *s, const struct row *r, size_t n)
{
	size_t parts = 0, ops = 0;

	for (size_t i = 0; i < n; i++, r++) {
		struct part *p = s->n_parts > 0 ? &s->part[s->n_parts - 1] : NULL;

		if (i == 0 || r->op != r[-1].op)
			add_op(s, &ops, r);
		else if (r->kind != r[-1].kind)
			errx(NS_TROUBLE, "%s: op %zu is of two kinds", s->name, s->n_ops - 1);
		if (p == NULL || p->op != r->op || p->block != r->block) {
			add_part(s, &parts, r);
			p = &s->part[s->n_parts - 1];
		}
		if (p->at[r->event] != NEVER)
			errx(NS_TROUBLE, "%s: op %zu, block %llu: '%s' stands twice: give "
			    "one step", s->name, s->n_ops - 1,
			    (unsigned long long)r->block, events[r->event]);
		p->at[r->event] = r->time_ns;
	}
}

static uint64_t
common_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Each op begins when the last block has left the one before it. */
static void
divide(struct step *s, int64_t begun)
{
	struct part *p = s->part, *end = p + s->n_parts;

	for (size_t i = 0; i < s->n_ops; i++) {
		struct op *op = &s->op[i];

		op->begun = begun;
		op->left = NEVER;
		for (op->part = p; p < end && p->op == i; p++, op->n_parts++)
			if (p->at[LEFT] > op->left)
				op->left = p->at[LEFT];
		if (op->left == NEVER)
			errx(NS_TROUBLE, "%s: op %zu: no block has left it: not a whole "
			    "step", s->name, i);
		if (op->left < begun)
			errx(NS_TROUBLE, "%s: op %zu was left before the op that it waits "
			    "for: not one step, or not one clock", s->name, i);
		begun = op->left;
	}
}

void
step_read(struct step *s, const char *path)
{
	struct rows r;
	int64_t first = INT64_MAX;

	*s = (struct step){ 0 };
	r = rows_read(s, path);
	if (r.n > 0)
		qsort(r.v, r.n, sizeof *r.v, by_op);
	for (size_t i = 0; i < r.n; i++) {
		first = r.v[i].time_ns < first ? r.v[i].time_ns : first;
		s->clock_ns = common_divisor(s->clock_ns, (uint64_t)r.v[i].time_ns);
	}
	collect(s, r.v, r.n);
	divide(s, first);
	free(r.v);
}

void
step_free(struct step *s)
{
	free(s->part);
	free(s->op);
	intern_free(&s->kinds);
}
