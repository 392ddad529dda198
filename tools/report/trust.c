/* trust.c: what was measured, whether to believe it, what is absent. */
#include <math.h>
#include <unistd.h>

#include "report.h"

static const char *
machine(struct doc *d)
{
	static const char *const keys[] = { "gpu", "cpu" };

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (kv_get(&d->run->probe, keys[i]) != NULL)
			return words(d, kv_get(&d->run->probe, keys[i]));
	return NULL;
}

/* "32768,8,64" is size, ways, line. */
static const char *
cache(struct doc *d, const char *key)
{
	const char *s = kv_get(&d->run->platform, key);
	char *end;
	double size;

	if (s == NULL)
		return "unknown";
	size = strtod(s, &end);
	return end == s ? "unknown" : quantity(d, size, "B");
}

static void
say_simulated(struct doc *d)
{
	if (d->run->simulated)
		para(d, DOUBT, say(d, STRONG("A simulated hierarchy") ": "
		    "callgrind with cache sizes %s (first level, data) and %s (last "
		    "level). Bytes are exact for these caches and the same every "
		    "time; times are this computer's own. A bandwidth joins the two, "
		    "so it is an estimate.", cache(d, "d1"), cache(d, "ll")));
}

static void
say_synthetic(struct doc *d)
{
	const struct kv *m = &d->run->model;
	const char *synthetic = kv_get(m, "synthetic");

	if (synthetic != NULL && strcmp(synthetic, "0") != 0)
		para(d, NOTE, say(d, STRONG("Synthetic weights (random, seed %s)")
		    ": shapes and byte counts are the model's own, what it writes is "
		    "noise.", text_or(kv_get(m, "seed"), "unknown")));
}

static const char *
model_words(struct doc *d)
{
	const struct kv *m = &d->run->model;
	const char *arch = kv_get(m, "architecture"), *dtype = kv_get(m, "dtype");

	if (m->n == 0)
		return "an unknown model (no model.kv)";
	return say(d, "%s%s, %s parameters in %s of %s",
	    arch != NULL ? words(d, arch) : "a model",
	    kv_get(m, "n_layers") != NULL ? say(d, " of %s layers",
	    kv_get(m, "n_layers")) : "",
	    quantity(d, kv_num(m, "n_parameters"), ""),
	    quantity(d, kv_num(m, "tensor_bytes"), "B"), text_or(dtype,
	    "unknown dtype"));
}

/* CHECKSUM:TEXT, + for a space. */
const char *
command_words(struct doc *d)
{
	const char *s = kv_get(&d->run->command, "command"), *text;
	char *copy;

	if (s == NULL)
		return NULL;
	copy = xstrdup(strchr(s, ':') != NULL ? strchr(s, ':') + 1 : s);
	for (char *p = copy; (p = strchr(p, '+')) != NULL; )
		*p = ' ';
	text = say(d, "%s", copy);
	free(copy);
	return text;
}

/* What was measured: a command, a model, or a model by a command. */
static const char *
program_words(struct doc *d)
{
	const char *command = command_words(d);

	if (command == NULL)
		return model_words(d);
	return say(d, CODE("%s") ", %s alone%s%s", command,
	    duration(d, kv_num(&d->run->command, "wall_ns")),
	    d->run->model.n > 0 ? "; " : "", d->run->model.n > 0 ? model_words(d) : "");
}

static const char *
workload_words(struct doc *d)
{
	const char *p = run_setting(d->run, "prompt_tokens");
	const char *g = run_setting(d->run, "generate_tokens");
	const char *b = run_setting(d->run, "batch");
	const char *step = run_step_kind(d->run);

	if (p == NULL || g == NULL)
		return "";
	return say(d, "; %s prompt tokens, %s generated, batch %s%s", p, g,
	    text_or(b, "1"), step != NULL ? say(d, ", decode step %s", step) : "");
}

static const char *
mean_of(struct doc *d, double steps)
{
	return steps == 1 ? "of the one that was measured" : say(d, "mean of %s",
	    count(d, steps));
}

