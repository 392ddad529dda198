/* parse.c: numbers out of text, the whole string or nothing; harmless text. */
#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "ns.h"

/* Digits only, at most UINT64_MAX; the first 19 cannot overflow. */
static bool
digits(const char *s, uint64_t *out)
{
	const char *safe = s + 19;
	uint64_t n = 0;

	if (*s == '\0')
		return false;
	for (; s < safe && (unsigned)*s - '0' <= 9; s++)
		n = 10 * n + ((unsigned)*s - '0');
	for (; *s != '\0'; s++) {
		unsigned d = (unsigned)*s - '0';

		if (d > 9 || !mul_ok(n, (uint64_t)10, &n) || !add_ok(n, (uint64_t)d, &n))
			return false;
	}
	*out = n;
	return true;
}

bool
parse_count(const char *s, uint64_t *out)
{
	return digits(s, out);
}

bool
parse_int(const char *s, int64_t *out)
{
	uint64_t n;
	bool minus = *s == '-';

	if (!digits(s + minus, &n) || n > (uint64_t)INT64_MAX + minus)
		return false;
	*out = minus ? (int64_t)(0 - n) : (int64_t)n;
	return true;
}

bool
parse_num(const char *s, double *out)
{
	char *end;

	if (isspace((unsigned char)*s))
		return false;
	errno = 0;
	*out = strtod(s, &end);
	/* errno is ERANGE for a subnormal too, which is a fine number. */
	return end != s && *end == '\0' && fabs(*out) <= 1e100;
}

char *
terminal_safe(char *s)
{
	for (char *p = s; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	return s;
}

bool
is_terminal_safe(const char *s)
{
	for (; *s != '\0'; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	return true;
}

bool
listed(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *s = list; s != NULL; s = strchr(s, ',')) {
		s += *s == ',' ? 1 : 0;
		if (strncmp(s, word, n) == 0 && (s[n] == '\0' || s[n] == ','))
			return true;
	}
	return false;
}
