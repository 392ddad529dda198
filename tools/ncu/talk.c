/*
 * talk.c: what stands around a table, and what a file without one says.  Known
 * words lead to the remedy; the words themselves are always repeated.
 */
#include <err.h>

#include "ncu.h"

/* In ncu's ==ERROR== and ==WARNING== lines; the first that matches wins. */
static const struct {
	const char *words, *remedy;
} reasons[] = {
	{ "ERR_NVGPUCTRPERM",
	    "the driver keeps the counters to the administrator: write 'options nvidia "
	    "NVreg_RestrictProfilingToAdminUsers=0' to /etc/modprobe.d/nvidia-profiling.conf "
	    "and reboot, or run ncu as root; in a container add --cap-add=SYS_ADMIN" },
	{ "Unsupported API during capture",
	    "range replay cannot record this program: use --replay-mode app-range" },
	{ "ut of memory",
	    "replay saves what kernels write: ask for fewer metrics (one pass saves nothing), "
	    "use --replay-mode application or app-range, or a smaller batch and context" },
	{ "OutOfMemory",
	    "replay saves what kernels write: ask for fewer metrics (one pass saves nothing), "
	    "use --replay-mode application or app-range, or a smaller batch and context" },
	{ "driver resource was unavailable",
	    "another tool holds the counters: stop it; for DCGM: dcgmi profile --pause" },
	{ "Failed to find metric",
	    "this chip does not have it: ncu --query-metrics lists what there is" },
	{ "Profiling is not supported on",
	    "this GPU and this ncu do not match: ncu --list-chips" },
	{ "No kernels were profiled",
	    "the filter matched nothing: a push/pop range needs a trailing slash "
	    "(--nvtx --nvtx-include 'decode.3/'), a slash inside a name separates ranges, and "
	    "kernels launched by another thread are outside" },
	{ "No ranges were profiled",
	    "the filter matched nothing: a push/pop range needs a trailing slash "
	    "(--nvtx --nvtx-include 'decode.3/'), and a slash inside a name separates ranges" },
	{ "returned an error code",
	    "the watched program failed: see that it runs without ncu" },
	{ "terminated before",
	    "the watched program ended early: see that it runs without ncu" },
	{ NULL, NULL }
};

/* How files begin that are something else. */
static const struct {
	const char *begin, *what;
} others[] = {
	{ "SQLite format 3", "an SQLite database: nsys2tsv reads nsys exports" },
	{ "NVR", "an ncu report: ncu --import FILE --csv --page raw" },
	{ "\xff\xfe", "UTF-16 (PowerShell's >): iconv -f UTF-16 -t UTF-8" },
	{ "\xfe\xff", "UTF-16: iconv -f UTF-16 -t UTF-8" },
	{ "\xfd" "7zXZ", "compressed: xz -dc FILE | ncu2tsv" },
	{ "\x1f\x8b", "compressed: gzip -dc FILE | ncu2tsv" },
	{ "\x28\xb5\x2f\xfd", "compressed: zstd -dc FILE | ncu2tsv" },
	{ "BZh", "compressed: bzip2 -dc FILE | ncu2tsv" },
	{ "PK\x03\x04", "a ZIP archive or a spreadsheet: unpack or export it" },
	{ "version https://git-lfs", "a Git LFS pointer: git lfs pull" },
	{ NULL, NULL }
};
static const struct {
	const char *begin, *what;
} lines[] = {
	{ "Time (%)", "a table of nsys stats, not of ncu: nsys2tsv reads the export "
	    "(nsys export --type sqlite)" },
	{ "\"Time (%)\"", "a table of nsys stats, not of ncu: nsys2tsv reads the export "
	    "(nsys export --type sqlite)" },
	{ "Time(%)", "a table of nsys stats, not of ncu: nsys2tsv reads the export "
	    "(nsys export --type sqlite)" },
	{ "\"Process ID\"", "made with --print-summary: averages over launches; import "
	    "the report again without it" },
	{ "ID,", "its quotes are gone, so another program has written it again: give "
	    "ncu's own output" },
	{ "{", "JSON, not ncu's CSV" },
	{ "[", "JSON, not ncu's CSV" },
	{ "<", "a page, not ncu's CSV" },
	{ "source phase step", "a table of this toolkit already" },
	{ NULL, NULL }
};

void
talk_sniff(const char *path, const char *bytes, size_t len)
{
	for (size_t i = 0; others[i].begin != NULL; i++) {
		size_t n = strlen(others[i].begin);

		if (len >= n && memcmp(bytes, others[i].begin, n) == 0)
			errx(NS_TROUBLE, "%s: %s", path, others[i].what);
	}
}

static bool
begins(const char *line, const char *with)
{
	return strncmp(line, with, strlen(with)) == 0;
}

static void
keep(char to[static TALK_MAX], const char *s)
{
	if (*to == '\0')
		snprintf(to, TALK_MAX, "%s", s);
}

static void
message(struct talk *t, const char *s)
{
	bool error = begins(s, "==ERROR== ");

	t->any = true;
	if (error)
		keep(t->error, s);
	else if (begins(s, "==WARNING== ") && !begins(s, "==WARNING== Note: "))
		warnx("%s: %s", t->path, s);	/* a note repeats what ncu was told */
	for (int i = 0; reasons[i].words != NULL; i++)
		if (strstr(s, reasons[i].words) != NULL &&
		    (t->remedy == NULL || i < t->rank)) {
			snprintf(t->reason, sizeof t->reason, "%s", s);
			t->remedy = reasons[i].remedy;
			t->rank = i;
		}
}

/* One line that is no row; bytes that a terminal would act on become spaces. */
void
talk_line(struct talk *t, const char *line, size_t len)
{
	char s[TALK_MAX];

	while (len > 0 && (unsigned char)line[len - 1] <= ' ')
		len--;
	if (len >= sizeof s)
		len = sizeof s - 1;
	memcpy(s, line, len);
	s[len] = '\0';
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
			s[i] = ' ';
	if (begins(s, "==PROF==") || begins(s, "==WARNING==") || begins(s, "==ERROR=="))
		message(t, s);
	else if (s[strspn(s, " ")] != '\0') {
		t->text_report |= strstr(s, "Section: ") != NULL;
		keep(t->first, s);
	}
}

void
talk_no_table(const struct talk *t)
{
	for (size_t i = 0; lines[i].begin != NULL && !t->any; i++)
		if (begins(t->first, lines[i].begin))
			errx(NS_TROUBLE, "%s: %s", t->path, lines[i].what);
	if (t->remedy != NULL)
		errx(NS_TROUBLE, "%s: no table: %s\n%s", t->path, t->reason, t->remedy);
	if (*t->error != '\0')
		errx(NS_TROUBLE, "%s: no table: %s", t->path, t->error);
	if (t->text_report)
		errx(NS_TROUBLE, "%s: ncu's report as text: import it with --csv "
		    "(ncu --import FILE --csv --page raw)", t->path);
	if (t->any)
		errx(NS_TROUBLE, "%s: no table, only messages: ncu recorded nothing "
		    "(was a kernel launched? did the program end?)", t->path);
	if (*t->first == '\0')
		errx(NS_TROUBLE, "%s: empty", t->path);
	errx(NS_TROUBLE, "%s: not ncu's CSV: no line begins with \"ID\",\"Process ID\"; "
	    "export with ncu --import FILE --csv --page raw", t->path);
}
