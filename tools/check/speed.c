/* speed.c: are the times possible, and was the machine the same throughout? */
#include <math.h>

#include "check.h"

/* A cache that holds a quarter of the bytes lifts a rate over any ceiling. */
enum { BEYOND_CACHE = 4 };

static const char *const phases[] = { "prefill", "decode" };
enum { N_PHASES = 2 };

/* What all steps of a phase need, and how long they took; false if none. */
static bool
timed(const struct run *r, const char *phase, struct need *need, size_t *n,
    double *dur_ns)
{
	int64_t *step = xalloc(r->readset.n, sizeof *step);
	size_t n_steps = 0;

	*need = readset_sum(&r->readset, phase, NULL, 0, n);
	for (size_t i = 0; i < r->readset.n; i++)
		if (strcmp(r->readset.step[i].phase, phase) == 0)
			step[n_steps++] = r->readset.step[i].step;
	step_sort(step, n_steps);
	*dur_ns = baseline_dur_ns(&r->baseline, phase, step, n_steps);
	free(step);
	return *n > 0;
}

#define NO_RATE "%s: the baseline has no repeat with all of its steps, or what is divided by is 0"

static void
judge_read(struct run *r, const char *phase, const struct need *need, size_t n,
    double dur_ns)
{
	double cache = kv_num(&r->ceilings, "last_level_bytes");
	double ceiling = kv_num(&r->ceilings, "memory_read_bytes_per_s");
	double rate = need->read_bytes / (dur_ns * 1e-9);
	double each = need->read_bytes / (double)n;
	struct finding f = finding(NULL, phase, NULL, ceiling, rate, 0.05);
	char by[32];

	if (isnan(f.error))
		found(r, &f, NOT_JUDGED, isnan(ceiling) ? "%s: ceilings.kv has no "
		    "memory_read_bytes_per_s" : NO_RATE, phase);
	else if (isnan(cache))
		found(r, &f, NOT_JUDGED, "%s: ceilings.kv has no last_level_bytes, "
		    "so part of the bytes may never come from memory", phase);
	else if (each < BEYOND_CACHE * cache)
		found(r, &f, NOT_JUDGED, "%s: a step reads %.12g bytes, which is "
		    "less than %d times the last level of cache (%.12g bytes): part "
		    "of them may never come from memory", phase, each,
		    BEYOND_CACHE, cache);
	else if (f.error <= f.tolerance)
		found(r, &f, PASS, "%s: reads at %s of the memory read ceiling",
		    phase, percent(rate / ceiling, by));
	else
		found(r, &f, FAIL, "%s: its bytes over its time are %s above the "
		    "memory read ceiling: less was executed than predicted, the "
		    "time is not of the whole step, or the machine was busy when "
		    "the ceiling was measured", phase, percent(f.error, by));
}

void
check_read_ceiling(struct run *r)
{
	for (size_t i = 0; i < N_PHASES; i++) {
		struct need need;
		double dur_ns;
		size_t n;

		if (timed(r, phases[i], &need, &n, &dur_ns))
			judge_read(r, phases[i], &need, n, dur_ns);
	}
}

static void
judge_flop(struct run *r, const char *phase, const struct need *need,
    double dur_ns)
{
	const char *used, *dtype = kv_get(&r->model, "dtype");
	double ceiling = gemm_ceiling(&r->ceilings, dtype, &used);
	double rate = need->flop / (dur_ns * 1e-9);
	struct finding f = finding(NULL, phase, NULL, ceiling, rate, 0.05);
	char by[32];

	if (isnan(ceiling))
		found(r, &f, NOT_JUDGED, "%s: ceilings.kv has no "
		    "gemm_%s_flop_per_s", phase, used);
	else if (isnan(f.error))
		found(r, &f, NOT_JUDGED, NO_RATE, phase);
	else if (f.error <= f.tolerance)
		found(r, &f, PASS, "%s: works at %s of the %s GEMM ceiling", phase,
		    percent(rate / ceiling, by), used);
	else
		found(r, &f, FAIL, "%s: works %s above the %s GEMM ceiling: less "
		    "was executed than predicted, the time is not of the whole "
		    "step, or the arithmetic is of another type than %s", phase,
		    percent(f.error, by), used, used);
}

void
check_flop_ceiling(struct run *r)
{
	for (size_t i = 0; i < N_PHASES; i++) {
		struct need need;
		double dur_ns;
		size_t n;

		if (timed(r, phases[i], &need, &n, &dur_ns))
			judge_flop(r, phases[i], &need, dur_ns);
	}
}

void
check_canary(struct run *r)
{
	char *a = run_path(r, "canary-before.kv"), *b = run_path(r, "canary-after.kv");
	struct kv before = { 0 }, after = { 0 };
	char by[32];

	kv_read(&before, a);
	kv_read(&after, b);
	for (size_t i = 0; i < before.n; i++) {
		const char *name = before.key[i];
		struct finding f = finding(name, NULL, NULL,
		    kv_num(&before, name), kv_num(&after, name), 0.05);
		enum verdict v = judge(&f, WARN);

		if (v == NOT_JUDGED)
			found(r, &f, v, "%s was not measured both times", name);
		else if (v == PASS)
			found(r, &f, v, "the machine was as fast after as before");
		else
			found(r, &f, v, "%s %s by %s during the run: every speed in "
			    "it is inconclusive; other programs, heat or clocks: "
			    "run it again", name, f.error < 0 ? "fell" : "rose",
			    percent(f.error, by));
	}
	if (before.n == 0)
		nothing_found(r, "canary-before.kv is empty");
	kv_free(&before);
	kv_free(&after);
	free(a);
	free(b);
}

