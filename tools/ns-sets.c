/*
 * ns-sets: a metric set of a platform, as a file that nsys records by.
 *
 * The set that NVIDIA installs for the chip says which version of the format
 * this nsys reads and which chips it may stand for; the metrics are ours.
 *
 * in   metric set: a platform's samples.tsv; a metric set file of nsys
 * out  a metric set file of nsys, for --gpu-metrics-set=file:ALIAS.config
 */
#include <err.h>
#include <errno.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "ns.h"

enum { OPT_SET = 256, OPT_CHIP, OPT_STOCK, OPT_ALIAS };
static const struct opt opts[] = {
	{ 'm', "metrics", "FILE", "samples.tsv of the platform" },
	{ OPT_SET, "set", "NAME", "the metrics of this set" },
	{ OPT_CHIP, "chip", "NAME", "GH100, GB20B, ..., as ns-probe has it" },
	{ OPT_STOCK, "stock", "PATH", "an installed set of the chip, or the folder of them" },
	{ OPT_ALIAS, "alias", "NAME", "what the file will be called, less .config (nsbench-SET)" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-sets",
	.purpose = "a metric set of a platform, as a file that nsys records by",
	.operands = "",
	.in = "-m: metric set; --stock: a metric set file of nsys",
	.out = "a metric set file of nsys: --gpu-metrics-set=file:ALIAS.config",
	.example = "ns-sets -m configs/platforms/gh100/samples.tsv --set a --chip GH100 "
	    "--stock /opt/nvidia/nsight-systems/2025.3.2/target-linux-x64/GpuMetrics "
	    ">nsbench-a.config",
	.opts = opts,
};

static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
static const char word[] = "abcdefghijklmnopqrstuvwxyz"
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

struct metrics {
	char	**id;		/* without the .sum, each once */
	size_t	 n, cap;
};

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

	tsv_open(&t, path);
	size_t metric = tsv_col(&t, "metric"), sets = tsv_col(&t, "set");

	while (tsv_next(&t))
		if (listed(tsv_text(&t, sets), set))
			add(m, &t, metric);
	if (m->n == 0)
		errx(NS_TROUBLE, "%s: no metric of set '%s'", t.name, set);
	tsv_close(&t);
}

struct stock {
	const char *path;
	FILE	*fp;
	yaml_document_t doc;
};

/* The value of a mapping's key; NULL without one. */
static yaml_node_t *
value(struct stock *s, const yaml_node_t *map, const char *key)
{
	yaml_node_pair_t *p;

	if (map == NULL || map->type != YAML_MAPPING_NODE)
		return NULL;
	for (p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		const yaml_node_t *k = yaml_document_get_node(&s->doc, p->key);

		if (k->type == YAML_SCALAR_NODE &&
		    strcmp((const char *)k->data.scalar.value, key) == 0)
			return yaml_document_get_node(&s->doc, p->value);
	}
	return NULL;
}

/* A scalar of harmless characters; NULL if it is none. */
static const char *
scalar(const yaml_node_t *n)
{
	const char *s;

	if (n == NULL || n->type != YAML_SCALAR_NODE)
		return NULL;
	s = (const char *)n->data.scalar.value;
	return *s != '\0' && s[strspn(s, word)] == '\0' ? s : NULL;
}

static yaml_node_t *
item(struct stock *s, const yaml_node_t *list, size_t i)
{
	if (list == NULL || list->type != YAML_SEQUENCE_NODE || i >=
	    (size_t)(list->data.sequence.items.top - list->data.sequence.items.start))
		return NULL;
	return yaml_document_get_node(&s->doc, list->data.sequence.items.start[i]);
}

static bool
for_chip(struct stock *s, const yaml_node_t *set, const char *chip)
{
	const yaml_node_t *chips = value(s, set, "chips");
	const yaml_node_t *c;

	for (size_t i = 0; (c = item(s, chips, i)) != NULL; i++)
		if (c->type == YAML_SCALAR_NODE &&
		    strcmp((const char *)c->data.scalar.value, chip) == 0)
			return true;
	return false;
}

