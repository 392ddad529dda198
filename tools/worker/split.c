/*
 * split.c: one loop over all threads.  A thread that waits gives way to
 * others, so that a busy machine is slower but not ten times; who comes too late
 * is not waited for.  A single thread allocates nothing and enters nothing:
 * a run under valgrind depends on the model alone.
 */
#include <err.h>
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "cpu.h"

enum { CLOSED = -1, SHARES = 4 };	/* parts a thread, so that all end together */

struct threads {
	size_t	 n;
	pthread_t *helper;		/* [n - 1] */
	atomic_size_t joined;		/* helpers that have a number */
	atomic_bool quit;
	atomic_int inside;		/* helpers in the loop, or CLOSED */
	atomic_size_t next;		/* first index that nobody has taken */
	size_t	 end, grain;
	loop_part *part;
	const void *arg;
};

static void
work(struct threads *t, size_t self)
{
	size_t i;

	while ((i = atomic_fetch_add(&t->next, t->grain)) < t->end)
		t->part(t->arg, (struct range){ i, t->end - i > t->grain ?
		    i + t->grain : t->end, self });
}

static void *
help(void *arg)
{
	struct threads *t = arg;
	const size_t self = 1 + atomic_fetch_add(&t->joined, 1);

	while (!atomic_load(&t->quit)) {
		int n = atomic_load(&t->inside);

		if (n != CLOSED && atomic_compare_exchange_strong(&t->inside,
		    &n, n + 1)) {
			work(t, self);
			atomic_fetch_sub(&t->inside, 1);
		}
		sched_yield();
	}
	return NULL;
}

struct threads *
threads_open(void)
{
	struct threads *t = xalloc(1, sizeof *t);

	t->n = (size_t)omp_get_max_threads();
	atomic_init(&t->inside, CLOSED);
	t->helper = xalloc(t->n, sizeof *t->helper);
	for (size_t i = 0; i + 1 < t->n; i++)
		if ((errno = pthread_create(&t->helper[i], NULL, help, t)) != 0)
			err(NS_TROUBLE, "thread %zu of %zu", i + 2, t->n);
	return t;
}

void
split(struct threads *t, size_t n, size_t grain, loop_part *part, const void *arg)
{
	const size_t share = n / (t->n * SHARES) / grain * grain;
	int none;

	if (t->n == 1 || n <= grain) {
		part(arg, (struct range){ 0, n, 0 });
		return;
	}
	t->end = n;
	t->grain = share > grain ? share : grain;
	t->part = part;
	t->arg = arg;
	atomic_store(&t->next, 0);
	atomic_store(&t->inside, 0);
	work(t, 0);
	while (none = 0, !atomic_compare_exchange_strong(&t->inside, &none,
	    CLOSED))
		sched_yield();
}

void
threads_close(struct threads *t)
{
	atomic_store(&t->quit, true);
	for (size_t i = 0; i + 1 < t->n; i++)
		pthread_join(t->helper[i], NULL);
	free(t->helper);
	free(t);
}
