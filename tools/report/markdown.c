/* markdown.c: the document in GitHub's Markdown; figures as relative links. */
#include "report.h"

/* Inside a code span nothing is special but backquotes and, in a table, |. */
static const char *
code(FILE *fp, const char *s)
{
	const char *end = strchr(s, '\2');
	size_t run = 0, longest = 0;

	for (const char *p = s; p < end; p++) {
		run = *p == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	for (size_t i = 0; i <= longest; i++)
		putc('`', fp);
	if (longest > 0)
		putc(' ', fp);
	for (const char *p = s; p < end; p++)
		fputs(*p == '|' ? "\\|" : (char[]){ *p, '\0' }, fp);
	if (longest > 0)
		putc(' ', fp);
	for (size_t i = 0; i <= longest; i++)
		putc('`', fp);
	return end;
}

static void
put(FILE *fp, const char *s)
{
	for (; *s != '\0'; s++) {
		switch (*s) {
		case '\1':
			s = code(fp, s + 1);
			break;
		case '\3':
		case '\4':
			fputs("**", fp);
			break;
		case '\5':
			putc(' ', fp);
			break;
		case '<':
			fputs("&lt;", fp);
			break;
		case '>':
			fputs("&gt;", fp);
			break;
		case '&':
			fputs("&amp;", fp);
			break;
		case '$':	/* mathematics */
			fputs("&#36;", fp);
			break;
		case '@':	/* a mention */
			fputs("&#64;", fp);
			break;
		default:
			if (strchr("\\`*_[]|~#!", *s) != NULL)
				putc('\\', fp);
			putc(*s, fp);
		}
	}
}

static void
line(struct doc *d, const char *before, const char *text, const char *after)
{
	fputs(before, d->fp);
	put(d->fp, text);
	fputs(after, d->fp);
}

static void
begin(struct doc *d, const char *title)
{
	line(d, "# ", title, "\n\n");
}

static void
end(struct doc *d)
{
	(void)d;
}

static void
section(struct doc *d, const char *id, const char *title)
{
	(void)id;
	line(d, "## ", title, "\n\n");
}

static void
paragraph(struct doc *d, enum tone tone, const char *text)
{
	static const char *const alert[] = {
		[GOOD] = "> [!TIP]\n> ", [BAD] = "> [!CAUTION]\n> ",
		[DOUBT] = "> [!WARNING]\n> ", [NOTE] = "> ", [PLAIN] = "",
	};

	line(d, alert[tone], text, "\n\n");
}

static void
list(struct doc *d, bool open)
{
	if (!open)
		putc('\n', d->fp);
}

static void
list_item(struct doc *d, const char *text)
{
	line(d, "- ", text, "\n");
}

static void
facts(struct doc *d, bool open)
{
	fputs(open ? "| | | |\n|---|---|---|\n" : "\n", d->fp);
}

static void
one_fact(struct doc *d, const char *name, const char *value, const char *note)
{
	line(d, "| ", name, " | **");
	line(d, "", value, "** | ");
	line(d, "", note, " |\n");
}

static void
grid(struct doc *d, const char *caption)
{
	if (caption == NULL) {
		fputs("\n", d->fp);
		return;
	}
	line(d, "*", caption, "*\n\n|");
	for (size_t i = 0; i < d->n_col; i++)
		line(d, " ", column_name(d->head[i]), " |");
	fputs("\n|", d->fp);
	for (size_t i = 0; i < d->n_col; i++)
		fputs(*d->head[i] == '>' ? "---:|" : "---|", d->fp);
	fputs("\n", d->fp);
}

static void
one_cell(struct doc *d, size_t at, const char *text)
{
	line(d, at == 0 ? "| " : " ", text, at + 1 == d->n_col ? " |\n" : " |");
}

static void
picture(struct doc *d, const char *name, const char *caption)
{
	line(d, "![", caption, "](figures/");
	fprintf(d->fp, "%s.svg)\n\n", name);
}

const struct back markdown = {
	.begin = begin, .end = end, .section = section, .para = paragraph,
	.list = list, .item = list_item, .facts = facts, .fact = one_fact,
	.table = grid, .cell = one_cell, .figure = picture,
};
