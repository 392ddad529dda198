/* tool.c: the face that all tools share: options, --help, --version. */
#include <err.h>
#include <errno.h>
#include <getopt.h>

#include "ns.h"
#include "version.h"

enum { OPT_HELP = 1000, OPT_VERSION };

static void
print_usage(const struct tool *t, FILE *fp)
{
	fprintf(fp, "usage: %s", t->name);
	for (const struct opt *o = t->opts; o != NULL && o->letter != 0; o++) {
		if (o->letter < 256)
			fprintf(fp, " [-%c", o->letter);
		else
			fprintf(fp, " [--%s", o->name);
		fprintf(fp, o->arg != NULL ? " %s]" : "]", o->arg);
	}
	fprintf(fp, *t->operands != '\0' ? " %s\n" : "\n", t->operands);
}

static void
print_options(const struct tool *t)
{
	puts("\noptions");
	for (const struct opt *o = t->opts; o != NULL && o->letter != 0; o++) {
		char left[64];

		snprintf(left, sizeof left, "%c%c%s--%s %s",
		    o->letter < 256 ? '-' : ' ',
		    o->letter < 256 ? o->letter : ' ',
		    o->letter < 256 ? ", " : "  ",
		    o->name, o->arg != NULL ? o->arg : "");
		printf("  %-30s %s\n", left, o->help);
	}
	printf("  %-30s %s\n", "    --help", "this text");
	printf("  %-30s %s\n", "    --version", "name and version");
}

static void
print_help(const struct tool *t)
{
	printf("%s: %s\n\n", t->name, t->purpose);
	print_usage(t, stdout);
	if (t->in != NULL)
		printf("\nin   %s\n", t->in);
	if (t->out != NULL)
		printf("%sout  %s\n", t->in != NULL ? "" : "\n", t->out);
	print_options(t);
	if (t->example != NULL)
		printf("\nexample\n  %s\n", t->example);
}

_Noreturn static void
finish(void)
{
	if (ferror(stdout) || fclose(stdout) != 0)
		err(NS_TROUBLE, "stdout");
	exit(NS_OK);
}

void
tool_usage(const struct tool *t)
{
	print_usage(t, stderr);
	fprintf(stderr, "try '%s --help'\n", t->name);
	exit(NS_TROUBLE);
}

int
tool_opt(const struct tool *t, int argc, char **argv)
{
	enum { MAX = 48 };
	struct option longs[MAX + 3] = { 0 };
	char shorts[2 * MAX + 2];
	size_t n = 0, s = 0;
	int ch;

	for (const struct opt *o = t->opts; o != NULL && o->letter != 0; o++) {
		if (n == MAX)
			errx(NS_TROUBLE, "more than %d options", MAX);
		longs[n++] = (struct option){ o->name,
		    o->arg != NULL ? required_argument : no_argument, NULL, o->letter };
		if (o->letter < 256) {
			shorts[s++] = (char)o->letter;
			if (o->arg != NULL)
				shorts[s++] = ':';
		}
	}
	shorts[s] = '\0';
	longs[n++] = (struct option){ "help", no_argument, NULL, OPT_HELP };
	longs[n] = (struct option){ "version", no_argument, NULL, OPT_VERSION };

	argv[0] = program_invocation_short_name;	/* as err.h's messages begin */
	switch (ch = getopt_long(argc, argv, shorts, longs, NULL)) {
	case OPT_HELP:
		print_help(t);
		finish();
	case OPT_VERSION:
		printf("%s (nsbench) %s\n", t->name, NS_VERSION);
		finish();
	case '?':
		tool_usage(t);
	default:
		return ch;
	}
}

uint64_t
opt_count(const char *name, const char *arg)
{
	uint64_t n;

	if (!parse_count(arg, &n))
		errx(NS_TROUBLE, "--%s: not a count: '%s'", name, arg);
	return n;
}

double
opt_num(const char *name, const char *arg)
{
	double x;

	if (!parse_num(arg, &x))
		errx(NS_TROUBLE, "--%s: not a number: '%s'", name, arg);
	return x;
}
