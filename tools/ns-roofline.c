/*
 * ns-roofline: each phase under the ceilings that this machine reached.
 *
 * Work is predicted, bytes are measured, time is of the unprofiled run; all
 * three are summed over the same steps.
 *
 * in   phase step rung read_bytes write_bytes bytes hit_ratio n_tokens
 *      n_missing n_total source
 * out  phase flop memory_bytes dur_ns flop_per_byte flop_per_s bytes_per_s
 *      ceiling_flop_per_s of_ceiling_ratio bound source
 */
#include <err.h>
#include <math.h>
#include <unistd.h>

#include "run.h"

static const struct opt opts[] = {
	{ 'b', "baseline", "FILE", "baseline.tsv, of the unprofiled run" },
	{ 'c', "ceilings", "FILE", "ceilings.kv" },
	{ 'm', "model", "FILE", "model.kv, for the dtype of the arithmetic" },
	{ 'r', "readset", "FILE", "readset.tsv" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-roofline",
	.purpose = "places each phase under the ceilings that this machine reached",
	.operands = "[FILE]",
	.in = "steps.tsv: phase step rung read_bytes write_bytes bytes hit_ratio "
	    "n_tokens n_missing n_total source",
	.out = "phase flop memory_bytes dur_ns flop_per_byte flop_per_s "
	    "bytes_per_s ceiling_flop_per_s of_ceiling_ratio bound source",
	.example = "ns-roofline -b baseline.tsv -c ceilings.kv -m model.kv "
	    "-r readset.tsv steps.tsv",
	.opts = opts,
};

struct machine {
	double	 bytes_per_s, flop_per_s;
};

static void
machine_read(struct machine *c, const char *ceilings, const char *model)
{
	struct kv limits = { 0 }, shape = { 0 };
	const char *dtype = NULL, *used;

	kv_read(&limits, ceilings);
	if (model != NULL) {
		kv_read(&shape, model);
		dtype = kv_get(&shape, "dtype");
	}
	c->bytes_per_s = kv_num(&limits, "memory_read_bytes_per_s");
	c->flop_per_s = gemm_ceiling(&limits, dtype, &used);
	if (dtype == NULL || (strcmp(used, "f32") == 0 && strcasecmp(dtype, used) != 0))
		warnx("%s: no GEMM ceiling for %s: that of %s is used", ceilings,
		    dtype != NULL ? dtype : "an unknown dtype (no -m)", used);
	kv_free(&limits);
	kv_free(&shape);
}

static void
print_phase(struct out *o, const struct machine *c, const struct measured *m,
    double flop, double dur_ns)
{
	double intensity = flop / m->bytes;
	double rate = flop / (dur_ns * 1e-9);
	double slope = intensity * c->bytes_per_s;
	bool known = !isnan(slope) && !isnan(c->flop_per_s);
	double ceiling = known ? fmin(slope, c->flop_per_s) : NAN;

	out_text(o, m->phase);
	out_sum(o, flop);
	out_sum(o, m->bytes);
	out_sum(o, dur_ns);
	out_num(o, intensity);
	out_num(o, rate);
	out_num(o, m->bytes / (dur_ns * 1e-9));
	out_num(o, ceiling);
	out_num(o, rate / ceiling);
	out_text(o, !known ? NULL : slope < c->flop_per_s ? "memory" : "compute");
	out_text(o, m->source);
	out_row(o);
}

/* Work of exactly the steps that were measured; NAN, and why, if it has not all. */
static double
work(const struct readset *r, const struct measured *m)
{
	size_t n;
	double flop = readset_sum(r, m->phase, m->step, m->n_steps, &n).flop;

	if (n > 0 && (m->n_steps == 0 || n == m->n_steps))
		return flop;
	warnx("%s, %s: of %zu measured steps the readset has %zu: no work known",
	    m->source, m->phase, m->n_steps, n);
	return NAN;
}

/* A phase measured as a whole has its time only if all of its steps were. */
static double
duration(const struct baseline *b, const struct measured *m)
{
	double all = baseline_tokens(b, m->phase, NO_STEP);
	double dur = baseline_dur_ns(b, m->phase, m->step, m->n_steps);

	if (m->n_steps == 0 && !isnan(m->n_tokens) && m->n_tokens != all) {
		warnx("%s, %s: %.12g tokens were measured, %.12g timed: give "
		    "steps.tsv instead of hierarchy.tsv", m->source, m->phase,
		    m->n_tokens, all);
		return NAN;
	}
	if (isnan(dur))
		warnx("%s, %s: no repeat of the baseline has all measured steps",
		    m->source, m->phase);
	return dur;
}

int
main(int argc, char *argv[])
{
	const char *baseline = NULL, *ceilings = NULL, *model = NULL, *readset = NULL;
	struct hierarchy h;
	struct baseline b;
	struct readset r;
	struct measured *m;
	struct machine c;
	struct out o;
	size_t n;
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		switch (ch) {
		case 'b':
			baseline = optarg;
			break;
		case 'c':
			ceilings = optarg;
			break;
		case 'm':
			model = optarg;
			break;
		case 'r':
			readset = optarg;
			break;
		}
	if (baseline == NULL || ceilings == NULL || readset == NULL ||
	    argc - optind > 1)
		tool_usage(&tool);
	machine_read(&c, ceilings, model);
	baseline_read(&b, baseline);
	readset_read(&r, readset);
	hierarchy_read(&h, argv[optind]);
	m = measured_memory(&h, &n);
	out_open(&o, NULL);
	out_head(&o, tool.out);
	for (size_t i = 0; i < n; i++)
		print_phase(&o, &c, &m[i], work(&r, &m[i]), duration(&b, &m[i]));
	out_close(&o);
	measured_free(m, n);
	hierarchy_free(&h);
	baseline_free(&b);
	readset_free(&r);
	return NS_OK;
}
