/* timeline.c: where the time goes, from a capture of everything the GPU did. */
#include <math.h>

#include "report.h"

bool
has_timeline(const struct doc *d)
{
	return d->run->timeline.path != NULL || d->run->families.path != NULL ||
	    d->run->gaps.path != NULL;
}

/* A column of a phase: its sum over the steps. */
static double
sum(const struct table *t, const char *phase, const char *name)
{
	double all = NAN;

	for (size_t i = 0; i < t->n; i++)
		if (table_is(t, i, "phase", phase))
			all = add_known(all, table_num(t, i, name));
	return all;
}

static double
rows_of(const struct table *t, const char *phase)
{
	double n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += table_is(t, i, "phase", phase);
	return n;
}

/* The first row that begins a phase not seen before. */
static bool
new_phase(const struct table *t, size_t row)
{
	const char *phase = table_text(t, row, "phase");

	for (size_t i = 0; phase != NULL && i < row; i++)
		if (table_is(t, i, "phase", phase))
			return false;
	return phase != NULL;
}

static void
say_phase(struct doc *d, const char *phase)
{
	const struct table *t = &d->run->timeline;
	double wall = sum(t, phase, "wall_ns"), busy = sum(t, phase, "busy_ns");
	double n = rows_of(t, phase), kernels = sum(t, phase, "n_kernels");

	if (isnan(busy / wall))
		return;
	item(d, say(d, "%s: the GPU worked %s of %s a step (%s); %s kernels a step, "
	    "so a kernel and the pause after it take %s.", phase,
	    duration(d, busy / n), duration(d, wall / n),
	    strong(d, percent(d, busy / wall)), digits(d, kernels / n),
	    duration(d, wall / kernels)));
}

static void
phase_row(struct doc *d, const char *phase)
{
	const struct table *t = &d->run->timeline;
	double n = rows_of(t, phase), gap = NAN;

	for (size_t i = 0; i < t->n; i++)
		if (table_is(t, i, "phase", phase))
			gap = fmax(gap, table_num(t, i, "largest_gap_ns"));
	cell(d, phase);
	cell(d, count(d, n));
	cell(d, duration(d, sum(t, phase, "wall_ns") / n));
	cell(d, duration(d, sum(t, phase, "busy_ns") / n));
	cell(d, duration(d, sum(t, phase, "idle_ns") / n));
	cell(d, duration(d, gap));
	cell(d, digits(d, sum(t, phase, "n_kernels") / n));
	cell(d, digits(d, sum(t, phase, "n_launches") / n));
	cell(d, digits(d, sum(t, phase, "n_graph_launches") / n));
}

static void
say_unreliable(struct doc *d)
{
	const struct table *t = &d->run->timeline;

	for (size_t i = 0; i < t->n; i++)
		if (table_is(t, i, "reliable", "0") && new_phase(t, i))
			para(d, DOUBT, say(d, STRONG("Not reliable: %s") ". %s",
			    text_or(table_text(t, i, "phase"), "a phase"),
			    text_or(table_text(t, i, "why"), "Kernels are hidden "
			    "inside graphs, or records were dropped: idle time and "
			    "kernel counts are not what they seem.")));
}

/* A table as it stands, each column by the unit in its name. */
static void
as_it_stands(struct doc *d, const struct table *t, const char *caption)
{
	const char *columns = "";
	size_t n = t->n < d->top_kernels ? t->n : d->top_kernels;

	for (size_t j = 0; j < t->ncol; j++) {
		double x;
		bool number = t->n > 0 && parse_num(t->row[0][j], &x);

		columns = say(d, "%s%s%s%s", columns, j > 0 ? "|" : "",
		    number ? ">" : "", label(d, t->col[j]));
	}
	table(d, n < t->n ? say(d, "%s: the first %zu of %zu", caption, n, t->n) :
	    caption, columns);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < t->ncol; j++)
			cell(d, setting(d, t->col[j], t->row[i][j]));
	table_end(d);
}

void
write_timeline(struct doc *d)
{
	const struct table *t = &d->run->timeline;

	say_unreliable(d);
	for (size_t i = 0; i < t->n; i++)
		if (new_phase(t, i))
			say_phase(d, table_text(t, i, "phase"));
	figure(d, "timeline", "Busy and idle time of each step.");
	if (t->path != NULL) {
		table(d, "Means of a step", "Phase|>Steps|>Wall|>Busy|>Idle|"
		    ">Largest gap|>Kernels|>Launches|>Graph launches");
		for (size_t i = 0; i < t->n; i++)
			if (new_phase(t, i))
				phase_row(d, table_text(t, i, "phase"));
		table_end(d);
		para(d, NOTE, "Busy is the union of kernels, copies and sets: work "
		    "that overlaps counts once. Tracing slows the host, so idle "
		    "time is an upper bound.");
	}
	if (d->run->families.path != NULL)
		as_it_stands(d, &d->run->families, "Kernel families");
	if (d->run->gaps.path != NULL)
		as_it_stands(d, &d->run->gaps, "Gaps in the GPU's work");
}
