/*
 * races.cu: kernels that order their threads in each way a decode step does, all of
 * them right by the memory model of PTX, and some that order nothing: what racecheck
 * and initcheck see of either (races.sh).  Each is one block; warp 0 writes or copies
 * 32 words, warp 1 reads them.
 */
#include <cstdio>

#include "common.cuh"
#include "step-ptx.cuh"
#include "tile.cuh"

enum { WARPS = 12, WORDS = 32, BYTES = WORDS * 4 };

struct room {
	alignas(128) uint32_t word[WORDS];
	unsigned long long full, empty;
};

/* Barriers, of so many arrivals, are there for all. */
static __device__ void
begin(struct room &r, uint32_t arrivals)
{
	if (threadIdx.x == 0) {
		barrier_init(shared_at(&r.full), arrivals);
		barrier_init(shared_at(&r.empty), 1);
	}
	bulk_fence();
	__syncthreads();
}

__global__ void
by_warp(uint32_t *out)
{
	__shared__ struct room r;
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	if (warp != 0)
		return;
	r.word[lane] = lane;
	__syncwarp();
	out[lane] = r.word[31 - lane];
}

/* Two of the warps. */
__global__ void
by_name(uint32_t *out)
{
	__shared__ struct room r;
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	if (warp == 0)
		r.word[lane] = lane;
	if (warp < 2)
		threads_meet<1>(64);
	if (warp == 1)
		out[lane] = r.word[31 - lane];
}

/*
 * As the step's warps of several sequences: three meet, so many that no compiler knows
 * it, and the first of them with eight others.
 */
__global__ void
by_two_names(uint32_t *out)
{
	__shared__ struct room r;
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	if (warp == 8 && lane < 16)
		r.word[lane] = lane;
	if (warp >= 8 && warp < 11)
		threads_meet<2>(blockDim.x / 4);
	if (warp == 9)
		out[lane] = r.word[lane % 16];
	if (warp == 8 && lane < 8)
		r.word[16 + lane] = lane;
	if (warp < 9)
		threads_meet<1>(9 * 32);
	if (warp < 8)
		out[lane] = r.word[16 + lane % 8];
}

/* Each lane for itself. */
__global__ void
by_arrivals(uint32_t *out)
{
	__shared__ struct room r;
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	begin(r, 32);
	if (warp == 0) {
		r.word[lane] = lane;
		barrier_arrive(shared_at(&r.full));
	} else if (warp == 1) {
		barrier_wait(shared_at(&r.full), 0);
		out[lane] = r.word[31 - lane];
	}
}

/* As the step's warps do: one lane for its warp, unless -DEACH_LANE_ARRIVES. */
__global__ void
by_one_arrival(uint32_t *out)
{
	__shared__ struct room r;
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	begin(r, ARRIVALS);
	if (warp == 0) {
		r.word[lane] = lane;
		warp_arrive(shared_at(&r.full), lane);
	} else if (warp == 1) {
		barrier_wait(shared_at(&r.full), 0);
		out[lane] = r.word[31 - lane];
	}
}

static __device__ void
fill(struct room &r, const uint32_t *from)
{
	barrier_expect(shared_at(&r.full), BYTES);
	bulk_copy(shared_at(r.word), from, BYTES, shared_at(&r.full), read_once_policy());
}

__global__ void
by_copy(uint32_t *out)
{
	__shared__ struct room r;
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	begin(r, 1);
	if (threadIdx.x == 0)
		fill(r, out + WORDS);
	if (warp == 1) {
		barrier_wait(shared_at(&r.full), 0);
		out[lane] = r.word[31 - lane];
	}
}

/* Filled again when its reader has given it back, by one lane for its warp. */
__global__ void
by_ring(uint32_t *out)
{
	__shared__ struct room r;
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	begin(r, 1);
	for (uint32_t turn = 0; turn < 4; turn++)
		if (threadIdx.x == 0) {
			barrier_wait(shared_at(&r.empty), (turn & 1) ^ 1);
			fill(r, out + WORDS);
		} else if (warp == 1) {
			barrier_wait(shared_at(&r.full), turn & 1);
			out[lane] = r.word[31 - lane];
			__syncwarp();
			if (lane == 0)
				barrier_arrive(shared_at(&r.empty));
		}
}

__global__ void
by_nothing(uint32_t *out)
{
	__shared__ struct room r;
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	if (warp == 0)
		r.word[lane] = lane;
	if (warp == 1)
		out[lane] = r.word[31 - lane];
}

/* Read before the copy is waited for. */
__global__ void
by_copy_unawaited(uint32_t *out)
{
	__shared__ struct room r;
	const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

	begin(r, 1);
	if (threadIdx.x == 0)
		fill(r, out + WORDS);
	if (warp == 1) {
		out[lane] = r.word[31 - lane];
		barrier_wait(shared_at(&r.full), 0);
	}
}

/* Words of memory: the first were set to 0, and nobody wrote those behind them. */
__global__ void
of_written(uint32_t *out)
{
	if (threadIdx.x < 32)
		out[threadIdx.x] = word_ask(out + WORDS + threadIdx.x, true, word_policy());
}

__global__ void
of_unwritten(uint32_t *out)
{
	if (threadIdx.x < 32)
		out[threadIdx.x] = word_ask(out + 2 * WORDS + threadIdx.x, true, word_policy());
}

int
main(void)
{
	static void (*const kernel[])(uint32_t *) = { by_warp, by_name, by_two_names, by_arrivals, by_one_arrival,
	    by_copy, by_ring, by_nothing, by_copy_unawaited, of_written, of_unwritten };
	uint32_t *out;
	cudaError_t e = cudaMalloc((void **)&out, 3 * BYTES);

	if (e == cudaSuccess)
		e = cudaMemset(out, 0, 2 * BYTES);
	for (auto one : kernel)
		if (e == cudaSuccess) {
			one<<<1, WARPS * 32>>>(out);
			e = cudaDeviceSynchronize();
		}
	if (e == cudaSuccess)
		return 0;
	fprintf(stderr, "races: %s\n", cudaGetErrorString(e));
	return 2;
}