static void
stock_open(struct stock *s, const char *path)
{
	yaml_parser_t parser;

	s->path = path;
	if ((s->fp = fopen(path, "r")) == NULL)
		err(NS_TROUBLE, "%s", path);
	if (!yaml_parser_initialize(&parser))
		errx(NS_TROUBLE, "libyaml: out of memory");
	yaml_parser_set_input_file(&parser, s->fp);
	if (!yaml_parser_load(&parser, &s->doc))
		errx(NS_TROUBLE, "%s:%zu: not a metric set file: %s", path,
		    parser.problem_mark.line + 1, parser.problem != NULL ?
		    parser.problem : "not YAML");
	yaml_parser_delete(&parser);
}

static void
stock_close(struct stock *s)
{
	yaml_document_delete(&s->doc);
	fclose(s->fp);
}

/* The version of the format, if a set in the file is for the chip. */
static char *
version_for(const char *path, const char *chip)
{
	struct stock s = { 0 };
	const yaml_node_t *root, *sets, *set;
	const char *version;
	char *found = NULL;

	stock_open(&s, path);
	root = yaml_document_get_root_node(&s.doc);
	sets = value(&s, root, "metricSets");
	for (size_t i = 0; found == NULL && (set = item(&s, sets, i)) != NULL; i++)
		if (for_chip(&s, set, chip)) {
			if ((version = scalar(value(&s, root, "version"))) == NULL)
				errx(NS_TROUBLE, "%s: no version of its format in it",
				    path);
			found = xstrdup(version);
		}
	stock_close(&s);
	return found;
}

/* PATH, or the first file in the folder PATH, that has a set for the chip. */
static char *
version_of(const char *path, const char *chip)
{
	char *pattern, *version = NULL;
	struct stat st;
	glob_t g;

	if (stat(path, &st) != 0)
		err(NS_TROUBLE, "%s", path);
	if (!S_ISDIR(st.st_mode)) {
		if ((version = version_for(path, chip)) == NULL)
			errx(NS_TROUBLE, "%s: no set in it is for chip %s", path,
			    chip);
		return version;
	}
	pattern = xasprintf("%s/*.config", path);
	if (glob(pattern, 0, NULL, &g) != 0)
		errx(NS_TROUBLE, "%s: there is no metric set file", pattern);
	for (size_t i = 0; version == NULL && i < g.gl_pathc; i++)
		version = version_for(g.gl_pathv[i], chip);
	globfree(&g);
	if (version == NULL)
		errx(NS_TROUBLE, "%s: no set is for chip %s: this nsys cannot sample "
		    "it; install a newer one", pattern, chip);
	free(pattern);
	return version;
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

static const char *
opt_word(const char *name, const char *arg)
{
	if (*arg == '\0' || arg[strspn(arg, word)] != '\0')
		errx(NS_TROUBLE, "--%s: '%s': letters, digits, _ . and - were expected",
		    name, arg);
	return arg;
}

int
main(int argc, char *argv[])
{
	const char *path = NULL, *set = NULL, *chip = NULL, *stock = NULL;
	char *alias = NULL, *version;
	struct metrics m = { 0 };
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		switch (ch) {
		case 'm': path = optarg; break;
		case OPT_SET: set = opt_word("set", optarg); break;
		case OPT_CHIP: chip = opt_word("chip", optarg); break;
		case OPT_STOCK: stock = optarg; break;
		case OPT_ALIAS:
			free(alias);
			alias = xstrdup(opt_word("alias", optarg));
			break;
		}
	if (path == NULL || set == NULL || chip == NULL || stock == NULL ||
	    optind < argc)
		tool_usage(&tool);
	metrics_read(&m, path, set);
	version = version_of(stock, chip);
	if (alias == NULL)
		alias = xasprintf("nsbench-%s", set);
	print_set(&m, version, chip, alias);
	free(alias);
	free(version);
	while (m.n > 0)
		free(m.id[--m.n]);
	free(m.id);
	return NS_OK;
}
