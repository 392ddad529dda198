/*
 * step-emulate: decodes a checkpoint by the kernel of a whole step, on a CPU
 * (step-emulate.cpp), and by the CPU backend, each token from an empty cache on;
 * writes the greatest relative L2 error of a sequence's logits; and the stamps
 * of the last step, if they have a name.  Steps differ in what may be chosen.
 * From another position on the cache holds nothing, and the error says nothing.
 */
#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../tools/worker/cpu.h"
#include "apart.h"
#include "../tools/cuda/engine.h"

void	device_memory(const void *, size_t);

/* ---- what a device would do */

void
device_check(cudaError_t e, const char *what)
{
	if (e != cudaSuccess)
		errx(NS_TROUBLE, "%s", what);
}

void *
take(struct arena *a, size_t n, size_t size)
{
	void *p = a->base == NULL ? NULL : a->base + a->used;

	a->used += (n * size + 255) / 256 * 256;
	return p;
}

cudaError_t
cudaMemcpy(void *to, const void *from, size_t n, enum cudaMemcpyKind kind)
{
	(void)kind;
	memcpy(to, from, n);
	return cudaSuccess;
}

cudaError_t
cudaMemset(void *to, int v, size_t n)
{
	memset(to, v, n);
	return cudaSuccess;
}

bool
cu_decode_can(enum word word, const struct heads *h)
{
	(void)word;
	return h->heads / h->kv_heads <= 8;
}

void
load_add(struct loads *all, const struct weight *from, void *to, enum word as)
{
	const size_t n = from->rows * from->cols;

	(void)all;
	if (as != WORD_F32) {
		memcpy(to, from->data, n * 2);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const uint32_t bits = (uint32_t)((const uint16_t *)from->data)[i] << 16;

		if (from->dtype == DT_F16)
			((float *)to)[i] = (float)((const _Float16 *)from->data)[i];
		else
			memcpy((float *)to + i, &bits, sizeof bits);
	}
}

struct loaded
load_all(struct loads *all)
{
	(void)all;
	return (struct loaded){ 0 };
}

/* ---- the same tokens both ways */

static void
lay(struct engine *e, struct arena *a)
{
	const struct model *m = e->m;
	const size_t batch = e->plan.batch, rows = 1 + e->plan.generate;

	weights_lay(&e->weights, m, a);
	e->kv = take(a, 2 * m->n_layers * e->n_positions, batch * m->kv_size * 2);
	e->finish = (struct finish){ .vocab = m->vocab, .hidden = m->hidden, .batch = batch,
	    .embed = e->weights.embed.w,
	    .keep = take(a, rows * batch * m->vocab, sizeof(float)),
	    .token = take(a, rows * batch, sizeof(uint32_t)),
	    .top = take(a, batch, sizeof(float)),
	    .place = take(a, batch, sizeof(struct place)) };
	step_lay(e, a);
}

static struct engine *
open_engine(const struct model *m, const struct plan *p, size_t positions, int blocks)
{
	struct engine *e = xalloc(1, sizeof *e);
	struct rope_table t;
	struct arena a = { 0 };

	*e = (struct engine){ .m = m, .plan = *p, .n_positions = positions,
	    .queue.n_sms = blocks };
	lay(e, &a);
	if ((a.base = aligned_alloc(256, a.used)) == NULL)
		err(NS_TROUBLE, "memory");
	memset(a.base, 0xff, a.used);		/* NaN, where nothing is put */
	device_memory(a.base, a.used);
	a.used = 0;
	lay(e, &a);
	weights_load(&e->weights, m);
	rope_open(&t, m->arch, positions);
	if (p->keep_stamps)
		memset(e->stamp, 0, STEP_EVENTS * e->step.n_ops * sizeof *e->stamp * (size_t)blocks);
	e->cos = t.cos;
	e->sin = t.sin;
	if (!step_open(e))
		errx(NS_TROUBLE, "no kernel for this model");
	return e;
}

static void
write_stamps(const char *path, const struct step *s)
{
	const struct stamps all = step_stamps(s);

	stamps_write(path, &all);
	free(all.ns);
}

/* What changes no result: another number of stages, and how they are filled. */
static void
choose(struct step *s, uint32_t most, uint32_t i)
{
	s->n_stages = STEP_STAGES_LEAST + (i + 1) % (most - STEP_STAGES_LEAST + 1);
	s->under_way = 1 + (i + 1) % s->n_stages;
	s->low = 1 + (2 * i + 1) % s->n_stages;
}

static size_t
number(const char *arg)
{
	return strtoul(arg, NULL, 10);
}

static size_t
first_of(const char *tokens)
{
	const char *at = strchr(tokens, '@');

	return at == NULL ? 0 : number(at + 1);
}

int
main(int argc, char *argv[])
{
	struct checkpoint c;
	struct model m;
	struct plan p = { .prompt = 1, .keep_logits = true, .step = STEP_PERSISTENT,
	    .keep_stamps = argc == 7 };
	struct result wanted;
	double worst = 0;
	struct engine *e;
	uint32_t *prompt, most;
	void *cpu;

	if (argc != 6 && argc != 7)
		errx(NS_TROUBLE, "usage: step-emulate DIR BATCH TOKENS[@FIRST] POSITIONS BLOCKS [STAMPS]");
	checkpoint_open(&c, argv[1]);
	checkpoint_map(&c);
	model_open(&m, &c);
	p.batch = number(argv[2]);
	p.generate = number(argv[3]);
	prompt = tokens_random(&p, m.vocab, 1);
	cpu = backend_cpu.open(&m, &p);
	backend_cpu.prefill(cpu, prompt);
	for (size_t i = 0; i + 1 < p.generate; i++)
		backend_cpu.decode(cpu, i);
	wanted = backend_cpu.result(cpu);
	e = open_engine(&m, &p, number(argv[4]), (int)number(argv[5]));
	most = e->step.n_stages;
	for (size_t s = 0; s < p.batch; s++)
		e->finish.place[s] = (struct place){ (uint32_t)first_of(argv[3]), 1 };
	for (size_t i = 0; i < p.generate; i++) {
		const size_t row = p.batch * m.vocab;

		memcpy(e->finish.token + i * p.batch, i == 0 ? prompt : wanted.token +
		    (i - 1) * p.batch, p.batch * sizeof *prompt);
		if (i + 1 == p.generate)
			e->step.stamp = e->stamp;
		choose(&e->step, most, (uint32_t)i);
		cu_step(&e->queue, e->weights.word, &e->step, (uint32_t)m.head_dim);
		for (size_t s = 0; s < p.batch; s++) {
			const double one = apart(e->finish.keep + (i + 1) * row + s * m.vocab,
			    wanted.logits + i * row + s * m.vocab, m.vocab);

			worst = one > worst || isnan(one) ? one : worst;
		}
	}
	if (p.keep_stamps)
		write_stamps(argv[6], &e->step);
	printf("%.3g\n", worst);
	return NS_OK;
}
