/*
 * page.c: the source page of ncu, kernel after kernel, and before it, if it is
 * there, the raw page, which says which launch each is.
 *
 *	"Kernel Name","_Z4gemv",		or Function Name, after a File Path
 *	"Address","Source","Warp Stall Sampling (All Samples)",...
 *	"0x7f2f937a1500","      LDC R1, c[0x0][0x28]","24",...
 */
#include <csv.h>
#include <ctype.h>
#include <err.h>
#include <inttypes.h>
#include <math.h>

#include "source.h"

enum { LONGEST = 1 << 24, MOST_COLUMNS = 10000, MOST_INSTRUCTIONS = 1 << 22 };

enum key { ADDRESS, LINE, TEXT, SAMPLES, EXECUTED, SECTORS, IDEAL_SECTORS, WAVEFRONTS,
	IDEAL_WAVEFRONTS, ID, PID, KERNEL, GRID, BLOCK, STATIC, DYNAMIC, N_KEYS };

struct reader {
	struct page *page;
	const char *path;
	FILE	*fp;
	uint64_t no, begun;		/* line in hand; where its row began */
	char	*line;
	size_t	 line_cap;
	struct csv_parser csv;
	char	**cell;			/* of the row in hand */
	size_t	 n, cap;
	bool	 ended;
	enum { NOTHING, RAW_UNITS, RAW, SOURCE } under;
	size_t	 ncol, key[N_KEYS];
	char	**col;
	uint32_t *reason;		/* of each column; INTERN_NONE: no stall */
	char	*kernel, *file, *last_line;
	struct block *b;		/* that the rows are of */
	bool	 fresh;			/* a new kernel name, no header yet */
};

_Noreturn static void
bad(const struct reader *r, const char *what, const char *which)
{
	char *safe = terminal_safe(xasprintf("%s%s%s", what, *which != '\0' ? ": " : "", which));

	errx(NS_TROUBLE, "%s:%" PRIu64 ": %s", r->path, r->begun, safe);
}

/* ---- cells */

static const char *
cell(const struct reader *r, enum key k)
{
	return r->key[k] < r->n ? r->cell[r->key[k]] : NULL;
}

static bool
missing(const char *s)
{
	return s == NULL || *s == '\0' || strcmp(s, "-") == 0 || strcasecmp(s, "n/a") == 0;
}

/* A count as ncu prints it, 1,234 or 1234.000000; what is neither is refused. */
static double
count(const struct reader *r, size_t col)
{
	const char *s = col < r->n ? r->cell[col] : NULL, *p;
	size_t n, zeros;
	double x = 0;

	if (missing(s))
		return NAN;
	n = strspn(s, "0123456789");
	for (p = s; p < s + n; p++)
		x = 10 * x + (*p - '0');
	for (; *p == ',' && n >= 1 && n <= 3 && strspn(p + 1, "0123456789") == 3; p += 4)
		x = 1000 * x + 100 * (p[1] - '0') + 10 * (p[2] - '0') + (p[3] - '0');
	zeros = *p == '.' ? strspn(p + 1, "0") : 0;
	if (zeros != 0 && zeros != 3 && p[1 + zeros] == '\0')
		p += 1 + zeros;
	if (n == 0 || *p != '\0' || x > 9007199254740992.0) {
		char *what = xasprintf("%s: '%s' is no count as ncu prints it in the C "
		    "locale", r->col[col], s);

		bad(r, what, n > 0 && strchr(".,' ", *p) != NULL && *p != '\0' ?
		    "export again with LC_ALL=C" : "");
	}
	return x;
}

static double
number_of(const struct reader *r, enum key k)
{
	return r->key[k] != SIZE_MAX ? count(r, r->key[k]) : NAN;
}

/* Spaces at both ends, and what is left of a prefix. */
static char *
trimmed(const char *s)
{
	char *copy;
	size_t n;

	s += strspn(s, " \t");
	n = strlen(s);
	while (n > 0 && isspace((unsigned char)s[n - 1]))
		n--;
	copy = xstrdup(s);
	copy[n] = '\0';
	return copy;
}

/* ---- headers */