static void
write_facts(struct doc *d)
{
	const struct summary *s = d->sum;
	double ratio = s->measured_read / s->predicted_read;

	if (d->run->baseline.path != NULL)
		fact(d, "Decode", token_rate(d, &s->decode), say(d,
		    "%sprefill %s", s->speed_moved ? "inconclusive: the canary "
		    "moved; " : "unprofiled; ", token_rate(d, &s->prefill)));
	if (isnan(s->measured_read) && !isnan(s->decode_read / s->decode_steps))
		fact(d, "Read from memory a decode step",
		    quantity(d, s->decode_read / s->decode_steps, "B"),
		    say(d, "%s; how many tokens it makes is not known: no baseline tells of "
		    "it", mean_of(d, s->decode_steps)));
	else if (isnan(s->measured_read) && !isnan(s->decode_read))
		fact(d, "Read from memory in decode",
		    quantity(d, s->decode_read, "B"),
		    "of how many tokens is not known: no baseline counts them");
	else if (d->run->hierarchy.path != NULL)
		fact(d, "Read from memory a decode token",
		    quantity(d, s->measured_read, "B"),
		    isnan(ratio) ? "no prediction to hold it against" :
		    say(d, "predicted %s: %s", quantity(d, s->predicted_read, "B"),
		    signed_percent(d, ratio - 1)));
	if (d->run->ceilings.n > 0 && d->run->hierarchy.path != NULL)
		fact(d, "Of the memory read ceiling", s->no_share != NULL ?
		    "no figure" : percent(d, s->of_read_ratio),
		    s->no_share != NULL ? scale_bytes(d, s->no_share) :
		    say(d, "decode, of %s%s", quantity(d, kv_num(&d->run->ceilings,
		    "memory_read_bytes_per_s"), "B/s"), d->run->simulated ?
		    "; an estimate" : ""));
	if (!isnan(s->busy_ratio))
		fact(d, "GPU busy in decode", percent(d, s->busy_ratio),
		    say(d, "of the wall time of a step as it was traced%s",
		    traced_slower(d, "decode")));
}

void
write_head(struct doc *d)
{
	const char *on = machine(d);

	say_simulated(d);
	say_synthetic(d);
	para(d, PLAIN, say(d, "Measured: %s%s%s.", program_words(d),
	    workload_words(d), on != NULL ? say(d, "; on %s", on) : ""));
	write_facts(d);
}

/* ---- verdict */

/* Is there the same check of the same phase from another source? */
static bool
by_several(const struct table *t, size_t i)
{
	const char *name = text_or(table_text(t, i, "check"), "");
	const char *phase = table_text(t, i, "phase");
	const char *source = table_text(t, i, "source");

	for (size_t j = 0; phase != NULL && source != NULL && j < t->n; j++)
		if (table_is(t, j, "check", name) && table_is(t, j, "phase", phase) &&
		    !table_is(t, j, "source", source))
			return true;
	return false;
}

/* "memory.bytes.read" as bytes of memory, read; "" if it is not of that kind. */
static const char *
sampled_part(struct doc *d, const char *part)
{
	const char *dot = strchr(part, '.'), *last = strrchr(part, '.');

	if (dot == NULL || last == dot)
		return "";
	return say(d, "%.*s of %s%s", (int)(last - dot - 1), dot + 1,
	    rung_name(say(d, "%.*s", (int)(dot - part), part)),
	    strcmp(last, ".both") == 0 ? "" : strcmp(last, ".read") == 0 ? ", read" :
	    ", written");
}

/* What of a check a row is about, in words. */
static const char *
part_words(struct doc *d, const char *check, size_t n, const char *part)
{
	if (strncmp(part, check, n) == 0 && part[n] == '_')
		part += n + 1;		/* canary.canary_copy */
	if (*part == '\0')
		return "";
	if (strstr(part, "__") != NULL)
		return say(d, "%s" CODE("%s"), strncmp(check, "sets.", 5) == 0 ?
		    " that share " : " of ", part);
	if (strncmp(check, "sampled.", 8) == 0 && *sampled_part(d, part) != '\0')
		return say(d, " %s", sampled_part(d, part));
	if (strncmp(check, "throttle.", 9) == 0)
		return say(d, " %s", words(d, part));
	if (strncmp(check, "missing.", 8) == 0)
		return say(d, " at %s", rung_name(part));
	return say(d, " of %s", label(d, part));
}

static const char *
check_name(struct doc *d, size_t i)
{
	const struct table *t = &d->run->checks;
	const char *phase = table_text(t, i, "phase");
	const char *name = text_or(table_text(t, i, "check"), "unnamed");
	size_t n = strcspn(name, ".");

	return say(d, "%s%s%s%s%s%s", words(d, say(d, "%.*s", (int)n, name)),
	    part_words(d, name, n, name[n] == '.' ? name + n + 1 : ""),
	    phase != NULL ? " (" : "", text_or(phase, ""), by_several(t, i) ?
	    say(d, ", %s", text_or(table_text(t, i, "source"), "")) : "",
	    phase != NULL ? ")" : "");
}

