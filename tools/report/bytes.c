/* bytes.c: where the bytes go: by rung, and by role against the prediction. */
#include <math.h>

#include "report.h"
#include "run.h"

static const char *const phases[] = { "prefill", "decode" };
#define N_PHASES (sizeof phases / sizeof *phases)

/* ---- the ladder */

bool
has_ladder(const struct doc *d)
{
	return d->run->hierarchy.path != NULL;
}

static bool
any_number(const struct table *t, const char *column)
{
	for (size_t i = 0; i < t->n; i++)
		if (!isnan(table_num(t, i, column)))
			return true;
	return false;
}

/* What a token moves, in one sentence for each phase. */
static void
say_token(struct doc *d, const char *phase)
{
	const struct table *t = &d->run->hierarchy;
	size_t i = row_of(t, phase, "memory"), l1 = row_of(t, phase, "l1");
	double kv = predicted(d->run, phase, "kv_cache").read;
	double weights = 1 - (isnan(kv) ? 0 : kv) /
	    predicted(d->run, phase, NULL).read;
	double tokens = phase_tokens(d->run, phase);
	double amplified = l1 == TSV_NONE ? NAN :
	    table_num(t, l1, "amplification_ratio");

	if (i == TSV_NONE || isnan(table_num(t, i, "bytes_per_token")))
		return;
	item(d, say(d, "A %s token moves %s between the last cache and memory, "
	    "%s of it read.%s%s", phase,
	    strong(d, quantity(d, table_num(t, i, "bytes_per_token"), "B")),
	    quantity(d, table_num(t, i, "read_bytes") / tokens, "B"),
	    isnan(weights) ? "" : say(d, " By prediction %s of the reads are "
	    "weights.", percent(d, weights)),
	    isnan(amplified) ? "" : say(d, " Each byte from memory is asked for "
	    "%s at L1.", times(d, amplified))));
}

const char *
rung_name(const char *rung)
{
	static const char *const name[][2] = { { "l1", "L1" },
	    { "xbar", "SM-L2 crossbar" }, { "l2", "L2" },
	    { "memory", "memory" }, { "shared", "shared memory" },
	    { "registers", "registers" } };

	for (size_t i = 0; rung != NULL && i < sizeof name / sizeof *name; i++)
		if (strcmp(rung, name[i][0]) == 0)
			return name[i][1];
	return text_or(rung, not_measured);
}

/* Nothing of this rung was asked for, or nothing came back. */
static bool
unasked(const struct table *t, size_t i)
{
	double missing = table_num(t, i, "n_missing");

	return missing > 0 && missing == table_num(t, i, "n_total");
}

/* Bytes whose direction is not known: reads and writes are not all there is. */
static bool
undirected(const struct table *t, size_t i)
{
	double read = table_num(t, i, "read_bytes"), write = table_num(t, i, "write_bytes");

	return table_num(t, i, "bytes") > add_known(0, add_known(read, write));
}

static const char *
direction_cell(struct doc *d, size_t i, const char *column, double n_steps)
{
	const struct table *t = &d->run->hierarchy;
	double x = table_num(t, i, column) / n_steps;

	return !undirected(t, i) ? quantity(d, x, "B") : x > 0 ?
	    say(d, "over" HARD "%s", quantity(d, x, "B")) : "";
}

static bool
among(const char *word, const char *const list[])
{
	for (; word != NULL && *list != NULL; list++)
		if (strcmp(word, *list) == 0)
			return true;
	return false;
}

/* Steps that a row is of, where it says what one of them moves. */
static double
row_steps(const struct doc *d, size_t i)
{
	const struct table *t = &d->run->hierarchy;

	return phase_steps(d->run, text_or(table_text(t, i, "phase"), ""),
	    text_or(table_text(t, i, "source"), "unknown"));
}

/* What the figures of a table are of: all steps, a step where nobody counted tokens,
   or all steps and a token. */
enum per { ALL, STEP, TOKEN };

