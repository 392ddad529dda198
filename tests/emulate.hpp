/*
 * emulate.hpp: kernels on a CPU.  A block is a thread of the host, its threads
 * are contexts that take turns; who waits is passed over.  Warps go in a random
 * order, and what is to come later comes at a random time, so that what reads
 * too early reads something else.  What a warp does together is done when all
 * 32 have come, to do the same.
 */
#ifndef EMULATE_HPP
#define EMULATE_HPP

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include <setjmp.h>
#include <ucontext.h>
#include <unistd.h>

#include <cuda_runtime_api.h>
#include <vector_functions.h>

#include "races.hpp"

#undef __device__
#undef __host__
#undef __global__
#undef __forceinline__
#undef __shared__
#undef __launch_bounds__
#undef __grid_constant__
#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __shared__ thread_local
#define __launch_bounds__(...)
#define __grid_constant__
#define __CUDA_ARCH__ 900
#define D_INLINE static inline
#define COMMON_CUH

using std::isnan;
using std::max;
using std::min;

enum { THREADS_MOST = 1024, STACK = 1 << 16, SHARED = 232448 };

/* ---- contexts that take turns */

struct lane {
	ucontext_t first;
	jmp_buf	 at;			/* once it has begun */
	const uint32_t *until;		/* runs when this is no longer was */
	uint32_t was;
	bool	 begun, ended;
	std::vector<std::function<void()>> copies;	/* it has asked for; in groups */
	std::vector<std::vector<std::function<void()>>> groups;
};
struct meeting {			/* of a warp, or of more threads */
	uint32_t come, turn;
	void	(*together)(void **);
	void	*brought[32];
};
struct running {
	jmp_buf	 home;
	std::unique_ptr<lane[]> lanes;
	meeting	 warp[THREADS_MOST / 32], all, named[16];
	std::vector<std::function<void()>> later, at_end;
	std::unique_ptr<char[]> stacks;
	const std::function<void()> *work;	/* of each thread */
	uint64_t random;
	int	 now, threads;
};
inline thread_local running *here;
inline thread_local dim3 threadIdx, blockIdx, blockDim;
inline thread_local unsigned char smem[SHARED] __attribute__((aligned(128)));

static void
pass(const uint32_t *until, uint32_t was)
{
	lane &l = here->lanes[here->now];

	l.until = until;
	l.was = was;
	if (_setjmp(l.at) == 0)
		_longjmp(here->home, 1);
}

static void
wrong(const char *what)
{
	fprintf(stderr, "block %u, thread %u: %s\n", blockIdx.x, threadIdx.x, what);
	_exit(2);
}

/* The last of n to come does it for all. */
static void
meet(meeting &m, uint32_t n, void *mine, void (*together)(void **))
{
	if (m.come != 0 && m.together != together)
		wrong("not what the others of the warp do");
	m.together = together;
	m.brought[threadIdx.x % 32] = mine;
	if (++m.come < n) {
		pass(&m.turn, m.turn);
		return;
	}
	m.come = 0;
	if (together != nullptr)
		together(m.brought);
	m.turn++;
}

/* What they have done is known to all of them. */
static void
synchronize(meeting &m, uint32_t n, enum order by)
{
	const uint32_t turn = m.turn;

	races_give(&m, turn, by);
	meet(m, n, nullptr, nullptr);
	races_take(&m, turn, by);
}

static inline void
meet_warp(void *mine, void (*together)(void **))
{
	meet(here->warp[threadIdx.x / 32], 32, mine, together);
}

static void __syncwarp(void) { synchronize(here->warp[threadIdx.x / 32], 32, BY_WARP); }
static void __syncthreads(void) { synchronize(here->all, (uint32_t)here->threads, BY_BLOCK); }
template <int N> static void threads_meet(uint32_t n) { synchronize(here->named[N], n, BY_NAME); }

