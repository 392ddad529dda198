/*
 * number.c: numbers as ncu prints them in the C locale: 1,234,567.89.  What
 * another locale makes of a number is refused, never guessed at.
 *
 *	8,400,907  1,234.56  65.77  0.123  2305024.000000	read
 *	65,77  1.234,56  27.595.520  1'234  1 234		another locale
 *	117.344	  read if another cell shows that . is the decimal point; else it
 *		  is as likely 117344, and the file is refused at its end
 */
#include <math.h>

#include "ncu.h"

static const struct {
	const char *text, *why;
} absent[] = {
	{ "", "empty" }, { "n/a", "n/a" }, { "na", "n/a" }, { "nan", "nan" },
	{ "-nan", "nan" }, { "nan(ind)", "nan" }, { "-nan(ind)", "nan" },
	{ "inf", "infinite" }, { "+inf", "infinite" }, { "-inf", "infinite" },
	{ "infinity", "infinite" }, { "no data", "no data" }, { NULL, NULL }
};

static const char *
missing(const char *s)
{
	if (strncmp(s, "(!)", 3) == 0)
		return "marked invalid (!)";
	for (size_t i = 0; absent[i].text != NULL; i++)
		if (strcasecmp(s, absent[i].text) == 0)
			return absent[i].why;
	return NULL;
}

static size_t
digits(const char *s)
{
	return strspn(s, "0123456789");
}

/* A cell that begins as a number does but is none: whose fault is it? */
static enum cell
strange(const char *s)
{
	/* . , ' _ space, the no-break spaces and the typographic apostrophe */
	size_t n = strspn(s, "0123456789.,' _\xc2\xa0\xe2\x80\xaf\x99");

	if (s[0] == '0' && s[1] == 'x' && s[2] != '\0' &&
	    s[2 + strspn(s + 2, "0123456789abcdefABCDEF")] == '\0')
		return CELL_TEXT;		/* a mask */
	return s[n] == '\0' ? CELL_LOCALE : CELL_BAD;
}

static bool
all_zero(const char *d, size_t n)
{
	while (n > 0 && d[n - 1] == '0')
		n--;
	return n == 0;
}

/* The digits d, of which whole stand before the point, with the point moved. */
static bool
place(const char *d, size_t n, size_t whole, int shift, bool minus, char *out)
{
	long at = (long)whole + shift;		/* of the point in d */

	if (all_zero(d, n)) {
		memcpy(out, "0", sizeof "0");
		return true;
	}
	while (*d == '0' && at > 1)
		d++, n--, at--;
	while ((long)n > at && d[n - 1] == '0')
		n--;
	if (at > 20 || at < -20)
		return false;
	if (minus)
		*out++ = '-';
	if (at <= 0)
		*out++ = '0';
	for (long i = 0; i < at; i++)
		*out++ = i < (long)n ? d[i] : '0';
	if ((long)n > at)
		*out++ = '.';
	for (long i = at; i < (long)n; i++)
		*out++ = i < 0 ? '0' : d[i];
	*out = '\0';
	return true;
}

static enum cell
exponent(const char *s, int shift, char *out)
{
	double x;

	if (!parse_num(s, &x) || !isfinite(x *= pow(10, shift)))
		return CELL_BAD;
	snprintf(out, NUMBER_MAX, "%.12g", x);
	return CELL_NUMBER;
}

static void
judge_point(struct point *pt, const char *cell, size_t whole, size_t frac,
    bool grouped, bool zero, uint64_t line)
{
	if (grouped || (frac != 0 && (frac != 3 || whole > 3 || zero)))
		pt->known = true;
	else if (frac == 3 && pt->line == 0) {
		snprintf(pt->doubt, sizeof pt->doubt, "%s", cell);
		pt->line = line;
	}
}

enum cell
number(const char *cell, int shift, char out[static NUMBER_MAX],
    const char **why, struct point *pt, uint64_t line)
{
	bool minus, zero, grouped = false;
	char d[64];
	size_t n, whole, frac = 0;
	const char *s;

	cell += strspn(cell, " ");
	if ((*why = missing(cell)) != NULL)
		return CELL_MISSING;
	minus = *cell == '-';
	s = cell + (*cell == '-' || *cell == '+');
	whole = n = digits(s);
	if (n == 0)
		return CELL_TEXT;
	zero = *s == '0';
	if (n >= sizeof d)
		return CELL_BAD;
	memcpy(d, s, n);
	s += n;
	for (; *s == ','; s += 4, n += 3, grouped = true) {
		if (whole > 3 || zero || digits(s + 1) != 3)
			return strange(cell + minus);
		if (n + 3 >= sizeof d)
			return CELL_BAD;
		memcpy(d + n, s + 1, 3);
	}
	whole = n;
	if (*s == '.') {
		frac = digits(++s);
		if (frac == 0 || n + frac >= sizeof d)
			return strange(cell + minus);
		memcpy(d + n, s, frac);
		n += frac;
		s += frac;
	}
	if (*s == 'e' || *s == 'E')
		return grouped ? CELL_BAD : exponent(cell, shift, out);
	if (*s != '\0' && (strncmp(s, " (", 2) != 0 || s[strlen(s) - 1] != ')'))
		return strange(cell + minus);
	judge_point(pt, cell, whole, frac, grouped, zero, line);
	return place(d, n, whole, shift, minus, out) ? CELL_NUMBER : CELL_BAD;
}
