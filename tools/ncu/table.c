/* table.c: the columns under a header, and the units below it. */
#include <err.h>

#include "ncu.h"

/* Columns that say which launch it is; every other one of a raw page is a metric. */
const char *const key_name[N_KEYS] = {
	"ID", "Process ID", "Kernel Name", "Push/Pop_Range", "Start/Stop_Range",
	"Block Size", "Grid Size", "Device", "Section Name", "Body Item Label",
	"Metric Name", "Metric Unit", "Metric Value"
};
static const char *const other_name[] = {
	"Process Name", "Host Name", "Kernel Time", "Context", "Stream", "CC", NULL
};

void
bad(const struct ncu *u, const char *what, const char *which)
{
	char *safe = terminal_safe(xstrdup(which));

	errx(NS_TROUBLE, "%s:%llu: %s%s%s", u->in.path,
	    (unsigned long long)u->in.no, what, *safe != '\0' ? ": " : "", safe);
}

void
bad_cell(const struct ncu *u, const char *metric, const char *what, const char *text)
{
	char *safe = terminal_safe(xasprintf("%s: %s '%s'", metric, what, text));

	errx(NS_TROUBLE, "%s:%llu: %s", u->in.path, (unsigned long long)u->in.no, safe);
}

char *
cell(const struct ncu *u, size_t col)
{
	return col < u->n ? u->cells + u->at[col] : NULL;
}

char *
key(const struct ncu *u, enum key k)
{
	return u->key[k] != SIZE_MAX ? cell(u, u->key[k]) : NULL;
}

/* ---- the header */

static bool
is_key(const char *name, enum key k)
{
	return k == PUSH || k == START ? strstr(name, key_name[k]) != NULL :
	    strcmp(name, key_name[k]) == 0;
}

/* A word, whatever it says. */
static bool
is_word(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && strcmp(name + n - 5, "_name") == 0;
}

static bool
is_metric(const char *name)
{
	for (enum key k = 0; k < N_KEYS; k++)
		if (is_key(name, k))
			return false;
	for (size_t i = 0; other_name[i] != NULL; i++)
		if (strcmp(name, other_name[i]) == 0)
			return false;
	return *name != '\0' && !is_word(name);
}

/* A run of control bytes becomes one space, in place. */
void
clean(char *s)
{
	char *to = s;
	bool control, space = false;

	for (; *s != '\0'; s++) {
		control = (unsigned char)*s < ' ' || *s == 0x7f;
		if (!control)
			*to++ = *s;
		else if (!space)
			*to++ = ' ';
		space = control;
	}
	*to = '\0';
}

static void
want(struct ncu *u, struct column *c)
{
	struct pick *p = picks_find(&u->picks, c->name);

	if (!is_metric(c->name))
		return;
	if (u->picks.n != 0)
		picks_there(&u->picks, c->name);
	c->metric = c->keep = u->picks.n == 0 || p != NULL;
	if (p != NULL)
		p->seen = true;
}

static void
find_keys(struct ncu *u)
{
	for (enum key k = 0; k < N_KEYS; k++) {
		u->key[k] = SIZE_MAX;
		for (size_t i = 0; i < u->ncol; i++)
			if (is_key(u->col[i].name, k)) {
				if (u->key[k] != SIZE_MAX)
					bad(u, "a column stands twice", key_name[k]);
				u->key[k] = i;
				u->col[i].keep = true;
			}
	}
	u->details = u->key[VALUE] != SIZE_MAX;
	for (enum key k = 0; k < N_KEYS; k++)
		if ((k <= KERNEL || (u->details && (k == METRIC || k == UNIT))) &&
		    u->key[k] == SIZE_MAX)
			bad(u, "not ncu's header: no column", key_name[k]);
}

static int
cmp_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Two columns of one metric would count it twice. */
static void
once_each(const struct ncu *u)
{
	char **name = xalloc(u->ncol, sizeof *name), *twice = NULL;
	size_t n = 0;

	for (size_t i = 0; i < u->ncol; i++)
		if (u->col[i].metric)
			name[n++] = u->col[i].name;
	qsort(name, n, sizeof *name, cmp_name);
	for (size_t i = 1; i < n && twice == NULL; i++)
		if (strcmp(name[i - 1], name[i]) == 0)
			twice = name[i];
	free(name);
	if (twice != NULL)
		bad(u, "a column stands twice", twice);
}

void
drop_columns(struct ncu *u)
{
	for (size_t i = 0; u->col != NULL && i < u->ncol; i++)
		free(u->col[i].name);
	free(u->col);
	free(u->at);
	free(u->cut.want);
	u->col = NULL;
	u->at = NULL;
	u->cut.want = NULL;
	u->ncol = 0;
}

/* The fields of the header are in the cells. */
void
header(struct ncu *u)
{
	const char *found;

	u->ncol = u->n;
	u->col = xalloc(u->ncol, sizeof *u->col);
	for (size_t i = 0; i < u->ncol; i++) {
		clean(cell(u, i));
		u->col[i].name = xstrdup(cell(u, i));
	}
	find_keys(u);
	found = u->details ? "details" : "raw";
	if (u->page != NULL && strcmp(u->page, found) != 0)
		errx(NS_TROUBLE, "%s: this is the %s page: export with ncu --import "
		    "FILE --csv --page %s", u->in.path, found, u->page);
	for (size_t i = 0; i < u->ncol && !u->details; i++)
		want(u, &u->col[i]);
	once_each(u);
	u->cut = (struct cut){ .ncol = u->ncol, .buf = u->cut.buf, .cap = u->cut.cap,
	    .want = xalloc(u->ncol, sizeof *u->cut.want) };
	for (size_t i = 0; i < u->ncol; i++)
		if (u->col[i].keep)
			u->cut.want[u->cut.nwant++] = i;
	u->run++;
	u->units_seen = u->details;
	u->n_seen = 0;
}

void
units(struct ncu *u)
{
	for (size_t i = 0; i < u->ncol; i++)
		if (u->col[i].metric && !unit_parse(cell(u, i), &u->col[i].unit))
			bad_cell(u, u->col[i].name, "unknown unit", cell(u, i));
	u->units_seen = true;
}
