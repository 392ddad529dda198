/* machine.c: memory in use, the machine, how the report was made, how to read it. */
#include <math.h>

#include "report.h"

/* ---- footprint */

bool
has_footprint(const struct doc *d)
{
	return d->run->footprint.path != NULL;
}

static const char *
witness(const char *source)
{
	static const char *const what[][2] = {
		{ "allocator", "what the program asked for, mapped weights included" },
		{ "driver", "the device as its driver sees it" },
		{ "process", "the process's resident set" },
		{ "system", "the whole machine: total less available" },
	};

	for (size_t i = 0; i < sizeof what / sizeof *what; i++)
		if (strcmp(source, what[i][0]) == 0)
			return what[i][1];
	return "";
}

static bool
new_source(const struct table *t, size_t row)
{
	const char *source = table_text(t, row, "source");

	for (size_t i = 0; source != NULL && i < row; i++)
		if (table_is(t, i, "source", source))
			return false;
	return source != NULL;
}

static void
source_row(struct doc *d, const char *source)
{
	const struct table *t = &d->run->footprint;
	double first = NAN, last = NAN, most = NAN, n = 0;

	for (size_t i = 0; i < t->n; i++) {
		double x = table_num(t, i, "used_bytes");

		if (!table_is(t, i, "source", source) || isnan(x))
			continue;
		first = isnan(first) ? x : first;
		most = fmax(most, x);
		last = x;
		n++;
	}
	cell(d, source);
	cell(d, witness(source));
	cell(d, quantity(d, first, "B"));
	cell(d, quantity(d, most, "B"));
	cell(d, quantity(d, last, "B"));
	cell(d, count(d, n));
}

void
write_footprint(struct doc *d)
{
	const struct table *t = &d->run->footprint;
	double weights = kv_num(&d->run->model, "tensor_bytes");

	para(d, PLAIN, say(d, "Independent witnesses of the memory in use%s. They "
	    "count different things and should move together.", isnan(weights) ?
	    "" : say(d, "; the weights alone are %s", quantity(d, weights, "B"))));
	figure(d, "footprint", "Memory in use over the run, by witness.");
	table(d, "Memory in use", "Witness|~Counts|>First|>Peak|>Last|>Samples");
	for (size_t i = 0; i < t->n; i++)
		if (new_source(t, i))
			source_row(d, table_text(t, i, "source"));
	table_end(d);
}

/* ---- settings as they stand */

/* Where nothing is wrong there is no why. */
static bool
is_reason(const char *key)
{
	size_t n = strlen(key);

	return n > 4 && strcmp(key + n - 4, "_why") == 0;
}

/* What is missing is one sentence, not a column of apologies. */
static void
say_missing(struct doc *d, const struct kv *kv)
{
	const char *list = "";

	for (size_t i = 0; i < kv->n; i++)
		if (strcmp(kv->val[i], "NA") == 0 && !is_reason(kv->key[i]))
			list = say(d, "%s%s%s", list, *list != '\0' ? ", " : "",
			    label(d, kv->key[i]));
	if (*list != '\0')
		para(d, NOTE, say(d, "Not measured, or not there: %s.", list));
}

void
kv_table(struct doc *d, const struct kv *kv, const char *caption)
{
	if (kv->n == 0)
		return;
	table(d, caption, "What|Value");
	for (size_t i = 0; i < kv->n; i++) {
		if (strcmp(kv->key[i], "synthetic") == 0 ||
		    strcmp(kv->val[i], "NA") == 0)
			continue;	/* said above all else; said below */
		cell(d, label(d, kv->key[i]));
		cell(d, setting(d, kv->key[i], kv->val[i]));
	}
	table_end(d);
	say_missing(d, kv);
}

bool
has_machine(const struct doc *d)
{
	return d->run->probe.n > 0 || d->run->canary_before.n > 0;
}

/* Before and after, side by side. */
static void
canary_table(struct doc *d)
{
	const struct kv *a = &d->run->canary_before, *b = &d->run->canary_after;

	table(d, "Canary: the same two kernels before and after the timed run",
	    "What|>Before|>After|>Moved");
	for (size_t i = 0; i < a->n; i++) {
		double x, y;
		const char *after = kv_get(b, a->key[i]);
		bool number = after != NULL && parse_num(a->val[i], &x) &&
		    parse_num(after, &y);

		cell(d, label(d, a->key[i]));
		cell(d, setting(d, a->key[i], a->val[i]));
		cell(d, setting(d, a->key[i], after));
		cell(d, number && x != 0 ? signed_percent(d, y / x - 1) : "");
	}
	table_end(d);
}

void
write_machine(struct doc *d)
{
	kv_table(d, &d->run->probe, "As ns-probe found it");
	if (d->run->canary_before.n > 0)
		canary_table(d);
}