/* checks.tsv has no units; what a check is about tells it.  "": it has none. */
static const char *
unit_of(const struct table *t, size_t i)
{
	static const char *const unit[][2] = { { "read_ceiling", "B/s" },
	    { "flop_ceiling", "FLOP/s" }, { "canary", "B/s" },
	    { "footprint", "B" }, { "profiled_time", "ns" } };
	const char *name = text_or(table_text(t, i, "check"), "");

	for (size_t j = 0; j < sizeof unit / sizeof *unit; j++)
		if (strncmp(name, unit[j][0], strlen(unit[j][0])) == 0)
			return unit[j][1];
	return "";
}

/* Not every check has a figure; bytes that must agree are shown in full. */
static const char *
check_figure(struct doc *d, size_t i, const char *column)
{
	double x = table_num(&d->run->checks, i, column);
	const char *unit = unit_of(&d->run->checks, i);

	if (isnan(x))
		return "";
	if (strcmp(unit, "ns") == 0)
		return duration(d, x);
	return *unit != '\0' ? quantity(d, x, unit) : fabs(x) < 1e15 &&
	    (x == floor(x) || fabs(x) > 1e6) ? count(d, round(x)) : say(d, "%.4g", x);
}

/* Why, for people: the phase stands beside it, so it need not begin it. */
static const char *
why_of(struct doc *d, size_t i)
{
	const struct table *t = &d->run->checks;

	return scale_bytes(d, without_phase(text_or(table_text(t, i, "why"), ""),
	    text_or(table_text(t, i, "phase"), "")));
}

static void
say_check(struct doc *d, size_t i, const char *word)
{
	const char *expected = check_figure(d, i, "expected");
	const char *measured = check_figure(d, i, "measured");
	double tolerance = table_num(&d->run->checks, i, "tolerance_ratio");
	double error = table_num(&d->run->checks, i, "error_ratio");
	const char *figures = "", *why = capital(d, why_of(d, i));

	if (*expected != '\0' && *measured != '\0')
		figures = say(d, " Expected %s, measured %s%s.", expected, measured,
		    isnan(error) ? "" : say(d, " (%s%s)", signed_percent(d, error),
		    isnan(tolerance) ? "" :
		    say(d, "; tolerance %s", percent(d, tolerance))));
	item(d, say(d, STRONG("%s: %s") ".%s %s%s", word, check_name(d, i), figures,
	    why, strchr(why, '?') != NULL ? "" : "."));
}

static void
say_checks(struct doc *d, const char *verdict, const char *word)
{
	const struct table *t = &d->run->checks;

	for (size_t i = 0; i < t->n; i++)
		if (table_is(t, i, "verdict", verdict))
			say_check(d, i, word);
}

/* The gate's rows have a section of their own; here they are one, if all pass. */
static bool
of_gate(const struct table *t, size_t i)
{
	const char *name = table_text(t, i, "check");

	return name != NULL && strncmp(name, "gate.", 5) == 0 &&
	    table_is(t, i, "verdict", "pass");
}

static void
gate_row(struct doc *d, size_t n)
{
	cell(d, "gate");
	cell(d, "pass");
	for (size_t i = 0; i < 4; i++)
		cell(d, "");
	cell(d, say(d, "%zu counts of known traffic are within tolerance", n));
}

static void
check_row(struct doc *d, size_t i)
{
	const struct table *t = &d->run->checks;
	double tolerance = table_num(t, i, "tolerance_ratio");
	double error = table_num(t, i, "error_ratio");

	cell(d, check_name(d, i));
	cell(d, text_or(table_text(t, i, "verdict"), not_measured));
	cell(d, check_figure(d, i, "expected"));
	cell(d, table_is(t, i, "verdict", "na") &&
	    isnan(table_num(t, i, "measured")) ? not_measured :
	    check_figure(d, i, "measured"));
	cell(d, isnan(error) ? "" : signed_percent(d, error));
	cell(d, isnan(tolerance) ? "" : strstr(text_or(table_text(t, i, "check"), ""),
	    "_ceiling") != NULL ? signed_percent(d, tolerance) : percent(d, tolerance));
	cell(d, why_of(d, i));
}

static void
all_checks(struct doc *d)
{
	const struct table *t = &d->run->checks;
	size_t n_gate = 0;

	table(d, say(d, "All %s checks", count(d, (double)t->n)),
	    "Check|Verdict|>Expected|>Measured|>Error|>Tolerance|~Why");
	for (size_t i = 0; i < t->n; i++)
		n_gate += of_gate(t, i);
	if (n_gate > 0)
		gate_row(d, n_gate);
	for (size_t i = 0; i < t->n; i++)
		if (!of_gate(t, i))
			check_row(d, i);
	table_end(d);
}

