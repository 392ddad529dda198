/* rows.c: what each row of a source page is, and what it says. */
#include <ctype.h>
#include <err.h>
#include <inttypes.h>
#include <math.h>

#include "reader.h"

enum { MOST_INSTRUCTIONS = 1 << 22 };

_Noreturn void
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

void
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

void
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
