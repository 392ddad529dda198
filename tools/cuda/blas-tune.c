/*
 * blas-tune.c: which of cuBLASLt's offers for a product of few rows is the
 * fastest, of those with the bits of its first: how long each took once never
 * changes a token.
 */
#include <math.h>

#include "blas.h"

enum { ROUNDS = 4 };		/* the first warms up */
#define AS_FAST 1.02f

/* A product that stands for all of its shape: of rows of weights and weights. */
struct trial {
	const struct blas *blas;
	cudaStream_t stream;
	const struct product *p;
	struct gemm g;
	cudaEvent_t begun, ended;
	float	 ms[BLAS_OFFERS];	/* INFINITY: not to be had */
};

/* With the weights of many layers in turn, as in a step: caches do not help. */
static float
time_of(const struct trial *t, int offer)
{
	struct gemm g = t->g;
	bool done = true;
	float ms;

	device_check(cudaEventRecord(t->begun, t->stream), "event");
	for (size_t i = 0; done && i < t->p->n_w; i++) {
		g.w = t->p->w[i];
		done = blas_multiply(t->blas, t->stream, t->p, offer, &g);
	}
	device_check(cudaEventRecord(t->ended, t->stream), "event");
	device_check(cudaEventSynchronize(t->ended), "a product");
	device_check(cudaEventElapsedTime(&ms, t->begun, t->ended), "event");
	return done ? ms : INFINITY;
}

static void
time_all(struct trial *t)
{
	for (int i = 0; i < t->p->n_offers; i++)
		t->ms[i] = INFINITY;
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < t->p->n_offers; i++) {
			const float ms = time_of(t, i);

			if (round > 0)
				t->ms[i] = fminf(t->ms[i], ms);
		}
}

static void *
result(const struct trial *t, int offer)
{
	const size_t bytes = t->p->out_bytes;
	void *out = xalloc(1, bytes);

	device_check(cudaMemsetAsync(t->g.out, 0, bytes, t->stream), "a product");
	blas_multiply(t->blas, t->stream, t->p, offer, &t->g);
	device_check(cudaMemcpyAsync(out, t->g.out, bytes, cudaMemcpyDeviceToHost,
	    t->stream), "a product");
	device_check(cudaStreamSynchronize(t->stream), "a product");
	return out;
}

/* What is faster than the first is not to be had where its bits are others. */
static void
refuse_other_bits(struct trial *t)
{
	void *first = result(t, 0);

	for (int i = 1; i < t->p->n_offers; i++)
		if (t->ms[i] < t->ms[0]) {
			void *other = result(t, i);

			if (memcmp(first, other, t->p->out_bytes) != 0)
				t->ms[i] = INFINITY;
			free(other);
		}
	free(first);
}

/* The first that is as fast as the fastest, so that noise seldom decides. */
static int
fastest(const struct trial *t)
{
	float least = INFINITY;
	int i = 0;

	for (int j = 0; j < t->p->n_offers; j++)
		least = fminf(least, t->ms[j]);
	while (t->ms[i] > AS_FAST * least)
		i++;
	return i;
}

static int
choose(const struct blas *b, cudaStream_t stream, const struct product *p)
{
	struct trial t = { .blas = b, .stream = stream, .p = p, .g = p->g };
	int chosen;

	t.g.x = t.g.w;
	device_check(cudaEventCreate(&t.begun), "event");
	device_check(cudaEventCreate(&t.ended), "event");
	time_all(&t);
	refuse_other_bits(&t);
	chosen = isfinite(t.ms[0]) ? fastest(&t) : 0;
	device_check(cudaEventDestroy(t.begun), "event");
	device_check(cudaEventDestroy(t.ended), "event");
	return chosen;
}

bool
blas_tune(struct blas *b, cudaStream_t stream)
{
	bool changed = false;

	for (size_t i = 0; b != NULL && i < b->n; i++) {
		struct product *p = &b->product[i];

		if (p->n_offers < 2 || p->g.m > p->g.n)
			continue;
		p->chosen = choose(b, stream, p);
		changed = changed || p->chosen != 0;
	}
	cudaGetLastError();	/* an offer that failed leaves one */
	return changed;
}