static const struct {
	enum key key;
	const char *name;
} names[] = {
	{ ADDRESS, "Address" }, { ADDRESS, "# Address" },
	{ LINE, "Line No" }, { LINE, "# Line" }, { LINE, "#" },
	{ TEXT, "Source" },
	{ SAMPLES, "Warp Stall Sampling (All Samples)" },
	{ SAMPLES, "Warp Stall Sampling (All Cycles)" },
	{ SAMPLES, "Warp Stall Sampling (All)" },
	{ SAMPLES, "Sampling Data (All)" }, { SAMPLES, "# Samples" },
	{ EXECUTED, "Instructions Executed" },
	{ SECTORS, "L2 Theoretical Sectors Global" },
	{ IDEAL_SECTORS, "L2 Theoretical Sectors Global Ideal" },
	{ WAVEFRONTS, "L1 Wavefronts Shared" },
	{ IDEAL_WAVEFRONTS, "L1 Wavefronts Shared Ideal" },
	{ ID, "ID" }, { PID, "Process ID" }, { KERNEL, "Kernel Name" },
	{ GRID, "Grid Size" }, { BLOCK, "Block Size" },
	{ STATIC, "launch__shared_mem_per_block_static" },
	{ DYNAMIC, "launch__shared_mem_per_block_dynamic" },
};

/* Names that the source page shortens; others are as in the metrics. */
static const struct {
	const char *page, *name;
} short_names[] = {
	{ "long_sb", "long_scoreboard" }, { "short_sb", "short_scoreboard" },
	{ "math", "math_pipe_throttle" }, { "mio", "mio_throttle" },
	{ "lg", "lg_throttle" }, { "tex", "tex_throttle" }, { "imc", "imc_miss" },
	{ "no_inst", "no_instruction" }, { "no_instructions", "no_instruction" },
	{ "sleep", "sleeping" }, { "dispatch", "dispatch_stall" },
};

/* Of "stall_wait"; "stall_wait (Not Issued)" is counted in it already. */
static uint32_t
reason_of(struct reader *r, const char *col)
{
	static const char begin[] = "stall_";
	uint32_t n;

	if (strncmp(col, begin, sizeof begin - 1) != 0 || strchr(col, '(') != NULL)
		return INTERN_NONE;
	col += sizeof begin - 1;
	if (col[strspn(col, kv_name_chars)] != '\0')
		bad(r, "a stall of an odd name", col);
	for (size_t i = 0; i < sizeof short_names / sizeof *short_names; i++)
		if (strcmp(col, short_names[i].page) == 0)
			col = short_names[i].name;
	n = intern_text(&r->page->reasons, col);
	if (n >= MAX_REASONS)
		bad(r, "too many reasons of stalls", col);
	return n;
}

static void
drop_header(struct reader *r)
{
	for (size_t i = 0; i < r->ncol; i++)
		free(r->col[i]);
	free(r->col);
	free(r->reason);
	r->col = NULL;
	r->reason = NULL;
	r->ncol = 0;
}

/* The first column of a name counts, but the instruction is the last source. */
static void
header(struct reader *r)
{
	drop_header(r);
	r->ncol = r->n;
	r->col = xalloc(r->ncol, sizeof *r->col);
	r->reason = xalloc(r->ncol, sizeof *r->reason);
	for (size_t i = 0; i < r->ncol; i++) {
		r->col[i] = xstrdup(r->cell[i]);
		r->reason[i] = reason_of(r, r->cell[i]);
	}
	for (enum key k = 0; k < N_KEYS; k++)
		r->key[k] = SIZE_MAX;
	for (size_t m = 0; m < sizeof names / sizeof *names; m++)
		for (size_t i = 0; i < r->ncol; i++)
			if (strcmp(r->col[i], names[m].name) == 0 &&
			    (r->key[names[m].key] == SIZE_MAX || names[m].key == TEXT))
				r->key[names[m].key] = i;
}

/* A kernel that goes on in another file is one; one whose file comes again is another. */
static void
begin_block(struct reader *r)
{
	struct page *p = r->page;
	struct block *last = p->n > 0 ? &p->b[p->n - 1] : NULL;

	if (r->kernel == NULL)
		bad(r, "a header, but no line \"Kernel Name\" before it", "");
	if (last == NULL || r->file == NULL || last->files.n == 0 ||
	    strcmp(last->kernel, r->kernel) != 0 ||
	    intern_find(&last->files, r->file, strlen(r->file)) != INTERN_NONE) {
		p->b = xgrow(p->b, &p->cap, p->n + 1, sizeof *p->b);
		last = &p->b[p->n++];
		*last = (struct block){ .kernel = xstrdup(r->kernel), .line = r->begun };
	}
	if (r->file != NULL)
		intern_text(&last->files, r->file);
	r->b = last;
	r->fresh = false;
	free(r->last_line);
	r->last_line = NULL;
}

