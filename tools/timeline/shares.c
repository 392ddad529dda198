/* shares.c: time by kernel name, or by family of names. */
#include <err.h>
#include <regex.h>

#include "own.h"
#include "timeline.h"

struct family {
	uint32_t name;
	regex_t	re;
};
struct share {
	uint32_t phase, name;
	int64_t	 order;		/* of the phase */
	uint64_t n;
	int64_t	sum, own, max;
};
struct shares {
	struct own own;
	struct intern keys, phases, *names;
	struct share *s;
	size_t	 cap;
	struct family *f;
	size_t	 n_f, cap_f;
	uint32_t other, *family_of;	/* by name; INTERN_NONE: not yet known */
	size_t	 n_known, cap_known;
	bool	 by_family;
	uint64_t n_hidden;
};

static void
read_families(struct shares *all, const char *path)
{
	struct tsv t;

	tsv_open(&t, path);
	size_t family = tsv_col(&t, "family"), regex = tsv_col(&t, "regex");

	while (tsv_next(&t)) {
		struct family *f;
		int rc;

		all->f = xgrow(all->f, &all->cap_f, all->n_f + 1, sizeof *all->f);
		f = &all->f[all->n_f++];
		f->name = intern_text(all->names, tsv_text(&t, family));
		if ((rc = regcomp(&f->re, tsv_text(&t, regex),
		    REG_EXTENDED | REG_NOSUB)) != 0) {
			char why[128];

			regerror(rc, &f->re, why, sizeof why);
			tsv_die(&t, regex, "'%s': %s", t.val[regex], why);
		}
	}
	tsv_close(&t);
	all->other = intern_text(all->names, "other");
}

struct shares *
shares_new(struct intern *names, const char *families)
{
	struct shares *all = xalloc(1, sizeof *all);

	all->names = names;
	all->by_family = families != NULL;
	if (families != NULL)
		read_families(all, families);
	return all;
}

/* The first family whose expression fits; decided once a name. */
static uint32_t
family(struct shares *all, uint32_t name)
{
	const char *s = interned(all->names, name);

	if (name >= all->n_known) {
		all->family_of = xgrow(all->family_of, &all->cap_known,
		    (size_t)name + 1, sizeof *all->family_of);
		while (all->n_known <= name)
			all->family_of[all->n_known++] = INTERN_NONE;
	}
	if (all->family_of[name] != INTERN_NONE)
		return all->family_of[name];
	all->family_of[name] = all->other;
	for (size_t i = 0; i < all->n_f; i++)
		if (regexec(&all->f[i].re, s, 0, NULL, 0) == 0) {
			all->family_of[name] = all->f[i].name;
			break;
		}
	return all->family_of[name];
}

void
shares_row(struct shares *all, const struct row *r)
{
	uint32_t key[2], n = all->keys.n, i;
	struct share *s;
	int64_t own;

	if (r->kind == KIND_WINDOW)
		return;
	own = own_ns(&all->own, r->device, r->start, r->end);
	if (r->phase == INTERN_NONE)
		return;
	all->n_hidden += r->kind == KIND_GRAPH;
	if (!all->by_family && r->kind != KIND_KERNEL)
		return;
	key[0] = r->phase;
	key[1] = all->by_family ? family(all, r->name) : r->name;
	i = intern(&all->keys, key, sizeof key);
	all->s = xgrow(all->s, &all->cap, (size_t)n + 1, sizeof *all->s);
	s = &all->s[i];
	if (i == n)
		*s = (struct share){ .phase = key[0], .name = key[1],
		    .order = intern(&all->phases, key, sizeof *key) };
	s->n++;
	add_ns(&s->sum, r->end - r->start);
	add_ns(&s->own, own);
	if (r->end - r->start > s->max)
		s->max = r->end - r->start;
}

static int
by_own(const void *va, const void *vb, void *names)
{
	const struct share *a = va, *b = vb;

	return order(a->order, b->order) ?: order(b->own, a->own) ?:
	    order(b->sum, a->sum) ?:
	    strcmp(interned(names, a->name), interned(names, b->name));
}

void
shares_print(struct shares *all)
{
	int64_t *total = xalloc(all->phases.n, sizeof *total);
	struct out out;

	for (size_t i = 0; i < all->keys.n; i++)
		add_ns(&total[all->s[i].order], all->s[i].own);
	if (all->keys.n > 0)
		qsort_r(all->s, all->keys.n, sizeof *all->s, by_own, all->names);
	out_open(&out, NULL);
	out_head(&out, all->by_family ?
	    "phase family n_calls sum_ns own_ns mean_ns max_ns share_ratio" :
	    "phase name n_calls sum_ns own_ns mean_ns max_ns share_ratio");
	for (size_t i = 0; i < all->keys.n; i++) {
		const struct share *s = &all->s[i];

		out_text(&out, interned(all->names, s->phase));
		out_text(&out, interned(all->names, s->name));
		out_count(&out, s->n);
		out_int(&out, s->sum);
		out_int(&out, s->own);
		out_num(&out, (double)s->sum / (double)s->n);
		out_int(&out, s->max);
		out_num(&out, (double)s->own / (double)total[s->order]);
		out_row(&out);
	}
	out_close(&out);
	free(total);
	if (all->n_hidden > 0)
		warnx("%llu graph replays hide their kernels: the shares are "
		    "of what is left; record with --cuda-graph-trace=node",
		    (unsigned long long)all->n_hidden);
}

void
shares_free(struct shares *all)
{
	for (size_t i = 0; i < all->n_f; i++)
		regfree(&all->f[i].re);
	own_free(&all->own);
	intern_free(&all->keys);
	intern_free(&all->phases);
	free(all->family_of);
	free(all->f);
	free(all->s);
	free(all);
}
