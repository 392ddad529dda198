/* ncu-raw MIB: a raw page of that size, as ncu prints one: 280 columns, 13 of them ids. */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { METRICS = 267 };
static const char *const units[] = { "byte", "", "sector", "inst", "ns", "%" };
static const char *const kinds[] = { "sum", "avg", "max", "min" };

static uint64_t
next(void)
{
	static uint64_t x = 1;

	return (x = x * 6364136223846793005u + 1442695040888963407u) >> 33;
}

/* Most are 0 or small, some long, with separators or two decimals. */
static int
value(char *s)
{
	uint64_t k = next() % 8, n = next();

	if (k < 3)
		return sprintf(s, ",\"%d\"", (int)(n % 2));
	if (k < 5)
		return sprintf(s, ",\"%d\"", (int)(n % 1000));
	if (k < 6)
		return sprintf(s, ",\"%d.%02d\"", (int)(n % 1000), (int)(n % 97));
	return sprintf(s, ",\"%d,%03d,%03d\"", (int)(n % 999 + 1), (int)(n % 1000),
	    (int)(n / 1000 % 1000));
}

int
main(int argc, char *argv[])
{
	uint64_t size = argc == 2 ? strtoull(argv[1], NULL, 10) << 20 : 0, at = 0;
	static char row[1 << 14];

	if (size == 0)
		errx(2, "usage: ncu-raw MIB");
	puts("==PROF== Connected to process 575 (app)");
	fputs("\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"thread Domain:Push/Pop_Range:"
	    "PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg\",\"Id:Domain:Start/Stop_Range:PL_Type:"
	    "PL_Value:CLR_Type:Color:Msg_Type:Msg\",\"Kernel Name\",\"Context\",\"Stream\","
	    "\"Block Size\",\"Grid Size\",\"Device\",\"CC\"", stdout);
	for (int i = 0; i < METRICS; i++)
		printf(",\"unit__metric_%d.%s\"", i / 4, kinds[i % 4]);
	fputs("\n\"\"", stdout);
	for (int i = 1; i < 13; i++)
		fputs(",\"\"", stdout);
	for (int i = 0; i < METRICS; i++)
		printf(",\"%s\"", units[i % 6]);
	putchar('\n');
	for (int id = 0; at < size; id++) {
		int n = sprintf(row, "\"%d\",\"575\",\"python3.12\",\"127.0.0.1\",\"575  \"\"nsbench:"
		    "decode.%d:none:none:none:none:none:none\"\" \",\"\",\"void gemv<__nv_bfloat16, "
		    "%d, (int)4>(T1 *, const T1 *)\",\"1\",\"7\",\"(128, 1, 1)\",\"(%d, 4, 1)\","
		    "\"0\",\"9.0\"", id, id / 400, id % 7, id % 640);

		for (int i = 0; i < METRICS; i++)
			n += value(row + n);
		row[n++] = '\n';
		fwrite(row, 1, (size_t)n, stdout);
		at += (uint64_t)n;
	}
	return 0;
}
