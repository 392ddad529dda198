/*
 * svg.c: a figure as markup that can stand in the page.  A figure comes from
 * the run directory, so it is untrusted: only known elements and attributes
 * pass, nothing may refer outside it, and its elements must close.
 */
#include <ctype.h>
#include <err.h>
#include <errno.h>

#include "report.h"

enum { MAX_BYTES = 8 << 20, MAX_DEPTH = 64, MAX_NAME = 40 };

/* title and desc say only which program drew it. */
static const char elements[] = " svg g path rect circle ellipse line polyline "
    "polygon text tspan defs use clipPath linearGradient stop pattern filter "
    "feFlood feComposite ";
static const char silent[] = " title desc metadata ";
static const char attributes[] = " id d x y x1 y1 x2 y2 dx dy cx cy r rx ry fx "
    "fy width height points transform viewBox fill fill-opacity fill-rule "
    "stroke stroke-width stroke-linecap stroke-linejoin stroke-dasharray "
    "stroke-opacity stroke-miterlimit color opacity font-family font-size "
    "font-style font-weight text-anchor dominant-baseline href clip-path "
    "filterUnits flood-color flood-opacity in in2 result operator offset "
    "stop-color stop-opacity patternUnits gradientUnits xml:space ";

struct svg {
	const char *at, *end, *name, *why;
	FILE	*out;
	char	open[MAX_DEPTH][MAX_NAME];
	size_t	 depth;
	size_t	 quiet;		/* depth at which silence began, or 0 */
	bool	 root;
};

static bool
among(const char *list, const char *word)
{
	char key[MAX_NAME + 2];

	snprintf(key, sizeof key, " %s ", word);
	return strstr(list, key) != NULL;
}

static bool
fail(struct svg *s, const char *why)
{
	s->why = why;
	return false;
}

/* Past the next WHAT, or false. */
static bool
skip_past(struct svg *s, const char *what)
{
	const char *p = strstr(s->at, what);

	if (p == NULL)
		return fail(s, "it is cut short");
	s->at = p + strlen(what);
	return true;
}

static void
skip_space(struct svg *s)
{
	while (isspace((unsigned char)*s->at))
		s->at++;
}

static bool
word(struct svg *s, char *name)
{
	size_t n = strcspn(s->at, " \t\r\n=/><\"'");

	if (n == 0 || n >= MAX_NAME)
		return fail(s, "it is not well-formed");
	memcpy(name, s->at, n);
	name[n] = '\0';
	s->at += n;
	return true;
}

/* gnuplot's neutral grey, and black, take the page's own colour. */
static bool
neutral(const char *value)
{
	static const char *const same[] = { "rgb(118,118,118)",
	    "rgb(118, 118, 118)", "black", "rgb(0,0,0)", "rgb(  0,   0,   0)" };

	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		if (strcmp(value, same[i]) == 0)
			return true;
	return false;
}

/* Ids get the figure's name in front, so that they stay apart in the page. */
static bool
attribute(struct svg *s, const char *name, const char *value)
{
	const char *url;

	if (strncmp(name, "xlink:", 6) == 0)
		name += 6;
	if (!among(attributes, name) || strpbrk(value, "&\\<") != NULL ||
	    strstr(value, "@") != NULL)
		return true;
	if (strcmp(name, "href") == 0) {
		if (*value != '#')
			return fail(s, "it refers to something outside itself");
		fprintf(s->out, " href=\"#%s-%s\"", s->name, value + 1);
	} else if (strcmp(name, "id") == 0)
		fprintf(s->out, " id=\"%s-%s\"", s->name, value);
	else if ((url = strstr(value, "(#")) != NULL)
		fprintf(s->out, " %s=\"%.*s%s-%s\"", name, (int)(url + 2 - value),
		    value, s->name, url + 2);
	else if (strcasestr(value, "url") != NULL)
		return fail(s, "it refers to something outside itself");
	else if (strcmp(name, "color") == 0 && neutral(value))
		;		/* inherits the page's */
	else
		fprintf(s->out, " %s=\"%s\"", name, neutral(value) ?
		    "currentColor" : value);
	return true;
}

static bool
one_attribute(struct svg *s)
{
	char name[MAX_NAME], quote[2] = "", *value;
	size_t n;
	bool ok;

	if (!word(s, name))
		return false;
	skip_space(s);
	if (*s->at++ != '=')
		return fail(s, "it is not well-formed");
	skip_space(s);
	*quote = *s->at;
	if (*quote != '"' && *quote != '\'')
		return fail(s, "it is not well-formed");
	n = strcspn(++s->at, quote);
	if (s->at[n] == '\0')
		return fail(s, "it is cut short");
	value = xasprintf("%.*s", (int)n, s->at);
	for (char *p = value; *p != '\0'; p++)
		if (*p == '"' || (unsigned char)*p < ' ')
			*p = ' ';
	s->at += n + 1;
	ok = s->quiet != 0 || attribute(s, name, value);
	free(value);
	return ok;
}