static void
source_header(struct reader *r)
{
	header(r);
	if (r->key[ADDRESS] == SIZE_MAX)
		bad(r, "source lines without their instructions, whose samples would be "
		    "counted again where they are inlined: import with --print-source sass", "");
	if (r->key[SAMPLES] == SIZE_MAX)
		bad(r, "no column of samples: profile with --section SourceCounters", "");
	begin_block(r);
	r->under = SOURCE;
}

static void
raw_header(struct reader *r)
{
	if (r->page->n_launches > 0 || r->page->n > 0)
		bad(r, "a second report: one file at a time", "");
	header(r);
	if (r->key[KERNEL] == SIZE_MAX || r->key[PID] == SIZE_MAX)
		bad(r, "not ncu's header: no column", r->key[PID] == SIZE_MAX ?
		    "Process ID" : "Kernel Name");
	r->under = RAW_UNITS;
}

/* ---- rows */

static void
units_row(struct reader *r)
{
	if (!missing(cell(r, ID)))
		bad(r, "no row of units below the header of the raw page", "");
	for (enum key k = STATIC; k <= DYNAMIC; k++)
		if (r->key[k] != SIZE_MAX && (cell(r, k) == NULL ||
		    strcmp(cell(r, k), "byte/block") != 0))
			bad(r, "bytes of shared memory in another unit: import with "
			    "--print-units base", cell(r, k) != NULL ? cell(r, k) : "");
	r->under = RAW;
}

/* "(72, 4, 1)" as 72x4x1; NULL if it is none. */
static char *
shape(const char *s)
{
	uint64_t n[3];
	char after;

	if (s == NULL || s[strspn(s, "(0123456789, ")] != ')' ||
	    sscanf(s, "(%" SCNu64 ", %" SCNu64 ", %" SCNu64 "%c", &n[0], &n[1], &n[2],
	    &after) != 4 || after != ')')
		return NULL;
	return xasprintf("%" PRIu64 "x%" PRIu64 "x%" PRIu64, n[0], n[1], n[2]);
}

static void
raw_row(struct reader *r)
{
	struct page *p = r->page;
	struct launch *l;
	uint64_t id, pid;

	if (!parse_count(r->cell[r->key[ID]], &id) || cell(r, PID) == NULL ||
	    !parse_count(cell(r, PID), &pid))
		bad(r, "ID or process ID is not a count", "");
	if (r->n != r->ncol)
		bad(r, "row cut short", "");
	p->l = xgrow(p->l, &p->launches_cap, p->n_launches + 1, sizeof *p->l);
	l = &p->l[p->n_launches++];
	*l = (struct launch){ .id = xasprintf("%" PRIu64 ".%" PRIu64, pid, id),
	    .kernel = xstrdup(cell(r, KERNEL)), .grid = shape(cell(r, GRID)),
	    .block = shape(cell(r, BLOCK)),
	    .shared_bytes = number_of(r, STATIC) + number_of(r, DYNAMIC) };
}

/* Inlined code stands again in another file: one instruction is told once. */
static bool
told(struct block *b, uint64_t address)
{
	uint32_t n = b->addresses.n;

	return b->files.n > 0 && intern(&b->addresses, &address, sizeof address) < n;
}

/* What no reason names is told too, or shares of reasons would be of fewer. */
static void
stalls(struct reader *r, struct instruction *i)
{
	double named = 0;

	i->stall = xalloc(MAX_REASONS, sizeof *i->stall);
	for (size_t c = 0; c < r->ncol; c++)
		if (r->reason[c] != INTERN_NONE) {
			double x = count(r, c);

			if (isnan(x))
				continue;
			i->stall[r->reason[c]] += x;
			named += x;
		}
	if (named > i->n_samples)
		bad(r, "more stalls than samples", i->text);
	i->stall[OTHER] += i->n_samples - named;
}

