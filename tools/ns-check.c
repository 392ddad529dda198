/*
 * ns-check: every cross-check of a run, and what a failure most likely means.
 *
 * in   a run's directory; what is absent there is said, not guessed
 * out  check phase source expected measured error_ratio tolerance_ratio
 *      verdict why
 */
#include <err.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/check.h"

static const struct opt opts[] = {
	{ 's', "steps", "N", "decode steps that were to be counted (all)" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-check",
	.purpose = "every cross-check of a run, and what a failure most likely means",
	.operands = "DIR",
	.in = "the tables and settings in the run's directory",
	.out = "check phase source expected measured error_ratio tolerance_ratio "
	    "verdict why",
	.example = "ns-check runs/tiny.default.cpu",
	.opts = opts,
};

/* In the order of the table; needs: files without which there is no judging. */
static const struct check {
	const char *name, *needs;
	void	 (*run)(struct run *);
} checks[] = {
	{ "gate", "gate.tsv", check_gate },
	{ "derivation", "gate.terms.tsv gate.expected.tsv", check_derivation },
	{ "sentinel", "terms.tsv", check_sentinel },
	{ "witness", "terms.tsv", check_witness },
	{ "predicted_read", "readset.tsv steps.tsv", check_predicted_read },
	{ "predicted_write", "readset.tsv steps.tsv", check_predicted_write },
	{ "steps", "readset.tsv steps.tsv", check_steps },
	{ "hit_ratio", "hierarchy.tsv", check_hit_ratio },
	{ "missing", "hierarchy.tsv", check_missing },
	{ "sampled", "steps.tsv terms.tsv", check_sampled },
	{ "sets", "sampling.tsv", check_sets },
	{ "ranges", "ranges.tsv", check_ranges },
	{ "kernels", "timeline.tsv", check_kernels },
	{ "read_ceiling", "readset.tsv baseline.tsv ceilings.kv",
	    check_read_ceiling },
	{ "flop_ceiling", "readset.tsv baseline.tsv ceilings.kv model.kv",
	    check_flop_ceiling },
	{ "canary", "canary-before.kv canary-after.kv", check_canary },
	{ "throttle", "ceilings.kv", check_throttle },
	{ "profiled_time", "timeline.tsv baseline.tsv", check_profiled_time },
	{ "footprint", "footprint.tsv", check_footprint },
};
enum { N_CHECKS = sizeof checks / sizeof *checks };

const char *const verdict_name[] = { "pass", "fail", "warn", "na", NULL };

char *
run_path(const struct run *r, const char *name)
{
	return xasprintf("%s/%s", r->dir, name);
}

bool
run_has(const struct run *r, const char *name)
{
	char *path = run_path(r, name);
	bool there = access(path, F_OK) == 0;

	if (!there && errno != ENOENT)
		err(NS_TROUBLE, "%s", path);
	free(path);
	return there;
}

double
ratio(double part, double whole)
{
	const double x = part / whole;

	return isfinite(x) ? x : NAN;
}

struct finding
finding(const char *part, const char *phase, const char *source,
    double expected, double measured, double tolerance)
{
	return (struct finding){ part, phase, source, expected, measured,
	    measured == expected ? 0 : ratio(measured - expected, expected), tolerance };
}

enum verdict
judge(const struct finding *f, enum verdict otherwise)
{
	return isnan(f->error) ? NOT_JUDGED :
	    fabs(f->error) <= f->tolerance ? PASS : otherwise;
}

const char *
percent(double ratio, char buf[static 32])
{
	if (ratio != 0 && fabs(ratio) < 1e-5)
		snprintf(buf, 32, "under 0.001 %%");
	else
		snprintf(buf, 32, fabs(ratio) < 10 || fabs(ratio) > 1e6 ? "%.3g %%" :
		    "%.0f %%", 100 * fabs(ratio));
	return buf;
}

void
found(struct run *r, const struct finding *f, enum verdict verdict,
    const char *why, ...)
{
	char *name, text[1024];
	va_list ap;

	va_start(ap, why);
	vsnprintf(text, sizeof text, why, ap);
	va_end(ap);
	name = f->part != NULL ? xasprintf("%s.%s", r->check, f->part) :
	    xstrdup(r->check);
	out_text(&r->out, name);
	out_text(&r->out, f->phase);
	out_text(&r->out, f->source);
	out_sum(&r->out, f->expected);
	out_sum(&r->out, f->measured);
	out_num(&r->out, f->error);
	out_num(&r->out, f->tolerance);
	out_text(&r->out, verdict_name[verdict]);
	out_text(&r->out, text);
	out_row(&r->out);
	r->n[verdict]++;
	if (verdict == FAIL)
		warnx("%s: fail: %s", terminal_safe(name), terminal_safe(text));
	free(name);
}

void
nothing_found(struct run *r, const char *why)
{
	struct finding f = finding(NULL, NULL, NULL, NAN, NAN, NAN);

	found(r, &f, NOT_JUDGED, "%s", why);
}

/* The first of the needed files that is not there; NULL if all are. */
static const char *
absent(const struct run *r, const char *needs, char name[static 64])
{
	for (const char *p = needs; *p != '\0'; p += strspn(p, " ")) {
		size_t n = strcspn(p, " ");

		snprintf(name, 64, "%.*s", (int)n, p);
		if (!run_has(r, name))
			return name;
		p += n;
	}
	return NULL;
}

static void
check_all(struct run *r)
{
	char name[64];

	out_open(&r->out, NULL);
	out_head(&r->out, tool.out);
	for (size_t i = 0; i < N_CHECKS; i++) {
		const char *gone = absent(r, checks[i].needs, name);

		r->check = checks[i].name;
		if (gone == NULL)
			checks[i].run(r);
		else {
			char *why = xasprintf("%s is not there", gone);

			nothing_found(r, why);
			free(why);
		}
	}
	out_close(&r->out);
}

/* Its path, if there is such a file; kept to the end, for kv names it. */
static const char *
there(struct run *r, const char *name)
{
	if (!run_has(r, name))
		return NULL;
	r->path[r->n_paths] = run_path(r, name);
	return r->path[r->n_paths++];
}

static void
load(struct run *r)
{
	const char *path;

	if ((path = there(r, "readset.tsv")) != NULL)
		readset_read(&r->readset, path);
	if ((path = there(r, "hierarchy.tsv")) != NULL)
		hierarchy_read(&r->hierarchy, path);
	if ((path = there(r, "steps.tsv")) != NULL)
		hierarchy_read(&r->steps, path);
	if ((path = there(r, "baseline.tsv")) != NULL)
		baseline_read(&r->baseline, path);
	if ((path = there(r, "model.kv")) != NULL)
		kv_read(&r->model, path);
	if ((path = there(r, "platform.kv")) != NULL)
		kv_read(&r->platform, path);
	if ((path = there(r, "ceilings.kv")) != NULL)
		kv_read(&r->ceilings, path);
	r->memory = measured_memory(&r->steps, &r->n_memory);
}

static void
unload(struct run *r)
{
	measured_free(r->memory, r->n_memory);
	readset_free(&r->readset);
	hierarchy_free(&r->hierarchy);
	hierarchy_free(&r->steps);
	baseline_free(&r->baseline);
	kv_free(&r->model);
	kv_free(&r->platform);
	kv_free(&r->ceilings);
	while (r->n_paths > 0)
		free(r->path[--r->n_paths]);
}

int
main(int argc, char *argv[])
{
	struct run r = { 0 };
	struct stat st;
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		if (ch == 's')
			r.n_counted = opt_count("steps", optarg);
	if (argc - optind != 1)
		tool_usage(&tool);
	r.dir = argv[optind];
	if (stat(r.dir, &st) != 0)
		err(NS_TROUBLE, "%s", r.dir);
	if (!S_ISDIR(st.st_mode))
		errx(NS_TROUBLE, "%s: not a directory: a run's was expected", r.dir);
	load(&r);
	check_all(&r);
	unload(&r);
	return r.n[FAIL] > 0 ? NS_NO : NS_OK;
}
