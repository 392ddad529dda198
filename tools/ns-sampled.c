/*
 * ns-sampled: what several runs sampled of one program, each its own set of
 * counters, as one table.
 *
 * A counter that more than one set holds counts once: as the first set that has
 * a number has it.  What the next one says of it tells whether the runs did
 * the same.
 *
 * in   sampled counters of ns-integrate, a table a set
 * out  the same columns and set; --totals: a row a phase and counter
 */
#include <err.h>
#include <math.h>
#include <unistd.h>

#include "intern.h"
#include "ns.h"

#define SAMPLED "source phase step launch kernel metric value unit why " \
	"edge_value n_samples set"
#define TOTALS "phase launch metric unit value edge_value edge_ratio n_samples " \
	"set why other_set other_value error_ratio"

enum { OPT_TOTALS = 256 };
static const struct opt opts[] = {
	{ OPT_TOTALS, "totals", NULL, "how sure the sums of ns-integrate --totals are" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-sampled",
	.purpose = "what several runs sampled of one program as one table",
	.operands = "SET=FILE...",
	.in = "source phase step launch kernel metric value unit why edge_value "
	    "n_samples",
	.out = SAMPLED "\n     --totals: " TOTALS,
	.example = "ns-sampled a=sampled-a.tsv b=sampled-b.tsv >sampled.tsv",
	.opts = opts,
};

struct cell {			/* a counter in a window, as one set has it */
	char	*phase, *launch, *unit, *why;	/* NULL: NA */
	int64_t	 step;
	bool	 whole;		/* step NA */
	double	 value, edge;
	uint64_t n_samples;
	size_t	 set;
};
struct slot {			/* the same of all sets; first: the one that counts */
	struct cell *first, *other;
};
struct row {			/* a window */
	struct slot *slot;	/* by metric */
	size_t	 n, cap;
};
struct sampled {
	struct intern window, metric;
	struct row *row;
	size_t	 n_rows, rows_cap;
	char	**set;
	size_t	 n_sets, sets_cap;
};

static char *
text(const struct tsv *t, size_t col)
{
	return tsv_is_na(t, col) ? NULL : xstrdup(tsv_text(t, col));
}

static void
cell_free(struct cell *c)
{
	if (c == NULL)
		return;
	free(c->phase);
	free(c->launch);
	free(c->unit);
	free(c->why);
	free(c);
}

static struct slot *
slot_of(struct sampled *s, uint32_t window, uint32_t metric)
{
	struct row *r;

	s->row = xgrow(s->row, &s->rows_cap, (size_t)window + 1, sizeof *s->row);
	while (s->n_rows <= window)
		s->row[s->n_rows++] = (struct row){ 0 };
	r = &s->row[window];
	r->slot = xgrow(r->slot, &r->cap, (size_t)metric + 1, sizeof *r->slot);
	while (r->n <= metric)
		r->slot[r->n++] = (struct slot){ 0 };
	return &r->slot[metric];
}

/* The first with a number counts; the next with one is held against it. */
static void
place(struct slot *slot, struct cell *c)
{
	if (slot->first == NULL)
		slot->first = c;
	else if (isnan(slot->first->value) && !isnan(c->value)) {
		cell_free(slot->first);
		slot->first = c;
	} else if (slot->other == NULL && !isnan(c->value))
		slot->other = c;
	else
		cell_free(c);
}

struct columns {
	size_t phase, step, launch, metric, value, unit, why, edge, n_samples;
};

static void
read_row(struct sampled *s, const struct tsv *t, const struct columns *col)
{
	size_t set = s->n_sets - 1;
	struct slot *slot;
	struct cell *c;
	char *window;

	window = xasprintf("%s\t%s\t%s", t->val[col->phase], t->val[col->step],
	    t->val[col->launch]);
	slot = slot_of(s, intern_text(&s->window, window),
	    intern_text(&s->metric, tsv_text(t, col->metric)));
	free(window);
	if ((slot->first != NULL && slot->first->set == set) ||
	    (slot->other != NULL && slot->other->set == set))
		tsv_die(t, col->metric, "%s stands twice in phase %s, step %s",
		    t->val[col->metric], t->val[col->phase], t->val[col->step]);
	c = xalloc(1, sizeof *c);
	c->set = set;
	c->phase = text(t, col->phase);
	c->launch = text(t, col->launch);
	c->unit = text(t, col->unit);
	c->why = text(t, col->why);
	c->whole = !tsv_int(t, col->step, &c->step);
	c->value = tsv_num(t, col->value);
	c->edge = tsv_num(t, col->edge);
	c->n_samples = tsv_count(t, col->n_samples);
	place(slot, c);
}

static void
read_set(struct sampled *s, const char *arg)
{
	const char *eq = strchr(arg, '=');
	struct columns col;
	struct tsv t;

	if (eq == NULL || eq == arg || eq[1] == '\0')
		errx(NS_TROUBLE, "'%s': SET=FILE was expected, as in a=sampled-a.tsv",
		    arg);
	s->set = xgrow(s->set, &s->sets_cap, s->n_sets + 1, sizeof *s->set);
	s->set[s->n_sets] = xasprintf("%.*s", (int)(eq - arg), arg);
	for (size_t i = 0; i < s->n_sets; i++)
		if (strcmp(s->set[i], s->set[s->n_sets]) == 0)
			errx(NS_TROUBLE, "set %s is given twice", s->set[i]);
	s->n_sets++;
	tsv_open(&t, eq + 1);
	col.phase = tsv_col(&t, "phase");
	col.step = tsv_col(&t, "step");
	col.launch = tsv_col(&t, "launch");
	col.metric = tsv_col(&t, "metric");
	col.value = tsv_col(&t, "value");
	col.unit = tsv_col(&t, "unit");
	col.why = tsv_col(&t, "why");
	col.edge = tsv_col(&t, "edge_value");
	col.n_samples = tsv_col(&t, "n_samples");
	while (tsv_next(&t))
		read_row(s, &t, &col);
	tsv_close(&t);
}

static void
print_counter(const struct sampled *s, struct out *o, const struct slot *slot,
    const char *metric)
{
	const struct cell *c = slot->first;

	out_text(o, "nsys");
	out_text(o, c->phase);
	if (c->whole)
		out_na(o);
	else
		out_int(o, c->step);
	out_text(o, c->launch);
	out_na(o);
	out_text(o, metric);
	out_sum(o, c->value);
	out_text(o, c->unit);
	out_text(o, c->why);
	out_sum(o, c->edge);
	out_count(o, c->n_samples);
	out_text(o, s->set[c->set]);
	out_row(o);
}

/* Nothing of nothing is no error. */
static double
ratio(double part, double of)
{
	return part == 0 ? 0 : part / of;
}

static void
print_total(const struct sampled *s, struct out *o, const struct slot *slot,
    const char *metric)
{
	const struct cell *c = slot->first, *other = slot->other;

	out_text(o, c->phase);
	out_text(o, c->launch);
	out_text(o, metric);
	out_text(o, c->unit);
	out_sum(o, c->value);
	out_sum(o, c->edge);
	out_num(o, ratio(c->edge, c->value));
	out_count(o, c->n_samples);
	out_text(o, s->set[c->set]);
	out_text(o, c->why);
	out_text(o, other != NULL ? s->set[other->set] : NULL);
	out_sum(o, other != NULL ? other->value : NAN);
	out_num(o, other != NULL ? ratio(other->value - c->value, c->value) : NAN);
	out_row(o);
}

static void
print_all(const struct sampled *s, bool totals)
{
	struct out o;

	out_open(&o, NULL);
	out_head(&o, totals ? TOTALS : SAMPLED);
	for (size_t w = 0; w < s->n_rows; w++)
		for (uint32_t m = 0; m < s->row[w].n; m++)
			if (s->row[w].slot[m].first != NULL)
				(totals ? print_total : print_counter)(s, &o,
				    &s->row[w].slot[m], interned(&s->metric, m));
	out_close(&o);
}

static void
sampled_free(struct sampled *s)
{
	for (size_t w = 0; w < s->n_rows; w++) {
		for (size_t m = 0; m < s->row[w].n; m++) {
			cell_free(s->row[w].slot[m].first);
			cell_free(s->row[w].slot[m].other);
		}
		free(s->row[w].slot);
	}
	while (s->n_sets > 0)
		free(s->set[--s->n_sets]);
	free(s->set);
	free(s->row);
	intern_free(&s->window);
	intern_free(&s->metric);
}

int
main(int argc, char *argv[])
{
	struct sampled s = { 0 };
	bool totals = false;
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		totals |= ch == OPT_TOTALS;
	if (optind == argc)
		tool_usage(&tool);
	for (int i = optind; i < argc; i++)
		read_set(&s, argv[i]);
	print_all(&s, totals);
	sampled_free(&s);
	return NS_OK;
}
