/*
 * tools/cuda/count.h as ns-worker uses it, on no GPU:
 * count run LIST FILE STEPS [astray|more]: count work that the libcupti at hand
 * is told of (tests/fake/cupti.c), well, or with ranges that differ from pass to
 * pass, or with one too many; count passes CHIP LIST: in how many, of how large a
 * config image; count open LIST: as far as a real libcupti goes without a device.
 */
#include <dlfcn.h>
#include <err.h>
#include <inttypes.h>

#include "../tools/cuda/count.h"
#include "../tools/worker/worker.h"
#include "cupti.h"
#include "library.h"

struct work {
	struct count *count;
	uint64_t steps, pass;
	void	 (*does)(double);
	const char *fault;
};

static void (*waits)(void);

static void
wait_for_it(void)
{
	waits();
}

/* Prefill does 1000, a step as many as its number, and either the pass besides. */
static void
work(void *v)
{
	struct work *w = v;
	char name[40];

	count_range(w->count, "prefill");
	w->does(1000 + (double)w->pass);
	count_range(w->count, NULL);
	w->does(7e9);			/* in no range */
	for (uint64_t s = 0; s < w->steps; s++) {
		snprintf(name, sizeof name, "decode.%" PRIu64, s +
		    (strcmp(w->fault, "astray") == 0 ? w->pass : 0));
		if (s + 1 == w->steps)
			count_range(w->count, name);
		w->does((double)(s + w->pass));
		if (s + 1 == w->steps)
			count_range(w->count, NULL);
	}
	if (strcmp(w->fault, "more") == 0)
		count_range(w->count, "more");
	w->pass++;
}

static void
run(const char *list, const char *path, uint64_t steps, const char *fault)
{
	const struct count_device device = { .context = &waits, .wait = wait_for_it };
	struct work w = { .steps = steps, .fault = fault };
	const struct symbol all[] = { { &w.does, "fake_do", NULL },
	    { &waits, "fake_wait", NULL } };
	struct metrics m;
	struct counts c;

	if (library_find(dlopen("libcupti.so.13", RTLD_NOW), all, 2) != NULL)
		errx(NS_TROUBLE, "that is no fake");
	metrics_parse(&m, list);
	w.count = count_open(m.name, m.n, steps > 0 ? 2 : 1, &device);
	printf("%zu passes\n", count_passes(w.count));
	count_run(w.count, work, &w);
	c = count_read(w.count);
	counters_write(path, &c);
	counts_free(&c);
	count_close(w.count);
	metrics_free(&m);
}

static void
passes(const char *chip, const char *list)
{
	struct cupti_config k;
	struct cupti c;
	struct metrics m;

	metrics_parse(&m, list);
	if (!cupti_open(&c, NULL))
		errx(NS_TROUBLE, "no libcupti");
	c.chip = chip;
	if (!cupti_configure(&k, &c, m.name, m.n))
		errx(NS_NO, "not all of them, or not in one run");
	printf("%u %zu\n", k.n_passes, k.bytes);
	cupti_config_free(&k, &c);
	metrics_free(&m);
}

int
main(int argc, char *argv[])
{
	uint64_t steps;

	if ((argc == 5 || argc == 6) && strcmp(argv[1], "run") == 0 &&
	    parse_count(argv[4], &steps))
		run(argv[2], argv[3], steps, argc == 6 ? argv[5] : "");
	else if (argc == 4 && strcmp(argv[1], "passes") == 0)
		passes(argv[2], argv[3]);
	else if (argc == 3 && strcmp(argv[1], "open") == 0)
		count_open(&(const char *){ argv[2] }, 1, 1,
		    &(struct count_device){ .wait = wait_for_it });
	else
		errx(NS_TROUBLE, "usage: count run|passes|open ...");
	return NS_OK;
}
