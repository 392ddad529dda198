/*
 * experts-emulate: two layers of experts by the kernels for a few rows, on a CPU
 * (emulate-launch.hpp), and by the CPU backend; random weights, or choices that
 * are told.  Writes the greatest relative L2 error of a row.  Dies where the
 * choices are others, where bits are from one time to the next, and where other
 * than each serving expert's weights is read, once.
 */
#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../tools/worker/cpu.h"
#include "apart.h"
#include "../tools/cuda/cuda.h"

uint64_t emulated(void);

enum { LAYERS = 2, POSITION = 3 };	/* where each sequence stands */
#define EPS 1e-5

struct test {
	enum word word;
	size_t	 hidden, ffn, experts, top, rows;
	bool	 norm_topk, told;
	struct layer layer[LAYERS];
	void	*gate_up[LAYERS], *down[LAYERS];
	float	*x;			/* [row][hidden], before both layers */
	uint32_t *chosen;		/* [layer][row][top], by the CPU or told */
};

/* What is not filled in is NaN. */
static void *
room(size_t bytes)
{
	void *p = aligned_alloc(256, (bytes + 255) / 256 * 256);

	if (p == NULL)
		err(NS_TROUBLE, "memory");
	return memset(p, 0xff, bytes);
}

static float
dice(void)
{
	return (float)(drand48() + drand48() + drand48() - 1.5);
}

static struct weight
weight(const struct test *t, void *at, size_t rows, size_t cols, float size)
{
	uint16_t *word = at;

	for (size_t i = 0; i < rows * cols; i++) {
		const float f = size * dice();
		const _Float16 half = (_Float16)f;
		uint32_t bits;

		memcpy(&bits, &f, sizeof bits);
		word[i] = (uint16_t)(bits >> 16);
		if (t->word == WORD_F16)
			memcpy(word + i, &half, sizeof half);
	}
	return (struct weight){ .data = at, .rows = rows, .cols = cols, .fd = -1,
	    .dtype = t->word == WORD_F16 ? DT_F16 : DT_BF16 };
}

static void
make_layer(struct test *t, size_t l)
{
	const size_t n = t->ffn * t->hidden;
	const float wide = 2 / sqrtf((float)t->hidden), deep = 2 / sqrtf((float)t->ffn);
	struct layer *w = &t->layer[l];
	uint16_t *gate_up = t->gate_up[l] = room(t->experts * 2 * n * 2);
	uint16_t *down = t->down[l] = room(t->experts * n * 2);
	float *norm = room(t->hidden * sizeof *norm);

	for (size_t i = 0; i < t->hidden; i++)
		norm[i] = 1 + dice() / 2;
	w->ffn_norm = (struct weight){ .data = norm, .dtype = DT_F32, .rows = 1,
	    .cols = t->hidden };
	w->router = weight(t, room(t->experts * t->hidden * 2), t->experts, t->hidden, wide);
	w->ffn = xalloc(t->experts, sizeof *w->ffn);
	for (size_t e = 0; e < t->experts; e++, gate_up += 2 * n, down += n)
		w->ffn[e] = (struct ffn){ weight(t, gate_up, t->ffn, t->hidden, wide),
		    weight(t, gate_up + n, t->ffn, t->hidden, wide),
		    weight(t, down, t->hidden, t->ffn, deep) };
}

/* Every other row goes where the one before it goes. */
static void
tell(struct test *t)
{
	for (size_t i = 0; i < LAYERS * t->rows; i++)
		for (size_t k = 0; k < t->top; k++)
			t->chosen[i * t->top + k] = (uint32_t)((i / 2 * 3 + k * 5) % t->experts);
}

/* Through both layers by the CPU backend; how many servers there are in all. */
static size_t
by_cpu(const struct test *t, float *x, uint32_t *count)
{
	const struct arch arch = { .norm_topk = t->norm_topk };
	const struct model m = { .arch = &arch, .hidden = t->hidden, .ffn = t->ffn,
	    .experts = t->experts, .top = t->top };
	struct threads *threads = threads_open();
	float *h = room(t->rows * t->hidden * sizeof *h);
	float *scratch = room(t->rows * t->ffn * sizeof *scratch);
	size_t servers = 0;

	for (size_t l = 0; l < LAYERS; l++) {
		uint32_t *chosen = t->chosen + l * t->rows * t->top;
		struct routes r = { .score = room(t->rows * t->experts * 4),
		    .chosen = room(t->rows * t->top * 4), .share = room(t->rows * t->top * 4),
		    .row = room(t->rows * 4), .row_share = room(t->rows * 4),
		    .told = t->told ? chosen : NULL };

		rms_norm(threads, h, x, &t->layer[l].ffn_norm, EPS, t->rows);
		ffn(threads, x, h, scratch, &t->layer[l], &m, &r, count + l * t->experts, t->rows);
		memcpy(chosen, r.chosen, t->rows * t->top * sizeof *chosen);
		for (size_t e = 0; e < t->experts; e++)
			servers += count[l * t->experts + e] > 0;
	}
	threads_close(threads);
	return servers;
}

