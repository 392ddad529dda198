/*
 * unit.c: the closed list of ncu's units.  A unit is WORD or WORD/WORD, a word
 * may carry a power of ten, and one that is not listed is an error: a number
 * of unknown scale is no number.
 */
#include "ncu.h"

static const char *const words[] = {
	"%", "access", "bank", "barrier", "bit", "block", "branch", "branches", "byte",
	"cluster", "conflict", "cycle", "GPC", "grid", "inst", "line", "node",
	"op", "pass", "pixel", "primitive", "quad", "register", "request",
	"sample", "sector", "sectors", "SM", "tag", "texel", "thread", "TPC", "vertex",
	"warp", "wavefront", NULL
};
static const struct {
	const char *name;
	int shift;			/* to ns */
} times[] = {
	{ "ns", 0 }, { "us", 3 }, { "ms", 6 }, { "s", 9 },
	{ "nsecond", 0 }, { "usecond", 3 }, { "msecond", 6 }, { "second", 9 },
	{ "nanosecond", 0 }, { "microsecond", 3 }, { "millisecond", 6 },
	{ "sec", 9 }, { NULL, 0 }
};
static const struct {
	const char *name;
	int shift;			/* to hz */
} rates[] = {
	{ "hz", 0 }, { "Hz", 0 }, { "Khz", 3 }, { "KHz", 3 }, { "kHz", 3 },
	{ "Mhz", 6 }, { "MHz", 6 }, { "Ghz", 9 }, { "GHz", 9 }, { NULL, 0 }
};

enum { SECOND = 9 };			/* 10^9 ns */

/* One side of the slash; *is_time says that base is ns. */
static bool
word(const char *s, const char **base, int *shift, bool *is_time)
{
	static const char prefix[] = "KMGTP";
	const char *p;

	*is_time = false;
	for (size_t i = 0; times[i].name != NULL; i++)
		if (strcmp(s, times[i].name) == 0) {
			*base = "ns";
			*shift = times[i].shift;
			return *is_time = true;
		}
	for (*shift = 0;; s++) {
		for (size_t i = 0; words[i] != NULL; i++)
			if (strcmp(s, words[i]) == 0) {
				*base = words[i];
				return true;
			}
		if (*shift != 0 || *s == '\0' || (p = strchr(prefix, *s)) == NULL)
			return false;
		*shift = 3 * (int)(p - prefix + 1);
	}
}

static bool
ratio(const char *num, const char *den, struct unit *u)
{
	const char *a = "", *b;
	int up = 0, down;
	bool time_up = false, time_down;

	if ((*num != '\0' && !word(num, &a, &up, &time_up)) ||
	    !word(den, &b, &down, &time_down))
		return false;
	u->shift = up - down;
	if (time_down) {		/* per ns is 10^9 a second */
		u->shift += SECOND;
		b = "s";
	}
	if (time_down && strcmp(a, "cycle") == 0)
		snprintf(u->base, sizeof u->base, "hz");
	else
		snprintf(u->base, sizeof u->base, "%s/%s", a, b);
	return true;
}

bool
unit_parse(const char *s, struct unit *u)
{
	const char *slash = strchr(s, '/'), *base = "";
	char num[24];
	bool is_time;

	*u = (struct unit){ .shift = 0 };
	if (*s == '\0')
		return true;
	for (size_t i = 0; rates[i].name != NULL; i++)
		if (strcmp(s, rates[i].name) == 0) {
			snprintf(u->base, sizeof u->base, "hz");
			u->shift = rates[i].shift;
			return true;
		}
	if (slash == NULL) {
		if (!word(s, &base, &u->shift, &is_time))
			return false;
		snprintf(u->base, sizeof u->base, "%s", base);
		return true;
	}
	if ((size_t)(slash - s) >= sizeof num)
		return false;
	snprintf(num, sizeof num, "%.*s", (int)(slash - s), s);
	return ratio(num, slash + 1, u);
}
