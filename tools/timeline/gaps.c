/* gaps.c: why a device had nothing to do. */
#include "timeline.h"

static const char *const class_name[] = { "within_graph", "host_launch",
    "sync_wait", "copy", "between_graphs", "between_kernels", "unknown", "end" };

static bool
moves_data(const struct row *r)
{
	return r->kind == KIND_COPY || r->kind == KIND_SET;
}

/* The first rule that fits; docs/man/ns-timeline.1 says the same in words. */
static enum class
class(const struct gaps *gaps, const struct row *before, const struct row *after)
{
	if (after == NULL)
		return END;
	if (before != NULL && before->graph != NONE &&
	    before->graph == after->graph && before->pid == after->pid)
		return WITHIN_GRAPH;
	if (after->launch == NONE)
		return UNKNOWN;
	if (before == NULL)
		return HOST_LAUNCH;
	if (after->launch >= before->end)
		return waits_until(gaps->waits, after->pid, before->end) -
		    before->end > (after->start - before->end) / 2 ?
		    SYNC_WAIT : HOST_LAUNCH;
	if (moves_data(before) || moves_data(after))
		return COPY;
	return before->graph != NONE || after->graph != NONE ?
	    BETWEEN_GRAPHS : BETWEEN_KERNELS;
}

void
gaps_add(void *v, const struct gap *g, const struct row *before,
    const struct row *after)
{
	struct gaps *gaps = v;
	struct gap *new;

	gaps->g = xgrow(gaps->g, &gaps->cap, gaps->n + 1, sizeof *gaps->g);
	new = &gaps->g[gaps->n++];
	*new = *g;
	new->class = class(gaps, before, after);
	new->before = before != NULL ? before->name : INTERN_NONE;
	new->after = after != NULL ? after->name : INTERN_NONE;
}

static int
by_start(const void *va, const void *vb)
{
	const struct gap *a = va, *b = vb;

	return order(a->start, b->start) ?:
	    order(a->device, b->device) ?:
	    order(a->pid, b->pid) ?:
	    order(a->dur, b->dur) ?:
	    order(a->step, b->step);
}

void
gaps_print(struct gaps *gaps, const struct sweep *sweep, const struct intern *names)
{
	struct out out;

	if (gaps->n > 0)
		qsort(gaps->g, gaps->n, sizeof *gaps->g, by_start);
	out_open(&out, NULL);
	out_head(&out, "phase step pid device start_ns dur_ns class before after");
	for (size_t i = 0; i < gaps->n; i++) {
		const struct gap *g = &gaps->g[i];

		if (!sweep_uses(sweep, g->pid, g->device))
			continue;
		out_text(&out, interned(names, g->phase));
		out_int(&out, g->step);
		out_opt(&out, g->pid);
		out_opt(&out, g->device);
		out_int(&out, g->start);
		out_int(&out, g->dur);
		out_text(&out, class_name[g->class]);
		out_text(&out, g->before != INTERN_NONE ? interned(names, g->before) : NULL);
		out_text(&out, g->after != INTERN_NONE ? interned(names, g->after) : NULL);
		out_row(&out);
	}
	out_close(&out);
}

void
gaps_print_classes(const struct gaps *gaps, const struct sweep *sweep,
    const struct intern *names)
{
	struct intern phases = { 0 };
	struct { uint64_t n; int64_t sum, largest; } (*c)[N_CLASSES];
	size_t cap = 0;
	struct out out;

	c = xgrow(NULL, &cap, 8, sizeof *c);
	for (size_t i = 0; i < gaps->n; i++) {
		const struct gap *g = &gaps->g[i];
		uint32_t n = phases.n, p = intern(&phases, &g->phase, sizeof g->phase);

		c = xgrow(c, &cap, (size_t)n + 1, sizeof *c);
		if (p == n)
			memset(c[p], 0, sizeof c[p]);
		if (!sweep_uses(sweep, g->pid, g->device))
			continue;
		c[p][g->class].n++;
		add_ns(&c[p][g->class].sum, g->dur);
		if (g->dur > c[p][g->class].largest)
			c[p][g->class].largest = g->dur;
	}
	out_open(&out, NULL);
	out_head(&out, "phase class n_gaps idle_ns largest_gap_ns");
	for (uint32_t p = 0; p < phases.n; p++)
		for (size_t k = 0; k < N_CLASSES; k++) {
			uint32_t phase;

			if (c[p][k].n == 0)
				continue;
			memcpy(&phase, interned(&phases, p), sizeof phase);
			out_text(&out, interned(names, phase));
			out_text(&out, class_name[k]);
			out_count(&out, c[p][k].n);
			out_int(&out, c[p][k].sum);
			out_int(&out, c[p][k].largest);
			out_row(&out);
		}
	out_close(&out);
	intern_free(&phases);
	free(c);
}
