/* ops.c: where the time of a decode step that is one kernel goes. */
#include <math.h>

#include "report.h"

static const double AT_CEILING = 0.8;	/* of what memory can do: that limits */

bool
has_ops(const struct doc *d)
{
	return d->run->ops.n > 0;
}

static const char *
kind_name(struct doc *d, size_t row)
{
	static const struct { const char *kind, *name; } names[] = {
		{ "qkv", "q/k/v" }, { "attend", "attention" },
		{ "out", "attention output" }, { "gate", "gate/up" },
		{ "vocab", "output head" },
	};
	const char *kind = text_or(table_text(&d->run->ops, row, "kind"), "unknown");

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(kind, names[i].kind) == 0)
			return names[i].name;
	return words(d, kind);
}

/* Some kinds together: what their blocks do, in shares of their time. */
struct group {
	size_t	 n;
	double	 total_ns, bytes, multiplying, adding, waiting;
	const char *names;
};

static double
ceiling(const struct doc *d)
{
	return d->sum->no_share != NULL ? NAN :
	    kv_num(&d->run->ceilings, "memory_read_bytes_per_s");
}

static bool
limited(const struct doc *d, size_t row)
{
	return !isnan(ceiling(d)) &&
	    table_num(&d->run->ops, row, "of_ceiling_ratio") >= AT_CEILING;
}

static void
join(struct doc *d, struct group *g, size_t row)
{
	const struct table *t = &d->run->ops;
	double ns = table_num(t, row, "total_ns");

	g->total_ns += ns;
	g->bytes += table_num(t, row, "read_bytes");
	g->multiplying += ns * table_num(t, row, "multiplying_ratio");
	g->adding += ns * table_num(t, row, "adding_ratio");
	g->waiting += ns * table_num(t, row, "waiting_ratio");
	g->names = g->n++ == 0 ? kind_name(d, row) :
	    say(d, "%s, %s", g->names, kind_name(d, row));
}

static struct group
group(struct doc *d, bool by_memory)
{
	struct group g = { 0 };

	for (size_t i = 0; i < d->run->ops.n; i++)
		if (limited(d, i) == by_memory)
			join(d, &g, i);
	return g;
}

static const char *
rate_words(struct doc *d, const struct group *g)
{
	double rate = g->bytes / (g->total_ns * 1e-9);

	return isnan(rate) ? "" : isnan(ceiling(d)) ? say(d, " read %s, and",
	    quantity(d, rate, "B/s")) : say(d, " read %s, %s of what memory can do, and",
	    quantity(d, rate, "B/s"), percent(d, rate / ceiling(d)));
}

static void
say_limited(struct doc *d, const struct group *g, double step)
{
	double rate = g->bytes / (g->total_ns * 1e-9);

	if (g->n > 0)
		item(d, say(d, "%s of the step (%s) streams at %s, %s of what memory can "
		    "do: there memory is the limit.", strong(d, percent(d,
		    g->total_ns / step)), g->names, quantity(d, rate, "B/s"),
		    percent(d, rate / ceiling(d))));
}

static void
say_others(struct doc *d, const struct group *g, double step)
{
	if (g->n > 0)
		item(d, say(d, "In %s of the step (%s) blocks%s wait for results of other "
		    "blocks %s of the time; they multiply, or wait for memory, %s and add up "
		    "%s of it.", strong(d, percent(d, g->total_ns / step)), g->names,
		    rate_words(d, g), strong(d, percent(d, g->waiting / g->total_ns)),
		    percent(d, g->multiplying / g->total_ns),
		    percent(d, g->adding / g->total_ns)));
}

static const char *
blocks(struct doc *d, double n)
{
	return n == 1 ? "one block has" : say(d, "%s blocks have", count(d, n));
}

