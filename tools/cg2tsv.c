/*
 * cg2tsv: what callgrind counted in each dump, function by function.
 *
 * in   callgrind output, format version 1; several dumps in one file or each
 *      in its own
 * out  source phase step launch kernel metric value
 */
#include <err.h>
#include <search.h>
#include <stdarg.h>
#include <unistd.h>

#include "ns.h"

enum { OPT_TOTALS = 256 };
static const struct opt opts[] = {
	{ OPT_TOTALS, "totals", NULL, "one row a dump and metric, kernel NA" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "cg2tsv",
	.purpose = "what callgrind counted in each dump, function by function",
	.operands = "[FILE ...]",
	.in = "callgrind output, also of --combine-dumps=yes",
	.out = "source phase step launch kernel metric value",
	.example = "cg2tsv callgrind.out >counters.tsv",
	.opts = opts,
};

enum { MAX_EVENTS = 64, MAX_ID = 1 << 22 };

struct fn {
	char	*name;
	bool	 used;			/* has a cost line in this part */
	uint64_t cost[MAX_EVENTS];	/* self */
};

struct reader {
	FILE	*fp;
	const char *path;
	char	*text;			/* the line in hand */
	size_t	 cap;
	uint64_t line;

	void	*names;			/* tree of fn, by name */
	struct fn **id;			/* those that have a number */
	size_t	 n_ids;
	struct fn **used;		/* in order of first appearance */
	size_t	 n_used, used_cap;

	/* The part in hand. */
	bool	 open;
	uint64_t part, thread;
	char	*trigger, *phase;
	uint64_t step;
	size_t	 n_positions, n_events;
	char	*event[MAX_EVENTS];
	struct fn *fn;
	bool	 call;			/* the next cost line is inclusive */

	/* Over all files. */
	uint64_t last_part, last_thread, n_kept, n_left;
	bool	 ended, totals;
	struct out out;
};

__attribute__((noreturn, format(printf, 2, 3))) static void
bad(const struct reader *r, const char *fmt, ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	errx(NS_TROUBLE, "%s:%llu: %s", r->path, (unsigned long long)r->line, what);
}

static bool
next(struct reader *r)
{
	ssize_t len = getline(&r->text, &r->cap, r->fp);

	if (len < 0) {
		if (ferror(r->fp))
			err(NS_TROUBLE, "%s", r->path);
		return false;
	}
	r->line++;
	if (strlen(r->text) != (size_t)len)
		bad(r, "NUL byte: not a callgrind profile");
	if (r->text[len - 1] != '\n')
		bad(r, "last line cut short: it has no newline; run it again");
	r->text[len - 1] = '\0';
	return true;
}

/* The next word of *p, or NULL. */
static char *
word(char **p)
{
	char *s;

	do
		s = strsep(p, " \t");
	while (s != NULL && *s == '\0');
	return s;
}

static uint64_t
number(const struct reader *r, const char *s)
{
	uint64_t n;

	if (strncmp(s, "0x", 2) == 0 && s[2] != '\0' && strlen(s) <= 18 &&
	    s[2 + strspn(s + 2, "0123456789abcdefABCDEF")] == '\0')
		return strtoull(s, NULL, 16);
	if (!parse_count(s, &n))
		bad(r, "not a number: '%s'", s);
	return n;
}

static char *
starts(char *s, const char *with)
{
	size_t n = strlen(with);

	return strncmp(s, with, n) == 0 ? s + n + strspn(s + n, " \t") : NULL;
}

static int
by_name(const void *a, const void *b)
{
	const struct fn *const x = a, *const y = b;

	return strcmp(x->name, y->name);
}

static struct fn *
intern(struct reader *r, char *name)
{
	struct fn key = { .name = name }, *fn, **at;

	if ((at = tfind(&key, &r->names, by_name)) != NULL)
		return *at;
	fn = xalloc(1, sizeof *fn);
	fn->name = xstrdup(name);
	if (tsearch(fn, &r->names, by_name) == NULL)
		err(NS_TROUBLE, "%s", r->path);
	return fn;
}

/* "(12) name" gives name the number 12; "(12)" is that name; or "name". */
static struct fn *
function(struct reader *r, char *s)
{
	char *name;
	uint64_t id;

	if (s[0] != '(' || s[1] < '0' || s[1] > '9')
		return intern(r, s);
	if ((name = strchr(s, ')')) == NULL)
		bad(r, "function number without ')': '%s'", s);
	*name++ = '\0';
	if ((id = number(r, s + 1)) >= MAX_ID)
		bad(r, "function number out of range: %s", s + 1);
	while (id >= r->n_ids) {
		size_t had = r->n_ids;

		r->id = xgrow(r->id, &r->n_ids, id + 1, sizeof *r->id);
		memset(r->id + had, 0, (r->n_ids - had) * sizeof *r->id);
	}
	name += strspn(name, " \t");
	if (*name != '\0')
		r->id[id] = intern(r, name);
	if (r->id[id] == NULL)
		bad(r, "function number %s has no name yet: was the top of the "
		    "file cut off?", s + 1);
	return r->id[id];
}

static void
part_begin(struct reader *r, char *number_text)
{
	if (r->open)
		bad(r, "part %llu is cut short: it has no totals: line",
		    (unsigned long long)r->part);
	r->open = true;
	r->part = number(r, number_text);
	r->thread = 0;
	r->n_positions = 1;
	r->n_events = 0;
	r->fn = NULL;
	r->call = false;
}

/* "Client Request: decode.3" is phase decode, step 3. */
static void
trigger(struct reader *r, char *s)
{
	char *name, *dot;

	r->trigger = xstrdup(s);
	if ((name = starts(s, "Client Request:")) == NULL || *name == '\0') {
		r->ended |= strcmp(s, "Program termination") == 0;
		return;
	}
	r->step = 0;
	dot = strrchr(name, '.');
	if (dot != NULL && dot != name && dot[1] != '\0' &&
	    dot[1 + strspn(dot + 1, "0123456789")] == '\0') {
		r->step = number(r, dot + 1);
		*dot = '\0';
	}
	r->phase = xstrdup(name);
}

static void
events(struct reader *r, char *s)
{
	char *w;

	if (r->n_events != 0)
		bad(r, "a second events: line in part %llu",
		    (unsigned long long)r->part);
	while ((w = word(&s)) != NULL) {
		if (r->n_events == MAX_EVENTS)
			bad(r, "more than %d events", MAX_EVENTS);
		for (size_t i = 0; i < r->n_events; i++)
			if (strcmp(r->event[i], w) == 0)
				bad(r, "event %s stands twice", w);
		r->event[r->n_events++] = xstrdup(w);
	}
	if (r->n_events == 0)
		bad(r, "no events");
}

static void
positions(struct reader *r, char *s)
{
	char *w;

	for (r->n_positions = 0; (w = word(&s)) != NULL; r->n_positions++)
		if (strcmp(w, "instr") != 0 && strcmp(w, "bb") != 0 &&
		    strcmp(w, "line") != 0)
			bad(r, "unknown position '%s'", w);
}

/* Adds the costs in s, as many as there are: absent ones are 0 by definition. */
static void
add(const struct reader *r, char *s, uint64_t *sum)
{
	size_t i = 0;
	char *w;

	while ((w = word(&s)) != NULL) {
		if (i == r->n_events)
			bad(r, "more than the %zu costs that events: names", i);
		if (!add_ok(sum[i], number(r, w), &sum[i]))
			bad(r, "%s of part %llu is more than 64 bits hold",
			    r->event[i], (unsigned long long)r->part);
		i++;
	}
}

static void
cost(struct reader *r, char *s)
{
	bool call = r->call;
	char *w;

	if (r->n_events == 0)
		bad(r, "costs before an events: line");
	for (size_t i = 0; i < r->n_positions; i++) {
		if ((w = word(&s)) == NULL)
			bad(r, "%zu positions, not %zu", i, r->n_positions);
		if (strcmp(w, "*") != 0)
			number(r, w + (*w == '+' || *w == '-'));
	}
	r->call = false;
	if (call) {
		uint64_t inclusive[MAX_EVENTS] = { 0 };

		add(r, s, inclusive);
		return;
	}
	if (r->fn == NULL)
		bad(r, "costs before an fn= line");
	if (!r->fn->used) {
		r->used = xgrow(r->used, &r->used_cap, r->n_used + 1,
		    sizeof *r->used);
		r->used[r->n_used++] = r->fn;
		r->fn->used = true;
	}
	add(r, s, r->fn->cost);
}

static void
row(struct reader *r, const char *kernel, const char *metric, uint64_t value)
{
	char launch[48];

	snprintf(launch, sizeof launch, r->thread != 0 ? "%llu.%llu" : "%llu",
	    (unsigned long long)r->part, (unsigned long long)r->thread);
	out_text(&r->out, "callgrind");
	out_text(&r->out, r->phase);
	out_count(&r->out, r->step);
	out_text(&r->out, launch);
	out_text(&r->out, kernel);
	out_text(&r->out, metric);
	out_count(&r->out, value);
	out_row(&r->out);
}

static void
rows(struct reader *r, const uint64_t *sum)
{
	if (r->part < r->last_part || (r->part == r->last_part &&
	    r->thread <= r->last_thread))
		bad(r, "part %llu after part %llu: give the dumps of one run, "
		    "in the order of their numbers",
		    (unsigned long long)r->part,
		    (unsigned long long)r->last_part);
	r->last_part = r->part;
	r->last_thread = r->thread;
	r->n_kept++;
	if (r->totals)
		for (size_t i = 0; i < r->n_events; i++)
			row(r, NULL, r->event[i], sum[i]);
	else
		for (size_t f = 0; f < r->n_used; f++)
			for (size_t i = 0; i < r->n_events; i++)
				row(r, r->used[f]->name, r->event[i],
				    r->used[f]->cost[i]);
}

/*
 * The end of a part.  Its cost lines must add up to totals:, exactly.  They
 * need not add up to summary:, which callgrind takes a few events off the dump.
 */
static void
part_end(struct reader *r, char *s)
{
	uint64_t sum[MAX_EVENTS] = { 0 }, totals[MAX_EVENTS] = { 0 };

	if (r->call || r->n_events == 0)
		bad(r, "part %llu is incomplete", (unsigned long long)r->part);
	for (size_t f = 0; f < r->n_used; f++)
		for (size_t i = 0; i < r->n_events; i++)
			if (!add_ok(sum[i], r->used[f]->cost[i], &sum[i]))
				bad(r, "%s of part %llu is more than 64 bits hold",
				    r->event[i], (unsigned long long)r->part);
	add(r, s, totals);
	for (size_t i = 0; i < r->n_events; i++)
		if (sum[i] != totals[i])
			bad(r, "part %llu: %s of its lines is %llu, totals: says "
			    "%llu: the file is damaged, run it again",
			    (unsigned long long)r->part, r->event[i],
			    (unsigned long long)sum[i],
			    (unsigned long long)totals[i]);
	if (r->phase != NULL)
		rows(r, sum);
	else if (r->n_left++ == 0)
		warnx("%s: part %llu left out: it was not made by a named client "
		    "request but by '%s'", r->path, (unsigned long long)r->part,
		    r->trigger != NULL ? r->trigger : "");
	for (size_t f = 0; f < r->n_used; f++) {
		r->used[f]->used = false;
		memset(r->used[f]->cost, 0, sizeof r->used[f]->cost);
	}
	for (size_t i = 0; i < r->n_events; i++)
		free(r->event[i]);
	free(r->trigger);
	free(r->phase);
	r->trigger = r->phase = NULL;
	r->n_used = r->n_events = 0;
	r->open = false;
}

static void
header(struct reader *r, char *line)
{
	char *s;

	if ((s = starts(line, "part:")) != NULL)
		part_begin(r, s);
	else if (starts(line, "version:") || starts(line, "creator:") ||
	    starts(line, "pid:") || starts(line, "cmd:") || starts(line, "event:"))
		;
	else if (!r->open)
		bad(r, "'%.40s' before a part: line", line);
	else if ((s = starts(line, "desc: Trigger:")) != NULL && r->trigger == NULL)
		trigger(r, s);
	else if (starts(line, "desc:") || starts(line, "summary:"))
		;
	else if ((s = starts(line, "thread:")) != NULL)
		r->thread = number(r, s);
	else if ((s = starts(line, "positions:")) != NULL)
		positions(r, s);
	else if ((s = starts(line, "events:")) != NULL)
		events(r, s);
	else if ((s = starts(line, "totals:")) != NULL)
		part_end(r, s);
	else
		bad(r, "not a line of a callgrind profile: '%.40s'", line);
}

static void
spec(struct reader *r, char *line, char *value)
{
	static const char *const known[] = { "ob=", "fl=", "fi=", "fe=", "cob=",
	    "cfi=", "cfl=", "jfi=", "jump=", "jcnd=" };

	if (starts(line, "fn="))
		r->fn = function(r, value);
	else if (starts(line, "cfn=") || starts(line, "jfn="))
		function(r, value);
	else if (starts(line, "calls="))
		r->call = true;
	else {
		for (size_t i = 0; i < sizeof known / sizeof *known; i++)
			if (starts(line, known[i]))
				return;
		bad(r, "not a line of a callgrind profile: '%.40s'", line);
	}
}

static void
body(struct reader *r, char *line)
{
	size_t n = strspn(line, "abcdefghijklmnopqrstuvwxyz");

	if (*line == '\0' || *line == '#')
		return;
	if (r->call && strchr("0123456789+-*", *line) == NULL)
		bad(r, "the cost of the call above was expected");
	if (strchr("0123456789+-*", *line) != NULL) {
		if (!r->open)
			bad(r, "costs before a part: line");
		cost(r, line);
	} else if (n != 0 && line[n] == '=' && r->open)
		spec(r, line, line + n + 1 + strspn(line + n + 1, " \t"));
	else
		header(r, line);
}

/* "# callgrind format", "version: 1", "creator: callgrind-3.19.0". */
static void
signature(struct reader *r)
{
	char *s;

	if (!next(r))
		errx(NS_TROUBLE, "%s: empty: not a callgrind profile", r->path);
	if (strcmp(r->text, "# callgrind format") == 0 && !next(r))
		bad(r, "cut short: only a first line");
	if ((s = starts(r->text, "version:")) == NULL)
		bad(r, "not a callgrind profile: it begins with '%.40s'", r->text);
	if (strcmp(s, "1") != 0)
		bad(r, "format version %s: only version 1 is known", s);
	if (!next(r) || (s = starts(r->text, "creator:")) == NULL ||
	    starts(s, "callgrind-") == NULL)
		bad(r, "not made by callgrind: %s", r->text);
}

static void
fn_free(void *p)
{
	struct fn *fn = p;

	free(fn->name);
	free(fn);
}

static void
forget_names(struct reader *r)
{
	tdestroy(r->names, fn_free);
	free(r->id);
	r->names = NULL;
	r->id = NULL;
	r->n_ids = 0;
}

static void
cg2tsv(struct reader *r, const char *path)
{
	bool std = path == NULL || strcmp(path, "-") == 0;

	r->fp = std ? stdin : fopen(path, "r");
	r->path = std ? "stdin" : path;
	r->line = 0;
	if (r->fp == NULL)
		err(NS_TROUBLE, "%s", path);
	signature(r);
	while (next(r))
		body(r, r->text);
	if (r->open)
		bad(r, "part %llu is cut short: it has no totals: line",
		    (unsigned long long)r->part);
	forget_names(r);
	if (!std)
		fclose(r->fp);
}

int
main(int argc, char *argv[])
{
	struct reader r = { 0 };

	while (tool_opt(&tool, argc, argv) == OPT_TOTALS)
		r.totals = true;
	out_open(&r.out, NULL);
	out_head(&r.out, tool.out);
	cg2tsv(&r, argv[optind]);
	for (int i = optind + 1; i < argc; i++)
		cg2tsv(&r, argv[i]);
	if (r.n_kept == 0)
		errx(NS_TROUBLE, "%s: no dump was made by a named client request: "
		    "the program has to call CALLGRIND_DUMP_STATS_AT(\"decode.0\")",
		    r.path);
	if (r.n_left > 1)
		warnx("%s: %llu parts left out in all", r.path,
		    (unsigned long long)r.n_left);
	if (!r.ended)
		warnx("%s: no dump of the program's end: was the run cut off, or "
		    "was a file not given?", r.path);
	out_close(&r.out);
	free(r.used);
	free(r.text);
	return NS_OK;
}
