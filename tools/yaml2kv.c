/*
 * yaml2kv: a YAML config as name=value lines that C, make and sh all read.
 *
 * in   a YAML mapping of scalars, mappings and lists of scalars
 * out  name=value; nested names joined by _, lists by ,
 */
#include <err.h>
#include <unistd.h>
#include <yaml.h>

#include "ns.h"

static const struct opt opts[] = {
	{ 'p', "prefix", "NAME", "put NAME_ before every name" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "yaml2kv",
	.purpose = "a YAML config as name=value lines that C, make and sh read",
	.operands = "[FILE]",
	.in = "a YAML mapping of scalars, mappings and lists of scalars",
	.out = "name=value; nested names joined by _, lists by commas",
	.example = "yaml2kv configs/models/tiny.yaml",
	.opts = opts,
};

struct reader {
	yaml_parser_t yaml;
	FILE	*fp;
	const char *path;
	char	**seen;		/* the names so far */
	size_t	n_seen, cap;
	struct out out;
};

_Noreturn static void
bad(const struct reader *r, yaml_mark_t at, const char *what, const char *which)
{
	errx(NS_TROUBLE, "%s:%zu:%zu: %s%s%s", r->path, at.line + 1,
	    at.column + 1, what, *which != '\0' ? ": " : "", which);
}

static void
next(struct reader *r, yaml_event_t *e)
{
	if (yaml_parser_parse(&r->yaml, e))
		return;
	if (ferror(r->fp))
		err(NS_TROUBLE, "%s", r->path);
	bad(r, r->yaml.problem_mark, r->yaml.problem != NULL ?
	    r->yaml.problem : "not YAML", r->yaml.problem != NULL &&
	    strstr(r->yaml.problem, "cannot start any token") != NULL ?
	    "indent with spaces, not tabs" : "");
}

/* The scalar's text, if it has only the characters that kv allows. */
static const char *
scalar(const struct reader *r, const yaml_event_t *e, const char *chars)
{
	const char *s = (const char *)e->data.scalar.value;
	size_t ok = strspn(s, chars);

	if (e->data.scalar.anchor != NULL)
		bad(r, e->start_mark, "anchors are not supported; repeat the value", "");
	if (e->data.scalar.tag != NULL)
		bad(r, e->start_mark, "tags are not supported", "");
	if (strlen(s) != e->data.scalar.length || s[ok] != '\0') {
		char c[] = { s[ok], '\0' };

		bad(r, e->start_mark, chars == kv_name_chars ?
		    "a name holds only a-z, 0-9 and _, not" :
		    "unsafe character in value", c);
	}
	return s;
}

static void
emit(struct reader *r, const char *name, const char *value, yaml_mark_t at)
{
	for (size_t i = 0; i < r->n_seen; i++)
		if (strcmp(r->seen[i], name) == 0)
			bad(r, at, "set twice", name);
	r->seen = xgrow(r->seen, &r->cap, r->n_seen + 1, sizeof *r->seen);
	r->seen[r->n_seen++] = xstrdup(name);
	out_kv(&r->out, name, value);
}

static void
list(struct reader *r, const char *name, yaml_mark_t at)
{
	char *all = xstrdup("");
	yaml_event_t e;

	for (next(r, &e); e.type != YAML_SEQUENCE_END_EVENT; next(r, &e)) {
		char *longer;

		if (e.type != YAML_SCALAR_EVENT)
			bad(r, e.start_mark, "a list may hold only scalars", name);
		longer = xasprintf("%s%s%s", all, *all != '\0' ? "," : "",
		    scalar(r, &e, kv_value_chars));
		free(all);
		all = longer;
		yaml_event_delete(&e);
	}
	yaml_event_delete(&e);
	emit(r, name, all, at);
	free(all);
}

static void
mapping(struct reader *r, const char *prefix)
{
	yaml_event_t key, e;

	for (next(r, &key); key.type != YAML_MAPPING_END_EVENT; next(r, &key)) {
		const char *s;
		char *name;

		if (key.type != YAML_SCALAR_EVENT)
			bad(r, key.start_mark, "a name must be a scalar", "");
		s = scalar(r, &key, kv_name_chars);
		if (*s < 'a' || *s > 'z')
			bad(r, key.start_mark, "a name must start with a-z", s);
		name = xasprintf("%s%s%s", prefix, *prefix != '\0' ? "_" : "", s);
		next(r, &e);
		if (e.type == YAML_SCALAR_EVENT)
			emit(r, name, scalar(r, &e, kv_value_chars), key.start_mark);
		else if (e.type == YAML_SEQUENCE_START_EVENT &&
		    e.data.sequence_start.anchor == NULL)
			list(r, name, key.start_mark);
		else if (e.type == YAML_MAPPING_START_EVENT &&
		    e.data.mapping_start.anchor == NULL)
			mapping(r, name);
		else
			bad(r, e.start_mark, "anchors and aliases are not "
			    "supported; repeat the value", name);
		free(name);
		yaml_event_delete(&key);
		yaml_event_delete(&e);
	}
	yaml_event_delete(&key);
}

static void
expect(struct reader *r, yaml_event_type_t type, const char *what)
{
	yaml_event_t e;

	next(r, &e);
	if (e.type != type)
		bad(r, e.start_mark, what, "");
	yaml_event_delete(&e);
}

static void
yaml2kv(FILE *fp, const char *path, const char *prefix)
{
	struct reader r = { .fp = fp, .path = path };

	if (!yaml_parser_initialize(&r.yaml))
		errx(NS_TROUBLE, "libyaml: out of memory");
	yaml_parser_set_input_file(&r.yaml, fp);
	out_open(&r.out, NULL);
	expect(&r, YAML_STREAM_START_EVENT, "not YAML");
	expect(&r, YAML_DOCUMENT_START_EVENT, "empty: a mapping was expected");
	expect(&r, YAML_MAPPING_START_EVENT, "a mapping was expected");
	mapping(&r, prefix);
	expect(&r, YAML_DOCUMENT_END_EVENT, "more than one mapping");
	expect(&r, YAML_STREAM_END_EVENT, "more than one document");
	yaml_parser_delete(&r.yaml);
	while (r.n_seen > 0)
		free(r.seen[--r.n_seen]);
	free(r.seen);
	out_close(&r.out);
}

int
main(int argc, char *argv[])
{
	const char *path = "stdin", *prefix = "";
	FILE *fp = stdin;
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) == 'p')
		prefix = optarg;
	if (ch != -1 || argc - optind > 1)
		tool_usage(&tool);
	if (prefix[strspn(prefix, kv_name_chars)] != '\0')
		errx(NS_TROUBLE, "--prefix: bad name '%s'", prefix);
	if (optind < argc && strcmp(argv[optind], "-") != 0) {
		path = argv[optind];
		if ((fp = fopen(path, "r")) == NULL)
			err(NS_TROUBLE, "%s", path);
	}
	yaml2kv(fp, path, prefix);
	if (fp != stdin)
		fclose(fp);
	return NS_OK;
}