/* What is not explained by its bytes, and where there is most of that. */
static void
say_beyond(struct doc *d, double step)
{
	const struct table *t = &d->run->ops;
	double most = 0, bytes = 0, least;
	size_t at = 0;

	for (size_t i = 0; i < t->n; i++) {
		double read = table_num(t, i, "read_bytes");
		double beyond = table_num(t, i, "total_ns") - read / ceiling(d) * 1e9;

		bytes += read;
		if (beyond > most) {
			most = beyond;
			at = i;
		}
	}
	least = bytes / ceiling(d) * 1e9;
	if (least < step)
		item(d, say(d, "All it reads, %s, would take %s at what memory can do. "
		    "Of the %s beyond that most, %s, is in %s, in which %s a part.",
		    quantity(d, bytes, "B"), duration(d, least), duration(d, step - least),
		    strong(d, duration(d, most)), kind_name(d, at),
		    blocks(d, table_num(t, at, "n_blocks"))));
}

static const char *
stamped_slower(struct doc *d, double step)
{
	double usual = d->sum->decode.n > 0 ? d->sum->decode.median : NAN;

	return isnan(usual) ? "" : say(d, ", %s against the median step that noted nothing (%s)",
	    signed_percent(d, step / usual - 1), duration(d, usual));
}

static void
kinds(struct doc *d)
{
	const struct table *t = &d->run->ops;

	table(d, "Kinds of op, in the order of the step", "Op|>Times|>Blocks|>Each|>All|>Of the step|"
	    ">Multiplying|>Adding|>Waiting|>Reads|>Rate|>Of memory");
	for (size_t i = 0; i < t->n; i++) {
		cell(d, kind_name(d, i));
		cell(d, count(d, table_num(t, i, "n_ops")));
		cell(d, count(d, table_num(t, i, "n_blocks")));
		cell(d, duration(d, table_num(t, i, "op_ns")));
		cell(d, duration(d, table_num(t, i, "total_ns")));
		cell(d, percent(d, table_num(t, i, "share_ratio")));
		cell(d, percent(d, table_num(t, i, "multiplying_ratio")));
		cell(d, percent(d, table_num(t, i, "adding_ratio")));
		cell(d, percent(d, table_num(t, i, "waiting_ratio")));
		cell(d, quantity(d, table_num(t, i, "read_bytes"), "B"));
		cell(d, quantity(d, table_num(t, i, "bytes_per_s"), "B/s"));
		cell(d, d->sum->no_share != NULL ? "no figure" :
		    percent(d, table_num(t, i, "of_ceiling_ratio")));
	}
	table_end(d);
}

static void
events(struct doc *d)
{
	static const char *const columns[] = { "hop_ns", "hop_last_ns", "weights_ns",
	    "multiply_ns", "add_ns", "skew_ns" };
	const struct table *t = &d->run->ops;

	table(d, "Its events, of the median op", "Op|>What it needs is there after|>In the last block|"
	    ">Then reads weights|>Then has multiplied|>Then has added up|>First to last block done");
	for (size_t i = 0; i < t->n; i++) {
		cell(d, kind_name(d, i));
		for (size_t j = 0; j < sizeof columns / sizeof *columns; j++)
			cell(d, duration(d, table_num(t, i, columns[j])));
	}
	table_end(d);
}

void
write_ops(struct doc *d)
{
	const struct group by_memory = group(d, true), others = group(d, false);
	double step = by_memory.total_ns + others.total_ns;

	para(d, PLAIN, say(d, "A decode step is one kernel, which a profiler shows as a whole. Its blocks "
	    "noted the time themselves, in a step done once more for that: it took %s%s. Shares are of it.",
	    strong(d, duration(d, step)), stamped_slower(d, step)));
	say_limited(d, &by_memory, step);
	say_others(d, &others, step);
	say_beyond(d, step);
	figure(d, "ops", "What the blocks do while the step is at each kind of op, and how long memory "
	    "would take for its bytes alone.");
	kinds(d);
	events(d);
	para(d, NOTE, say(d, "An op lasts from the last block's leave of the op before to its own. Multiplying includes "
	    "waiting for weights that are not there yet; waiting is of all blocks, those without a part in the op "
	    "too. Weights are read ahead, so a rate can be more than memory's; negative: before. The "
	    "clock goes on by %s.", quantity(d, table_num(&d->run->ops, 0, "clock_ns"), "ns")));
}
