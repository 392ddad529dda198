/* items.c: detail.tsv of a platform. */
#include <err.h>
#include <math.h>
#include <string.h>

#include "detail.h"

const char *const facts[N_FACTS] = { "occupancy", "occupancy_limit",
	"limit_registers", "limit_shared", "limit_warps", "limit_barriers",
	"limit_blocks", "registers", "shared_static", "shared_dynamic", "waves",
	"sms", "issue" };

static void
add_stall(struct items *all, const struct tsv *t, const struct item *item,
    const char *reason, const char *waits_for)
{
	for (size_t i = 0; i < all->n_stalls; i++)
		if (strcmp(all->stall[i].reason, reason) == 0)
			tsv_die(t, tsv_col(t, "item"), "'stall.%s' stands twice", reason);
	all->stall = xgrow(all->stall, &all->cap, all->n_stalls + 1, sizeof *all->stall);
	all->stall[all->n_stalls++] = (struct stall){ .item = *item,
	    .reason = xstrdup(reason), .waits_for = xstrdup(waits_for) };
}

static void
add(struct items *all, const struct tsv *t, const char *name, const struct item *item,
    const char *note)
{
	if (isnan(item->factor))
		tsv_die(t, tsv_col(t, "factor"), "NA: a number was expected");
	if (strncmp(name, "stall.", 6) == 0 && name[6] != '\0') {
		add_stall(all, t, item, name + 6, note);
		return;
	}
	for (size_t i = 0; i < N_FACTS; i++)
		if (strcmp(facts[i], name) == 0) {
			if (all->fact[i].metric != INTERN_NONE)
				tsv_die(t, tsv_col(t, "item"), "'%s' stands twice", name);
			all->fact[i] = *item;
			return;
		}
	tsv_die(t, tsv_col(t, "item"), "unknown: '%s'", name);
}

void
items_read(struct items *all, struct registry *r, const char *path)
{
	struct tsv t;

	*all = (struct items){ 0 };
	for (size_t i = 0; i < N_FACTS; i++)
		all->fact[i].metric = INTERN_NONE;
	tsv_open(&t, path);
	size_t item = tsv_col(&t, "item"), metric = tsv_col(&t, "metric");
	size_t factor = tsv_col(&t, "factor"), note = tsv_col(&t, "note");

	while (tsv_next(&t))
		add(all, &t, tsv_text(&t, item), &(struct item){
		    .metric = intern_text(&r->metric, tsv_text(&t, metric)),
		    .factor = tsv_num(&t, factor) }, tsv_text(&t, note));
	tsv_close(&t);
}

void
items_free(struct items *all)
{
	for (size_t i = 0; i < all->n_stalls; i++) {
		free(all->stall[i].reason);
		free(all->stall[i].waits_for);
	}
	free(all->stall);
}
