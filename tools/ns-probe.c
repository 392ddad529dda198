/*
 * ns-probe: this machine as settings: processor, programs, GPU, permission, and
 * the platform under configs/platforms/ that fits.
 */
#include <err.h>
#include <unistd.h>

#include "probe/probe.h"

enum { OPT_REQUIRE = 256, OPT_ROOT };
static const struct opt opts[] = {
	{ 'd', "device", "N", "which GPU, as CUDA counts them; 0 unless given" },
	{ OPT_REQUIRE, "require", "WHAT", "counters: ncu counts a kernel; exit 1 if it cannot" },
	{ OPT_ROOT, "root", "DIR", "read /proc, /sys and /etc below DIR" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-probe",
	.purpose = "this machine as settings, and the platform that describes it",
	.operands = "",
	.out = "name=value: machine, programs, GPU, permission, platform",
	.example = "ns-probe --require counters >probe.kv",
	.opts = opts,
};

static void
platform(struct out *o, const struct gpu *g)
{
	const char *name = g->found ? chip_platform(g) : "cpu";
	char why[256];

	if (!g->found)
		snprintf(why, sizeof why, "%s", g->why);
	else if (*g->chip == '\0')
		snprintf(why, sizeof why, "compute capability %d.%d is not known",
		    g->major, g->minor);
	else if (name == NULL)
		snprintf(why, sizeof why, "chip %s has no platform yet", g->chip);
	else
		snprintf(why, sizeof why, "chip %s%s", g->chip,
		    strcmp(g->chip_source, "cupti") == 0 ? "" :
		    ", inferred from the compute capability");
	out_kv(o, "platform", name != NULL ? name : "cpu");
	out_kv(o, "platform_why", why);
}

int
main(int argc, char *argv[])
{
	const char *root = "", *require = NULL;
	struct counters counters;
	uint64_t device = 0;
	struct gpu g;
	struct out o;
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		switch (ch) {
		case 'd':
			if ((device = opt_count("device", optarg)) > 1023)
				errx(NS_TROUBLE, "--device: 0 to 1023 was expected");
			break;
		case OPT_REQUIRE:
			require = optarg;
			if (strcmp(require, "counters") != 0)
				errx(NS_TROUBLE, "--require: counters was expected: "
				    "'%s'", require);
			break;
		case OPT_ROOT:
			root = optarg;
		}
	if (optind < argc)
		tool_usage(&tool);
	gpu_probe(&g, (int)device);
	counters = counters_find(root);
	if (require != NULL && counters.is != COUNTERS_DENIED)
		counters_prove(&counters, &g, root);
	out_open(&o, NULL);
	platform(&o, &g);
	machine_print(&o, root);
	programs_print(&o, root);
	gpu_print(&o, &g);
	others_print(&o, root);
	counters_print(&o, &counters, root);
	out_close(&o);
	ch = require != NULL ? counters_require(&counters, &g) : NS_OK;
	free(counters.why);
	return ch;
}