bool
has_made(const struct doc *d)
{
	return d->run->manifest.n > 0 || d->run->stages.path != NULL ||
	    d->run->model.n > 0;
}

/* The worker as it runs alone: what watching it costs is told in its time. */
static double
baseline_stage(const struct table *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (table_is(t, i, "stage", "baseline"))
			return table_num(t, i, "dur_ns");
	return NAN;
}

static void
stages_table(struct doc *d)
{
	const struct table *t = &d->run->stages;
	double all = 0, alone = baseline_stage(t);

	table(d, "Wall time of each stage", isnan(alone) ? "Stage|>Time" :
	    "Stage|>Time|>Times the baseline");
	for (size_t i = 0; i < t->n; i++) {
		double dur = table_num(t, i, "dur_ns");

		cell(d, text_or(table_text(t, i, "stage"), not_measured));
		cell(d, duration(d, dur));
		if (!isnan(alone))
			cell(d, say(d, "%.1f", dur / alone));
		all += isnan(dur) ? 0 : dur;
	}
	cell(d, STRONG("all"));
	cell(d, duration(d, all));
	if (!isnan(alone))
		cell(d, say(d, "%.1f", all / alone));
	table_end(d);
}

/* A parameter's own name: manifest keys begin with the capture's. */
static const char *
parameter(const char *key)
{
	static const char *const kinds[] = { "_model_", "_workload_", "_profile_",
	    "_platform_", "_checkpoint_", "_worker_", "_tier2_" };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const char *at = strstr(key, kinds[i]);

		if (at != NULL)
			return at + 1;
	}
	return key;
}

/* Captures share most parameters: each pair of name and value stands once. */
static bool
first_of(const struct kv *kv, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (strcmp(parameter(kv->key[j]), parameter(kv->key[i])) == 0 &&
		    strcmp(kv->val[j], kv->val[i]) == 0)
			return false;
	return true;
}

/* Captures of different checkpoints, workloads or kinds of step, which do not belong together. */
const char *
mixed_captures(struct doc *d)
{
	const struct kv *kv = &d->run->manifest;

	for (size_t i = 0; i < kv->n; i++)
		for (size_t j = 0; j < i; j++) {
			const char *name = parameter(kv->key[i]);

			if ((strncmp(name, "workload_", 9) == 0 ||
			    strcmp(name, "checkpoint_id") == 0 ||
			    strcmp(name, "worker_step") == 0) &&
			    strcmp(name, parameter(kv->key[j])) == 0 &&
			    strcmp(kv->val[i], kv->val[j]) != 0)
				return say(d, "%s is %s in one and %s in another",
				    words(d, name), kv->val[j], kv->val[i]);
		}
	return NULL;
}

static void
manifest_table(struct doc *d)
{
	const struct kv *kv = &d->run->manifest;

	table(d, "Parameters and versions", "What|Value");
	for (size_t i = 0; i < kv->n; i++)
		if (first_of(kv, i)) {
			cell(d, words(d, parameter(kv->key[i])));
			cell(d, setting(d, kv->key[i], kv->val[i]));
		}
	table_end(d);
}

void
write_made(struct doc *d)
{
	kv_table(d, &d->run->model, "The model, from its checkpoint");
	kv_table(d, &d->run->workload, "The workload");
	if (d->run->manifest.n > 0)
		manifest_table(d);
	if (d->run->stages.path != NULL)
		stages_table(d);
}

/* ---- how to read this */

void
write_glossary(struct doc *d)
{
	static const char *const line[] = {
		STRONG("Prefill, decode") ": prefill reads the whole prompt at once; "
		"decode then makes one token a step for each sequence.",
		STRONG("Rung") ": a level of the memory hierarchy. Bytes of a rung are "
		"what the rung above asks of it.",
		STRONG("Hit ratio") ": the share of requests that a rung answers "
		"itself; hits over hits and misses, summed, never an average of "
		"percentages.",
		STRONG("Times memory") ": bytes of a rung over bytes of memory. High "
		"at L1 means that data is used again once it is near.",
		STRONG("Ceiling") ": the most that this machine reached in a kernel "
		"that does nothing else. A share of a ceiling says what is left to "
		"gain; over 100 % means that something is wrong.",
		STRONG("Predicted") ": from the checkpoint's header and the workload, "
		"before anything ran. Agreement of two numbers that come from "
		"different places is what makes either worth believing.",
		STRONG("Not measured") ": absent on this machine or in this capture. "
		"It is never zero.",
		STRONG("Units") " are decimal: 1 kB is 1000 bytes. The tables behind "
		"this page hold every figure unrounded.",
	};

	for (size_t i = 0; i < sizeof line / sizeof *line; i++)
		item(d, line[i]);
}
