/* picks.c: the metrics or ranges that were asked for, and what to say of one not there. */
#include <err.h>

#include "ncu.h"

enum { HINTS = 3, LONGEST = 200 };

void
picks_parse(struct picks *p, const char *list)
{
	char *copy = xstrdup(list), *name, *rest = copy;
	size_t cap = 0;

	while ((name = strsep(&rest, ",")) != NULL) {
		name += strspn(name, " ");
		if (*name == '\0' || strlen(name) > LONGEST)
			errx(NS_TROUBLE, "--%ss: not a list of names: '%s'", p->what,
			    list);
		p->pick = xgrow(p->pick, &cap, p->n + 1, sizeof *p->pick);
		p->pick[p->n++] = (struct pick){ .name = xstrdup(name) };
	}
	free(copy);
}

struct pick *
picks_find(struct picks *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->pick[i].name, name) == 0)
			return &p->pick[i];
	return NULL;
}

/* A name that is there, for the hints. */
void
picks_there(struct picks *p, const char *name)
{
	for (size_t i = 0; i < p->n_there; i++)
		if (strcmp(p->there[i], name) == 0)
			return;
	p->there = xgrow(p->there, &p->cap, p->n_there + 1, sizeof *p->there);
	p->there[p->n_there++] = xstrdup(name);
}

/* How many letters differ; less where one name begins the other. */
static size_t
distance(const char *a, const char *b)
{
	size_t row[LONGEST + 2], n = strlen(b), m = strlen(a);

	if (strncmp(a, b, m < n ? m : n) == 0)
		return 1 + (m > n ? m - n : n - m) / 8;
	if (n > LONGEST)
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; i <= m; i++) {
		size_t diag = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t best = diag + (a[i - 1] != b[j - 1]);

			diag = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

_Noreturn static void
absent(const struct picks *p, const char *name, const char *path)
{
	const char *hint[HINTS] = { NULL };
	size_t far[HINTS] = { 0 };
	char *said = xstrdup("");

	for (size_t i = 0; i < p->n_there; i++) {
		size_t d = distance(name, p->there[i]), at = HINTS;

		while (at > 0 && (hint[at - 1] == NULL || d < far[at - 1]))
			at--;
		for (size_t k = HINTS - 1; k > at && at < HINTS; k--) {
			hint[k] = hint[k - 1];
			far[k] = far[k - 1];
		}
		if (at < HINTS) {
			hint[at] = p->there[i];
			far[at] = d;
		}
	}
	for (size_t k = 0; k < HINTS && hint[k] != NULL; k++) {
		char *longer = xasprintf("%s%s %s", said, k != 0 ? "," : "", hint[k]);

		free(said);
		said = longer;
	}
	errx(NS_TROUBLE, "%s: no %s '%s'; nearest:%s", path, p->what, name,
	    p->n_there > 0 ? said : " there is none");
}

void
picks_check(const struct picks *p, const char *path)
{
	for (size_t i = 0; i < p->n; i++)
		if (!p->pick[i].seen)
			absent(p, p->pick[i].name, path);
}

void
picks_free(struct picks *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->pick[i].name);
	for (size_t i = 0; i < p->n_there; i++)
		free(p->there[i]);
	free(p->pick);
	free(p->there);
}
