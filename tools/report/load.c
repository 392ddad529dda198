/* load.c: whatever of a run is there. */
#include <sys/stat.h>

#include <err.h>
#include <limits.h>
#include <unistd.h>

#include "report.h"

#define AT(x) offsetof(struct run, x)

const struct part tables[] = {
	{ "checks.tsv", "check phase expected measured error_ratio verdict why",
	    AT(checks), "nothing says whether the figures can be trusted",
	    "ns-check" },
	{ "gate.tsv", "kernel rung direction expected_bytes measured_bytes "
	    "error_ratio verdict", AT(gate), "the counters were not put on trial "
	    "against kernels of known traffic", "ns-calib gate" },
	{ "hierarchy.tsv", "phase rung read_bytes write_bytes hit_ratio "
	    "bytes_per_token n_missing n_total", AT(hierarchy),
	    "where the bytes go is not known", "counters, then ns-rollup "
	    "with the metrics of their platform (PLATFORM=NAME)" },
	{ "steps.tsv", "phase step rung read_bytes write_bytes", AT(steps),
	    "single steps cannot be told apart", "counters, then ns-rollup" },
	{ "readset.tsv", "phase step role read_bytes write_bytes flop",
	    AT(readset), "measured bytes have nothing to be held against",
	    "ns-readset, from a checkpoint" },
	{ "baseline.tsv", "repeat phase step n_tokens dur_ns", AT(baseline),
	    "there is no speed: a profiled run is slower, so its times do not "
	    "count", "an unprofiled run, or llb2tsv" },
	{ "roofline.tsv", "phase flop_per_byte flop_per_s of_ceiling_ratio bound",
	    AT(roofline), "no phase can be placed under its ceiling",
	    "ns-roofline" },
	{ "sweep.tsv", "kernel working_set_bytes bytes_per_s", AT(sweep),
	    "the edges of the caches are not shown", "ns-calib sweep" },
	{ "timeline.tsv", "phase step wall_ns busy_ns idle_ns reliable",
	    AT(timeline), "busy and idle time are not known",
	    "an nsys capture, then ns-timeline" },
	{ "footprint.tsv", "time_ns source used_bytes", AT(footprint),
	    "how much memory was in use is not known", "ns-worker --footprint" },
	{ "families.tsv", "phase family n_calls sum_ns own_ns mean_ns share_ratio",
	    AT(families), NULL, NULL },
	{ "kernels.tsv", "phase name n_calls sum_ns own_ns mean_ns share_ratio",
	    AT(kernels), NULL, NULL },
	{ "idle.tsv", "phase class n_gaps idle_ns largest_gap_ns", AT(idle),
	    NULL, NULL },
	{ "gaps.tsv", "phase step dur_ns class before after", AT(gaps), NULL,
	    NULL },
	{ "calls.tsv", "phase name n_calls sum_ns mean_ns waits", AT(calls), NULL,
	    NULL },
	{ "detail.tsv", "phase rank name grid share_ratio n_launches launch_ns dur_ns reading",
	    AT(detail), "what holds single kernels is not known",
	    "tier 2: ncu on the kernels that take most time, then ns-detail" },
	{ "source.tsv", "phase rank name place address instruction n_samples share_ratio stall "
	    "stall_ratio producer_address producer", AT(source), NULL, NULL },
	{ "source-kernels.tsv", "phase rank name n_instructions n_samples l2_over_ideal_ratio "
	    "shared_over_ideal_ratio reading", AT(source_kernels), NULL, NULL },
	{ "ops.tsv", "kind n_ops n_blocks op_ns total_ns share_ratio multiplying_ratio adding_ratio "
	    "waiting_ratio read_bytes of_ceiling_ratio", AT(ops), NULL, NULL },
	{ "routing.tsv", "phase step layer expert n_tokens", AT(routing), NULL,
	    NULL },
	{ "tensors.tsv", "name role bytes", AT(tensors), NULL, NULL },
	{ "stages.tsv", "stage dur_ns", AT(stages), NULL, NULL },
	{ NULL, NULL, 0, NULL, NULL },
};