static void
source_row(struct reader *r)
{
	const char *line = cell(r, LINE), *at = cell(r, ADDRESS), *text = cell(r, TEXT);
	struct block *b = r->b;
	struct instruction *i;
	uint64_t address;
	char *end;

	if (r->n != r->ncol)
		bad(r, r->n < r->ncol ? "row cut short" : "more fields than the header has", "");
	if (r->key[LINE] != SIZE_MAX && r->key[LINE] != r->key[ADDRESS] && !missing(line)) {
		free(r->last_line);
		r->last_line = r->file != NULL ? xasprintf("%s:%s", r->file, line) : xstrdup(line);
	}
	if (r->key[LINE] != SIZE_MAX && (missing(at) || strcmp(at, "...") == 0))
		return;			/* a line; its instructions follow */
	if (strncmp(at, "0x", 2) != 0 || at[2 + strspn(at + 2, "0123456789abcdefABCDEF")] != '\0' ||
	    strlen(at) > 18 || at[2] == '\0')
		bad(r, "an address was expected", at);
	address = strtoull(at, &end, 16);
	if (told(b, address))
		return;
	if (b->n == MOST_INSTRUCTIONS)
		bad(r, "too many instructions in one kernel", "");
	b->i = xgrow(b->i, &b->cap, b->n + 1, sizeof *b->i);
	i = &b->i[b->n++];
	*i = (struct instruction){ .address = address, .text = trimmed(text),
	    .line = r->last_line != NULL ? xstrdup(r->last_line) : NULL,
	    .n_samples = number_of(r, SAMPLES), .n_executed = number_of(r, EXECUTED),
	    .sectors = number_of(r, SECTORS), .ideal_sectors = number_of(r, IDEAL_SECTORS),
	    .wavefronts = number_of(r, WAVEFRONTS),
	    .ideal_wavefronts = number_of(r, IDEAL_WAVEFRONTS), .producer = NO_PRODUCER };
	if (isnan(i->n_samples))
		bad(r, "no number of samples for", i->text);
	stalls(r, i);
}

static void
keep(char **to, const char *s)
{
	free(*to);
	*to = xstrdup(s);
}

static bool
is(const struct reader *r, size_t col, const char *s)
{
	return col < r->n && strcmp(r->cell[col], s) == 0;
}

static void
row(struct reader *r)
{
	bool raw = is(r, 0, "ID") && is(r, 1, "Process ID");
	bool source = false;

	for (size_t i = 0; i < r->n && i < 4; i++)
		source |= is(r, i, "Source");
	if (r->n <= 3 && (is(r, 0, "Kernel Name") || is(r, 0, "Function Name"))) {
		if (r->n < 2 || *r->cell[1] == '\0')
			bad(r, "a kernel without a name", "");
		keep(&r->kernel, r->cell[1]);
		r->under = NOTHING;
		r->fresh = true;
	} else if (r->n <= 3 && is(r, 0, "File Path")) {
		keep(&r->file, r->n > 1 ? r->cell[1] : "");
		r->under = NOTHING;
	} else if (raw)
		raw_header(r);
	else if (source && (is(r, 0, "Address") || is(r, 0, "# Address") ||
	    is(r, 0, "Line No") || is(r, 0, "# Line") || is(r, 0, "#")))
		source_header(r);
	else if (r->under == RAW_UNITS)
		units_row(r);
	else if (r->under == RAW)
		raw_row(r);
	else if (r->under == SOURCE)
		source_row(r);
	else
		bad(r, "not ncu's source page: import with --csv --page source", r->cell[0]);
}

/* ---- lines */

static void
on_field(void *s, size_t len, void *arg)
{
	struct reader *r = arg;

	if (r->n == MOST_COLUMNS)
		bad(r, "too many columns: not ncu's CSV", "");
	if (len != 0 && memchr(s, '\0', len) != NULL)
		bad(r, "NUL byte: not a text table", "");
	r->cell = xgrow(r->cell, &r->cap, r->n + 1, sizeof *r->cell);
	r->cell[r->n] = xalloc(len + 1, 1);
	if (len != 0)
		memcpy(r->cell[r->n], s, len);
	r->n++;
}

static void
on_end(int c, void *arg)
{
	struct reader *r = arg;

	(void)c;
	r->ended = true;
}

static size_t
next_line(struct reader *r)
{
	size_t n = 0;
	int c;

	while ((c = getc_unlocked(r->fp)) != EOF) {
		if (n == LONGEST)
			errx(NS_TROUBLE, "%s:%" PRIu64 ": a line of more than %d MiB: not "
			    "ncu's CSV", r->path, r->no + 1, LONGEST >> 20);
		r->line = xgrow(r->line, &r->line_cap, n + 1, 1);
		r->line[n++] = (char)c;
		if (c == '\n')
			break;
	}
	if (ferror(r->fp))
		err(NS_TROUBLE, "%s", r->path);
	r->no += n > 0;
	return n;
}

