/* units.c: numbers for people.  Nothing else in the project rounds or scales. */
#include <math.h>

#include "report.h"

const char not_measured[] = "not measured";

const char *
text_or(const char *s, const char *otherwise)
{
	return s != NULL ? s : otherwise;
}

const char *
strong(struct doc *d, const char *s)
{
	return say(d, STRONG("%s"), s);
}

/* Three significant digits, never in exponent form between 0.001 and 1e6. */
static const char *
three(struct doc *d, double x)
{
	double a = fabs(x);
	int places = a >= 99.95 ? 0 : a >= 9.995 ? 1 : a >= 0.9995 ? 2 : 3;

	if (a != 0 && a < 0.001)
		return say(d, "%.2g", x);
	return say(d, "%.*f", places, x);
}

const char *
digits(struct doc *d, double x)
{
	return !isfinite(x) ? not_measured : fabs(x) >= 1e4 ? count(d, x) :
	    three(d, x);
}

const char *
token_rate(struct doc *d, const struct spread *s)
{
	double rate = tokens_per_s(s);

	return !isfinite(rate) ? not_measured : say(d, "%s" HARD "tok/s",
	    digits(d, rate));
}

const char *
quantity(struct doc *d, double x, const char *unit)
{
	static const char *const prefix[] = { "", "k", "M", "G", "T", "P", "E" };
	size_t i = 0, last = sizeof prefix / sizeof *prefix - 1;

	if (!isfinite(x))
		return not_measured;
	for (; fabs(x) >= 999.5 && i < last; i++)
		x /= 1000;
	if (i == 0 && x == floor(x))
		return say(d, "%.0f" HARD "%s", x, unit);
	return say(d, "%s" HARD "%s%s", three(d, x), prefix[i], unit);
}

const char *
duration(struct doc *d, double ns)
{
	static const char *const unit[] = { "ns", "µs", "ms", "s" };
	size_t i = 0;

	if (!isfinite(ns))
		return not_measured;
	for (; fabs(ns) >= 999.5 && i < 3; i++)
		ns /= 1000;
	if (i == 3 && ns >= 120)
		return say(d, "%.0f" HARD "min" HARD "%02.0f" HARD "s", floor(ns / 60),
		    floor(fmod(ns, 60)));
	return say(d, "%s" HARD "%s", three(d, ns), unit[i]);
}

const char *
percent(struct doc *d, double ratio)
{
	double a = fabs(100 * ratio);

	if (!isfinite(ratio))
		return not_measured;
	if (a != 0 && a < 0.0005)
		return say(d, "under" HARD "0.001" HARD "%%");
	return say(d, "%.*f" HARD "%%", a != 0 && a < 0.1 ? 3 : a < 10 || (a > 99 &&
	    a < 100) ? 2 : 1, 100 * ratio);
}

const char *
signed_percent(struct doc *d, double ratio)
{
	if (ratio != 0 && fabs(ratio) < 5e-6)
		return percent(d, fabs(ratio));
	return ratio > 0 ? say(d, "+%s", percent(d, ratio)) : ratio < 0 ?
	    say(d, "−%s", percent(d, -ratio)) : percent(d, ratio);
}

const char *
count(struct doc *d, double x)
{
	char plain[32], *out, *p;
	size_t n;

	if (!isfinite(x))
		return not_measured;
	if (x != floor(x) || fabs(x) >= 1e18)
		return fabs(x) < 1e4 ? three(d, x) : count(d, fabs(x) < 1e18 ?
		    round(x) : NAN);
	snprintf(plain, sizeof plain, "%.0f", fabs(x));
	n = strlen(plain);
	p = out = xalloc(n + n / 3 + 2, 1);
	if (x < 0)
		*p++ = '-';
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && n > 4 && (n - i) % 3 == 0)
			*p++ = ',';
		*p++ = plain[i];
	}
	const char *said = say(d, "%s", out);

	free(out);
	return said;
}

const char *
times(struct doc *d, double x)
{
	return !isfinite(x) ? not_measured : say(d, "%s" HARD "×", digits(d, x));
}

/* "46638592 bytes" as 46.6 MB. */
const char *
scale_bytes(struct doc *d, const char *s)
{
	const char *all = "";

	for (;;) {
		size_t n = strcspn(s, "0123456789");
		size_t m = strspn(s + n, "0123456789");

		if (m == 0)
			return say(d, "%s%s", all, s);
		if (m > 4 && strncmp(s + n + m, " bytes", 6) == 0) {
			all = say(d, "%s%.*s%s", all, (int)n, s,
			    quantity(d, strtod(s + n, NULL), "B"));
			s += n + m + 6;
		} else {
			all = say(d, "%s%.*s", all, (int)(n + m), s);
			s += n + m;
		}
	}
}

static bool
ends(const char *s, const char *with)
{
	size_t n = strlen(s), m = strlen(with);

	return n >= m && strcmp(s + n - m, with) == 0;
}

static const struct { const char *suffix, *unit; } units[] = {
	{ "_bytes_per_s", "B/s" }, { "_flop_per_s", "FLOP/s" },
	{ "_bytes_per_token", "B" }, { "_bytes", "B" }, { "_hz", "Hz" },
	{ "_flop", "FLOP" }, { "_ns", "ns" }, { "_ratio", "%" },
};

/* A sentence begins with a capital, unless it begins with a name. */
const char *
capital(struct doc *d, const char *s)
{
	size_t n = strcspn(s, " ");

	return memchr(s, '_', n) != NULL || memchr(s, '.', n) != NULL ? s : say(d, "%c%s", *s >= 'a' && *s <= 'z' ? *s - 'a' + 'A' : *s,
	    *s != '\0' ? s + 1 : "");
}

/* Values that were words before they became a setting. */
static bool
was_words(const char *key)
{
	static const char *const keys[] = { "cpu", "gpu", "machine", "os" };

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return ends(key, "_why") || ends(key, "_name") || ends(key, "_model");
}

/* A setting's value: scaled where its name has a unit. */
const char *
setting(struct doc *d, const char *key, const char *val)
{
	double x;

	if (val == NULL || strcmp(val, "NA") == 0)
		return not_measured;
	if (was_words(key))
		return words(d, val);
	if (!parse_num(val, &x))
		return *val != '\0' ? val : "none";
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (ends(key, units[i].suffix))
			return *units[i].unit == '%' ? percent(d, x) :
			    strcmp(units[i].unit, "ns") == 0 ? duration(d, x) :
			    quantity(d, x, units[i].unit);
	return strncmp(key, "n_", 2) == 0 ? count(d, x) : val;
}

/* _ as space, runs of them as one, none at the ends. */
const char *
words(struct doc *d, const char *s)
{
	char *w = xalloc(strlen(s) + 1, 1), *p = w;
	const char *said;

	for (; *s != '\0'; s++)
		if (*s != '_' && *s != ' ')
			*p++ = *s;
		else if (p > w && p[-1] != ' ' && s[1] != '\0')
			*p++ = ' ';
	said = say(d, "%s", w);
	free(w);
	return said;
}

/* A setting's name for people: without its unit. */
const char *
label(struct doc *d, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (ends(key, units[i].suffix) && *units[i].unit != 'B') {
			n -= strlen(units[i].suffix);
			break;
		}
	if (ends(key, "_bytes_per_s"))
		n -= strlen("_bytes_per_s");
	if (strncmp(key, "n_", 2) == 0)
		key += 2, n -= 2;
	return words(d, say(d, "%.*s", (int)n, key));
}