const struct part settings[] = {
	{ "probe.kv", NULL, AT(probe), "the machine is not known", "ns-probe" },
	{ "platform.kv", NULL, AT(platform), NULL, NULL },
	{ "model.kv", NULL, AT(model), "the model is not known",
	    "ns-discover, from a checkpoint" },
	{ "command.kv", NULL, AT(command), NULL, NULL },
	{ "workload.kv", NULL, AT(workload), NULL, NULL },
	{ "ceilings.kv", NULL, AT(ceilings), "no share of what the machine can "
	    "do can be given", "ns-calib ceilings" },
	{ "canary-before.kv", NULL, AT(canary_before), NULL, NULL },
	{ "canary-after.kv", NULL, AT(canary_after), NULL, NULL },
	{ "manifest.kv", NULL, AT(manifest), "versions and parameters are not "
	    "recorded", "mk/run.mk" },
	{ NULL, NULL, 0, NULL, NULL },
};

const struct table *
part_table(const struct run *r, const struct part *p)
{
	return (const struct table *)((const char *)r + p->at);
}

const struct kv *
part_kv(const struct run *r, const struct part *p)
{
	return (const struct kv *)((const char *)r + p->at);
}

/* The directory's own name, whatever it was called on the command line. */
static char *
name_of(const char *dir)
{
	char *path = realpath(dir, NULL), *name;

	if (path == NULL)
		err(NS_TROUBLE, "%s", dir);
	name = xstrdup(strrchr(path, '/')[1] != '\0' ? strrchr(path, '/') + 1 :
	    "/");
	free(path);
	for (char *p = name; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f)
			*p = '_';
	return name;
}

void
run_load(struct run *r, const char *dir, const char *metrics)
{
	struct stat st;
	const char *kind;
	size_t n = 0;

	*r = (struct run){ .dir = dir };
	if (stat(dir, &st) != 0)
		err(NS_TROUBLE, "%s", dir);
	if (!S_ISDIR(st.st_mode))
		errx(NS_TROUBLE, "%s: not a directory: give that of a run", dir);
	r->name = name_of(dir);
	for (const struct part *p = tables; p->file != NULL; p++) {
		char *path = xasprintf("%s/%s", dir, p->file);
		struct table *t = (struct table *)((char *)r + p->at);

		if (table_read(t, path)) {
			table_need(t, p->needs);
			n++;
		}
		free(path);
	}
	for (const struct part *p = settings; p->file != NULL; p++) {
		char *path = xasprintf("%s/%s", dir, p->file);
		struct kv *kv = (struct kv *)((char *)r + p->at);

		if (access(path, F_OK) == 0) {
			kv_read(kv, path);
			kv->path = p->file;
			n++;
		}
		free(path);
	}
	if (n == 0)
		errx(NS_TROUBLE, "%s: none of a run's tables is there "
		    "(docs/05-formats.md has the list)", dir);
	kind = kv_get(&r->platform, "kind");
	r->simulated = kind != NULL && strcmp(kind, "simulated") == 0;
	kernels_load(r, metrics);
}

/* A workload's setting: its own file, or what a capture was made with. */
const char *
run_setting(const struct run *r, const char *name)
{
	const char *s = kv_get(&r->workload, name);
	size_t n = strlen(name);

	for (size_t i = 0; s == NULL && i < r->manifest.n; i++) {
		const char *key = r->manifest.key[i];

		if (strlen(key) > n && strcmp(key + strlen(key) - n, name) == 0 &&
		    key[strlen(key) - n - 1] == '_')
			s = kv_get(&r->manifest, key);
	}
	return s;
}

const char *
run_step_kind(const struct run *r)
{
	return kv_get(&r->manifest, "worker_kv_step");
}

void
run_free(struct run *r)
{
	for (const struct part *p = tables; p->file != NULL; p++)
		table_free((struct table *)((char *)r + p->at));
	for (const struct part *p = settings; p->file != NULL; p++)
		kv_free((struct kv *)((char *)r + p->at));
	for (size_t i = 0; i < r->n_kernel; i++) {
		free(r->kernel[i].phase);
		free(r->kernel[i].name);
	}
	free(r->kernel);
	free(r->name);
}
