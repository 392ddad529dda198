/*
 * launches.c: which block of the page is which launch.  A block bears a kernel's
 * name alone, and ncu (2025.3) prints some blocks twice.  Both pages have the
 * launches in the order in which they ran; so runs of one name are held against
 * each other, and where a run has too many blocks, those like the one before go.
 */
#include <err.h>
#include <inttypes.h>
#include <string.h>

#include "source.h"

static bool
same(const struct block *a, const struct block *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->i[i].address != b->i[i].address ||
		    a->i[i].n_samples != b->i[i].n_samples ||
		    strcmp(a->i[i].text, b->i[i].text) != 0 ||
		    memcmp(a->i[i].stall, b->i[i].stall, MAX_REASONS * sizeof *a->i[i].stall) != 0)
			return false;
	return true;
}

/* The first block after those of the same name. */
static size_t
blocks_end(const struct page *p, size_t from)
{
	size_t to = from;

	while (to < p->n && strcmp(p->b[to].kernel, p->b[from].kernel) == 0)
		to++;
	return to;
}

static size_t
launches_end(const struct page *p, size_t from)
{
	size_t to = from;

	while (to < p->n_launches && strcmp(p->l[to].kernel, p->l[from].kernel) == 0)
		to++;
	return to;
}

static char *
safe(const char *name)
{
	return terminal_safe(xstrdup(name));
}

_Noreturn static void
differ(const struct page *p, size_t block, size_t launch)
{
	errx(NS_TROUBLE, "%s:%" PRIu64 ": the source page goes on with %s, the raw page with %s: "
	    "import both from one report, with the same --print-kernel-base",
	    p->path, p->b[block].line, safe(p->b[block].kernel),
	    launch < p->n_launches ? safe(p->l[launch].kernel) : "nothing");
}

static void
mark_again(struct page *p, size_t from, size_t to)
{
	for (size_t i = from + 1; i < to; i++)
		p->b[i].again = same(&p->b[i - 1], &p->b[i]);
}

static size_t
n_once(const struct page *p, size_t from, size_t to)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		n += !p->b[i].again;
	return n;
}

/* Without a raw page each block is a launch, numbered as it stands. */
static void
make_launches(struct page *p)
{
	mark_again(p, 0, p->n);
	for (size_t i = 0; i < p->n; i++) {
		if (p->b[i].again)
			continue;
		p->l = xgrow(p->l, &p->launches_cap, p->n_launches + 1, sizeof *p->l);
		p->l[p->n_launches] = (struct launch){ .at = &p->b[i],
		    .id = xasprintf("%zu", p->n_launches), .kernel = xstrdup(p->b[i].kernel) };
		p->n_launches++;
	}
}

void
launches_join(struct page *p)
{
	size_t b = 0, l = 0;

	if (p->n_launches == 0) {
		make_launches(p);
		return;
	}
	for (size_t b_end, l_end; b < p->n; b = b_end, l = l_end) {
		b_end = blocks_end(p, b);
		if (l == p->n_launches || strcmp(p->l[l].kernel, p->b[b].kernel) != 0)
			differ(p, b, l);
		l_end = launches_end(p, l);
		if (b_end - b != l_end - l)
			mark_again(p, b, b_end);
		if (n_once(p, b, b_end) != l_end - l)
			errx(NS_TROUBLE, "%s:%" PRIu64 ": %zu times the source of %s for %zu "
			    "launches: which is whose is not known", p->path, p->b[b].line,
			    n_once(p, b, b_end), safe(p->b[b].kernel), l_end - l);
		for (size_t i = b, to = l; i < b_end; i++)
			if (!p->b[i].again)
				p->l[to++].at = &p->b[i];
	}
	if (l != p->n_launches)
		errx(NS_TROUBLE, "%s: the source page ends before launch %s of %s: import again",
		    p->path, p->l[l].id, safe(p->l[l].kernel));
}
