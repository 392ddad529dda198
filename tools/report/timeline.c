/* timeline.c: where the time goes, from a capture of everything the GPU did. */
#include <math.h>

#include "report.h"

bool
has_timeline(const struct doc *d)
{
	return d->run->timeline.path != NULL || d->run->families.path != NULL ||
	    d->run->gaps.path != NULL;
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

/* Windows that a row stands for: one, but for totals. */
static double
windows(const struct table *t, const char *phase)
{
	double n = phase_sum(t, phase, "n_windows");

	return isnan(n) ? rows_of(t, phase) : n;
}

/* Tracing costs time, the host's for the most part: how much, where it is known. */
const char *
traced_slower(struct doc *d, const char *phase)
{
	const struct spread *s = strcmp(phase, "prefill") == 0 ? &d->sum->prefill :
	    &d->sum->decode;
	double wall = phase_sum(&d->run->timeline, phase, "wall_ns") /
	    windows(&d->run->timeline, phase);

	return s->n_tokens > 0 && s->median * 1.05 < wall ? say(d,
	    ": %s; unwatched it takes %s", duration(d, wall),
	    duration(d, s->median)) : "";
}

/* Without windows there is one phase, and it is everything. */
static bool
is_whole(const char *phase)
{
	return strcmp(phase, "all") == 0;
}

static void
say_phase(struct doc *d, const char *phase)
{
	const struct table *t = &d->run->timeline;
	double wall = phase_sum(t, phase, "wall_ns");
	double busy = phase_sum(t, phase, "busy_ns");
	double n = windows(t, phase), kernels = phase_sum(t, phase, "n_kernels");

	if (isnan(busy / wall))
		return;
	item(d, say(d, "%s: the GPU worked %s of %s%s (%s)%s.%s",
	    is_whole(phase) ? "The whole capture" : capital(d, phase),
	    duration(d, busy / n), duration(d, wall / n), is_whole(phase) ? "" : " a step",
	    strong(d, percent(d, busy / wall)), kernels > 0 ?
	    say(d, " and ran %s kernels, one each %s of wall time",
	    count(d, round(kernels / n)), duration(d, wall / kernels)) : "",
	    *traced_slower(d, phase) != '\0' ? " Tracing made the step longer: "
	    "unwatched the GPU waits less." : ""));
}

static void
phase_row(struct doc *d, const char *phase)
{
	const struct table *t = &d->run->timeline;
	double n = windows(t, phase), gap = NAN;

	for (size_t i = 0; i < t->n; i++)
		if (table_is(t, i, "phase", phase))
			gap = fmax(gap, table_num(t, i, "largest_gap_ns"));
	cell(d, phase);
	cell(d, count(d, n));
	cell(d, duration(d, phase_sum(t, phase, "wall_ns") / n));
	cell(d, duration(d, phase_sum(t, phase, "busy_ns") / n));
	cell(d, duration(d, phase_sum(t, phase, "idle_ns") / n));
	cell(d, duration(d, gap));
	cell(d, count(d, round(phase_sum(t, phase, "n_kernels") / n)));
	cell(d, count(d, round(phase_sum(t, phase, "n_launches") / n)));
	cell(d, count(d, round(phase_sum(t, phase, "n_graph_launches") / n)));
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

/* ---- shares, gaps, calls */

static const char *
name_cell(struct doc *d, const struct table *t, size_t i, const char *column)
{
	const char *name = table_text(t, i, column);

	return name != NULL ? say(d, CODE("%s"), name) : "";
}

static const char *
phase_cell(const struct table *t, size_t i)
{
	return text_or(table_text(t, i, "phase"), "none");
}

/* At most top_kernels rows of a phase: rows come by phase, largest first. */
static bool
shown(const struct doc *d, const struct table *t, size_t row)
{
	const char *phase = phase_cell(t, row);
	size_t n = 0;

	for (size_t i = row; i-- > 0 && strcmp(phase_cell(t, i), phase) == 0; )
		n++;
	return n < d->top_kernels;
}

/* Durations of a phase add up to more than the time that they took. */
static void
say_overlap(struct doc *d, const struct table *t, const char *phase)
{
	double sum = phase_sum(t, phase, "sum_ns"), own = phase_sum(t, phase, "own_ns");

	if (sum > own * 1.01)
		para(d, NOTE, say(d, "%s: durations from start to end add up to %s, own time "
		    "to %s, since kernels overlap. Time is of the one that began first: one "
		    "that is launched early and waits counts from when the one before it has "
		    "ended. Mean duration has the wait in it.",
		    is_whole(phase) ? "The whole capture" : capital(d, phase),
		    duration(d, sum), duration(d, own)));
}

static void
shares(struct doc *d, const struct table *t, const char *caption,
    const char *column, const char *head)
{
	if (t->n == 0)
		return;
	table(d, caption, say(d, "Phase|%s|>Count|>Time|>Mean duration|>Share", head));
	for (size_t i = 0; i < t->n; i++) {
		if (!shown(d, t, i) && !table_is(t, i, column, "other"))
			continue;
		cell(d, phase_cell(t, i));
		cell(d, strcmp(column, "name") == 0 ? name_cell(d, t, i, column) :
		    words(d, text_or(table_text(t, i, column), "")));
		cell(d, count(d, table_num(t, i, "n_calls")));
		cell(d, duration(d, table_num(t, i, "own_ns")));
		cell(d, duration(d, table_num(t, i, "mean_ns")));
		cell(d, percent(d, table_num(t, i, "share_ratio")));
	}
	table_end(d);
	for (size_t i = 0; i < t->n; i++)
		if (new_phase(t, i))
			say_overlap(d, t, table_text(t, i, "phase"));
}

/* The class that most of a phase's idle time belongs to. */
static void
say_class(struct doc *d, const char *phase)
{
	const struct table *t = &d->run->idle;
	double all = phase_sum(t, phase, "idle_ns"), most = 0;
	size_t at = 0;

	for (size_t i = 0; i < t->n; i++)
		if (table_is(t, i, "phase", phase) &&
		    table_num(t, i, "idle_ns") > most) {
			most = table_num(t, i, "idle_ns");
			at = i;
		}
	if (most > 0)
		item(d, say(d, "Of the idle time of %s %s is %s.",
		    is_whole(phase) ? "the whole capture" : phase,
		    percent(d, most / all), words(d, text_or(table_text(t, at,
		    "class"), "of no class"))));
}

static void
idle_classes(struct doc *d)
{
	const struct table *t = &d->run->idle;

	if (t->n == 0)
		return;
	for (size_t i = 0; i < t->n; i++)
		if (new_phase(t, i))
			say_class(d, table_text(t, i, "phase"));
	table(d, "Idle time by what the GPU waited for",
	    "Phase|Class|>Gaps|>Idle|>Largest");
	for (size_t i = 0; i < t->n; i++) {
		cell(d, phase_cell(t, i));
		cell(d, words(d, text_or(table_text(t, i, "class"), "")));
		cell(d, count(d, table_num(t, i, "n_gaps")));
		cell(d, duration(d, table_num(t, i, "idle_ns")));
		cell(d, duration(d, table_num(t, i, "largest_gap_ns")));
	}
	table_end(d);
}

struct gap { size_t row; double dur; };

static int
longest_first(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	return x->dur != y->dur ? (y->dur > x->dur) - (y->dur < x->dur) :
	    (x->row > y->row) - (x->row < y->row);
}

static void
longest_gaps(struct doc *d)
{
	const struct table *t = &d->run->gaps;
	struct gap *gap = xalloc(t->n, sizeof *gap);
	size_t n = t->n < d->top_kernels ? t->n : d->top_kernels;

	for (size_t i = 0; i < t->n; i++)
		gap[i] = (struct gap){ i, table_num(t, i, "dur_ns") };
	qsort(gap, t->n, sizeof *gap, longest_first);
	if (n > 0) {
		table(d, say(d, "The longest %zu of %zu gaps", n, t->n),
		    "Phase|Step|>Idle|Class|After|Before");
		for (size_t i = 0; i < n; i++) {
			size_t r = gap[i].row;

			cell(d, phase_cell(t, r));
			cell(d, text_or(table_text(t, r, "step"), ""));
			cell(d, duration(d, gap[i].dur));
			cell(d, words(d, text_or(table_text(t, r, "class"), "")));
			cell(d, name_cell(d, t, r, "before"));
			cell(d, name_cell(d, t, r, "after"));
		}
		table_end(d);
	}
	free(gap);
}

static void
calls(struct doc *d)
{
	const struct table *t = &d->run->calls;

	if (t->n == 0)
		return;
	table(d, "Calls of the CPU into CUDA, by time",
	    "Phase|Call|>Calls|>Time|>Mean|Waits");
	for (size_t i = 0; i < t->n; i++) {
		if (!shown(d, t, i))
			continue;
		cell(d, phase_cell(t, i));
		cell(d, name_cell(d, t, i, "name"));
		cell(d, count(d, table_num(t, i, "n_calls")));
		cell(d, duration(d, table_num(t, i, "sum_ns")));
		cell(d, duration(d, table_num(t, i, "mean_ns")));
		cell(d, table_is(t, i, "waits", "1") ? "for the GPU" : "");
	}
	table_end(d);
	para(d, NOTE, "A thread that waits in a synchronize call while the GPU works "
	    "is not a problem: its time is the GPU's own, seen from the other side.");
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
	shares(d, &d->run->families, "Time by family of kernels, over all steps", "family", "Family");
	shares(d, &d->run->kernels, "Time by kernel, over all steps", "name", "Kernel");
	idle_classes(d);
	longest_gaps(d);
	calls(d);
}