static void
leave(struct svg *s)
{
	if (s->quiet == s->depth)
		s->quiet = 0;
	s->depth--;
}

static bool
start(struct svg *s, const char *title)
{
	char *name = s->open[s->depth];
	bool closed;

	if (s->depth + 1 == MAX_DEPTH)
		return fail(s, "it is nested too deep");
	if (!word(s, name))
		return false;
	if (s->depth == 0 && (s->root || strcmp(name, "svg") != 0))
		return fail(s, "it is not an SVG");
	s->root = true;
	s->depth++;
	if (s->quiet == 0 && among(silent, name))
		s->quiet = s->depth;
	if (s->quiet == 0 && !among(elements, name))
		return fail(s, "it holds an element that a plot does not need");
	if (s->quiet == 0)
		fprintf(s->out, "<%s", name);
	if (s->quiet == 0 && s->depth == 1) {
		fputs(" role=\"img\" aria-label=\"", s->out);
		for (const char *p = title; *p != '\0'; p++)
			if (strchr("<>&\"\1\2\3\4", *p) == NULL)
				putc(*p, s->out);
		putc('"', s->out);
	}
	for (skip_space(s); *s->at != '>' && *s->at != '/'; skip_space(s))
		if (!one_attribute(s))
			return false;
	closed = *s->at == '/';
	s->at += closed;
	if (*s->at++ != '>')
		return fail(s, "it is not well-formed");
	if (s->quiet == 0)
		fputs(closed ? "/>" : ">", s->out);
	if (closed)
		leave(s);
	return true;
}

static bool
finish(struct svg *s)
{
	char name[MAX_NAME];

	if (!word(s, name))
		return false;
	skip_space(s);
	if (*s->at++ != '>' || s->depth == 0 ||
	    strcmp(s->open[s->depth - 1], name) != 0)
		return fail(s, "its elements do not close");
	if (s->quiet == 0)
		fprintf(s->out, "</%s>", name);
	leave(s);
	return true;
}

static bool
tag(struct svg *s, const char *title)
{
	s->at++;
	if (strncmp(s->at, "!--", 3) == 0)
		return skip_past(s, "-->");
	if (*s->at == '?')
		return skip_past(s, "?>");
	if (*s->at == '!') {
		size_t n = strcspn(s->at, "[>");

		if (s->at[n] != '>')
			return fail(s, "it declares entities");
		s->at += n + 1;
		return true;
	}
	if (*s->at != '/')
		return start(s, title);
	s->at++;
	return finish(s);
}

/* Text passes; an & that begins no plain entity is escaped. */
static void
text(struct svg *s)
{
	char c = *s->at++;

	if (s->quiet != 0 || s->depth == 0)
		return;
	if (c == '&' && strncmp(s->at, "lt;", 3) != 0 &&
	    strncmp(s->at, "gt;", 3) != 0 && strncmp(s->at, "amp;", 4) != 0)
		fputs("&amp;", s->out);
	else if (c == '>')
		fputs("&gt;", s->out);
	else if ((unsigned char)c >= ' ' || c == '\n')
		putc(c, s->out);
}

static char *
slurp(const char *path)
{
	char *buf = xalloc(MAX_BYTES + 1, 1);
	FILE *fp = fopen(path, "r");
	size_t n;

	if (fp == NULL)
		err(NS_TROUBLE, "%s", path);
	n = fread(buf, 1, MAX_BYTES, fp);
	if (ferror(fp))
		err(NS_TROUBLE, "%s", path);
	buf[n] = '\0';
	fclose(fp);
	return buf;
}

char *
svg_inline(const char *path, const char *name, const char *title,
    const char **why)
{
	char *buf = slurp(path), *clean = NULL;
	size_t size;
	struct svg s = { .at = buf, .name = name,
	    .out = open_memstream(&clean, &size) };
	bool ok = true;

	if (s.out == NULL)
		err(NS_TROUBLE, "%s", path);
	while (ok && *s.at != '\0')
		if (*s.at == '<')
			ok = tag(&s, title);
		else
			text(&s);
	if (ok && (!s.root || s.depth != 0))
		ok = fail(&s, s.root ? "it is cut short" : "it is empty");
	if (fclose(s.out) != 0)
		err(NS_TROUBLE, "%s", path);
	free(buf);
	if (!ok) {
		*why = s.why;
		free(clean);
		return NULL;
	}
	return clean;
}