void
write_verdict(struct doc *d)
{
	static const enum tone tone[] = { GOOD, BAD, DOUBT };
	const struct summary *s = d->sum;
	const struct table *t = &d->run->checks;

	if (t->path == NULL) {
		para(d, DOUBT, say(d, STRONG("Inconclusive") ": no checks were made "
		    "(checks.tsv is absent). The figures below stand as they were "
		    "read; nothing vouches for them."));
		return;
	}
	para(d, tone[s->verdict], say(d, STRONG("%s") ": %s. Of %s checks %s "
	    "passed, %s failed, %s warned, %s could not be judged.",
	    verdict_word[s->verdict], s->reason, count(d, (double)t->n),
	    count(d, (double)s->n_pass), count(d, (double)s->n_fail),
	    count(d, (double)s->n_warn), count(d, (double)s->n_na)));
	if (mixed_captures(d) != NULL)
		para(d, DOUBT, say(d, STRONG("Captures of different runs stand together")
		    ": %s. Run it again, or hold no figure of one against the other.",
		    mixed_captures(d)));
	say_checks(d, "fail", "Failed");
	say_checks(d, "warn", "Warning");
	all_checks(d);
}

/* ---- absent */

static bool
is_absent(const struct doc *d, const struct part *p, bool kv)
{
	return p->why != NULL && (kv ? part_kv(d->run, p)->n == 0 :
	    part_table(d->run, p)->path == NULL) &&
	    !(d->run->simulated && strcmp(p->file, "timeline.tsv") == 0);
}

static bool
has_figures(const struct doc *d)
{
	char *path = xasprintf("%s/figures", d->run->dir);
	bool there = access(path, F_OK) == 0;

	free(path);
	return there;
}

static bool
has_absent_parts(const struct doc *d)
{
	for (const struct part *p = tables; p->file != NULL; p++)
		if (is_absent(d, p, false))
			return true;
	for (const struct part *p = settings; p->file != NULL; p++)
		if (is_absent(d, p, true))
			return true;
	return false;
}

bool
has_absent(const struct doc *d)
{
	return has_absent_parts(d) || !has_figures(d);
}

static void
absent_rows(struct doc *d, const struct part *p, bool kv)
{
	for (; p->file != NULL; p++)
		if (is_absent(d, p, kv)) {
			cell(d, say(d, CODE("%s"), p->file));
			cell(d, p->why);
			cell(d, p->how);
		}
}

static void
absent_parts(struct doc *d)
{
	para(d, PLAIN, "This run holds only a part of what a full one measures. "
	    "The sections that need the rest are left out; nothing here stands for "
	    "a zero.");
	table(d, "Absent from this run", "File|~So|~What makes it");
	absent_rows(d, tables, false);
	absent_rows(d, settings, true);
	table_end(d);
}

void
write_absent(struct doc *d)
{
	if (has_absent_parts(d))
		absent_parts(d);
	if (!has_figures(d))
		para(d, NOTE, "No figures: they take gnuplot. Where it is, "
		    CODE("make -f mk/run.mk") ", with this run's names and "
		    CODE("report") ", draws them.");
}

/* ---- gate */

bool
has_gate(const struct doc *d)
{
	return d->run->gate.path != NULL;
}

void
write_gate(struct doc *d)
{
	const struct table *t = &d->run->gate;
	size_t n_pass = 0;
	double worst = 0;

	for (size_t i = 0; i < t->n; i++) {
		double error = fabs(table_num(t, i, "error_ratio"));

		n_pass += table_is(t, i, "verdict", "pass");
		worst = error > worst ? error : worst;
	}
	para(d, PLAIN, say(d, "Before anything else the counters are put on trial: "
	    "kernels whose traffic is known run under the same counters. %s of %s "
	    "rows passed; the largest error is %s.", count(d, (double)n_pass),
	    count(d, (double)t->n), percent(d, worst)));
	table(d, "Known traffic against counted, in bytes",
	    "Kernel|Rung|Direction|>Expected|>Measured|>Error|>Tolerance|Verdict");
	for (size_t i = 0; i < t->n; i++) {
		cell(d, text_or(table_text(t, i, "kernel"), not_measured));
		cell(d, text_or(table_text(t, i, "rung"), not_measured));
		cell(d, text_or(table_text(t, i, "direction"), not_measured));
		cell(d, count(d, table_num(t, i, "expected_bytes")));
		cell(d, count(d, table_num(t, i, "measured_bytes")));
		cell(d, signed_percent(d, table_num(t, i, "error_ratio")));
		cell(d, percent(d, table_num(t, i, "tolerance_ratio")));
		cell(d, text_or(table_text(t, i, "verdict"), not_measured));
	}
	table_end(d);
}