/* By the kernels; bytes of weights that they read. */
static uint64_t
by_kernels(const struct test *t, float *x, uint32_t *count, uint32_t *kept)
{
	const struct queue q = { .overlap = true };
	const size_t pairs = t->rows * t->top, tokens = (POSITION + 1) * pairs;
	const uint32_t servers = (uint32_t)(pairs < t->experts ? pairs : t->experts);
	struct place *place = room(t->rows * sizeof *place);
	unsigned arrived = 0;
	struct experts a = { .x = x, .eps = (float)EPS, .hidden = (uint32_t)t->hidden,
	    .ffn = (uint32_t)t->ffn, .xn = room(t->rows * t->hidden * 2),
	    .act = room(pairs * t->ffn * 2), .server = room(servers * sizeof *a.server),
	    .n_servers = servers, .arrived = &arrived,
	    .route = { .score = room(t->rows * t->experts * 4), .count = count, .place = place,
	    .rows = t->rows, .batch = t->rows, .experts = t->experts, .top = t->top,
	    .n_layers = LAYERS, .first = AT_PLACE, .norm = t->norm_topk } };

	for (size_t i = 0; i < t->rows; i++)
		place[i] = (struct place){ POSITION, 0 };
	if (!cu_experts_can(t->word, &a))
		errx(NS_TROUBLE, "not for these kernels");
	for (size_t l = 0; l < LAYERS; l++) {
		uint32_t *told = room(tokens * sizeof *told);

		memcpy(told + POSITION * pairs, t->chosen + l * pairs, pairs * sizeof *told);
		a.router = t->layer[l].router.data;
		a.norm = t->layer[l].ffn_norm.data;
		a.gate_up = t->gate_up[l];
		a.down = t->down[l];
		a.route.layer = l;
		a.route.told = t->told ? told : NULL;
		a.route.kept = kept + l * tokens;
		cu_experts(&q, t->word, &a);
	}
	return emulated();
}

static void *
copy(const void *from, size_t bytes)
{
	return memcpy(room(bytes), from, bytes);
}

static size_t
number(const char *arg)
{
	return strtoul(arg, NULL, 10);
}

int
main(int argc, char *argv[])
{
	struct test t = { 0 };
	size_t bytes, pairs, tokens, servers;
	uint32_t *count, *counted, *kept;
	double worst = 0;

	if (argc != 9)
		errx(NS_TROUBLE, "usage: experts-emulate bf16|f16 HIDDEN FFN EXPERTS TOP ROWS "
		    "summed|as-is told|own");
	t = (struct test){ .word = strcmp(argv[1], "f16") == 0 ? WORD_F16 : WORD_BF16,
	    .hidden = number(argv[2]), .ffn = number(argv[3]), .experts = number(argv[4]),
	    .top = number(argv[5]), .rows = number(argv[6]),
	    .norm_topk = strcmp(argv[7], "summed") == 0, .told = strcmp(argv[8], "told") == 0 };
	pairs = t.rows * t.top;
	tokens = (POSITION + 1) * pairs;
	bytes = t.rows * t.hidden * sizeof *t.x;
	t.x = room(bytes);
	t.chosen = room(LAYERS * pairs * sizeof *t.chosen);
	for (size_t i = 0; i < t.rows * t.hidden; i++)
		t.x[i] = dice();
	for (size_t l = 0; l < LAYERS; l++)
		make_layer(&t, l);
	if (t.told)
		tell(&t);
	float *wanted = copy(t.x, bytes), *got = copy(t.x, bytes), *again = copy(t.x, bytes);
	count = xalloc(LAYERS * t.experts, sizeof *count);
	counted = copy(count, LAYERS * t.experts * sizeof *count);
	kept = room(LAYERS * tokens * sizeof *kept);
	servers = by_cpu(&t, wanted, count);

	const uint64_t read = by_kernels(&t, got, counted, kept);
	const uint64_t once = servers * 3 * t.ffn * t.hidden * 2 + LAYERS * t.rows *
	    ((t.experts + 7) / 8 * 8) * t.hidden * 2;

	if (read != once)
		errx(NS_TROUBLE, "%zu experts serve: read %llu bytes, not %llu", servers,
		    (unsigned long long)read, (unsigned long long)once);
	for (size_t l = 0; l < LAYERS; l++)
		if (memcmp(kept + l * tokens + POSITION * pairs, t.chosen + l * pairs,
		    pairs * sizeof *kept) != 0)
			errx(NS_TROUBLE, "layer %zu: other experts", l);
	if (memcmp(count, counted, LAYERS * t.experts * sizeof *count) != 0)
		errx(NS_TROUBLE, "other counts");
	by_kernels(&t, again, counted, kept);
	if (memcmp(got, again, bytes) != 0)
		errx(NS_TROUBLE, "other bits the second time");
	for (size_t r = 0; r < t.rows; r++) {
		const double one = apart(got + r * t.hidden, wanted + r * t.hidden, t.hidden);

		worst = one > worst || isnan(one) ? one : worst;
	}
	printf("%.3g\n", worst);
	return NS_OK;
}
