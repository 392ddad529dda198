/*
 * ns-sets: a metric set of a platform, as a file that nsys records by, and what
 * a capture by it is worth.
 *
 * The set that NVIDIA installs for the chip says which version of the format
 * this nsys reads; the metrics are ours.
 *
 * in   metric set: a platform's samples.tsv; a metric set file of nsys
 * out  a metric set file of nsys, for --gpu-metrics-set=file:ALIAS.config
 */
#include <err.h>
#include <unistd.h>

#include "sets/sets.h"

enum { OPT_SET = 256, OPT_CHIP, OPT_STOCK, OPT_ALIAS, OPT_CHECK, OPT_DIAGNOSTICS };
static const struct opt opts[] = {
	{ 'm', "metrics", "FILE", "samples.tsv of the platform" },
	{ OPT_SET, "set", "NAME", "the metrics of this set" },
	{ OPT_CHIP, "chip", "NAME", "GH100, GB20B, ..., as ns-probe has it" },
	{ OPT_STOCK, "stock", "PATH", "an installed set of the chip, or the folder of them" },
	{ OPT_ALIAS, "alias", "NAME", "what the file will be called, less .config (nsbench-SET)" },
	{ OPT_CHECK, "check", "FILE", "no file: is all of the set in these sampled counters?" },
	{ OPT_DIAGNOSTICS, "diagnostics", "FILE", "what nsys said of that capture" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-sets",
	.purpose = "a metric set of a platform, as a file that nsys records by",
	.operands = "",
	.in = "-m: metric set; --stock: a metric set file of nsys\n"
	    "     --check: phase step metric value why; --diagnostics: severity text",
	.out = "a metric set file of nsys: --gpu-metrics-set=file:ALIAS.config",
	.example = "ns-sets -m configs/platforms/gh100/samples.tsv --set a --chip GH100 "
	    "--stock /opt/nvidia/nsight-systems/2025.3.2/target-linux-x64/GpuMetrics "
	    ">nsbench-a.config",
	.opts = opts,
};

static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
static const char word[] = "abcdefghijklmnopqrstuvwxyz"
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

/* What can be added up is a sum over the period. */
static void
add(struct metrics *m, const struct tsv *t, size_t col)
{
	const char *name = tsv_text(t, col);
	size_t len = strspn(name, plain);

	if (len == 0 || strcmp(name + len, ".sum") != 0)
		tsv_die(t, col, "'%s' is not NAME.sum: nothing else that is sampled "
		    "can be added up", name);
	for (size_t i = 0; i < m->n; i++)
		if (strncmp(m->id[i], name, len) == 0 && m->id[i][len] == '\0')
			return;
	m->id = xgrow(m->id, &m->cap, m->n + 1, sizeof *m->id);
	m->id[m->n++] = xasprintf("%.*s", (int)len, name);
}

static void
metrics_read(struct metrics *m, const char *path, const char *set)
{
	struct tsv t;

	m->set = set;
	tsv_open(&t, path);
	size_t metric = tsv_col(&t, "metric"), sets = tsv_col(&t, "set");

	while (tsv_next(&t))
		if (listed(tsv_text(&t, sets), set))
			add(m, &t, metric);
	if (m->n == 0)
		errx(NS_TROUBLE, "%s: no metric of set '%s'", t.name, set);
	tsv_close(&t);
}

static void
print_set(const struct metrics *m, const char *version, const char *chip,
    const char *alias)
{
	struct out o;

	out_open(&o, NULL);
	fprintf(o.fp, "version: %s\nmetricSets:\n- alias: %s\n  name: %s\n"
	    "  chips: [%s]\n  displayRows:\n  - name: nsbench\n    type: overlay\n"
	    "    metrics:\n", version, alias, alias, chip);
	for (size_t i = 0; i < m->n; i++)
		fprintf(o.fp, "    - %s\n", m->id[i]);
	fprintf(o.fp, "  metrics:\n");
	for (size_t i = 0; i < m->n; i++)
		fprintf(o.fp, "  - name: %s\n    id: %s\n    subMetrics:\n"
		    "    - name: sum\n      suffix: .sum\n", m->id[i], m->id[i]);
	out_close(&o);
}

bool
is_word(const char *s)
{
	return *s != '\0' && s[strspn(s, word)] == '\0';
}

static const char *
opt_word(const char *name, const char *arg)
{
	if (!is_word(arg))
		errx(NS_TROUBLE, "--%s: '%s': letters, digits, _ . and - were expected",
		    name, arg);
	return arg;
}

static void
write_set(const struct metrics *m, const char *stock, const char *chip,
    const char *alias)
{
	char *version = stock_version(stock, chip);
	char *name = alias != NULL ? xstrdup(alias) : xasprintf("nsbench-%s", m->set);

	print_set(m, version, chip, name);
	free(version);
	free(name);
}

int
main(int argc, char *argv[])
{
	const char *path = NULL, *set = NULL, *chip = NULL, *stock = NULL;
	const char *alias = NULL, *sampled = NULL, *diagnostics = NULL;
	struct metrics m = { 0 };
	int ch, rc = NS_OK;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		switch (ch) {
		case 'm': path = optarg; break;
		case OPT_SET: set = opt_word("set", optarg); break;
		case OPT_CHIP: chip = opt_word("chip", optarg); break;
		case OPT_STOCK: stock = optarg; break;
		case OPT_ALIAS: alias = opt_word("alias", optarg); break;
		case OPT_CHECK: sampled = optarg; break;
		case OPT_DIAGNOSTICS: diagnostics = optarg; break;
		}
	if (path == NULL || set == NULL || optind < argc || (sampled != NULL ?
	    diagnostics == NULL : chip == NULL || stock == NULL))
		tool_usage(&tool);
	metrics_read(&m, path, set);
	if (sampled != NULL)
		rc = check(&m, sampled, diagnostics);
	else
		write_set(&m, stock, chip, alias);
	while (m.n > 0)
		free(m.id[--m.n]);
	free(m.id);
	return rc;
}
