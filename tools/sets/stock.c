/* stock.c: the metric sets that come with nsys: YAML, a version, chips. */
#include <err.h>
#include <glob.h>
#include <sys/stat.h>
#include <yaml.h>

#include "sets.h"

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
	return is_word(s) ? s : NULL;
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

char *
stock_version(const char *path, const char *chip)
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
