/* launch.c: which launch a row is of, and what all its rows of output share. */
#include <err.h>

#include "ncu.h"

/* ---- a launch */

static void
piece_open(struct piece *p)
{
	p->out.name = "memory";
	if ((p->out.fp = open_memstream(&p->text, &p->len)) == NULL)
		err(NS_TROUBLE, "open_memstream");
}

static void
piece_begin(struct piece *p, bool mid)
{
	rewind(p->out.fp);
	p->out.mid = mid;
}

static void
piece_end(struct piece *p)
{
	if (fflush(p->out.fp) != 0)
		err(NS_TROUBLE, "memory");
}

/* "(72, 4, 1)" as 72x4x1. */
static void
shape(struct out *o, const char *s)
{
	uint64_t n[3];
	char after;

	if (s != NULL && s[strspn(s, "(0123456789, ")] == ')' && sscanf(s, "(%lu, %lu, %lu%c", &n[0], &n[1], &n[2],
	    &after) == 4 && after == ')') {
		char *text = xasprintf("%lux%lux%lu", n[0], n[1], n[2]);

		out_text(o, text);
		free(text);
	} else
		out_na(o);
}

/* Ids rise within a process: one that does not is another run's. */
static void
remember(struct ncu *u, struct launch l)
{
	size_t i = u->n_seen;

	while (i > 0 && u->seen[i - 1].pid != l.pid)
		i--;
	if (i > 0 && u->seen[i - 1].id >= l.id) {
		if (u->details)
			bad(u, "a launch comes again: rows are out of order, or files "
			    "were joined without their headers", key(u, ID));
		u->run++;
		u->n_seen = i = 0;
	}
	if (i == 0) {
		u->seen = xgrow(u->seen, &u->seen_cap, u->n_seen + 1, sizeof *u->seen);
		i = ++u->n_seen;
	}
	u->seen[i - 1] = l;
}

static void
in_range(struct picks *asked, const char *range)
{
	struct pick *p = picks_find(asked, range);

	picks_there(asked, range);
	if (p != NULL)
		p->seen = true;
}

static void
launch(struct ncu *u, struct launch l)
{
	struct phase ph = { .has_step = false };
	const char *range = NULL, *kernel = key(u, KERNEL);
	struct out *o = &u->head.out;
	char *name;

	remember(u, l);
	u->last = l;
	u->n_launches++;
	u->n_once = 0;
	if (u->once != NULL)
		memset(u->once, 0, u->once_cap * sizeof *u->once);
	if (key(u, PUSH) != NULL)
		phase_find(key(u, PUSH), &ph, &range);
	if (key(u, START) != NULL)
		phase_find(key(u, START), &ph, &range);
	if (range != NULL && u->ranges.n != 0)
		in_range(&u->ranges, range);
	if (ph.name[0] == '\0')
		ph = u->phase;
	/* A range's result is no kernel's, and bears the range's name. */
	if (range != NULL && strcmp(kernel, "range") == 0 && key(u, BLOCK) == NULL)
		kernel = range;
	piece_begin(&u->head, false);
	out_text(o, "ncu");
	out_text(o, ph.name);
	if (ph.has_step)
		out_count(o, ph.step);
	else
		out_na(o);
	name = u->run > 1 ? xasprintf("%u.%lu.%lu", u->run, l.pid, l.id) :
	    xasprintf("%lu.%lu", l.pid, l.id);
	out_text(o, name);
	free(name);
	out_text(o, kernel);
	putc_unlocked('\t', o->fp);
	piece_end(&u->head);
	piece_begin(&u->tail, true);
	shape(&u->tail.out, key(u, GRID));
	shape(&u->tail.out, key(u, BLOCK));
	out_text(&u->tail.out, key(u, DEVICE));
	piece_end(&u->tail);
}

void
find_launch(struct ncu *u)
{
	struct launch l;

	if (!parse_count(key(u, ID), &l.id))
		bad(u, "ID is not a count", key(u, ID));
	if (!parse_count(key(u, PID), &l.pid))
		bad(u, "Process ID is not a count", key(u, PID));
	if (!u->details || u->n_seen == 0 || l.id != u->last.id || l.pid != u->last.pid)
		launch(u, l);
}

void
launches_open(struct ncu *u)
{
	piece_open(&u->head);
	piece_open(&u->tail);
}

void
launches_close(struct ncu *u)
{
	fclose(u->head.out.fp);
	fclose(u->tail.out.fp);
	free(u->head.text);
	free(u->tail.text);
	free(u->seen);
	free(u->once);
}
