/*
 * nsys2tsv: an SQLite export of Nsight Systems as tables.
 *
 * in   an export (nsys export --type sqlite), schema 2.x or 3.x
 * out  work, ranges, api, samples, diagnostics: a table; meta: settings
 */
#include <err.h>
#include <unistd.h>

#include "nsys/nsys.h"

enum { OPT_NAME = 256 };

static const struct opt opts[] = {
	{ OPT_NAME, "name", "KIND", "of a kernel's name: short (default), demangled, mangled" },
	{ 't', "tolerance", "RATIO", "share of broken rows that is still a capture (0.01)" },
	{ 0, NULL, NULL, NULL },
};
static const struct tool tool = {
	.name = "nsys2tsv",
	.purpose = "an SQLite export of Nsight Systems as tables",
	.operands = "work|ranges|api|samples|meta|diagnostics FILE",
	.in = "an export: nsys export --type sqlite -o FILE X.nsys-rep",
	.out = "work: start_ns end_ns kind device pid stream launch_ns launch_id graph_launch_id\n"
	    "       phase step name grid block registers shared_bytes bytes\n"
	    "     ranges: start_ns end_ns kind domain name pid tid depth\n"
	    "     api: start_ns end_ns name pid tid launch_id return_value class\n"
	    "     samples: time_ns gpu metric unit value period_ns why\n"
	    "     meta: settings\n"
	    "     diagnostics: time_ns severity source pid text",
	.example = "nsys2tsv work t.sqlite | ns-phases --last-graphs 20 | ns-timeline",
	.opts = opts,
};

static const struct {
	const char *name;
	void (*print)(struct nsys *, const struct want *, struct out *);
} commands[] = {
	{ "work", work },
	{ "ranges", ranges },
	{ "api", api },
	{ "samples", samples },
	{ "meta", meta },
	{ "diagnostics", diagnostics },
};

static void
nsys2tsv(const char *command, const char *path, const struct want *want)
{
	struct nsys n = { 0 };
	struct out out;
	size_t i = 0;

	while (strcmp(commands[i].name, command) != 0)
		if (++i == sizeof commands / sizeof *commands) {
			warnx("no table '%s'", command);
			tool_usage(&tool);
		}
	nsys_open(&n, path);
	out_open(&out, NULL);
	commands[i].print(&n, want, &out);
	nsys_close(&n);
	out_close(&out);
}

int
main(int argc, char *argv[])
{
	struct want want = { .name = "short", .tolerance = 0.01 };
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		switch (ch) {
		case OPT_NAME:
			want.name = optarg;
			if (strcmp(optarg, "short") != 0 && strcmp(optarg,
			    "demangled") != 0 && strcmp(optarg, "mangled") != 0)
				errx(NS_TROUBLE, "--name: short, demangled or mangled, "
				    "not '%s'", optarg);
			break;
		case 't':
			want.tolerance = opt_num("tolerance", optarg);
			break;
		}
	if (argc - optind != 2)
		tool_usage(&tool);
	if (strcmp(argv[optind + 1], "-") == 0)
		errx(NS_TROUBLE, "an SQLite file cannot be read from a pipe: name it");
	nsys2tsv(argv[optind], argv[optind + 1], &want);
	return NS_OK;
}
