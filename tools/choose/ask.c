/*
 * ask.c: ncu's options, each ended by a NUL, so that no shell ever reads a name:
 * one launch of each shape of the kernels named, within the ranges named.  ncu
 * counts launches by kernel, grid, block and shared memory; a shape that was not
 * chosen is profiled too if its kernel was.
 */
#include <inttypes.h>
#include <string.h>

#include "choose.h"

static void
word(FILE *fp, const char *s)
{
	fputs(s, fp);
	putc('\0', fp);
}

/* A name as an expression that fits it alone. */
static void
put_escaped(FILE *fp, const char *s)
{
	for (; *s != '\0'; s++) {
		if (strchr("\\^$.|?*+()[]{}/", *s) != NULL)
			putc('\\', fp);
		putc(*s, fp);
	}
}

static bool
again(const struct launched *l, size_t i, bool (*alike)(const struct launched *,
    const struct launched *))
{
	for (size_t j = 0; j < i; j++)
		if (alike(&l[j], &l[i]))
			return true;
	return false;
}

static bool
same_kernel(const struct launched *a, const struct launched *b)
{
	return strcmp(a->kernel, b->kernel) == 0;
}

static bool
same_range(const struct launched *a, const struct launched *b)
{
	return a->step == b->step && strcmp(a->phase, b->phase) == 0;
}

void
ask(FILE *fp, const struct launched *l, size_t n)
{
	word(fp, "--nvtx");
	for (size_t i = 0; i < n; i++) {
		if (again(l, i, same_range))
			continue;
		word(fp, "--nvtx-include");
		if (strcmp(l[i].phase, "prefill") == 0)
			fprintf(fp, "nsbench@prefill/%c", '\0');
		else
			fprintf(fp, "nsbench@%s.%" PRId64 "/%c", l[i].phase,
			    l[i].step, '\0');
	}
	word(fp, "--filter-mode");
	word(fp, "per-launch-config");
	word(fp, "--launch-count");
	word(fp, "1");
	word(fp, "--kernel-name-base");
	word(fp, "mangled");
	word(fp, "--print-kernel-base");
	word(fp, "mangled");
	word(fp, "--kernel-name");
	fputs("regex:^(", fp);
	for (size_t i = 0; i < n; i++) {
		if (again(l, i, same_kernel))
			continue;
		if (i > 0)
			putc('|', fp);
		put_escaped(fp, l[i].kernel);
	}
	word(fp, ")$");
}