template <class V> struct shuffled {
	V	 v, got;
	int	 from;
};
template <class V> static V
shuffle(V v, int from)
{
	shuffled<V> s = { v, v, from };

	meet_warp(&s, [](void **all) {
		for (int i = 0; i < 32; i++) {
			auto *s = (shuffled<V> *)all[i];

			s->got = ((shuffled<V> *)all[s->from & 31])->v;
		}
	});
	return s.got;
}
template <class V> static inline V __shfl_sync(unsigned, V v, int from) { return shuffle(v, from); }
template <class V> static inline V __shfl_xor_sync(unsigned, V v, int x) { return shuffle(v, (threadIdx.x % 32) ^ x); }
template <class V> static inline V
__shfl_down_sync(unsigned, V v, int d)
{
	const int from = threadIdx.x % 32 + d;

	return shuffle(v, from < 32 ? from : threadIdx.x % 32);
}
static unsigned
__ballot_sync(unsigned, bool v)
{
	unsigned all = 0;

	for (int i = 0; i < 32; i++)
		all |= (unsigned)shuffle(v, i) << i;
	return all;
}
static inline bool __all_sync(unsigned mask, bool v) { return __ballot_sync(mask, v) == ~0u; }
static inline bool __any_sync(unsigned mask, bool v) { return __ballot_sync(mask, v) != 0; }
static inline int __popc(unsigned v) { return __builtin_popcount(v); }

static inline void __threadfence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline unsigned atomicAdd(unsigned *p, unsigned v) { return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST); }
/* Of what a block has for itself. */
static inline void
atomicMax(unsigned long long *p, unsigned long long v)
{
	__atomic_store_n(p, max(__atomic_load_n(p, __ATOMIC_RELAXED), v), __ATOMIC_RELAXED);
}

/* ---- numbers */

struct bf16 {
	uint16_t bits;
};
struct half {
	_Float16 value;
};
static inline uint32_t __float_as_uint(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }
static inline float __uint_as_float(uint32_t u) { float f; memcpy(&f, &u, 4); return f; }
static inline float __int_as_float(int i) { return __uint_as_float((uint32_t)i); }
static inline float to_float(half v) { return (float)v.value; }
static inline float to_float(bf16 v) { return __uint_as_float((uint32_t)v.bits << 16); }
/* In line always: of what a call itself stores the compiler tells nobody (races.cpp). */
template <class T> static T from_float(float f);
template <> inline __attribute__((always_inline)) half
from_float<half>(float f)
{
	return { (_Float16)f };
}
template <> inline __attribute__((always_inline)) bf16
from_float<bf16>(float f)
{
	const uint32_t u = __float_as_uint(f);

	return { (uint16_t)(std::isnan(f) ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16) };
}
template <class T> static uint32_t
pair(float a, float b)
{
	const T both[2] = { from_float<T>(a), from_float<T>(b) };
	uint32_t bits;

	memcpy(&bits, both, sizeof bits);
	return bits;
}
template <class T> static float
word_of(uint32_t pair, int which)
{
	T both[2];

	memcpy(both, &pair, sizeof both);
	return to_float(both[which]);
}
template <class T> static float2 unpair(uint32_t two) { return { word_of<T>(two, 0), word_of<T>(two, 1) }; }
static inline float two_to(float x) { return exp2f(x); }
#define __expf expf
static inline float __fdividef(float a, float b) { return a / b; }
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
static inline uint32_t
__byte_perm(uint32_t a, uint32_t b, uint32_t pick)
{
	const uint64_t all = (uint64_t)b << 32 | a;
	uint32_t out = 0;

	for (int i = 0; i < 4; i++)
		out |= (uint32_t)(all >> 8 * (pick >> 4 * i & 7) & 255) << 8 * i;
	return out;
}
static inline float
warp_sum(float v)
{
	for (int i = 16; i > 0; i /= 2)
		v += __shfl_xor_sync(~0u, v, i);
	return v;
}

struct factors_of_mma {
	float	*c;
	const uint32_t *a;
	uint32_t b[2];
};
template <class T> static void
mma(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1)
{
	factors_of_mma f = { c, a, { b0, b1 } };

	meet_warp(&f, [](void **all) {
		auto of = [all](int lane) { return (factors_of_mma *)all[lane]; };

		for (int row = 0; row < 16; row++)
			for (int col = 0; col < 8; col++) {
				float *c = &of(row % 8 * 4 + col / 2)->c[row / 8 * 2 + col % 2];

				for (int k = 0; k < 16; k++)
					*c += word_of<T>(of(row % 8 * 4 + k % 8 / 2)->a[row / 8 + k / 8 * 2], k % 2) *
					    word_of<T>(of(col * 4 + k % 8 / 2)->b[k / 8], k % 2);
			}
	});
}