static void
judge_wall(struct run *r, struct finding f, const char *what, const char *unknown)
{
	enum verdict v = judge(&f, WARN);
	char by[32];

	if (v == NOT_JUDGED)
		found(r, &f, v, "%s: %s", what, unknown);
	else
		found(r, &f, v, "%s: took %s %s under the profiler than alone%s",
		    what, percent(f.error, by), f.error < 0 ? "less" : "longer",
		    v == PASS ? "" : ": shares of its time hold, its durations "
		    "do not; the baseline's do");
}

/* A command as a whole, with all that it loads; within a range it is not whole. */
static void
judge_command(struct run *r)
{
	char *a = run_path(r, "command.kv"), *b = run_path(r, "meta.kv");
	struct kv command = { 0 }, meta = { 0 };
	const char *range;

	kv_read(&command, a);
	kv_read(&meta, b);
	range = kv_get(&command, "capture_range");
	judge_wall(r, finding("command", NULL, NULL, kv_num(&command, "wall_ns"),
	    range != NULL && strcmp(range, "none") == 0 ?
	    kv_num(&meta, "duration_ns") : NAN, 0.1), "the command",
	    "how long it was recorded as a whole is not known");
	kv_free(&command);
	kv_free(&meta);
	free(a);
	free(b);
}

/* timeline.tsv is of the watched run, the baseline is not. */
void
check_profiled_time(struct run *r)
{
	double wall[N_PHASES] = { 0 }, alone[N_PHASES] = { 0 };
	bool seen[N_PHASES] = { false }, any = false;
	char *path = run_path(r, "timeline.tsv");
	struct tsv t;

	tsv_open(&t, path);
	size_t phase = tsv_col(&t, "phase"), step = tsv_col(&t, "step");
	size_t wall_ns = tsv_col(&t, "wall_ns");

	while (tsv_next(&t))
		for (size_t i = 0; i < N_PHASES; i++) {
			int64_t number = run_step(&t, step);

			if (strcmp(t.val[phase], phases[i]) != 0)
				continue;
			seen[i] = any = true;
			wall[i] += tsv_num(&t, wall_ns);
			alone[i] += baseline_dur_ns(&r->baseline, phases[i],
			    &number, number != NO_STEP);
		}
	tsv_close(&t);
	free(path);
	for (size_t i = 0; i < N_PHASES; i++)
		if (seen[i])
			judge_wall(r, finding(NULL, phases[i], NULL, alone[i], wall[i],
			    0.1), phases[i], "timeline.tsv and baseline.tsv do not "
			    "both have its steps");
	if (run_has(r, "command.kv"))
		judge_command(r);
	else if (!any)
		nothing_found(r, "timeline.tsv has no prefill and no decode");
}

static double
peak(double so_far, const struct tsv *t, size_t source, const char *name,
    size_t used)
{
	return strcmp(t->val[source], name) == 0 ?
	    fmax(so_far, tsv_num(t, used)) : so_far;
}

/* Heat and brakes; a cap on power is how a GPU works under load. */
static bool
is_slowdown(const char *reasons)
{
	return strstr(reasons, "thermal") != NULL || strstr(reasons, "hardware") != NULL;
}

/* Why the clocks were not higher, before and after the ceilings were measured. */
void
check_throttle(struct run *r)
{
	static const char *const keys[][2] = { { "before", "throttle_before" },
	    { "after", "throttle_after" } };
	bool known = false;

	for (size_t i = 0; i < 2; i++) {
		const char *why = kv_get(&r->ceilings, keys[i][1]);
		struct finding f = finding(keys[i][0], NULL, NULL, NAN, NAN, NAN);

		if (why == NULL)
			continue;
		known = true;
		if (is_slowdown(why))
			found(r, &f, WARN, "%s the ceilings were measured the GPU slowed itself "
			    "down (%s): it is too hot or short of power, and every speed here is "
			    "that of such a GPU", keys[i][0], why);
		else
			found(r, &f, PASS, "%s the ceilings were measured nothing but load held the "
			    "clocks (%s)", keys[i][0], why);
	}
	if (!known)
		nothing_found(r, "this device does not say why its clocks are what they are");
}

/* What a CUDA context, its modules and workspaces may take: 0.56 GB on an H200. */
#define RUNTIME_BYTES 1e9

/* The worker says what it asked for; the driver, or else the system, what it got. */
void
check_footprint(struct run *r)
{
	double asked = NAN, driver = NAN, process = NAN;
	char *path = run_path(r, "footprint.tsv"), by[32];
	const char *witness;
	struct finding f;
	struct tsv t;
	enum verdict v;

	tsv_open(&t, path);
	size_t source = tsv_col(&t, "source"), used = tsv_col(&t, "used_bytes");

	while (tsv_next(&t)) {
		asked = peak(asked, &t, source, "allocator", used);
		driver = peak(driver, &t, source, "driver", used);
		process = peak(process, &t, source, "process", used);
	}
	tsv_close(&t);
	free(path);
	witness = isnan(driver) ? "process" : "driver";
	f = finding(witness, NULL, NULL, asked, isnan(driver) ? process : driver,
	    0.25);
	v = judge(&f, WARN);
	if (v == WARN && !isnan(driver) && f.error > 0 &&
	    f.measured - f.expected < RUNTIME_BYTES)
		v = PASS;
	if (v == NOT_JUDGED)
		found(r, &f, v, "fewer than two witnesses of the memory in use");
	else
		found(r, &f, v, "at its peak the %s shows %s %s than the worker "
		    "asked for%s", witness, percent(f.error, by),
		    f.error < 0 ? "less" : "more", v == PASS ? f.error > f.tolerance ?
		    ": as much as a runtime takes for itself" : "" : f.error < 0 ?
		    ": weights that are mapped and never touched" :
		    ": memory of the runtime itself, or fragments");
}