static void
ladder_row(struct doc *d, size_t i, enum per per)
{
	static const char *const no_cache[] = { "registers", "shared", "xbar", "memory",
	    NULL };
	const struct table *t = &d->run->hierarchy;
	const char *rung = table_text(t, i, "rung");
	bool last = rung != NULL && strcmp(rung, "memory") == 0;
	bool whole = per == STEP && isnan(row_steps(d, i));
	double n = per == STEP && !whole ? row_steps(d, i) : 1;

	cell(d, say(d, "%s%s", text_or(table_text(t, i, "phase"), "none"),
	    whole ? ", as a whole" : ""));
	cell(d, capital(d, rung_name(rung)));
	cell(d, direction_cell(d, i, "read_bytes", n));
	cell(d, direction_cell(d, i, "write_bytes", n));
	cell(d, quantity(d, per == TOKEN ? table_num(t, i, "bytes_per_token") :
	    table_num(t, i, "bytes") / n, "B"));
	cell(d, last ? "" : count(d, table_num(t, i, "requests") / (per == TOKEN ?
	    table_num(t, i, "n_tokens") : n)));
	cell(d, among(rung, no_cache) && isnan(table_num(t, i, "hit_ratio")) ? "" :
	    percent(d, table_num(t, i, "hit_ratio")));
	cell(d, times(d, table_num(t, i, "amplification_ratio")));
}

/* "registers of prefill, L1 of prefill" */
static const char *
and_rung(struct doc *d, const char *list, size_t i)
{
	const struct table *t = &d->run->hierarchy;

	return say(d, "%s%s%s of %s", list, *list != '\0' ? ", " : "",
	    rung_name(table_text(t, i, "rung")),
	    text_or(table_text(t, i, "phase"), "no phase"));
}

static const char *
unasked_rungs(struct doc *d)
{
	const struct table *t = &d->run->hierarchy;
	const char *list = "";

	for (size_t i = 0; i < t->n; i++)
		if (unasked(t, i))
			list = and_rung(d, list, i);
	return list;
}

/* How many cells (launch x counter) the figures rest on. */
static void
say_coverage(struct doc *d)
{
	const struct table *t = &d->run->hierarchy;
	double missing = 0, total = 0;

	for (size_t i = 0; i < t->n; i++)
		if (!unasked(t, i)) {
			missing = add_known(missing, table_num(t, i, "n_missing"));
			total = add_known(total, table_num(t, i, "n_total"));
		}
	if (missing > 0)
		para(d, DOUBT, say(d, STRONG("%s of %s values") " were measured. What "
		    "is missing is not in the sums: figures of such a rung are lower "
		    "bounds.", count(d, total - missing), count(d, total)));
	else
		para(d, NOTE, say(d, "All %s values that these figures need were "
		    "measured.", count(d, total)));
	if (*unasked_rungs(d) != '\0')
		para(d, NOTE, say(d, "No counter was asked for, so there is no row: %s.",
		    unasked_rungs(d)));
}

/* What blanks and differences in the tables mean, where there are any. */
static void
say_undirected(struct doc *d)
{
	const struct table *t = &d->run->hierarchy;

	for (size_t i = 0; i < t->n; i++)
		if (undirected(t, i)) {
			para(d, NOTE, "Where what was read or written is blank, or only a "
			    "lower bound (over), counters of that rung tell all bytes "
			    "in one sum, or only some of them apart.");
			return;
		}
}

/* 0 bytes of registers would be a wonder. */
static void
say_spills(struct doc *d)
{
	const struct table *t = &d->run->hierarchy;

	for (size_t i = 0; i < t->n; i++)
		if (table_is(t, i, "rung", "registers") &&
		    !isnan(table_num(t, i, "read_bytes"))) {
			para(d, NOTE, "Bytes of registers are spills alone: what did not fit, and "
			    "went through local memory. No counter has the bytes that "
			    "instructions read and write there; requests are the instructions.");
			return;
		}
}

static bool
is_sampled(const struct table *t, size_t row)
{
	return source_sampled(text_or(table_text(t, row, "source"), "unknown"));
}

/* The same phase and rung as it was counted; or TSV_NONE. */
static size_t
as_counted(const struct table *t, size_t row)
{
	for (size_t i = 0; i < t->n; i++)
		if (!is_sampled(t, i) &&
		    table_is(t, i, "phase", text_or(table_text(t, row, "phase"), "")) &&
		    table_is(t, i, "rung", text_or(table_text(t, row, "rung"), "")))
			return i;
	return TSV_NONE;
}

