/* plot.c: the look of a figure, and text that cannot be more than text. */
#include <unistd.h>

#include "plot.h"

const char *const hue[] = { "#2f81c7", "#d9730d", "#1a9e77", "#a86fc9", "#8a8d1f" };

bool
access_ok(const char *path)
{
	return access(path, R_OK) == 0;
}

int
phase_hue(const char *phase)
{
	return strcmp(phase, "decode") == 0 ? 0 : strcmp(phase, "prefill") == 0 ?
	    1 : 2;
}

void
quoted(FILE *fp, const char *s)
{
	putc('\'', fp);
	for (; *s != '\0'; s++)
		if (*s == '\'')
			fputs("\xe2\x80\x99", fp);	/* a typographic one */
		else
			putc((unsigned char)*s < ' ' || *s == 0x7f ? ' ' : *s, fp);
	putc('\'', fp);
}

void
head(struct plot *p, int height)
{
	fprintf(p->fp,
	    "set terminal svg size 760,%d dynamic font 'sans-serif,13'\n"
	    "set termoption noenhanced\n"
	    "set border 3 lc rgb '" INK "'\n"
	    "set tics nomirror textcolor rgb '" INK "'\n"
	    "set key textcolor rgb '" INK "' samplen 2 spacing 1.2 outside top left "
	    "horizontal maxrows 1\n"
	    "set grid back lc rgb '#80808080' lw 0.5 dt 3\n"
	    "set style fill solid 1 noborder\n", height);
}

/* Numbers with decimal prefixes: 10 k, 1 M. */
void
si_axis(struct plot *p, const char *axis, const char *unit)
{
	fprintf(p->fp, "set format %s '%%.0s %%c%s'\n", axis, unit);
}

double
unit_axis(struct plot *p, const char *axis, double most, const char *unit)
{
	static const struct { double scale; const char *prefix; } si[] = {
		{ 1e-12, "T" }, { 1e-9, "G" }, { 1e-6, "M" }, { 1e-3, "k" },
		{ 1, "" }, { 1e3, "m" }, { 1e6, "µ" }, { 1e9, "n" } };
	size_t i = 0;

	while (i + 1 < sizeof si / sizeof *si && most * si[i].scale < 1)
		i++;
	if (strcmp(unit, "B") == 0 && si[i].scale > 1)
		i = 4;		/* there is no part of a byte */
	fprintf(p->fp, "set format %s '%%g %s%s'\n", axis, si[i].prefix, unit);
	return si[i].scale;
}

const char *
new_name(const struct table *t, size_t i, const char *column)
{
	const char *name = table_text(t, i, column);

	for (size_t j = 0; name != NULL && j < i; j++)
		if (table_is(t, j, column, name))
			return NULL;
	return name;
}

void
draw_absent(struct plot *p, const char *figure, const char *file, const char *why)
{
	head(p, 120);
	fputs("unset border\nunset tics\nunset key\nunset grid\n"
	    "set xrange [0:1]\nset yrange [0:1]\nset label 1 ", p->fp);
	char *line = xasprintf("%s: not measured", figure);
	quoted(p->fp, line);
	free(line);
	fputs(" at 0.5,0.65 center tc rgb '" INK "'\nset label 2 ", p->fp);
	line = xasprintf("%s: %s", file, why);
	quoted(p->fp, line);
	free(line);
	fputs(" at 0.5,0.3 center tc rgb '" INK "'\nplot -1 notitle\n", p->fp);
}
