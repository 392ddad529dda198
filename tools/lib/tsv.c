/* tsv.c: read a table row by row, columns by name. */
#include <endian.h>
#include <err.h>
#include <math.h>
#include <stdarg.h>

#include "ns.h"

enum { CHUNK = 1 << 16, WORD = sizeof(uint64_t) };

/* More input behind buf[len]; rows before pos are dropped. */
static void
fill(struct tsv *t)
{
	size_t got;

	if (t->pos != 0) {
		memmove(t->buf, t->buf + t->pos, t->len - t->pos);
		t->len -= t->pos;
		t->pos = 0;
	}
	t->buf = xgrow(t->buf, &t->cap, t->len + CHUNK + WORD, 1);
	got = fread(t->buf + t->len, 1, CHUNK, t->fp);
	if (got == 0) {
		if (ferror(t->fp))
			err(NS_TROUBLE, "%s", t->name);
		t->eof = true;
	}
	t->len += got;
}

/* The next line, its newline replaced by NUL, or NULL at the end. */
static char *
getline_in(struct tsv *t, size_t *len)
{
	size_t seen = 0;
	char *row, *nl;

	for (;;) {
		row = t->buf + t->pos;
		if (t->pos + seen < t->len && (nl = memchr(row + seen, '\n',
		    t->len - t->pos - seen)) != NULL)
			break;
		seen = t->len - t->pos;
		if (t->eof) {
			if (seen == 0)
				return NULL;
			errx(NS_TROUBLE, "%s:%llu: last line cut short: it has "
			    "no newline; make the file again", t->name,
			    (unsigned long long)t->line + 1);
		}
		fill(t);
	}
	*nl = '\0';
	*len = (size_t)(nl - row);
	t->pos += *len + 1;
	t->line++;
	return row;
}

/* The high bit of each byte of w that is below 16, and no other bit. */
static uint64_t
low_bytes(uint64_t w)
{
	const uint64_t high = 0x8080808080808080;

	w &= 0xf0f0f0f0f0f0f0f0;
	return ~(((w & ~high) + ~high) | w) & high;
}

/*
 * Cut row at its tabs into val[0..ncol); return how many fields there were.
 * Eight bytes at a time: rows may be read up to WORD - 1 bytes past their end.
 */
static size_t
split(const struct tsv *t, char *row, size_t len)
{
	size_t n = 1;

	t->val[0] = row;
	for (size_t i = 0; i < len; i += WORD) {
		uint64_t w, low;

		memcpy(&w, row + i, WORD);
		for (low = low_bytes(le64toh(w)); low != 0; low &= low - 1) {
			size_t at = i + (size_t)__builtin_ctzll(low) / 8;

			if (at >= len)
				break;
			if (row[at] == '\t') {
				row[at] = '\0';
				if (n < t->ncol)
					t->val[n] = row + at + 1;
				n++;
			} else if (row[at] == '\0')
				errx(NS_TROUBLE, "%s:%llu: NUL byte at column "
				    "%zu: not a text table", t->name,
				    (unsigned long long)t->line, at + 1);
		}
	}
	return n;
}

static void
check_names(const struct tsv *t)
{
	const char *last = t->col[t->ncol - 1];

	if (strncmp(t->head, "\xef\xbb\xbf", 3) == 0)
		errx(NS_TROUBLE, "%s:1: begins with a byte order mark: remove "
		    "it: sed '1s/^\\xef\\xbb\\xbf//'", t->name);
	if (*last != '\0' && last[strlen(last) - 1] == '\r')
		errx(NS_TROUBLE, "%s:1: lines end in CR LF, not in LF: remove "
		    "the CR: tr -d '\\r'", t->name);
	for (size_t i = 0; i < t->ncol; i++) {
		char *s = t->col[i];

		if (*s < 'a' || *s > 'z' || s[strspn(s,
		    "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0')
			errx(NS_TROUBLE, "%s:1: column %zu: bad name '%s': a "
			    "header of [a-z][a-z0-9_]* names was expected",
			    t->name, i + 1, terminal_safe(s));
		for (size_t j = 0; j < i; j++)
			if (strcmp(s, t->col[j]) == 0)
				errx(NS_TROUBLE, "%s:1: column '%s' stands twice",
				    t->name, s);
	}
}

void
tsv_open(struct tsv *t, const char *path)
{
	char *row;
	size_t len;

	*t = (struct tsv){ .fp = stdin, .name = "stdin", .ncol = 1 };
	if (path != NULL && strcmp(path, "-") != 0) {
		t->name = path;
		if ((t->fp = fopen(path, "r")) == NULL)
			err(NS_TROUBLE, "%s", path);
	}
	setvbuf(t->fp, NULL, _IONBF, 0);
	fill(t);
	if ((row = getline_in(t, &len)) == NULL)
		errx(NS_TROUBLE, "%s: empty: no header line", t->name);
	t->head = xalloc(len + WORD, 1);
	memcpy(t->head, row, len);
	for (size_t i = 0; i < len; i++)
		t->ncol += row[i] == '\t';
	t->col = xalloc(2 * t->ncol, sizeof *t->col);
	t->val = t->col;
	split(t, t->head, len);
	t->val = t->col + t->ncol;
	check_names(t);
}

size_t
tsv_find(const struct tsv *t, const char *name)
{
	for (size_t i = 0; i < t->ncol; i++)
		if (strcmp(t->col[i], name) == 0)
			return i;
	return TSV_NONE;
}

size_t
tsv_col(const struct tsv *t, const char *name)
{
	size_t i = tsv_find(t, name);

	if (i == TSV_NONE)
		errx(NS_TROUBLE, "%s: no column '%s'", t->name, name);
	return i;
}

bool
tsv_next(struct tsv *t)
{
	size_t len, n;
	char *row = getline_in(t, &len);

	if (row == NULL)
		return false;
	if ((n = split(t, row, len)) != t->ncol)
		errx(NS_TROUBLE, "%s:%llu: %zu fields, the header has %zu",
		    t->name, (unsigned long long)t->line, n, t->ncol);
	return true;
}

void
tsv_die(const struct tsv *t, size_t col, const char *fmt, ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	errx(NS_TROUBLE, "%s:%llu: %s: %s", t->name,
	    (unsigned long long)t->line, t->col[col], terminal_safe(what));
}

const char *
tsv_text(const struct tsv *t, size_t col)
{
	if (*t->val[col] == '\0')
		tsv_die(t, col, "empty field: missing is written NA");
	return t->val[col];
}

bool
tsv_is_na(const struct tsv *t, size_t col)
{
	return strcmp(t->val[col], "NA") == 0;
}

double
tsv_num(const struct tsv *t, size_t col)
{
	double x;

	if (tsv_is_na(t, col))
		return NAN;
	if (!parse_num(t->val[col], &x))
		tsv_die(t, col, "not a number: '%s'", t->val[col]);
	return x;
}

bool
tsv_int(const struct tsv *t, size_t col, int64_t *out)
{
	if (parse_int(t->val[col], out))
		return true;
	if (!tsv_is_na(t, col))
		tsv_die(t, col, "not an integer: '%s'", t->val[col]);
	return false;
}

uint64_t
tsv_count(const struct tsv *t, size_t col)
{
	uint64_t n;

	if (!parse_count(t->val[col], &n))
		tsv_die(t, col, "not a count: '%s'", t->val[col]);
	return n;
}

void
tsv_close(struct tsv *t)
{
	if (t->fp != stdin)
		fclose(t->fp);
	free(t->head);
	free(t->buf);
	free(t->col);
	*t = (struct tsv){ 0 };
}
