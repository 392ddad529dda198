/* detail.c: the kernels that take most time, one by one. */
#include <math.h>

#include "report.h"

enum { SHORT = 40 };		/* characters of a name in a table */

bool
has_detail(const struct doc *d)
{
	return d->run->detail.n > 0 || has_instructions(d);
}

static bool
shown(const struct doc *d, size_t row, const char *phase)
{
	const struct table *t = &d->run->detail;

	return table_is(t, row, "phase", phase) &&
	    table_num(t, row, "rank") <= (double)d->top_kernels;
}

/* A name that a table can hold; numbers tell kernels of one name apart. */
const char *
kernel_name(struct doc *d, const char *name)
{
	size_t n = 0;

	for (const char *p = name; *p != '\0'; p++)
		if ((*p & 0xc0) != 0x80 && n++ == SHORT)
			return say(d, CODE("%.*s…"), (int)(p - name), name);
	return say(d, CODE("%s"), name);
}

static const char *
name_of(struct doc *d, size_t row)
{
	return kernel_name(d, text_or(table_text(&d->run->detail, row, "name"), ""));
}

static double
num(const struct doc *d, size_t row, const char *column)
{
	return table_num(&d->run->detail, row, column);
}

static const char *
ratio(struct doc *d, size_t row, const char *column)
{
	double x = num(d, row, column);

	return isnan(x) ? "" : percent(d, x);
}

static const char *
bytes(struct doc *d, size_t row, const char *column)
{
	double x = num(d, row, column);

	return isnan(x) ? "" : quantity(d, x, "B");
}

static const char *
kernel_cell(struct doc *d, size_t row)
{
	return say(d, "%.0f" HARD "%s", num(d, row, "rank"), name_of(d, row));
}

static void
say_first(struct doc *d, const char *phase)
{
	const struct table *t = &d->run->detail;
	double all = 0;
	size_t n = 0, first = t->n;

	for (size_t i = 0; i < t->n; i++)
		if (shown(d, i, phase)) {
			all = add_known(all, num(d, i, "share_ratio"));
			first = first == t->n ? i : first;
			n++;
		}
	if (n == 0)
		return;
	item(d, say(d, "%s: %zu %s %s of the time of all kernels. Most, %s, is %s%s%s.",
	    capital(d, phase), n, n == 1 ? "kernel takes" : "kernels take",
	    strong(d, percent(d, all)), percent(d, num(d, first, "share_ratio")),
	    name_of(d, first), table_text(t, first, "reading") != NULL ? ": " : "",
	    text_or(table_text(t, first, "reading"), "")));
}

static void
holds(struct doc *d, const char *phase)
{
	const struct table *t = &d->run->detail;

	table(d, say(d, "%s: what holds the kernels", capital(d, phase)),
	    "Kernel|>Grid|>Share|>Launches|>In the run|>Alone|~Reading");
	for (size_t i = 0; i < t->n; i++) {
		if (!shown(d, i, phase))
			continue;
		cell(d, kernel_cell(d, i));
		cell(d, text_or(table_text(t, i, "grid"), ""));
		cell(d, percent(d, num(d, i, "share_ratio")));
		cell(d, count(d, num(d, i, "n_launches")));
		cell(d, duration(d, num(d, i, "launch_ns")));
		cell(d, duration(d, num(d, i, "dur_ns")));
		cell(d, text_or(table_text(t, i, "reading"), not_measured));
	}
	table_end(d);
}

static void
moves(struct doc *d, const char *phase)
{
	const struct table *t = &d->run->detail;

	table(d, say(d, "%s: bytes of one launch", capital(d, phase)),
	    "Kernel|>Shared|>L1|>Hits|>L2|>Hits|>Memory read|>Written|>Rate|>Of ceiling");
	for (size_t i = 0; i < t->n; i++) {
		if (!shown(d, i, phase))
			continue;
		cell(d, kernel_cell(d, i));
		cell(d, bytes(d, i, "shared_bytes"));
		cell(d, bytes(d, i, "l1_bytes"));
		cell(d, ratio(d, i, "l1_hit_ratio"));
		cell(d, bytes(d, i, "l2_bytes"));
		cell(d, ratio(d, i, "l2_hit_ratio"));
		cell(d, bytes(d, i, "memory_read_bytes"));
		cell(d, bytes(d, i, "memory_write_bytes"));
		cell(d, isnan(num(d, i, "memory_bytes_per_s")) ? "" :
		    quantity(d, num(d, i, "memory_bytes_per_s"), "B/s"));
		cell(d, ratio(d, i, "of_memory_ceiling_ratio"));
	}
	table_end(d);
}

