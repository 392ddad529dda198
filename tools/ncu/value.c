/* value.c: a metric of a launch as a row of output. */
#include "ncu.h"

/* ---- a value */

static void
put(FILE *fp, const char *s)
{
	fwrite_unlocked(s, 1, strlen(s), fp);
}

static uint64_t
hash(const char *s, uint64_t h)
{
	for (; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3;
	return h | 1;
}

static struct once *
once_slot(struct ncu *u, uint64_t name)
{
	size_t i = name % u->once_cap;

	while (u->once[i].name != 0 && u->once[i].name != name)
		i = (i + 1) % u->once_cap;
	return &u->once[i];
}

static void
once_grow(struct ncu *u)
{
	struct once *old = u->once;
	size_t n = u->once_cap;

	u->once_cap = n != 0 ? 2 * n : 256;
	u->once = xalloc(u->once_cap, sizeof *u->once);
	for (size_t i = 0; i < n; i++)
		if (old[i].name != 0)
			*once_slot(u, old[i].name) = old[i];
	free(old);
}

/*
 * Sections repeat metrics.  One with a metric's name (not a label: it has __) is
 * written once a launch, so that a sum over rows counts it once.
 */
static bool
again(struct ncu *u, const char *metric, const char *value, const char *unit)
{
	struct once *slot, now = { .name = hash(metric, 0xcbf29ce484222325) };

	if (!u->details || strstr(metric, "__") == NULL)
		return false;
	now.value = hash(unit, hash(value, now.name));
	if (2 * u->n_once >= u->once_cap)
		once_grow(u);
	slot = once_slot(u, now.name);
	if (slot->name == 0) {
		*slot = now;
		u->n_once++;
		return false;
	}
	if (slot->value != now.value)
		bad(u, "a metric stands twice in a launch, with two values", metric);
	return true;
}

static void
emit(struct ncu *u, const char *metric, const char *value, const struct unit *unit,
    const char *why, const char *section)
{
	FILE *fp = u->out.fp;

	if (again(u, metric, value, unit->base))
		return;
	fwrite_unlocked(u->head.text, 1, u->head.len, fp);
	put(fp, metric);
	putc_unlocked('\t', fp);
	put(fp, value);
	putc_unlocked('\t', fp);
	put(fp, unit->base[0] != '\0' ? unit->base : "NA");
	putc_unlocked('\t', fp);
	put(fp, why != NULL ? why : "NA");
	fwrite_unlocked(u->tail.text, 1, u->tail.len, fp);
	u->out.mid = true;
	out_text(&u->out, section);
	out_row(&u->out);
	u->n_rows++;
}

void
value(struct ncu *u, const char *metric, const char *text, const struct unit *unit,
    const char *section)
{
	char digits[NUMBER_MAX];
	const char *why;

	switch (number(text, unit->shift, digits, &why, &u->point, u->in.no)) {
	case CELL_NUMBER:
		emit(u, metric, digits, unit, NULL, section);
		return;
	case CELL_MISSING:
		emit(u, metric, "NA", unit, why, section);
		return;
	case CELL_TEXT:
		if (unit->base[0] == '\0' && u->picks.n == 0)
			return;
		if (unit->base[0] == '\0') {
			emit(u, metric, "NA", unit, "text, not a number", section);
			return;
		}
		break;
	case CELL_LOCALE:
		bad_cell(u, metric, "a number of another locale, export again with "
		    "LC_ALL=C ncu --import FILE --csv:", text);
	case CELL_BAD:
		break;
	}
	bad_cell(u, metric, "not a number:", text);
}
