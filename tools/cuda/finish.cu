/* finish.cu: the greatest logit, the first of equals, and on to the next step. */
#include "common.cuh"
#include "best.cuh"

enum { PART = 4096 };

__global__ void
best(struct finish f)
{
	const float *logits = f.logits + blockIdx.y * f.vocab;
	__shared__ unsigned long long all[8];
	unsigned long long b = 0;

	let_next_start();
	wait_for_last();
	for (size_t i = blockIdx.x * PART + threadIdx.x;
	    i < f.vocab && i < (blockIdx.x + 1) * (size_t)PART; i += blockDim.x)
		b = better(b, key(logits[i], i));
	b = warp_best(b);
	if (threadIdx.x % 32 == 0)
		all[threadIdx.x / 32] = b;
	__syncthreads();
	for (int i = 0; i < 8; i++)
		b = better(b, all[i]);
	if (threadIdx.x == 0)
		f.best[blockIdx.y * f.n_best + blockIdx.x] = b;
}

template <class T> __global__ void
finish(struct finish f)
{
	__shared__ unsigned long long all[32];
	const size_t s = blockIdx.x;
	unsigned long long b = 0;
	uint32_t token, n;

	wait_for_last();
	n = f.place[s].n_generated;
	for (size_t i = threadIdx.x; i < f.n_best; i += blockDim.x)
		b = better(b, f.best[s * f.n_best + i]);
	b = warp_best(b);
	if (threadIdx.x % 32 == 0)
		all[threadIdx.x / 32] = b;
	__syncthreads();
	for (unsigned i = 0; i < blockDim.x / 32; i++)
		b = better(b, all[i]);
	token = key_index(b) < f.vocab ? key_index(b) : 0;
	for (size_t i = threadIdx.x; i < f.hidden; i += blockDim.x)
		f.x[s * f.hidden + i] = to_float(((const T *)f.embed)[token * f.hidden + i]);
	for (size_t i = threadIdx.x; f.keep != NULL && i < f.vocab; i += blockDim.x)
		f.keep[(n * f.batch + s) * f.vocab + i] = f.logits[s * f.vocab + i];
	if (threadIdx.x == 0) {
		f.token[n * f.batch + s] = token;
		f.top[s] = key_value(b);
		f.place[s].n_generated = n + 1;
		f.place[s].position++;
	}
}

__global__ void
set_place(struct place *place, size_t batch, struct place now)
{
	for (size_t s = threadIdx.x; s < batch; s += blockDim.x)
		place[s] = now;
}

const void *
cu_probe(void)
{
	return (const void *)set_place;
}

void
cu_best(const struct queue *q, const struct finish *f)
{
	launch(q, best, dim3(f->n_best, f->batch), 256, 0, *f);
}

void
cu_finish(const struct queue *q, enum word word, const struct finish *f)
{
	BY_WORD(word, launch(q, finish<T>, dim3(f->batch), 1024, 0, *f));
}

void
cu_place(const struct queue *q, struct place *place, size_t batch,
    uint32_t position, uint32_t n_generated)
{
	struct place now = { position, n_generated };
	struct queue alone = *q;

	alone.overlap = false;
	launch(&alone, set_place, dim3(1), 64, 0, place, batch, now);
}
