/* csv-pass: a file through libcsv and nothing else, its fields and rows counted. */
#include <csv.h>
#include <err.h>
#include <stdio.h>

static void
on_field(void *s, size_t len, void *n)
{
	(void)s;
	(void)len;
	++*(size_t *)n;
}

static void
on_row(int c, void *n)
{
	(void)c;
	++((size_t *)n)[1];
}

int
main(int argc, char *argv[])
{
	static char buf[1 << 17];
	size_t n[2] = { 0, 0 }, len;
	struct csv_parser p;
	FILE *fp;

	if (argc != 2 || (fp = fopen(argv[1], "r")) == NULL)
		err(2, "usage: csv-pass FILE");
	csv_init(&p, 0);
	while ((len = fread(buf, 1, sizeof buf, fp)) > 0)
		csv_parse(&p, buf, len, on_field, on_row, n);
	csv_fini(&p, on_field, on_row, n);
	csv_free(&p);
	printf("%zu fields %zu rows\n", n[0], n[1]);
	return 0;
}