/* Four matrices of 8 x 8 words: a lane has a row's address, and gets two words of each. */
struct matrices {
	uint32_t *r, at;
};
static void
fragments(uint32_t r[4], uint32_t at)
{
	matrices m = { r, at };

	meet_warp(&m, [](void **all) {
		for (int lane = 0; lane < 32; lane++)
			for (int i = 0; i < 4; i++)
				memcpy(((matrices *)all[lane])->r + i, smem +
				    ((matrices *)all[i * 8 + lane / 4])->at + lane % 4 * 4, 4);
	});
}
static void
fragments_turned(uint32_t r[4], uint32_t at)
{
	matrices m = { r, at };

	meet_warp(&m, [](void **all) {
		for (int lane = 0; lane < 32; lane++)
			for (int i = 0; i < 8; i++)
				memcpy((char *)(((matrices *)all[lane])->r + i / 2) + i % 2 * 2, smem +
				    ((matrices *)all[i / 2 * 8 + lane % 4 * 2 + i % 2])->at +
				    lane / 4 * 2, 2);
	});
}
/* One, from lane to lane. */
static uint32_t
fragment_turned(uint32_t v)
{
	uint16_t two[2][2];		/* what a lane has, and gets */
	uint32_t turned;

	memcpy(two[0], &v, sizeof v);
	meet_warp(two, [](void **all) {
		for (int lane = 0; lane < 32; lane++)
			for (int i = 0; i < 2; i++)
				((uint16_t (*)[2])all[lane])[1][i] = ((uint16_t (*)[2])
				    all[(lane % 4 * 2 + i) * 4 + lane / 8])[0][lane / 4 % 2];
	});
	memcpy(&turned, two[1], sizeof turned);
	return turned;
}

/* ---- a block */

static uint64_t
dice(void)
{
	here->random = here->random * 6364136223846793005u + 1442695040888963407u;
	return here->random >> 33;
}

static void
run_lane(void)
{
	(*here->work)();
	here->lanes[here->now].ended = true;
	_longjmp(here->home, 1);
}

static void
run(running *b, int i)
{
	lane &l = b->lanes[i];

	b->now = i;
	threadIdx.x = (unsigned)i;
	if (_setjmp(b->home) != 0) {
		races_run(-1);
		return;
	}
	races_run(i);
	if (l.begun)
		_longjmp(l.at, 1);
	l.begun = true;
	setcontext(&l.first);
}

/* Each of a warp that can: until it waits.  How many have ended. */
static int
run_warp(running *b, int warp)
{
	int ended = 0;

	for (int i = warp * 32; i < warp * 32 + 32; i++) {
		lane &l = b->lanes[i];

		if (!l.ended && (l.until == nullptr ||
		    __atomic_load_n(l.until, __ATOMIC_RELAXED) != l.was))
			run(b, i);
		ended += l.ended;
	}
	return ended;
}

static void
be_late(void)
{
	std::vector<std::function<void()>> &all = here->later;
	const size_t i = dice() % all.size();
	const std::function<void()> one = all[i];

	all[i] = all.back();
	all.pop_back();
	one();
}

/* All of a block's threads, until they have ended. */
static void
run_block(dim3 index, int threads, uint64_t seed, const std::function<void()> &work)
{
	std::unique_ptr<running> b(new running());
	int ended[THREADS_MOST / 32] = {}, all = 0;

	here = b.get();
	b->work = &work;
	b->threads = threads;
	b->lanes.reset(new lane[threads]());
	b->random = seed;
	b->stacks.reset(new char[(size_t)threads * STACK]);
	blockIdx = index;
	blockDim = dim3((unsigned)threads);
	memset(smem, 0xff, sizeof smem);	/* NaN, where nothing has been put */
	for (int i = 0; i < threads; i++) {
		ucontext_t *c = &b->lanes[i].first;

		getcontext(c);
		c->uc_stack.ss_sp = &b->stacks[(size_t)i * STACK];
		c->uc_stack.ss_size = STACK;
		c->uc_link = nullptr;
		makecontext(c, run_lane, 0);
	}
	while (all < threads) {
		const int warp = (int)(dice() % ((unsigned)threads / 32));

		all -= ended[warp];
		ended[warp] = run_warp(b.get(), warp);
		all += ended[warp];
		if (!b->later.empty() && dice() % 4 == 0)
			be_late();
	}
	if (!b->later.empty())
		wrong("the block has ended before what was to come");
	for (const std::function<void()> &check : b->at_end)
		check();
}

#endif
