/* html.c: the document as one file: no script, no request, prints well. */
#include "report.h"
#include "style.h"

static void
put(FILE *fp, const char *s)
{
	for (; *s != '\0'; s++)
		switch (*s) {
		case '\1': fputs("<code>", fp); break;
		case '\2': fputs("</code>", fp); break;
		case '\3': fputs("<strong>", fp); break;
		case '\4': fputs("</strong>", fp); break;
		case '\5': fputs("\xc2\xa0", fp); break;
		case '<': fputs("&lt;", fp); break;
		case '>': fputs("&gt;", fp); break;
		case '&': fputs("&amp;", fp); break;
		case '"': fputs("&quot;", fp); break;
		case '\'': fputs("&#39;", fp); break;
		default: putc(*s, fp);
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
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	    "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
	    "content=\"width=device-width, initial-scale=1\"/>\n"
	    "<meta name=\"color-scheme\" content=\"light dark\"/>\n", d->fp);
	line(d, "<title>", title, "</title>\n");
	fprintf(d->fp, "<style>\n%s</style>\n</head>\n<body>\n<nav "
	    "aria-label=\"Contents\">\n<ul>\n", style);
	for (const struct section *s = d->sections; s->id != NULL; s++)
		if (s->there == NULL || s->there(d)) {
			fprintf(d->fp, "<li><a href=\"#%s\">", s->id);
			line(d, "", s->title, "</a></li>\n");
		}
	line(d, "</ul>\n</nav>\n<main>\n<header>\n<h1>", title,
	    "</h1>\n</header>\n");
}

static void
end(struct doc *d)
{
	fputs("</main>\n</body>\n</html>\n", d->fp);
}

static void
section(struct doc *d, const char *id, const char *title)
{
	fprintf(d->fp, "<h2 id=\"%s\">", id);
	line(d, "", title, "</h2>\n");
}

static void
paragraph(struct doc *d, enum tone tone, const char *text)
{
	static const char *const open[] = {
		[PLAIN] = "<p>", [NOTE] = "<p class=\"note\">",
		[GOOD] = "<p class=\"tone good\">", [BAD] = "<p class=\"tone bad\">",
		[DOUBT] = "<p class=\"tone doubt\">",
	};

	line(d, open[tone], text, "</p>\n");
}

static void
list(struct doc *d, bool open)
{
	fputs(open ? "<ul>\n" : "</ul>\n", d->fp);
}

static void
list_item(struct doc *d, const char *text)
{
	line(d, "<li>", text, "</li>\n");
}

static void
facts(struct doc *d, bool open)
{
	fputs(open ? "<dl class=\"facts\">\n" : "</dl>\n", d->fp);
}

static void
one_fact(struct doc *d, const char *name, const char *value, const char *note)
{
	line(d, "<div><dt>", name, "</dt>");
	line(d, value == not_measured ? "<dd class=\"big none\">" :
	    "<dd class=\"big\">", value, "</dd>");
	line(d, "<dd>", note, "</dd></div>\n");
}

static void
grid(struct doc *d, const char *caption)
{
	if (caption == NULL) {
		fputs("</tbody>\n</table></div>\n", d->fp);
		return;
	}
	line(d, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
	    "aria-label=\"", caption, d->n_col == 2 ?
	    "\"><table class=\"pair\">\n" : "\"><table>\n");
	line(d, "<caption>", caption, "</caption>\n<thead><tr>");
	for (size_t i = 0; i < d->n_col; i++) {
		char kind = *d->head[i];

		line(d, kind == '>' ? "<th scope=\"col\" class=\"n\">" :
		    kind == '~' ? "<th scope=\"col\" class=\"prose\">" :
		    "<th scope=\"col\">", column_name(d->head[i]), "</th>");
	}
	fputs("</tr></thead>\n<tbody>\n", d->fp);
}

/* A verdict is a word with a colour, never a colour alone. */
static const char *
cell_class(const struct doc *d, size_t at, const char *text)
{
	static const char *const known[] = { "pass", "fail", "warn", "na" };

	if (text == not_measured)
		return *d->head[at] == '>' ? "n none" : "none";
	if (strcmp(d->head[at], "Verdict") == 0)
		for (size_t i = 0; i < sizeof known / sizeof *known; i++)
			if (strcmp(text, known[i]) == 0)
				return known[i];
	return *d->head[at] == '>' ? "n" : NULL;
}

static void
one_cell(struct doc *d, size_t at, const char *text)
{
	const char *class = cell_class(d, at, text);

	if (at == 0)
		fputs("<tr><th scope=\"row\"", d->fp);
	else
		fputs("<td", d->fp);
	if (class != NULL)
		fprintf(d->fp, " class=\"%s\"", class);
	line(d, ">", text, at == 0 ? "</th>" : "</td>");
	if (at + 1 == d->n_col)
		fputs("</tr>\n", d->fp);
}

static void
picture(struct doc *d, const char *name, const char *caption)
{
	char *path = xasprintf("%s/figures/%s.svg", d->run->dir, name);
	const char *why = NULL;
	char *svg = svg_inline(path, name, caption, &why);

	if (svg == NULL)
		paragraph(d, NOTE, say(d, "Figure " CODE("figures/%s.svg")
		    " was left out: %s.", name, why));
	else {
		fprintf(d->fp, "<figure>\n<div class=\"plot\">\n%s</div>\n", svg);
		line(d, "<figcaption>", caption, "</figcaption>\n</figure>\n");
	}
	free(svg);
	free(path);
}

const struct back html = {
	.begin = begin, .end = end, .section = section, .para = paragraph,
	.list = list, .item = list_item, .facts = facts, .fact = one_fact,
	.table = grid, .cell = one_cell, .figure = picture,
};
