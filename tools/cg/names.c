/* names.c: function names, and the numbers that stand for them in a file. */
#include <err.h>
#include <search.h>

#include "cg.h"

enum { MAX_ID = 1 << 22 };

static int
by_name(const void *a, const void *b)
{
	const struct fn *const x = a, *const y = b;

	return strcmp(x->name, y->name);
}

static struct fn *
intern(struct cg *c, char *name)
{
	struct fn key = { .name = name }, *fn, **at;

	if ((at = tfind(&key, &c->names.tree, by_name)) != NULL)
		return *at;
	fn = xalloc(1, sizeof *fn);
	fn->name = xstrdup(name);
	if (tsearch(fn, &c->names.tree, by_name) == NULL)
		err(NS_TROUBLE, "%s", c->path);
	return fn;
}

static struct fn **
numbered(struct cg *c, const char *text)
{
	struct names *n = &c->names;
	uint64_t id = cg_number(c, text);
	size_t had = n->n_ids;

	if (id >= MAX_ID)
		cg_die(c, "function number out of range: %s", text);
	n->id = xgrow(n->id, &n->n_ids, id + 1, sizeof *n->id);
	if (n->n_ids != had)
		memset(n->id + had, 0, (n->n_ids - had) * sizeof *n->id);
	return &n->id[id];
}

struct fn *
cg_function(struct cg *c, char *s)
{
	struct fn **fn;
	char *name;

	if (s[0] != '(' || s[1] < '0' || s[1] > '9')
		return intern(c, s);
	if ((name = strchr(s, ')')) == NULL)
		cg_die(c, "function number without ')': '%s'", s);
	*name++ = '\0';
	name += strspn(name, " \t");
	fn = numbered(c, s + 1);
	if (*name != '\0')
		*fn = intern(c, name);
	if (*fn == NULL)
		cg_die(c, "function number %s has no name yet: was the top of the "
		    "file cut off?", s + 1);
	return *fn;
}

static void
fn_free(void *p)
{
	struct fn *fn = p;

	free(fn->name);
	free(fn);
}

void
cg_forget(struct names *n)
{
	tdestroy(n->tree, fn_free);
	free(n->id);
	*n = (struct names){ 0 };
}
