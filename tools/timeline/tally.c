/* tally.c: kernels and launches of each phase and step, as the rows say. */
#include "timeline.h"

struct tallies {
	struct intern keys, graphs;
	struct tally *t;
	size_t	 cap;
	int64_t	 last_key[4], last_graph[3];
	uint32_t last;
	int64_t	 *pids;
	size_t	 n_pids, cap_pids;
};

struct tallies *
tallies_new(void)
{
	struct tallies *all = xalloc(1, sizeof *all);

	all->last = INTERN_NONE;
	all->last_graph[2] = NONE;
	return all;
}

static void
note_pid(struct tallies *all, int64_t pid)
{
	for (size_t i = 0; i < all->n_pids; i++)
		if (all->pids[i] == pid)
			return;
	all->pids = xgrow(all->pids, &all->cap_pids, all->n_pids + 1, sizeof pid);
	all->pids[all->n_pids++] = pid;
}

static struct tally *
tally(struct tallies *all, const struct row *r)
{
	int64_t key[] = { r->phase, r->step, r->pid, r->device };
	uint32_t n = all->keys.n;

	if (all->last == INTERN_NONE ||
	    memcmp(key, all->last_key, sizeof key) != 0) {
		all->last = intern(&all->keys, key, sizeof key);
		memcpy(all->last_key, key, sizeof key);
	}
	if (all->last == n) {
		all->t = xgrow(all->t, &all->cap, (size_t)n + 1, sizeof *all->t);
		all->t[n] = (struct tally){ 0 };
		note_pid(all, r->pid);
	}
	return &all->t[all->last];
}

static bool
is_new_graph(struct tallies *all, const struct row *r)
{
	int64_t key[] = { r->pid, r->device, r->graph };
	uint32_t n = all->graphs.n;

	if (memcmp(key, all->last_graph, sizeof key) == 0)
		return false;
	memcpy(all->last_graph, key, sizeof key);
	return intern(&all->graphs, key, sizeof key) == n;
}

void
tallies_row(struct tallies *all, const struct row *r)
{
	struct tally *t;

	if (r->kind == KIND_WINDOW || r->phase == INTERN_NONE)
		return;
	t = tally(all, r);
	if (r->kind == KIND_KERNEL) {
		t->n_kernels++;
		add_ns(&t->sum_kernel, r->end - r->start);
	}
	t->n_hidden += r->kind == KIND_GRAPH;
	if (r->graph != NONE) {
		if (is_new_graph(all, r)) {
			t->n_graphs++;
			t->n_launches++;
		}
	} else if (r->kind == KIND_KERNEL)
		t->n_launches++;
}

/* Rows whose process is not known belong to the windows of any. */
struct tally
tallies_of(const struct tallies *all, const struct seen *s)
{
	struct tally sum = { 0 };

	for (size_t i = 0; i < all->n_pids; i++) {
		int64_t key[] = { s->phase, s->step, all->pids[i], s->device };
		uint32_t k = intern_find(&all->keys, key, sizeof key);

		if (k == INTERN_NONE || (s->pid != NONE && all->pids[i] != NONE &&
		    all->pids[i] != s->pid))
			continue;
		sum.n_kernels += all->t[k].n_kernels;
		sum.n_launches += all->t[k].n_launches;
		sum.n_graphs += all->t[k].n_graphs;
		sum.n_hidden += all->t[k].n_hidden;
		add_ns(&sum.sum_kernel, all->t[k].sum_kernel);
	}
	return sum;
}

void
tallies_free(struct tallies *all)
{
	intern_free(&all->keys);
	intern_free(&all->graphs);
	free(all->t);
	free(all->pids);
	free(all);
}
