/*
 * emulate-launch.hpp: kernels that are launched as on a device, on a CPU; in place
 * of common.cuh and tile.cuh.  As soon as all blocks of a kernel let the next one
 * start, it does: up to where it waits, on few processors; only then may the one
 * before go on.  So what a kernel reads before it waits is as old as it can be.
 */
#ifndef EMULATE_LAUNCH_HPP
#define EMULATE_LAUNCH_HPP

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "emulate.hpp"
#include "by-word.cuh"
#include "cuda.h"

#define TILE_CUH

enum { PROCESSORS = 6 };

struct launched {
	std::function<void()> kernel;
	dim3	 grid;
	unsigned threads;
	bool	 overlap;
	launched *before;
	unsigned blocks, processors;
	unsigned begun, let, resting;	/* blocks; that let the next start; processors */
	bool	 may_work, may_go_on;	/* the last is done; the next is waiting */
	std::vector<std::thread> processor;
};
inline std::mutex lock;
inline std::condition_variable changed;
inline launched *newest;
inline std::vector<std::function<void()>> *recording;	/* launches of a graph */
inline std::atomic<uint64_t> streamed;	/* bytes of weights */
inline thread_local launched *mine;	/* of a processor: its kernel; its block */
inline thread_local bool has_let, has_waited;
inline thread_local meeting gate;
inline thread_local dim3 gridDim;

template <class P> static void
until(P is_so)
{
	std::unique_lock<std::mutex> l(lock);

	changed.wait(l, is_so);
}
template <class F> static void
change(F f)
{
	std::unique_lock<std::mutex> l(lock);

	f();
	changed.notify_all();
}

/* ---- on the device */

/* Of the last blocks to run: nothing is done before the next kernel waits. */
static void
hold(void)
{
	const unsigned index = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);

	if (has_let && has_waited && index + mine->processors >= mine->blocks)
		until([] { return mine->may_go_on; });
}

static void
last_is_awaited(void **)
{
	change([] { mine->resting++; });
	until([] { return mine->may_work; });
	change([] { mine->resting--; });
	has_waited = true;
	hold();
}

static void
next_is_let_start(void **)
{
	change([] { mine->let += !has_let; });
	has_let = true;
	hold();
}

static inline void
wait_for_last(void)
{
	meet(gate, (uint32_t)here->threads, nullptr, last_is_awaited);
}

static inline void
let_next_start(void)
{
	meet(gate, (uint32_t)here->threads, nullptr, next_is_let_start);
}

static void
process(launched *k)
{
	unsigned i = 0;

	mine = k;
	gridDim = k->grid;
	for (;;) {
		change([&] { i = k->begun++; });
		if (i >= k->blocks)
			break;
		has_let = has_waited = false;
		run_block(dim3(i % k->grid.x, i / k->grid.x % k->grid.y, i / k->grid.x / k->grid.y),
		    (int)k->threads, i + 1, k->kernel);
		if (k->overlap && !has_waited)
			wrong("a kernel that does not wait for the one before");
		change([&] { k->let += !has_let; });
	}
	change([&] { k->resting++; });
}

/* ---- on the host */

static void finish(launched *);

static void
open(launched *k)
{
	if (k->before != nullptr)
		finish(k->before);
	k->before = nullptr;
	change([&] { k->may_work = true; });
}

static void
finish(launched *k)
{
	open(k);
	change([&] { k->may_go_on = true; });
	for (std::thread &t : k->processor)
		t.join();
	delete k;
}

/* Until all that was launched is done; bytes of weights that were asked for. */
extern "C" __attribute__((weak)) uint64_t
emulated(void)
{
	if (newest != nullptr)
		finish(newest);
	newest = nullptr;
	return streamed.exchange(0);
}

static void
start(launched *k, bool overlap)
{
	launched *last = newest;

	if (last != nullptr && !overlap) {
		emulated();
		last = nullptr;
	}
	if (last != nullptr) {
		if (last->let < last->blocks)
			open(last);
		until([=] { return last->let == last->blocks; });
	}
	k->before = last;
	k->blocks = k->grid.x * k->grid.y * k->grid.z;
	k->processors = min(k->blocks, (unsigned)PROCESSORS);
	for (unsigned i = 0; i < k->processors; i++)
		k->processor.emplace_back(process, k);
	until([=] { return k->resting == k->processors; });
	if (last != nullptr)
		change([=] { last->may_go_on = true; });
	newest = k;
}

template <class... P, class... A> static void
launch(const struct queue *q, void (*kernel)(P...), dim3 grid, unsigned threads,
    size_t shared, A... arg)
{
	const bool overlap = q->overlap;
	const auto now = [=] {
		start(new launched{ [=] { kernel((P)arg...); }, grid, threads, overlap }, overlap);
	};

	if (shared > SHARED || threads > THREADS_MOST)
		wrong("more than a block may have");
	if (recording != nullptr)
		recording->push_back(now);
	else
		now();
}
template <class F> static void cudaFuncSetAttribute(F, cudaFuncAttribute, unsigned) {}

/* ---- what kernels find in common.cuh, in tile.cuh, and in CUDA */

struct half2 {
	half	 x, y;
};
static inline float2 __half22float2(half2 v) { return { to_float(v.x), to_float(v.y) }; }
static inline float to_float(float v) { return v; }
template <> float from_float<float>(float v) { return v; }
template <class V> static inline V __ldg(const V *p) { return *p; }
template <class V> static inline V __ldcg(const V *p) { return *p; }
static inline void ask_ahead(const void *) {}
static inline uint4
stream16(const void *p)
{
	if ((uintptr_t)p % 16 != 0)
		wrong("16 bytes that are not aligned");
	streamed += 16;
	return *(const uint4 *)p;
}
static inline float
block_sum(float v)
{
	__shared__ float part[THREADS_MOST / 32];
	float sum = 0;

	v = warp_sum(v);
	__syncthreads();
	part[threadIdx.x / 32] = v;
	__syncthreads();
	for (unsigned i = 0; i < blockDim.x / 32; i++)
		sum += part[i];
	return sum;
}

static inline uint32_t
shared_at(const void *p)
{
	return (uint32_t)((intptr_t)p - (intptr_t)smem);
}
/* Copies arrive no sooner than somebody waits for them. */
static inline void
copy16(uint32_t to, const void *from, bool there)
{
	lane &l = here->lanes[threadIdx.x];

	l.copies.push_back([=] {
		const uint4 v = there ? *(const uint4 *)from : uint4{};

		memcpy(smem + to, &v, sizeof v);
	});
}
static inline void
copy_commit(void)
{
	lane &l = here->lanes[threadIdx.x];

	l.groups.push_back(std::move(l.copies));
	l.copies.clear();
}
template <int n> static inline void
copy_wait(void)
{
	lane &l = here->lanes[threadIdx.x];

	while (l.groups.size() > n) {
		for (const auto &copy : l.groups.front())
			copy();
		l.groups.erase(l.groups.begin());
	}
}

#endif
