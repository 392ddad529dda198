/* movers.c: what moves the bytes: kernels, and the experts that were chosen. */
#include <math.h>

#include "report.h"
#include "signature.h"

static const char *const phases[] = { "prefill", "decode" };
#define N_PHASES (sizeof phases / sizeof *phases)

/* ---- kernels */

bool
has_kernels(const struct doc *d)
{
	return d->run->n_kernel > 0;
}

/* Parameters tell people little; a function of a simulated run has its own name. */
static const char *
name_of(struct doc *d, const struct kernel *k)
{
	char *copy = xstrdup(k->name);
	const char *name = say(d, CODE("%s"), d->run->simulated ? copy : signature_name(copy));

	free(copy);
	return name;
}

static void
kernel_row(struct doc *d, const char *name, const struct kernel *k, double all)
{
	cell(d, name);
	cell(d, quantity(d, k->bytes, "B"));
	cell(d, quantity(d, k->read_bytes, "B"));
	cell(d, quantity(d, k->write_bytes, "B"));
	cell(d, percent(d, k->bytes / all));
	cell(d, k->n_launches > 0 ? count(d, (double)k->n_launches) : "");
}

/* The first top_kernels, but none of under a ten-thousandth; then the others. */
static void
kernel_rows(struct doc *d, const char *phase, double all)
{
	const struct run *r = d->run;
	struct kernel others = { NULL, NULL, 0, 0, 0, 0, 0 };
	size_t shown = 0, n_others = 0;

	for (size_t i = 0; i < r->n_kernel; i++) {
		const struct kernel *k = &r->kernel[i];

		if (strcmp(k->phase, phase) != 0)
			continue;
		if (shown < d->top_kernels &&
		    k->bytes * 1e4 >= all) {
			kernel_row(d, name_of(d, k), k, all);
			shown++;
			continue;
		}
		others.bytes += k->bytes;
		others.read_bytes += k->read_bytes;
		others.write_bytes += k->write_bytes;
		if (!r->simulated)	/* functions of one dump are one step's */
			others.n_launches += k->n_launches;
		n_others++;
	}
	if (n_others > 0)
		kernel_row(d, say(d, "%zu %s", n_others,
		    n_others == 1 ? "other" : "others"), &others, all);
}

static void
kernels_of(struct doc *d, const char *phase)
{
	const struct run *r = d->run;
	const struct kernel *first = NULL;
	double all = 0;

	for (size_t i = 0; i < r->n_kernel; i++)
		if (strcmp(r->kernel[i].phase, phase) == 0) {
			if (first == NULL)
				first = &r->kernel[i];
			all += r->kernel[i].bytes;
		}
	if (first == NULL)
		return;
	para(d, PLAIN, say(d, "%s of the bytes of %s are moved by %s.",
	    percent(d, first->bytes / all), phase, name_of(d, first)));
	table(d, say(d, "%s: %s by bytes of memory", capital(d, phase),
	    r->simulated ? "functions" : "kernels"), r->simulated ?
	    "Function|>Bytes|>Read|>Written|>Share|>Steps" :
	    "Kernel|>Bytes|>Read|>Written|>Share|>Launches");
	kernel_rows(d, phase, all);
	table_end(d);
}

void
write_kernels(struct doc *d)
{
	for (size_t i = 0; i < N_PHASES; i++)
		kernels_of(d, phases[i]);
}

/* ---- experts */

bool
has_routing(const struct doc *d)
{
	return d->run->routing.n > 0;
}

struct choices {
	double	 n, n_experts, n_tokens, busiest;	/* layers x steps; used in all */
};

/* Rows come by phase, step, layer: a run of them is one router's choice. */
static struct choices
choices_of(const struct table *t, const char *phase)
{
	const char *step = "", *layer = "";
	struct choices c = { 0, 0, 0, 0 };

	for (size_t i = 0; i < t->n; i++) {
		const char *s = text_or(table_text(t, i, "step"), "");
		const char *l = text_or(table_text(t, i, "layer"), "");
		double n = table_num(t, i, "n_tokens");

		if (!table_is(t, i, "phase", phase))
			continue;
		c.n += strcmp(s, step) != 0 || strcmp(l, layer) != 0;
		step = s, layer = l;
		c.n_experts++;
		c.n_tokens = add_known(c.n_tokens, n);
		c.busiest = fmax(c.busiest, n);
	}
	return c;
}

static const char *
experts_of(struct doc *d, const struct choices *c)
{
	double all = kv_num(&d->run->model, "n_experts");

	return isnan(all) ? digits(d, c->n_experts / c->n) :
	    say(d, "%s of %s", digits(d, c->n_experts / c->n), count(d, all));
}

static void
routing_row(struct doc *d, const char *phase)
{
	struct choices c = choices_of(&d->run->routing, phase);

	if (c.n == 0)
		return;
	cell(d, phase);
	cell(d, count(d, c.n));
	cell(d, experts_of(d, &c));
	cell(d, digits(d, c.n_tokens / c.n_experts));
	cell(d, count(d, c.busiest));
}

void
write_routing(struct doc *d)
{
	para(d, PLAIN, "Only the experts that a step chose are read, so their number "
	    "sets the bytes: a step of many tokens reaches more of them and shares "
	    "each among more tokens.");
	for (size_t i = 0; i < N_PHASES; i++) {
		struct choices c = choices_of(&d->run->routing, phases[i]);

		if (c.n > 0)
			item(d, say(d, "A step of %s reads %s experts in a layer.",
			    phases[i], strong(d, experts_of(d, &c))));
	}
	table(d, "Experts chosen, by phase", "Phase|>Layer-steps|>Experts used|"
	    ">Tokens an expert|>Busiest expert, tokens");
	for (size_t i = 0; i < N_PHASES; i++)
		routing_row(d, phases[i]);
	table_end(d);
}
