/* json.c: the pieces of a JSON text, straight to a file. */
#include "json.h"

void
json_raw(FILE *fp, const char *s)
{
	fputs_unlocked(s, fp);
}

void
json_int(FILE *fp, int64_t n)
{
	fprintf(fp, "%lld", (long long)n);
}

/* Nanoseconds as microseconds, exactly. */
void
json_us(FILE *fp, int64_t ns)
{
	uint64_t n = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	fprintf(fp, "%s%llu.%03u", ns < 0 ? "-" : "",
	    (unsigned long long)(n / 1000), (unsigned)(n % 1000));
}

/* How long a well-formed UTF-8 character is; 0 if it is not one. */
static size_t
utf8(const unsigned char *s)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 :
	    s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

void
json_text(FILE *fp, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n;

	putc_unlocked('"', fp);
	for (; *s != '\0'; s += n) {
		if ((n = utf8(s)) == 0) {
			json_raw(fp, "\\ufffd");
			n = 1;
		} else if (*s == '"' || *s == '\\') {
			putc_unlocked('\\', fp);
			putc_unlocked(*s, fp);
		} else if (*s < ' ')
			fprintf(fp, "\\u%04x", *s);
		else
			fwrite_unlocked(s, 1, n, fp);
	}
	putc_unlocked('"', fp);
}