/* A line that is no row: ncu's own words, of which an error is one. */
static void
talk(struct reader *r, size_t len)
{
	char *s;

	r->begun = r->no;
	r->line = xgrow(r->line, &r->line_cap, len + 1, 1);
	r->line[len] = '\0';
	while (len > 0 && isspace((unsigned char)r->line[len - 1]))
		r->line[--len] = '\0';
	s = terminal_safe(xstrdup(r->line));
	if (strncmp(s, "==ERROR==", 9) == 0)
		bad(r, "ncu reports", s);
	if (strncmp(s, "==", 2) != 0 && *s != '\0')
		bad(r, "not ncu's source page: import with --csv --page source", s);
	free(s);
}

static void
feed(struct reader *r, const char *s, size_t len)
{
	if (csv_parse(&r->csv, s, len, on_field, on_end, r) != len)
		bad(r, "quotes do not match: a row was cut short here or in the line before", "");
}

static void
done(struct reader *r)
{
	row(r);
	while (r->n > 0)
		free(r->cell[--r->n]);
	r->ended = false;
}

static void
read_all(struct reader *r)
{
	bool mid = false, whole = true;
	size_t len, begun = 0;

	while ((len = next_line(r)) > 0) {
		size_t skip = r->no == 1 && len > 3 && memcmp(r->line, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

		if (!mid && r->line[skip] != '"') {
			talk(r, len);
			continue;
		}
		if (!mid) {
			r->begun = r->no;
			begun = 0;
		}
		if ((begun += len) > LONGEST)
			bad(r, "a row of more than 16 MiB: a quote is open", "");
		feed(r, r->line + skip, len - skip);
		mid = !r->ended;
		if (r->ended)
			done(r);
		whole = r->line[len - 1] == '\n' || r->line[len - 1] == '"';
	}
	if (csv_fini(&r->csv, on_field, on_end, r) != 0 || (mid && !whole))
		bad(r, "last row cut short: export again", "");
	if (mid)			/* no newline at the end */
		done(r);
}

void
page_read(struct page *p, const char *path)
{
	struct reader r = { .page = p, .path = "stdin", .fp = stdin };

	if (path != NULL && strcmp(path, "-") != 0) {
		r.path = path;
		if ((r.fp = fopen(path, "r")) == NULL)
			err(NS_TROUBLE, "%s", path);
	}
	p->path = r.path;
	intern_text(&p->reasons, "other");
	if (csv_init(&r.csv, CSV_STRICT | CSV_STRICT_FINI) != 0)
		errx(NS_TROUBLE, "libcsv");
	read_all(&r);
	if (r.no == 0)
		errx(NS_TROUBLE, "%s: empty", p->path);
	if (p->n == 0 || r.fresh)
		errx(NS_TROUBLE, "%s: %s: import with --csv --page source", p->path,
		    r.fresh ? "a kernel's name, and nothing of it" : "no kernel's source");
	for (size_t i = 0; i < p->n; i++)
		if (p->b[i].n == 0)
			errx(NS_TROUBLE, "%s:%" PRIu64 ": a header, but no instruction",
			    p->path, p->b[i].line);
	drop_header(&r);
	csv_free(&r.csv);
	free(r.cell);
	free(r.line);
	free(r.kernel);
	free(r.file);
	free(r.last_line);
	if (r.fp != stdin)
		fclose(r.fp);
}

void
page_free(struct page *p)
{
	for (size_t k = 0; k < p->n; k++) {
		struct block *b = &p->b[k];

		for (size_t i = 0; i < b->n; i++) {
			free(b->i[i].text);
			free(b->i[i].line);
			free(b->i[i].stall);
		}
		free(b->i);
		free(b->kernel);
		intern_free(&b->files);
		intern_free(&b->addresses);
	}
	for (size_t k = 0; k < p->n_launches; k++) {
		free(p->l[k].id);
		free(p->l[k].kernel);
		free(p->l[k].grid);
		free(p->l[k].block);
	}
	free(p->b);
	free(p->l);
	intern_free(&p->reasons);
}
