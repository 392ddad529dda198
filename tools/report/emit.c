/* emit.c: the document, whatever it is written in. */
#include <err.h>
#include <stdarg.h>
#include <unistd.h>

#include "report.h"

static const char *
remember(struct doc *d, char *s)
{
	d->said = xgrow(d->said, &d->cap_said, d->n_said + 1, sizeof *d->said);
	return d->said[d->n_said++] = s;
}

const char *
say(struct doc *d, const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		err(NS_TROUBLE, "vasprintf");
	return remember(d, s);
}

/* Close what is open and open what is wanted. */
static void
block(struct doc *d, int wanted)
{
	if ((int)d->block == wanted)
		return;
	if (d->block == LIST)
		d->back->list(d, false);
	else if (d->block == FACTS)
		d->back->facts(d, false);
	d->block = wanted == LIST ? LIST : wanted == FACTS ? FACTS : NO_BLOCK;
	if (wanted == LIST)
		d->back->list(d, true);
	else if (wanted == FACTS)
		d->back->facts(d, true);
}

void
doc_section(struct doc *d, const char *id, const char *title)
{
	block(d, NO_BLOCK);
	d->back->section(d, id, title);
}

void
para(struct doc *d, enum tone tone, const char *text)
{
	block(d, NO_BLOCK);
	d->back->para(d, tone, text);
}

void
item(struct doc *d, const char *text)
{
	block(d, LIST);
	d->back->item(d, text);
}

void
fact(struct doc *d, const char *name, const char *value, const char *note)
{
	block(d, FACTS);
	d->back->fact(d, name, value, note);
}

void
table(struct doc *d, const char *caption, const char *columns)
{
	char *rest = xstrdup(columns), *all = rest, *name;
	size_t cap = 0;

	block(d, NO_BLOCK);
	d->head = NULL;
	d->n_col = d->n_cell = 0;
	while ((name = strsep(&rest, "|")) != NULL) {
		d->head = xgrow(d->head, &cap, d->n_col + 1, sizeof *d->head);
		d->head[d->n_col++] = xstrdup(name);
	}
	free(all);
	d->back->table(d, caption);
}

const char *
column_name(const char *head)
{
	return head + (*head == '>' || *head == '~');
}

void
cell(struct doc *d, const char *text)
{
	d->back->cell(d, d->n_cell++ % d->n_col, text);
}

void
table_end(struct doc *d)
{
	d->back->table(d, NULL);
	for (size_t i = 0; i < d->n_col; i++)
		free(d->head[i]);
	free(d->head);
	d->head = NULL;
}

bool
figure_there(const struct doc *d, const char *name)
{
	char *path = xasprintf("%s/figures/%s.svg", d->run->dir, name);
	bool there = access(path, R_OK) == 0;

	free(path);
	return there;
}

void
figure(struct doc *d, const char *name, const char *caption)
{
	block(d, NO_BLOCK);
	if (figure_there(d, name))
		d->back->figure(d, name, caption);
}

void
doc_end(struct doc *d)
{
	block(d, NO_BLOCK);
	d->back->end(d);
}

void
doc_free(struct doc *d)
{
	for (size_t i = 0; i < d->n_said; i++)
		free(d->said[i]);
	free(d->said);
}
