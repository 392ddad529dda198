/*
 * ncu2tsv under libFuzzer.  The first byte says which options; the rest is the
 * file.  Its first line is also cut to some of its fields, which must be what
 * libcsv makes of them.
 */
#define main tool_main
#include "../../tools/ncu2tsv.c"
#include "fuzz.h"

struct fields {
	size_t	n, rows;
	char	*text[64];
};

static void
field(void *s, size_t len, void *arg)
{
	struct fields *f = arg;

	if (f->n < 64) {
		f->text[f->n] = xalloc(len + 1, 1);
		if (len != 0)
			memcpy(f->text[f->n], s, len);
	}
	f->n++;
}

static void
end(int c, void *arg)
{
	(void)c;
	((struct fields *)arg)->rows++;
}

static bool
parse(struct fields *f, const char *s, size_t len)
{
	struct csv_parser p;
	bool fine;

	*f = (struct fields){ .n = 0 };
	csv_init(&p, CSV_STRICT | CSV_STRICT_FINI);
	fine = csv_parse(&p, s, len, field, end, f) == len &&
	    csv_fini(&p, field, end, f) == 0;
	csv_free(&p);
	return fine && f->rows == 1 && f->n <= 64;
}

static void
drop(struct fields *f)
{
	for (size_t i = 0; i < f->n && i < 64; i++)
		free(f->text[i]);
}

static void
try_cut(const char *s, size_t len, uint8_t which)
{
	const char *nl = memchr(s, '\n', len);
	size_t want[64], cut_len;
	struct cut c = { .want = want };
	struct fields all = { .n = 0 }, some = { .n = 0 };

	if (nl != NULL)
		len = (size_t)(nl - s);
	/* Blanks at either end and CR are libcsv's to judge: ncu writes none. */
	if (memchr(s, '\r', len) == NULL && parse(&all, s, len) && all.n > 1) {
		c.ncol = all.n;
		for (size_t i = 0; i < all.n; i++)
			if ((which >> i % 8 & 1) != 0 || i == 0 || i == all.n - 1)
				want[c.nwant++] = i;
		if (cut(&c, s, len, &cut_len)) {
			if (!parse(&some, c.buf, cut_len) || some.n != c.nwant)
				abort();
			for (size_t i = 0; i < some.n; i++)
				if (strcmp(some.text[i], all.text[want[i]]) != 0)
					abort();
		}
		drop(&some);
	}
	drop(&all);
	free(c.buf);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ncu u;
	static FILE *null;

	if (size < 2)
		return 0;
	if (null == NULL && (null = fopen("/dev/null", "w")) == NULL)
		abort();
	if ((data[0] & 3) == 0)
		try_cut((const char *)data + 1, size - 1, data[0]);
	u = (struct ncu){ .in = { .path = "fuzz" }, .out = { .fp = null } };
	u.in.fp = fmemopen((void *)(uintptr_t)(data + 1), size - 1, "r");
	if (u.in.fp == NULL)
		abort();
	if ((data[0] & 1) != 0)
		picks_parse(&u.picks, "dram__bytes_read.sum,m__x.sum,Duration");
	if ((data[0] & 2) != 0)
		snprintf(u.phase.name, sizeof u.phase.name, "decode");
	if (fuzz_try())
		ncu2tsv(&u, (data[0] & 4) != 0);
	close_all(&u);
	return 0;
}
