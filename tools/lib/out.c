/* out.c: write a table or settings, and be sure that all was written. */
#include <err.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ns.h"

/* A device or a pipe is written to, not replaced. */
static bool
is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

void
out_open(struct out *o, const char *path)
{
	*o = (struct out){ .fp = stdout, .name = "stdout" };
	if (path == NULL || strcmp(path, "-") == 0)
		return;
	o->name = path;
	if (!is_special(path))
		o->tmp = xasprintf("%s.tmp", path);
	if ((o->fp = fopen(o->tmp != NULL ? o->tmp : path, "w")) == NULL)
		err(NS_TROUBLE, "%s", o->tmp != NULL ? o->tmp : path);
}

static void
next(struct out *o)
{
	if (o->mid)
		putc_unlocked('\t', o->fp);
	o->mid = true;
}

void
out_head(struct out *o, const char *names)
{
	for (const char *p = names; *p != '\0'; p++)
		putc_unlocked(*p == ' ' ? '\t' : *p, o->fp);
	putc_unlocked('\n', o->fp);
}

static bool
is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

/* A run of control bytes becomes one space: no reader has to unescape. */
void
out_text(struct out *o, const char *s)
{
	next(o);
	if (s == NULL || *s == '\0')
		s = "NA";
	while (*s != '\0') {
		const char *p = s;

		while (!is_control(*p))
			p++;
		fwrite_unlocked(s, 1, (size_t)(p - s), o->fp);
		if (*p != '\0')
			putc_unlocked(' ', o->fp);
		while (*p != '\0' && is_control(*p))
			p++;
		s = p;
	}
}

/* The tabs that the reader cut are put back for one write. */
void
out_fields(struct out *o, const struct tsv *t, size_t from, size_t to)
{
	char *start, *end;

	if (from >= to)
		return;
	next(o);
	start = t->val[from];
	end = to < t->ncol ? t->val[to] - 1 :
	    t->val[to - 1] + strlen(t->val[to - 1]);
	for (size_t i = from + 1; i < to; i++)
		t->val[i][-1] = '\t';
	fwrite_unlocked(start, 1, (size_t)(end - start), o->fp);
	for (size_t i = from + 1; i < to; i++)
		t->val[i][-1] = '\0';
}

static void
digits(struct out *o, uint64_t n)
{
	char buf[20], *p = buf + sizeof buf;

	do
		*--p = (char)('0' + n % 10);
	while ((n /= 10) != 0);
	fwrite_unlocked(p, 1, (size_t)(buf + sizeof buf - p), o->fp);
}

void
out_count(struct out *o, uint64_t n)
{
	next(o);
	digits(o, n);
}

void
out_int(struct out *o, int64_t n)
{
	next(o);
	if (n < 0)
		putc_unlocked('-', o->fp);
	digits(o, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

void
out_num(struct out *o, double x)
{
	next(o);
	if (isfinite(x))
		fprintf(o->fp, "%.12g", x);
	else
		fputs("NA", o->fp);
}

/* Below 2^53 a double holds a sum of counts exactly: so does the table. */
void
out_sum(struct out *o, double x)
{
	if (fabs(x) < 0x1p53 && x == trunc(x))
		out_int(o, (int64_t)x);
	else
		out_num(o, x);
}

void
out_na(struct out *o)
{
	next(o);
	fputs("NA", o->fp);
}

void
out_row(struct out *o)
{
	putc_unlocked('\n', o->fp);
	o->mid = false;
}

/* Characters that make or sh would read otherwise become '_'. */
void
out_kv(struct out *o, const char *key, const char *val)
{
	fprintf(o->fp, "%s=", key);
	for (const char *p = val != NULL ? val : "NA"; *p != '\0'; p++)
		putc_unlocked(strchr(kv_value_chars, *p) != NULL ? *p : '_', o->fp);
	putc_unlocked('\n', o->fp);
}

void
out_kv_count(struct out *o, const char *key, uint64_t n)
{
	fprintf(o->fp, "%s=%llu\n", key, (unsigned long long)n);
}

void
out_kv_num(struct out *o, const char *key, double x)
{
	fprintf(o->fp, isfinite(x) ? "%s=%.12g\n" : "%s=NA\n", key, x);
}

void
out_close(struct out *o)
{
	bool bad = ferror(o->fp) != 0;

	if (o->tmp == NULL) {
		if (fclose(o->fp) != 0 || bad)
			err(NS_TROUBLE, "%s", o->name);
		return;
	}
	bad |= fflush(o->fp) != 0;
	bad |= fclose(o->fp) != 0;
	if (bad || rename(o->tmp, o->name) != 0) {
		warn("%s", o->name);
		unlink(o->tmp);
		exit(NS_TROUBLE);
	}
	free(o->tmp);
}
