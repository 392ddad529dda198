/*
 * page.c: the source page of ncu, kernel after kernel, and before it, if it is
 * there, the raw page, which says which launch each is.
 *
 *	"Kernel Name","_Z4gemv",		or Function Name, after a File Path
 *	"Address","Source","Warp Stall Sampling (All Samples)",...
 *	"0x7f2f937a1500","      LDC R1, c[0x0][0x28]","24",...
 */
#include <ctype.h>
#include <err.h>
#include <inttypes.h>

#include "reader.h"

enum { LONGEST = 1 << 24, MOST_COLUMNS = 10000 };

static void
on_field(void *s, size_t len, void *arg)
{
	struct reader *r = arg;

	if (r->n == MOST_COLUMNS)
		bad(r, "too many columns: not ncu's CSV", "");
	if (len != 0 && memchr(s, '\0', len) != NULL)
		bad(r, "NUL byte: not a text table", "");
	r->cell = xgrow(r->cell, &r->cap, r->n + 1, sizeof *r->cell);
	r->cell[r->n] = xalloc(len + 1, 1);
	if (len != 0)
		memcpy(r->cell[r->n], s, len);
	r->n++;
}

static void
on_end(int c, void *arg)
{
	struct reader *r = arg;

	(void)c;
	r->ended = true;
}

static size_t
next_line(struct reader *r)
{
	size_t n = 0;
	int c;

	while ((c = getc_unlocked(r->fp)) != EOF) {
		if (n == LONGEST)
			errx(NS_TROUBLE, "%s:%" PRIu64 ": a line of more than %d MiB: not "
			    "ncu's CSV", r->path, r->no + 1, LONGEST >> 20);
		r->line = xgrow(r->line, &r->line_cap, n + 1, 1);
		r->line[n++] = (char)c;
		if (c == '\n')
			break;
	}
	if (ferror(r->fp))
		err(NS_TROUBLE, "%s", r->path);
	r->no += n > 0;
	return n;
}

/* A line that is no row: ncu's own words, of which an error is one. */
static void
talk(struct reader *r, size_t len)
{
	char *s;

	r->begun = r->no;
	r->line = xgrow(r->line, &r->line_cap, len + 1, 1);
	r->line[len] = '\0';
	while (len > 0 && isspace((unsigned char)r->line[len - 1]))
		r->line[--len] = '\0';
	s = terminal_safe(xstrdup(r->line));
	if (strncmp(s, "==ERROR==", 9) == 0)
		bad(r, "ncu reports", s);
	if (strncmp(s, "==", 2) != 0 && *s != '\0')
		bad(r, "not ncu's source page: import with --csv --page source", s);
	free(s);
}

static void
feed(struct reader *r, const char *s, size_t len)
{
	if (csv_parse(&r->csv, s, len, on_field, on_end, r) != len)
		bad(r, "quotes do not match: a row was cut short here or in the line before", "");
}

static void
done(struct reader *r)
{
	row(r);
	while (r->n > 0)
		free(r->cell[--r->n]);
	r->ended = false;
}

static void
read_all(struct reader *r)
{
	bool mid = false, whole = true;
	size_t len, begun = 0;

	while ((len = next_line(r)) > 0) {
		size_t skip = r->no == 1 && len > 3 && memcmp(r->line, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

		if (!mid && r->line[skip] != '"') {
			talk(r, len);
			continue;
		}
		if (!mid) {
			r->begun = r->no;
			begun = 0;
		}
		if ((begun += len) > LONGEST)
			bad(r, "a row of more than 16 MiB: a quote is open", "");
		feed(r, r->line + skip, len - skip);
		mid = !r->ended;
		if (r->ended)
			done(r);
		whole = r->line[len - 1] == '\n' || r->line[len - 1] == '"';
	}
	if (csv_fini(&r->csv, on_field, on_end, r) != 0 || (mid && !whole))
		bad(r, "last row cut short: export again", "");
	if (mid)			/* no newline at the end */
		done(r);
}

void
page_read(struct page *p, const char *path)
{
	struct reader r = { .page = p, .path = "stdin", .fp = stdin };

	if (path != NULL && strcmp(path, "-") != 0) {
		r.path = path;
		if ((r.fp = fopen(path, "r")) == NULL)
			err(NS_TROUBLE, "%s", path);
	}
	p->path = r.path;
	intern_text(&p->reasons, "other");
	if (csv_init(&r.csv, CSV_STRICT | CSV_STRICT_FINI) != 0)
		errx(NS_TROUBLE, "libcsv");
	read_all(&r);
	if (r.no == 0)
		errx(NS_TROUBLE, "%s: empty", p->path);
	if (p->n == 0 || r.fresh)
		errx(NS_TROUBLE, "%s: %s: import with --csv --page source", p->path,
		    r.fresh ? "a kernel's name, and nothing of it" : "no kernel's source");
	for (size_t i = 0; i < p->n; i++)
		if (p->b[i].n == 0)
			errx(NS_TROUBLE, "%s:%" PRIu64 ": a header, but no instruction",
			    p->path, p->b[i].line);
	drop_header(&r);
	csv_free(&r.csv);
	free(r.cell);
	free(r.line);
	free(r.kernel);
	free(r.file);
	free(r.last_line);
	if (r.fp != stdin)
		fclose(r.fp);
}

void
page_free(struct page *p)
{
	for (size_t k = 0; k < p->n; k++) {
		struct block *b = &p->b[k];

		for (size_t i = 0; i < b->n; i++) {
			free(b->i[i].text);
			free(b->i[i].line);
			free(b->i[i].stall);
		}
		free(b->i);
		free(b->kernel);
		intern_free(&b->files);
		intern_free(&b->addresses);
	}
	for (size_t k = 0; k < p->n_launches; k++) {
		free(p->l[k].id);
		free(p->l[k].kernel);
		free(p->l[k].grid);
		free(p->l[k].block);
	}
	free(p->b);
	free(p->l);
	intern_free(&p->reasons);
}
