/*
 * part.c: the lines of a callgrind profile, format version 1, to its parts.
 *
 * A part is handed out once its totals: line was seen and its cost lines add up
 * to it, exactly.  They need not add up to summary:, the thread's counters
 * between two dumps, which may be a few events off.
 */
#include <err.h>
#include <stdarg.h>

#include "cg.h"

void
cg_die(const struct cg *c, const char *fmt, ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	errx(NS_TROUBLE, "%s:%llu: %s", c->path, (unsigned long long)c->line, what);
}

static bool
next_line(struct cg *c)
{
	ssize_t len = getline(&c->text, &c->cap, c->fp);

	if (len < 0) {
		if (ferror(c->fp))
			err(NS_TROUBLE, "%s", c->path);
		return false;
	}
	c->line++;
	if (strlen(c->text) != (size_t)len)
		cg_die(c, "NUL byte: not a callgrind profile");
	if (c->text[len - 1] != '\n')
		cg_die(c, "last line cut short: it has no newline; run it again");
	c->text[len - 1] = '\0';
	return true;
}

/* What follows with, past blanks, if s starts so. */
static char *
after(char *s, const char *with)
{
	size_t n = strlen(with);

	return strncmp(s, with, n) == 0 ? s + n + strspn(s + n, " \t") : NULL;
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

uint64_t
cg_number(const struct cg *c, const char *s)
{
	uint64_t n;

	if (strncmp(s, "0x", 2) == 0 && s[2] != '\0' && strlen(s) <= 18 &&
	    s[2 + strspn(s + 2, "0123456789abcdefABCDEF")] == '\0')
		return strtoull(s, NULL, 16);
	if (!parse_count(s, &n))
		cg_die(c, "not a number: '%s'", s);
	return n;
}

static void
add(const struct cg *c, size_t event, uint64_t n, uint64_t *sum)
{
	if (!add_ok(sum[event], n, &sum[event]))
		cg_die(c, "%s of part %llu is more than 64 bits hold",
		    c->part.event[event], (unsigned long long)c->part.number);
}

/* Adds the costs in s, as many as there are: absent ones are 0 by definition. */
static void
add_costs(const struct cg *c, char *s, uint64_t *sum)
{
	size_t i = 0;
	char *w;

	for (; (w = word(&s)) != NULL; i++) {
		if (i == c->part.n_events)
			cg_die(c, "more than the %zu costs that events: names", i);
		add(c, i, cg_number(c, w), sum);
	}
}

static void
positions(const struct cg *c, char **s)
{
	for (size_t i = 0; i < c->part.n_positions; i++) {
		char *w = word(s);

		if (w == NULL)
			cg_die(c, "%zu positions, not %zu", i, c->part.n_positions);
		if (strcmp(w, "*") != 0)
			cg_number(c, w + (*w == '+' || *w == '-'));
	}
}

static void
cost_line(struct cg *c, char *s)
{
	struct part *p = &c->part;
	uint64_t inclusive[CG_EVENTS] = { 0 };

	if (p->n_events == 0)
		cg_die(c, "costs before an events: line");
	positions(c, &s);
	if (c->call) {
		c->call = false;
		add_costs(c, s, inclusive);
		return;
	}
	if (c->fn == NULL)
		cg_die(c, "costs before an fn= line");
	if (!c->fn->used) {
		p->fn = xgrow(p->fn, &p->cap, p->n_fns + 1, sizeof *p->fn);
		p->fn[p->n_fns++] = c->fn;
		c->fn->used = true;
	}
	add_costs(c, s, c->fn->cost);
}

/* fn=, calls= and the like: where the next costs belong. */
static void
position_line(struct cg *c, char *line, char *value)
{
	static const char *const known[] = { "ob=", "fl=", "fi=", "fe=", "cob=",
	    "cfi=", "cfl=", "jfi=", "jump=", "jcnd=" };

	if (after(line, "fn=") != NULL)
		c->fn = cg_function(c, value);
	else if (after(line, "cfn=") != NULL || after(line, "jfn=") != NULL)
		cg_function(c, value);
	else if (after(line, "calls=") != NULL)
		c->call = true;
	else {
		for (size_t i = 0; i < sizeof known / sizeof *known; i++)
			if (after(line, known[i]) != NULL)
				return;
		cg_die(c, "not a line of a callgrind profile: '%.40s'", line);
	}
}

static void
part_begin(struct cg *c, char *number)
{
	struct part *p = &c->part;

	if (c->open)
		cg_die(c, "part %llu is cut short: it has no totals: line",
		    (unsigned long long)p->number);
	p->number = cg_number(c, number);
	p->thread = 0;
	p->n_positions = 1;
	c->open = true;
	c->fn = NULL;
	c->call = false;
}

static void
part_clear(struct part *p)
{
	for (size_t i = 0; i < p->n_fns; i++) {
		p->fn[i]->used = false;
		memset(p->fn[i]->cost, 0, sizeof p->fn[i]->cost);
	}
	for (size_t i = 0; i < p->n_events; i++)
		free(p->event[i]);
	free(p->trigger);
	p->trigger = NULL;
	p->n_fns = p->n_events = 0;
	memset(p->total, 0, sizeof p->total);
}

static void
part_end(struct cg *c, char *s)
{
	struct part *p = &c->part;
	uint64_t said[CG_EVENTS] = { 0 };

	if (c->call || p->n_events == 0)
		cg_die(c, "part %llu is incomplete", (unsigned long long)p->number);
	for (size_t f = 0; f < p->n_fns; f++)
		for (size_t i = 0; i < p->n_events; i++)
			add(c, i, p->fn[f]->cost[i], p->total);
	add_costs(c, s, said);
	for (size_t i = 0; i < p->n_events; i++)
		if (p->total[i] != said[i])
			cg_die(c, "part %llu: %s of its lines is %llu, totals: says "
			    "%llu: the file is damaged, run it again",
			    (unsigned long long)p->number, p->event[i],
			    (unsigned long long)p->total[i],
			    (unsigned long long)said[i]);
	c->open = false;
}

static void
events(struct cg *c, char *s)
{
	struct part *p = &c->part;
	char *w;

	if (p->n_events != 0)
		cg_die(c, "a second events: line in part %llu",
		    (unsigned long long)p->number);
	while ((w = word(&s)) != NULL) {
		if (p->n_events == CG_EVENTS)
			cg_die(c, "more than %d events", CG_EVENTS);
		for (size_t i = 0; i < p->n_events; i++)
			if (strcmp(p->event[i], w) == 0)
				cg_die(c, "event %s stands twice", w);
		p->event[p->n_events++] = xstrdup(w);
	}
	if (p->n_events == 0)
		cg_die(c, "no events");
}

static void
position_names(struct cg *c, char *s)
{
	char *w;

	for (c->part.n_positions = 0; (w = word(&s)) != NULL; c->part.n_positions++)
		if (strcmp(w, "instr") != 0 && strcmp(w, "bb") != 0 &&
		    strcmp(w, "line") != 0)
			cg_die(c, "unknown position '%s'", w);
}

/* key: value.  True for totals:, which ends a part. */
static bool
header_line(struct cg *c, char *line)
{
	static const char *const ignored[] = { "version:", "creator:", "pid:",
	    "cmd:", "event:", "desc:", "summary:" };
	char *s;

	if ((s = after(line, "part:")) != NULL)
		part_begin(c, s);
	else if (c->open && c->part.trigger == NULL &&
	    (s = after(line, "desc: Trigger:")) != NULL)
		c->part.trigger = xstrdup(s);
	else if (c->open && (s = after(line, "thread:")) != NULL)
		c->part.thread = cg_number(c, s);
	else if (c->open && (s = after(line, "positions:")) != NULL)
		position_names(c, s);
	else if (c->open && (s = after(line, "events:")) != NULL)
		events(c, s);
	else if (c->open && (s = after(line, "totals:")) != NULL) {
		part_end(c, s);
		return true;
	} else {
		for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
			if (after(line, ignored[i]) != NULL)
				return false;
		cg_die(c, "not a line of a callgrind profile%s: '%.40s'",
		    c->open ? "" : " before a part: line", line);
	}
	return false;
}

static bool
any_line(struct cg *c, char *line)
{
	bool cost = *line != '\0' && strchr("0123456789+-*", *line) != NULL;
	size_t n = strspn(line, "abcdefghijklmnopqrstuvwxyz");

	if (*line == '\0' || *line == '#')
		return false;
	if (c->call && !cost)
		cg_die(c, "the cost of the call above was expected");
	if (cost && c->open)
		cost_line(c, line);
	else if (n != 0 && line[n] == '=' && c->open)
		position_line(c, line, line + n + 1 + strspn(line + n + 1, " \t"));
	else
		return header_line(c, line);
	return false;
}

bool
cg_next(struct cg *c)
{
	part_clear(&c->part);
	while (next_line(c))
		if (any_line(c, c->text))
			return true;
	if (c->open)
		cg_die(c, "part %llu is cut short: it has no totals: line",
		    (unsigned long long)c->part.number);
	return false;
}

/* "# callgrind format", "version: 1", "creator: callgrind-3.19.0". */
static void
signature(struct cg *c)
{
	char *s;

	if (!next_line(c))
		errx(NS_TROUBLE, "%s: empty: not a callgrind profile", c->path);
	if (strcmp(c->text, "# callgrind format") == 0 && !next_line(c))
		cg_die(c, "cut short: only a first line");
	if ((s = after(c->text, "version:")) == NULL)
		cg_die(c, "not a callgrind profile: it begins with '%.40s'", c->text);
	if (strcmp(s, "1") != 0)
		cg_die(c, "format version %s: only version 1 is known", s);
	if (!next_line(c) || (s = after(c->text, "creator:")) == NULL ||
	    after(s, "callgrind-") == NULL)
		cg_die(c, "not made by callgrind: %.80s", c->text);
}

void
cg_open(struct cg *c, const char *path)
{
	bool std = path == NULL || strcmp(path, "-") == 0;

	*c = (struct cg){ .fp = std ? stdin : fopen(path, "r"),
	    .path = std ? "stdin" : path };
	if (c->fp == NULL)
		err(NS_TROUBLE, "%s", path);
	signature(c);
}

void
cg_close(struct cg *c)
{
	part_clear(&c->part);
	cg_forget(&c->names);
	free(c->part.fn);
	free(c->text);
	if (c->fp != stdin)
		fclose(c->fp);
}