/* Samples know fewer ways to a rung than there are counters. */
static void
say_partial(struct doc *d)
{
	const struct table *t = &d->run->hierarchy;
	const char *list = "";

	for (size_t i = 0; i < t->n; i++) {
		size_t counted = is_sampled(t, i) ? as_counted(t, i) : TSV_NONE;

		if (counted != TSV_NONE && table_num(t, i, "bytes_per_token") <
		    0.9 * table_num(t, counted, "bytes_per_token"))
			list = and_rung(d, list, i);
	}
	if (*list != '\0')
		para(d, NOTE, say(d, "Fewer bytes are sampled than counted: %s. Not every way "
		    "to a rung can be sampled (not that of TMA, on GPUs that have it), "
		    "so the counts are the whole.", list));
}

/* What the rows of one source are, and of which steps. */
static const char *
ladder_title(struct doc *d, const char *source, bool alone, enum per per)
{
	double n = phase_steps(d->run, "decode", source);

	if (per == STEP)
		return say(d, "Traffic of a step by phase and rung%s%s%s", alone ? "" :
		    say(d, ", by %s", source), n > 1 ? ", of decode the mean of " : "",
		    n > 1 ? count(d, n) : "");
	if (alone)
		return "Traffic by phase and rung, over all measured steps";
	if (source_sampled(source))
		return say(d, "Traffic by phase and rung, sampled by %s over every step", source);
	return say(d, "Traffic by phase and rung, counted by %s%s", source,
	    n == 1 ? "; decode is one step" : "");
}

static bool
of_source(const struct table *t, size_t row, const char *source)
{
	return strcmp(text_or(table_text(t, row, "source"), "unknown"), source) == 0;
}

static void
ladder_table(struct doc *d, const char *source, bool alone)
{
	const struct table *t = &d->run->hierarchy;
	enum per per = ALL;

	for (size_t i = 0; i < t->n; i++)
		if (of_source(t, i, source) && !isnan(table_num(t, i, "n_tokens")))
			per = TOKEN;
		else if (of_source(t, i, source) && per == ALL && !isnan(row_steps(d, i)))
			per = STEP;
	table(d, ladder_title(d, source, alone, per), say(d, "Phase|Rung|>Read|>Written|%s|"
	    ">Hit ratio|>Times memory", per == TOKEN ? ">A token|>Requests a token" :
	    ">In all|>Requests"));
	for (size_t i = 0; i < t->n; i++)
		if (of_source(t, i, source) && !unasked(t, i))
			ladder_row(d, i, per);
	table_end(d);
}

/* A table a source: rows come by source. */
static void
ladder_tables(struct doc *d)
{
	const struct table *t = &d->run->hierarchy;
	const char *last = NULL;
	size_t n = 0;

	for (int pass = 0; pass < 2; pass++, last = NULL)
		for (size_t i = 0; i < t->n; i++) {
			const char *source = text_or(table_text(t, i, "source"), "unknown");

			if (last != NULL && strcmp(source, last) == 0)
				continue;
			last = source;
			if (pass == 0)
				n++;
			else
				ladder_table(d, source, n == 1);
		}
}

void
write_ladder(struct doc *d)
{
	for (size_t i = 0; i < N_PHASES; i++)
		say_token(d, phases[i]);
	if (any_number(&d->run->hierarchy, "bytes_per_token"))
		figure(d, "ladder", "Bytes a token at each rung, prefill and decode; the "
		    "scale is logarithmic.");
	ladder_tables(d);
	say_undirected(d);
	say_spills(d);
	say_partial(d);
	say_coverage(d);
	if (d->run->simulated)
		para(d, NOTE, "Callgrind counts accesses, not their width, at the "
		    "registers and at L1, and no lines that go down from L1: those "
		    "bytes cannot be known, so they are not measured rather than "
		    "guessed.");
}

/* ---- predicted */

bool
has_predicted(const struct doc *d)
{
	return d->run->readset.path != NULL;
}

struct role {
	const char *name;
	struct predicted of[N_PHASES];
};

static int
by_decode(const void *a, const void *b)
{
	double x = ((const struct role *)a)->of[1].read;
	double y = ((const struct role *)b)->of[1].read;

	return (y > x) - (y < x);
}

