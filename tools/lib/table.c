/* table.c: a whole table in memory. */
#include <err.h>
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "table.h"

/* The length of the UTF-8 character at s, 0 if it is none. */
static size_t
utf8_len(const unsigned char *s)
{
	size_t n = *s < 0x80 ? 1 : *s >= 0xc2 && *s < 0xe0 ? 2 :
	    *s >= 0xe0 && *s < 0xf0 ? 3 : *s >= 0xf0 && *s < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] >= 0xa0) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] >= 0x90))
		return 0;
	return n;
}

/* Copy s to p: a control byte becomes a space, a byte that is not UTF-8 a '?'. */
static char *
copy_clean(char *p, const char *s)
{
	while (*s != '\0') {
		size_t n = utf8_len((const unsigned char *)s);

		if (n <= 1) {
			*p++ = n == 0 ? '?' : (unsigned char)*s < ' ' ||
			    *s == 0x7f ? ' ' : *s;
			s++;
		} else {
			memcpy(p, s, n);
			p += n;
			s += n;
		}
	}
	*p = '\0';
	return p + 1;
}

char *
text_clean(const char *s)
{
	char *clean = xalloc(strlen(s) + 1, 1);

	copy_clean(clean, s);
	return clean;
}

/* n strings in one piece of memory. */
static char **
keep(char *const *s, size_t n)
{
	size_t bytes = n * sizeof *s;
	char **kept, *p;

	for (size_t i = 0; i < n; i++)
		bytes += strlen(s[i]) + 1;
	kept = xalloc(bytes, 1);
	p = (char *)(kept + n);
	for (size_t i = 0; i < n; i++) {
		kept[i] = p;
		p = copy_clean(p, s[i]);
	}
	return kept;
}

bool
table_read(struct table *t, const char *path)
{
	struct tsv in;

	*t = (struct table){ 0 };
	if (access(path, F_OK) != 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return false;
		err(NS_TROUBLE, "%s", path);
	}
	tsv_open(&in, path);
	t->path = xstrdup(path);
	t->ncol = in.ncol;
	t->col = keep(in.col, in.ncol);
	while (tsv_next(&in)) {
		t->row = xgrow(t->row, &t->cap, t->n + 1, sizeof *t->row);
		t->row[t->n++] = keep(in.val, in.ncol);
	}
	tsv_close(&in);
	return true;
}

size_t
table_find(const struct table *t, const char *name)
{
	for (size_t i = 0; i < t->ncol; i++)
		if (strcmp(t->col[i], name) == 0)
			return i;
	return TSV_NONE;
}

void
table_need(const struct table *t, const char *names)
{
	char name[64];

	for (const char *p = names; *p != '\0'; p += strspn(p, " ")) {
		size_t n = strcspn(p, " ");

		snprintf(name, sizeof name, "%.*s", (int)n, p);
		if (table_find(t, name) == TSV_NONE)
			errx(NS_TROUBLE, "%s: no column '%s'", t->path, name);
		p += n;
	}
}

const char *
table_text(const struct table *t, size_t row, const char *name)
{
	size_t i = table_find(t, name);

	return i == TSV_NONE || strcmp(t->row[row][i], "NA") == 0 ? NULL :
	    t->row[row][i];
}

double
table_num(const struct table *t, size_t row, const char *name)
{
	const char *s = table_text(t, row, name);
	double x;

	if (s == NULL)
		return NAN;
	if (!parse_num(s, &x))
		errx(NS_TROUBLE, "%s:%zu: %s: not a number: '%s'", t->path,
		    row + 2, name, s);
	return x;
}

bool
table_is(const struct table *t, size_t row, const char *name, const char *what)
{
	const char *s = table_text(t, row, name);

	return s != NULL && strcmp(s, what) == 0;
}

void
table_free(struct table *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->row[i]);
	free(t->row);
	free(t->col);
	free(t->path);
	*t = (struct table){ 0 };
}
