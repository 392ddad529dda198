/* instructions.c: where within its largest kernels the time goes. */
#include <math.h>

#include "report.h"

enum { PLACES = 5, FEW = 25 };	/* of a kernel; samples that tell nothing */
static const double LITTLE = 0.03;	/* a share that is not shown */

bool
has_instructions(const struct doc *d)
{
	return d->run->source_kernels.n > 0;
}

static bool
shown(const struct doc *d, const struct table *t, size_t row, const char *phase)
{
	double rank = table_num(t, row, "rank");

	return (phase == NULL ? table_text(t, row, "phase") == NULL :
	    table_is(t, row, "phase", phase)) && !(rank > (double)d->top_kernels);
}

static const char *
kernel_cell(struct doc *d, const struct table *t, size_t row)
{
	double rank = table_num(t, row, "rank");
	const char *name = kernel_name(d, text_or(table_text(t, row, "name"), ""));

	return isnan(rank) ? name : say(d, "%.0f" HARD "%s", rank, name);
}

static const char *
times_cell(struct doc *d, const struct table *t, size_t row, const char *column)
{
	double x = table_num(t, row, column);

	return isnan(x) ? "" : times(d, x);
}

static bool
hot(const struct table *t, size_t row)
{
	double share = table_num(t, row, "share_ratio");

	return table_num(t, row, "place") <= PLACES && share >= LITTLE &&
	    table_num(t, row, "n_samples") >= FEW * share;
}

/* "long scoreboard 98 %, for LDG.E.128 R44, ... at 0x0670" */
static const char *
waits_cell(struct doc *d, const struct table *t, size_t row)
{
	const char *stall = text_or(table_text(t, row, "stall"), "");
	const char *for_it = table_text(t, row, "producer");

	if (strcmp(stall, "none") == 0 || *stall == '\0')
		return "";
	return say(d, "%s" HARD "%.0f" HARD "%%%s", words(d, stall),
	    100 * table_num(t, row, "stall_ratio"), for_it == NULL ? "" :
	    say(d, ", for " CODE("%s") " at %s", for_it,
	    text_or(table_text(t, row, "producer_address"), "")));
}

static void
kernels(struct doc *d, const char *phase)
{
	const struct table *t = &d->run->source_kernels;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += shown(d, t, i, phase);
	if (n == 0)
		return;
	table(d, say(d, "%s: where the kernels wait", capital(d, text_or(phase, "kernels"))),
	    "Kernel|>Samples|>Instructions|>L2 sectors over ideal|>Shared over ideal|~Reading");
	for (size_t i = 0; i < t->n; i++) {
		if (!shown(d, t, i, phase))
			continue;
		cell(d, kernel_cell(d, t, i));
		cell(d, count(d, table_num(t, i, "n_samples")));
		cell(d, count(d, table_num(t, i, "n_instructions")));
		cell(d, times_cell(d, t, i, "l2_over_ideal_ratio"));
		cell(d, times_cell(d, t, i, "shared_over_ideal_ratio"));
		cell(d, text_or(table_text(t, i, "reading"), not_measured));
	}
	table_end(d);
}

static void
instructions(struct doc *d, const char *phase)
{
	const struct table *t = &d->run->source;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += shown(d, t, i, phase) && hot(t, i);
	if (n == 0)
		return;
	table(d, say(d, "%s: the hottest instructions", capital(d, text_or(phase, "kernels"))),
	    "Kernel|At|Instruction|>Share|Waits for");
	for (size_t i = 0; i < t->n; i++) {
		const char *line = table_text(t, i, "line");

		if (!shown(d, t, i, phase) || !hot(t, i))
			continue;
		cell(d, kernel_cell(d, t, i));
		cell(d, text_or(line, text_or(table_text(t, i, "address"), "")));
		cell(d, say(d, CODE("%s"), text_or(table_text(t, i, "instruction"), "")));
		cell(d, percent(d, table_num(t, i, "share_ratio")));
		cell(d, waits_cell(d, t, i));
	}
	table_end(d);
}

static bool
begins_phase(const struct table *t, size_t row)
{
	const char *phase = table_text(t, row, "phase");

	return row == 0 || (phase == NULL ? table_text(t, row - 1, "phase") != NULL :
	    !table_is(t, row - 1, "phase", phase));
}

void
say_instructions(struct doc *d)
{
	const struct table *t = &d->run->source_kernels;

	for (size_t i = 0; i < t->n; i++)
		if (begins_phase(t, i) && shown(d, t, i, table_text(t, i, "phase")))
			item(d, say(d, "Within the largest%s%s, %s: %s.",
			    table_text(t, i, "phase") != NULL ? " of " : "",
			    text_or(table_text(t, i, "phase"), ""),
			    kernel_name(d, text_or(table_text(t, i, "name"), "")),
			    text_or(table_text(t, i, "reading"), not_measured)));
}

void
write_instructions(struct doc *d)
{
	const struct table *t = &d->run->source_kernels;

	for (size_t i = 0; i < t->n; i++)
		if (begins_phase(t, i)) {
			kernels(d, table_text(t, i, "phase"));
			instructions(d, table_text(t, i, "phase"));
		}
	para(d, NOTE, "Samples are of warps, at the instruction that each could not go on from; what "
	    "that waits for is looked up in the instructions before it. Shares are of the kernel's "
	    "samples, less than 3 % is left out, and so are kernels of fewer than 25. Addresses count from "
	    "the kernel's first instruction. Sectors over ideal are of accesses to global memory.");
}
