/*
 * ns-calib: put counters on trial, and measure what this machine reaches.
 *
 * gate      run read, write, copy and reread of known bytes, each a dump of its
 *           own name under callgrind, or on a GPU an NVTX range;
 *           out: kernel rung direction expected_bytes
 * judge     hold them against what was measured; in: phase rung read_bytes
 *           write_bytes source
 * ceilings  bandwidth of memory and cache, flop/s: settings
 * sweep     out: kernel working_set_bytes bytes_per_s
 * canary    two short rates, to compare before and after a run: settings
 */
#include <err.h>
#include <unistd.h>

#include "calib/calib.h"

enum { OPT_LAST_LEVEL = 256, OPT_SECONDS };
static const struct opt opts[] = {
	{ 'd', "device", "NAME", "cpu (default) or cuda" },
	{ 'e', "expected", "FILE", "judge: what gate printed" },
	{ 't', "tolerance", "RATIO", "judge: allowed error, 0.01 unless given" },
	{ OPT_LAST_LEVEL, "last-level-bytes", "N", "gate: of the simulated cache, 25165824 unless given" },
	{ OPT_SECONDS, "seconds", "S", "ceilings, sweep, canary: about how long" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-calib",
	.purpose = "kernels of known traffic, and the rates this machine reaches",
	.operands = "gate|judge|ceilings|sweep|canary [FILE]",
	.in = "judge: phase rung read_bytes write_bytes source",
	.out = "gate: kernel rung direction expected_bytes; judge: gate.tsv; "
	    "sweep: kernel working_set_bytes bytes_per_s; else settings",
	.example = "ns-calib judge -e gate.expected.tsv gate.hierarchy.tsv >gate.tsv",
	.opts = opts,
};

static const struct device {
	const char *name;
	void	(*gate)(uint64_t last_level_bytes);
	void	(*ceilings)(double seconds), (*sweep)(double seconds);
	void	(*canary)(double seconds);
} devices[] = {
	{ "cpu", gate, ceilings, sweep, canary },
#ifdef NS_CUDA
	{ "cuda", cuda_gate, cuda_ceilings, cuda_sweep, cuda_canary },
#endif
};

static const struct device *
find_device(const char *name)
{
	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
		if (strcmp(name, devices[i].name) == 0)
			return &devices[i];
	if (strcmp(name, "cuda") == 0)
		errx(NS_TROUBLE, "--device cuda: this ns-calib was built without "
		    "nvcc: install the CUDA toolkit (nvcc on the PATH or in "
		    "/usr/local/cuda/bin) and make again");
	errx(NS_TROUBLE, "--device: no device '%s': cpu or cuda", name);
}

int
main(int argc, char *argv[])
{
	uint64_t last_level_bytes = 25165824;
	double tolerance = 0.01, seconds = 0;
	const char *expected = NULL, *command;
	const struct device *d = &devices[0];
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		switch (ch) {
		case 'd':
			d = find_device(optarg);
			break;
		case 'e':
			expected = optarg;
			break;
		case 't':
			tolerance = opt_num("tolerance", optarg);
			break;
		case OPT_LAST_LEVEL:
			last_level_bytes = opt_count("last-level-bytes", optarg);
			break;
		case OPT_SECONDS:
			if ((seconds = opt_num("seconds", optarg)) <= 0)
				errx(NS_TROUBLE, "--seconds: more than 0 was expected");
		}
	if (optind >= argc)
		tool_usage(&tool);
	command = argv[optind++];
	if (strcmp(command, "judge") == 0 && argc - optind <= 1) {
		if (expected == NULL)
			errx(NS_TROUBLE, "judge: -e FILE is needed: what gate printed");
		return judge(expected, argv[optind], tolerance);
	}
	if (optind < argc)
		tool_usage(&tool);
	if (strcmp(command, "gate") == 0)
		d->gate(last_level_bytes);
	else if (strcmp(command, "ceilings") == 0)
		d->ceilings(seconds > 0 ? seconds : 2.5);
	else if (strcmp(command, "sweep") == 0)
		d->sweep(seconds > 0 ? seconds : 2.5);
	else if (strcmp(command, "canary") == 0)
		d->canary(seconds > 0 ? seconds : 0.5);
	else
		errx(NS_TROUBLE, "'%s': gate, judge, ceilings, sweep or canary was "
		    "expected", command);
	return NS_OK;
}
