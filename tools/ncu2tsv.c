/*
 * ncu2tsv: the CSV of Nsight Compute as one row a launch and metric.
 *
 * in   ncu --csv, raw page (a row a launch) or details page (a row a metric),
 *      with whatever was printed around it
 * out  counters.tsv, in base units
 */
#include <csv.h>
#include <err.h>
#include <unistd.h>

#include "ncu/ncu.h"

enum {
	BUFFER = 1 << 16,		/* of standard output */
	FIELD = 1 << 16,		/* by which libcsv's buffer grows */
	MOST_COLUMNS = 100000,
	LONGEST_ROW = 1 << 24
};

enum { OPT_METRICS = 256, OPT_RANGES, OPT_PAGE, OPT_PARTIAL };
static const struct opt opts[] = {
	{ 'p', "phase", "PHASE", "of launches outside any named range: prefill, decode, decode.N" },
	{ OPT_METRICS, "metrics", "LIST", "only these metrics, separated by commas" },
	{ OPT_RANGES, "ranges", "LIST", "fail unless each of these NVTX ranges is in it" },
	{ OPT_PAGE, "page", "PAGE", "raw or details: refuse the other" },
	{ OPT_PARTIAL, "partial", NULL, "accept a capture in which ncu reports an error" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ncu2tsv",
	.purpose = "the CSV of Nsight Compute as one row a launch and metric",
	.operands = "[FILE]",
	.in = "ncu --csv, raw or details page",
	.out = "source phase step launch kernel metric value unit why grid block device section",
	.example = "ncu --import run.ncu-rep --csv --page raw | ncu2tsv --metrics dram__bytes_read.sum",
	.opts = opts,
};

/* ---- a record of CSV, field by field */

static void
on_field(void *s, size_t len, void *arg)
{
	struct ncu *u = arg;
	size_t col = u->map != NULL ? u->map[u->n] : u->n;

	if (u->n == MOST_COLUMNS)
		bad(u, "too many columns: not ncu's CSV", "");
	u->extra |= u->ended;
	u->n++;
	u->mid = true;
	if (u->col != NULL && (col >= u->ncol || !u->col[col].keep)) {
		u->extra |= col >= u->ncol && len != 0;
		return;
	}
	if (u->col == NULL)		/* the header: as many as there are */
		u->at = xgrow(u->at, &u->ncol, col + 1, sizeof *u->at);
	if (len != 0 && memchr(s, '\0', len) != NULL)
		bad(u, "NUL byte: not a text table", "");
	u->cells = xgrow(u->cells, &u->cells_cap, u->cells_len + len + 1, 1);
	u->at[col] = u->cells_len;
	if (len != 0)
		memcpy(u->cells + u->cells_len, s, len);
	u->cells[u->cells_len + len] = '\0';
	u->cells_len += len + 1;
}

static void
on_end(int c, void *arg)
{
	struct ncu *u = arg;

	(void)c;
	u->ended = true;
	u->mid = false;
}

/* ---- a row */

static void
raw_row(struct ncu *u)
{
	if (u->n < u->ncol) {
		char *n = xasprintf("%zu of %zu fields", u->n, u->ncol);

		bad(u, "row cut short", n);
	}
	if (!u->units_seen) {
		if (*key(u, ID) != '\0')
			bad(u, "no row of units below the header: the scale of the "
			    "values is not known; export again", "");
		units(u);
		return;
	}
	find_launch(u);
	for (size_t i = 0; i < u->cut.nwant; i++) {
		const struct column *c = &u->col[u->cut.want[i]];

		if (c->metric)
			value(u, c->name, cell(u, u->cut.want[i]), &c->unit, NULL);
	}
}

static void
details_row(struct ncu *u)
{
	char *metric = key(u, METRIC), *section, *item = key(u, ITEM);
	struct pick *p;
	struct unit unit;

	if (key(u, VALUE) == NULL)
		bad(u, "row cut short: no", key_name[VALUE]);
	find_launch(u);
	if (*metric == '\0')		/* what a rule has to say */
		return;
	clean(metric);
	if (u->n_launches == 1 && u->picks.n != 0)
		picks_there(&u->picks, metric);
	p = picks_find(&u->picks, metric);
	if (u->picks.n != 0 && p == NULL)
		return;
	if (p != NULL)
		p->seen = true;
	if (!unit_parse(key(u, UNIT), &unit))
		bad_cell(u, metric, "unknown unit", key(u, UNIT));
	section = item != NULL && *item != '\0' ?
	    xasprintf("%s: %s", key(u, SECTION), item) : NULL;
	value(u, metric, key(u, VALUE), &unit, section != NULL ? section : key(u, SECTION));
	free(section);
}

static void
row(struct ncu *u)
{
	if (u->extra)
		bad(u, "more fields than the header has", "");
	if (u->col == NULL)
		header(u);
	else if (u->details)
		details_row(u);
	else
		raw_row(u);
}

/* A line, or the rest of one, to libcsv; what ends a record is a row. */
static void
feed(struct ncu *u, const char *line, size_t len)
{
	size_t end = len;

	if (!u->mid) {
		u->n = u->cells_len = u->row_len = 0;
		u->ended = u->extra = false;
		u->map = NULL;
		while (end > 0 && (line[end - 1] == '\n' || line[end - 1] == '\r'))
			end--;
		if (u->picks.n != 0 && u->col != NULL && !u->details &&
		    cut(&u->cut, line, end, &end)) {
			u->map = u->cut.want;
			line = u->cut.buf;
			len = end;
		}
	}
	if ((u->row_len += len) > LONGEST_ROW)
		bad(u, "a row of more than 16 MiB: a quote is open", "");
	if (csv_parse(&u->csv, line, len, on_field, on_end, u) != len)
		bad(u, csv_error(&u->csv) == CSV_EPARSE ? "quotes do not match: a row "
		    "was cut short here or in the line before" :
		    csv_strerror(csv_error(&u->csv)), "");
	u->mid = !u->ended;
	if (!u->ended)
		return;
	if (u->map != NULL)
		u->n = u->ncol;
	row(u);
}

static void
line(struct ncu *u, const char *s, size_t len)
{
	static const char begin[] = "\"ID\",\"Process ID\"";
	const char *h;

	if (u->in.no == 1 && len > 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0) {
		s += 3;			/* a byte order mark */
		len -= 3;
	}
	u->whole = s[len - 1] == '\n' || s[len - 1] == '"';
	if (u->mid || (u->col != NULL && len > 1 && s[0] == '"' &&
	    (s[1] == '"' || (s[1] >= '0' && s[1] <= '9')))) {
		feed(u, s, len);
	} else if ((h = memmem(s, len, begin, sizeof begin - 1)) != NULL) {
		if (h != s)
			talk_line(&u->talk, s, (size_t)(h - s));
		drop_columns(u);
		feed(u, h, len - (size_t)(h - s));
	} else if (u->col != NULL && memmem(s, len, "\",\"", 3) != NULL) {
		bad(u, "a piece of a row: the file is damaged here", "");
	} else
		talk_line(&u->talk, s, len);
}

static void
finish(struct ncu *u, bool partial)
{
	bool mid = u->mid;

	if (csv_fini(&u->csv, on_field, on_end, u) != 0 || (mid && !u->whole))
		bad(u, "last row cut short: export again", "");
	if (mid)			/* no newline at the end */
		row(u);
	if (u->run == 0)
		talk_no_table(&u->talk);
	if (u->n_launches == 0)
		errx(NS_TROUBLE, "%s: a header, but no launch", u->in.path);
	picks_check(&u->picks, u->in.path);
	picks_check(&u->ranges, u->in.path);
	if (u->point.line != 0 && !u->point.known)
		errx(NS_TROUBLE, "%s:%llu: is '%s' a thousand times more? Nothing in the "
		    "file shows whether its point groups digits; export again with LC_ALL=C "
		    "ncu --import FILE --csv", u->in.path,
		    (unsigned long long)u->point.line, u->point.doubt);
	if (*u->talk.error != '\0' && !partial)
		errx(NS_TROUBLE, "%s: %s\nthe capture may be incomplete: --partial takes "
		    "it as it is", u->in.path, u->talk.error);
}

static void
ncu2tsv(struct ncu *u, bool partial)
{
	const char *s;
	size_t len;

	u->talk.path = u->in.path;
	if (csv_init(&u->csv, CSV_STRICT | CSV_STRICT_FINI) != 0)
		errx(NS_TROUBLE, "libcsv");
	csv_set_blk_size(&u->csv, FIELD);
	launches_open(u);
	out_head(&u->out, tool.out);
	while ((s = lines_next(&u->in, &len)) != NULL)
		line(u, s, len);
	finish(u, partial);
}

static void
close_all(struct ncu *u)
{
	lines_close(&u->in);
	launches_close(u);
	drop_columns(u);
	csv_free(&u->csv);
	picks_free(&u->picks);
	picks_free(&u->ranges);
	free(u->cut.buf);
	free(u->cells);
}

int
main(int argc, char *argv[])
{
	struct ncu u = { .picks.what = "metric", .ranges.what = "range" };
	bool partial = false;
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		switch (ch) {
		case 'p':
			if (!phase_parse(optarg, &u.phase))
				errx(NS_TROUBLE, "--phase: prefill, decode or decode.N, "
				    "not '%s'", optarg);
			break;
		case OPT_METRICS:
			picks_parse(&u.picks, optarg);
			break;
		case OPT_RANGES:
			picks_parse(&u.ranges, optarg);
			break;
		case OPT_PAGE:
			u.page = optarg;
			if (strcmp(optarg, "raw") != 0 && strcmp(optarg, "details") != 0)
				errx(NS_TROUBLE, "--page: raw or details, not '%s'", optarg);
			break;
		case OPT_PARTIAL:
			partial = true;
		}
	if (argc - optind > 1)
		tool_usage(&tool);
	lines_open(&u.in, argv[optind]);
	out_open(&u.out, NULL);
	setvbuf(u.out.fp, NULL, _IOFBF, BUFFER);
	ncu2tsv(&u, partial);
	out_close(&u.out);
	close_all(&u);
	return NS_OK;
}