static const char *
registers_cell(struct doc *d, size_t row)
{
	double n = num(d, row, "n_registers"), spilled = num(d, row, "registers_bytes");

	return isnan(n) ? "" : spilled > 0 ? say(d, "%s, spills %s", count(d, n),
	    quantity(d, spilled, "B")) : count(d, n);
}

static const char *
limit_cell(struct doc *d, size_t row)
{
	const char *s = table_text(&d->run->detail, row, "limited_by");
	char *copy, *rest, *one;
	const char *all = "";

	if (s == NULL || !(num(d, row, "occupancy_limit_ratio") < 1))
		return "";
	copy = rest = xstrdup(s);
	while ((one = strsep(&rest, ",")) != NULL)
		all = say(d, "%s%s%s%s", all, *all != '\0' ? ", " : "", one,
		    strcmp(one, "shared") == 0 ? " memory" : "");
	free(copy);
	return all;
}

static const char *
stalls_cell(struct doc *d, size_t row)
{
	static const char *const at[] = { "stall_1", "stall_2", "stall_3" };
	const char *all = "";

	for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
		const char *s = table_text(&d->run->detail, row, at[i]);
		double x = num(d, row, say(d, "%s_ratio", at[i]));

		if (s != NULL && !isnan(x))
			all = say(d, "%s%s%s" HARD "%.0f" HARD "%%", all,
			    *all != '\0' ? ", " : "", words(d, s), 100 * x);
	}
	return all;
}

static void
sits(struct doc *d, const char *phase)
{
	const struct table *t = &d->run->detail;

	table(d, say(d, "%s: how the SMs are used", capital(d, phase)),
	    "Kernel|>Waves|>Registers|>Shared|>Occupancy|>At best|Limited by|>Issue|>Tensor|"
	    "Stalls");
	for (size_t i = 0; i < t->n; i++) {
		double waves = num(d, i, "n_waves");

		if (!shown(d, i, phase))
			continue;
		cell(d, kernel_cell(d, i));
		cell(d, isnan(waves) ? "" : digits(d, waves));
		cell(d, registers_cell(d, i));
		cell(d, bytes(d, i, "block_shared_bytes"));
		cell(d, ratio(d, i, "occupancy_ratio"));
		cell(d, ratio(d, i, "occupancy_limit_ratio"));
		cell(d, limit_cell(d, i));
		cell(d, ratio(d, i, "issue_ratio"));
		cell(d, ratio(d, i, "tensor_ratio"));
		cell(d, stalls_cell(d, i));
	}
	table_end(d);
}

/* The phases in the order of the table, each once. */
static bool
begins_phase(const struct table *t, size_t row)
{
	const char *phase = table_text(t, row, "phase");

	return phase != NULL && (row == 0 || !table_is(t, row - 1, "phase", phase));
}

static void
say_one_kernel(struct doc *d)
{
	const char *step = run_step_kind(d->run);

	if (step != NULL && strcmp(step, "persistent") == 0)
		para(d, NOTE, "A decode step is one kernel here, products, attention and all; run with "
		    CODE("STEP=kernels") " it is a kernel or more an operation, each with its own row.");
}

static void
say_how(struct doc *d)
{
	para(d, NOTE, "Each kernel was launched alone and replayed with cold caches, so its "
	    "bytes of memory are an upper bound and its hits a lower one. " STRONG("Alone")
	    " is that launch under the profiler; " STRONG("in the run") " is the mean in the "
	    "timeline, where a kernel may begin before the one before it has ended, and wait. "
	    "Rates and shares of ceilings are of the launch alone. Shared memory is first "
	    "what moved, then what a block has; registers are a thread's. Occupancy is of "
	    "the SMs that had work; issue, of the slots of their schedulers; waves, how often "
	    "the blocks fill the GPU.");
}

void
write_detail(struct doc *d)
{
	const struct table *t = &d->run->detail;

	for (size_t i = 0; i < t->n; i++)
		if (begins_phase(t, i))
			say_first(d, table_text(t, i, "phase"));
	say_one_kernel(d);
	say_instructions(d);
	for (size_t i = 0; i < t->n; i++)
		if (begins_phase(t, i)) {
			const char *phase = table_text(t, i, "phase");

			holds(d, phase);
			moves(d, phase);
			sits(d, phase);
		}
	if (t->n > 0)
		say_how(d);
	if (has_instructions(d))
		write_instructions(d);
}