static size_t
roles_of(const struct run *r, struct role *role)
{
	const struct table *t = &r->readset;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		const char *name = text_or(table_text(t, i, "role"), "unnamed");
		size_t j = 0;

		while (j < n && strcmp(role[j].name, name) != 0)
			j++;
		if (j < n)
			continue;
		role[n].name = name;
		for (size_t p = 0; p < N_PHASES; p++)
			role[n].of[p] = predicted(r, phases[p], name);
		n++;
	}
	qsort(role, n, sizeof *role, by_decode);
	return n;
}

static void
say_ratio(struct doc *d, const char *phase)
{
	const struct table *t = &d->run->hierarchy;
	size_t i = row_of(t, phase, "memory");
	double expected = predicted(d->run, phase, NULL).read;
	double got = i == TSV_NONE ? NAN : table_num(t, i, "read_bytes") /
	    phase_tokens(d->run, phase);

	if (isnan(expected / got))
		item(d, say(d, "%s: memory reads were not measured, so the prediction "
		    "stands alone.", capital(d, phase)));
	else
		item(d, say(d, "A %s token should read %s and read %s: %s.", phase,
		    quantity(d, expected, "B"), quantity(d, got, "B"),
		    strong(d, signed_percent(d, got / expected - 1))));
}

/* Where a token's reads come from, in four words. */
static void
say_shares(struct doc *d, const char *phase)
{
	static const char *const apart[][2] = { { "lm_head", "the output head" },
	    { "kv_cache", "keys and values" }, { "embed", "embedding rows" } };
	double all = predicted(d->run, phase, NULL).read, rest = all;
	const char *shares = "";

	for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
		double x = predicted(d->run, phase, apart[i][0]).read;

		if (isnan(x) || x == 0)
			continue;
		shares = say(d, "%s, %s %s", shares, percent(d, x / all),
		    apart[i][1]);
		rest -= x;
	}
	if (!isnan(all))
		item(d, say(d, "Of the reads of a %s token %s are weights of the "
		    "layers%s.", phase, percent(d, rest / all), shares));
}

static void
role_row(struct doc *d, const char *name, const struct predicted *of,
    const struct predicted *all)
{
	cell(d, name);
	for (size_t p = N_PHASES; p-- > 0; ) {
		cell(d, quantity(d, of[p].read, "B"));
		cell(d, percent(d, of[p].read / all[p].read));
	}
}

/* Roles of less than a thousandth in either phase are one row. */
static void
roles_table(struct doc *d, const struct role *role, size_t n,
    const struct predicted *all)
{
	struct predicted rest[N_PHASES] = { { NAN, NAN }, { NAN, NAN } };
	size_t n_rest = 0;

	table(d, "Predicted reads of a token, by role",
	    "Role|>Decode|>Share|>Prefill|>Share");
	for (size_t i = 0; i < n; i++) {
		const struct predicted *of = role[i].of;

		if (of[0].read < all[0].read / 1000 &&
		    of[1].read < all[1].read / 1000) {
			for (size_t p = 0; p < N_PHASES; p++)
				rest[p].read = add_known(rest[p].read, of[p].read);
			n_rest++;
		} else
			role_row(d, words(d, role[i].name), of, all);
	}
	if (n_rest > 0)
		role_row(d, say(d, "%zu smaller %s", n_rest,
		    n_rest == 1 ? "one" : "ones"), rest, all);
	role_row(d, STRONG("all"), all, all);
	table_end(d);
}

void
write_predicted(struct doc *d)
{
	struct role *role = xalloc(d->run->readset.n, sizeof *role);
	size_t n = roles_of(d->run, role);
	struct predicted all[N_PHASES];

	para(d, PLAIN, say(d, "What must move is known from the checkpoint's header "
	    "and the workload: every executed weight once a step at its stored size, "
	    "the embedding rows that are looked up, the keys and values.%s",
	    kv_num(&d->run->platform, "write_allocate") == 1 ? " On this platform a "
	    "line is read before it is written, so writes count among the reads." :
	    ""));
	for (size_t p = 0; p < N_PHASES; p++) {
		all[p] = predicted(d->run, phases[p], NULL);
		say_ratio(d, phases[p]);
	}
	for (size_t p = 0; p < N_PHASES; p++)
		say_shares(d, phases[p]);
	roles_table(d, role, n, all);
	free(role);
}
