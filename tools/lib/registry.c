/* registry.c: metrics.tsv, which says what each metric of a platform means. */
#include <err.h>
#include <math.h>

#include "registry.h"

const char *const quantities[] = { "bytes", "requests", "hits", "misses",
	"flop", "time", "activity", "cycles", NULL };
const char *const rungs[] = { "registers", "shared", "l1", "xbar", "l2",
	"memory", "NA", NULL };
const char *const directions[] = { "", "read", "write", "both", "NA", NULL };
const char *const roles[] = { "value", "witness", "sentinel", NULL };

static unsigned
word(const struct tsv *t, size_t col, const char *const names[])
{
	const char *s = tsv_text(t, col);

	for (unsigned i = 0; names[i] != NULL; i++)
		if (strcmp(names[i], s) == 0)
			return i;
	tsv_die(t, col, "unknown: '%s'", s);
}

static void
add(struct registry *r, const struct tsv *t, size_t metric, const struct term *m)
{
	if (!is_terminal_safe(t->val[metric]))
		tsv_die(t, metric, "control bytes in a name: '%s'", t->val[metric]);
	if (isnan(m->factor))
		tsv_die(t, tsv_col(t, "factor"), "NA: a number was expected");
	if (m->quantity <= Q_MISSES && (m->rung == R_NONE || m->direction == D_NONE))
		tsv_die(t, tsv_col(t, m->rung == R_NONE ? "rung" : "direction"),
		    "NA: %s are counted at a rung, in a direction",
		    quantities[m->quantity]);
	for (size_t i = 0; i < r->n; i++) {
		const struct term *o = &r->term[i];

		if (o->quantity == m->quantity && o->rung == m->rung &&
		    o->direction == m->direction && o->role == m->role &&
		    o->metric == m->metric)
			tsv_die(t, metric, "'%s' stands twice as the same "
			    "quantity: it would be summed twice", t->val[metric]);
	}
	r->term = xgrow(r->term, &r->cap, r->n + 1, sizeof *r->term);
	r->term[r->n++] = *m;
}

void
registry_read(struct registry *r, const char *path)
{
	struct tsv t;
	size_t quantity, rung, direction, metric, factor, role, tier;

	*r = (struct registry){ 0 };
	tsv_open(&t, path);
	quantity = tsv_col(&t, "quantity");
	rung = tsv_col(&t, "rung");
	direction = tsv_col(&t, "direction");
	metric = tsv_col(&t, "metric");
	factor = tsv_col(&t, "factor");
	role = tsv_col(&t, "role");
	tier = tsv_find(&t, "tier");
	while (tsv_next(&t))
		add(r, &t, metric, &(struct term){
		    .quantity = word(&t, quantity, quantities),
		    .rung = word(&t, rung, rungs),
		    .direction = word(&t, direction, directions),
		    .role = word(&t, role, roles),
		    .metric = intern_text(&r->metric, tsv_text(&t, metric)),
		    .factor = tsv_num(&t, factor),
		    .tier = tier == TSV_NONE ? 0 : tsv_count(&t, tier) });
	if (r->n == 0)
		errx(NS_TROUBLE, "%s: no metric in it", t.name);
	tsv_close(&t);
}

struct sum
registry_sum(const struct registry *r, const struct total *t, enum quantity quantity,
    enum rung rung, enum direction direction)
{
	struct sum s = { NAN, 0, true };

	for (size_t i = 0; i < r->n; i++) {
		const struct term *m = &r->term[i];

		if (m->role != ROLE_VALUE || m->quantity != quantity ||
		    m->rung != rung || (direction != D_ANY &&
		    direction != m->direction))
			continue;
		s.covered |= m->direction;
		s.complete &= t->n_seen[m->metric] == t->n_launches;
		if (t->n_seen[m->metric] > 0)
			s.value = (isnan(s.value) ? 0 : s.value) +
			    m->factor * t->sum[m->metric];
	}
	return s;
}

/* Two counts make a ratio if they cover the same directions, in every launch. */
static bool
agree(const struct sum *a, const struct sum *b)
{
	return a->covered != 0 && a->covered == b->covered &&
	    a->complete && b->complete;
}

double
registry_hit_ratio(const struct registry *r, const struct total *t, enum rung rung)
{
	struct sum hits = registry_sum(r, t, Q_HITS, rung, D_ANY);
	struct sum misses = registry_sum(r, t, Q_MISSES, rung, D_ANY);
	struct sum requests = registry_sum(r, t, Q_REQUESTS, rung, D_ANY);

	if (agree(&hits, &misses))
		return hits.value / (hits.value + misses.value);
	if (agree(&requests, &misses))
		return (requests.value - misses.value) / requests.value;
	if (agree(&requests, &hits))
		return hits.value / requests.value;
	return NAN;
}

bool
registry_needs(const struct registry *r, uint32_t metric, enum rung rung,
    enum quantity from, enum quantity to)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->term[i].metric == metric && r->term[i].rung == rung &&
		    r->term[i].role == ROLE_VALUE &&
		    r->term[i].tier <= TIER_TOTALS &&
		    r->term[i].quantity >= from && r->term[i].quantity <= to)
			return true;
	return false;
}

void
registry_free(struct registry *r)
{
	free(r->term);
	intern_free(&r->metric);
}
