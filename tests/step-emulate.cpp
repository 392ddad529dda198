/*
 * step-emulate.cpp: the kernel of a decode step on a CPU.  A block is a thread
 * of the host, its threads are contexts that take turns; who waits is passed
 * over.  Warps go in a random order and bulk copies arrive late, so that what
 * reads too early reads something else.  What a warp does together is done when
 * all 32 have come, to do the same.
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <setjmp.h>
#include <ucontext.h>

#include <cuda_runtime_api.h>
#include <vector_functions.h>

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
#define STEP_PTX_CUH

using std::isnan;
using std::max;
using std::min;

enum { THREADS_MOST = 320, STACK = 1 << 16, SHARED = 232448 };

/* ---- contexts that take turns */

struct lane {
	ucontext_t first;
	jmp_buf	 at;			/* once it has begun */
	const uint32_t *until;		/* runs when this is no longer was */
	uint32_t was;
	bool	 begun, ended;
};
struct meeting {			/* of a warp, or of more threads */
	uint32_t come, turn;
	void	(*together)(void **);
	void	*brought[32];
};
struct late {
	void	*to;
	const void *from;
	uint32_t bytes;
	uint64_t *barrier;
};
struct block {
	jmp_buf	 home;
	lane	 lanes[THREADS_MOST];
	meeting	 warp[THREADS_MOST / 32], all, some;
	std::vector<late> copies;
	uint64_t random;
	int	 now;
	std::vector<char> stacks;
};
static thread_local block *here;
static thread_local struct { unsigned x; } threadIdx, blockIdx;
thread_local unsigned char smem[SHARED] __attribute__((aligned(128)));

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
	fprintf(stderr, "step-emulate: block %u, thread %u: %s\n", blockIdx.x, threadIdx.x, what);
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

static inline void
meet_warp(void *mine, void (*together)(void **))
{
	meet(here->warp[threadIdx.x / 32], 32, mine, together);
}

static void __syncwarp(void) { meet_warp(nullptr, nullptr); }
static void __syncthreads(void) { meet(here->all, THREADS_MOST, nullptr, nullptr); }
static void threads_meet(uint32_t n) { meet(here->some, n, nullptr, nullptr); }

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
static inline int __popc(unsigned v) { return __builtin_popcount(v); }

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
template <class T> static T from_float(float f);
template <> half
from_float<half>(float f)
{
	return { (_Float16)f };
}
template <> bf16
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
template <class T> static float
word_of(uint32_t pair, int which)
{
	T both[2];

	memcpy(both, &pair, sizeof both);
	return to_float(both[which]);
}
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

/* ---- memory */

static inline uint32_t
__cvta_generic_to_shared(const void *p)
{
	return (uint32_t)((intptr_t)p - (intptr_t)smem);
}
static inline void *
shared_of(uint32_t at)
{
	return (void *)((intptr_t)smem + (int32_t)at);
}
static uint4
shared16(uint32_t at, bool there = true)
{
	uint4 v = { 0, 0, 0, 0 };

	if (there && at % 16 != 0)
		wrong("16 bytes that are not aligned");
	if (there)
		memcpy(&v, shared_of(at), sizeof v);
	return v;
}
static void
word_put(void *p, uint32_t v)
{
	__atomic_store_n((uint32_t *)p, v, __ATOMIC_RELAXED);
}
/* Who gets what nobody has written yet lets others run. */
static uint32_t
word_ask(const void *p, bool there = true)
{
	const uint32_t v = there ? __atomic_load_n((const uint32_t *)p, __ATOMIC_RELAXED) : 0;

	if (v == UINT32_MAX)
		pass((const uint32_t *)p, v);
	return v;
}
static uint4
word_ask4(const void *p, bool there)
{
	const char *at = (const char *)p;

	return { word_ask(at, there), word_ask(at + 4, there), word_ask(at + 8, there),
	    word_ask(at + 12, there) };
}
static void word_expect(const void *) {}
static inline unsigned long long __ldcg(const unsigned long long *p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
static inline void __threadfence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline unsigned atomicAdd(uint32_t *p, uint32_t v) { return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST); }
static inline void atomicMax(unsigned long long *p, unsigned long long v) { *p = max(*p, v); }

/* A barrier: turns, who must come, who is still to come, bytes that are. */
struct barrier {
	uint16_t turn;
	uint8_t	 all, left;
	int32_t	 bytes;
};
static barrier *
barrier_of(uint32_t at)
{
	return (barrier *)shared_of(at);
}
static void
barrier_turn(barrier *b)
{
	if (b->left == 0 && b->bytes == 0) {
		b->turn++;
		b->left = b->all;
	}
}
static void
barrier_init(uint32_t at, uint32_t n)
{
	*barrier_of(at) = { 0, (uint8_t)n, (uint8_t)n, 0 };
}
static void
barrier_arrive(uint32_t at)
{
	barrier *b = barrier_of(at);

	if (b->left-- == 0)
		wrong("one too many at a barrier");
	barrier_turn(b);
}
static void
barrier_expect(uint32_t at, uint32_t bytes)
{
	barrier_of(at)->bytes += (int32_t)bytes;
	barrier_arrive(at);
}
static void
barrier_wait(uint32_t at, uint32_t parity)
{
	const uint32_t *b = (const uint32_t *)barrier_of(at);

	while ((barrier_of(at)->turn & 1) == parity)
		pass(b, *b);
}
static uint64_t read_once_policy(void) { return 0; }
static void bulk_fence(void) {}
static void
bulk_copy(uint32_t to, const void *from, uint32_t bytes, uint32_t at, uint64_t)
{
	if (to % 16 != 0 || (uintptr_t)from % 16 != 0 || bytes % 16 != 0)
		wrong("a bulk copy that is not aligned");
	if (to + bytes > SHARED)
		wrong("a bulk copy beyond shared memory");
	here->copies.push_back({ shared_of(to), from, bytes, (uint64_t *)shared_of(at) });
}
static void
arrive_late(size_t i)
{
	const late c = here->copies[i];

	memcpy(c.to, c.from, c.bytes);
	here->copies[i] = here->copies.back();
	here->copies.pop_back();
	((barrier *)c.barrier)->bytes -= (int32_t)c.bytes;
	barrier_turn((barrier *)c.barrier);
}

#include "step-kernel.cuh"

/* ---- a launch */

static thread_local const struct step *given;
static thread_local void (*kernel)(struct step);

static void
run_lane(void)
{
	kernel(*given);
	here->lanes[here->now].ended = true;
	_longjmp(here->home, 1);
}

static uint64_t
dice(block *b)
{
	b->random = b->random * 6364136223846793005u + 1442695040888963407u;
	return b->random >> 33;
}

static void
run(block *b, int i)
{
	lane &l = b->lanes[i];

	b->now = i;
	threadIdx.x = (unsigned)i;
	if (_setjmp(b->home) != 0)
		return;
	if (l.begun)
		_longjmp(l.at, 1);
	l.begun = true;
	setcontext(&l.first);
}

/* Each of a warp that can: until it waits.  How many have ended. */
static int
run_warp(block *b, int warp)
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
run_block(enum word word, const struct step *a, uint32_t dim, unsigned index, uint64_t seed)
{
	std::unique_ptr<block> b(new block());
	int ended[THREADS_MOST / 32] = {}, all = 0;

	here = b.get();
	given = a;
	kernel = word == WORD_F16 ? step_of<half>(a, dim) : step_of<bf16>(a, dim);
	blockIdx.x = index;
	b->random = seed;
	b->stacks.resize((size_t)THREADS_MOST * STACK);
	memset(smem, 0xff, sizeof smem);	/* NaN, where nothing has been put */
	for (int i = 0; i < THREADS_MOST; i++) {
		ucontext_t *c = &b->lanes[i].first;

		getcontext(c);
		c->uc_stack.ss_sp = &b->stacks[(size_t)i * STACK];
		c->uc_stack.ss_size = STACK;
		c->uc_link = nullptr;
		makecontext(c, run_lane, 0);
	}
	while (all < THREADS_MOST) {
		const int warp = (int)(dice(b.get()) % (THREADS_MOST / 32));

		all -= ended[warp];
		ended[warp] = run_warp(b.get(), warp);
		all += ended[warp];
		if (!b->copies.empty() && dice(b.get()) % 4 == 0)
			arrive_late(dice(b.get()) % b->copies.size());
	}
	if (!b->copies.empty())
		wrong("the block has ended before its copies");
}

bool
cu_step_fits(enum word, struct step *a, uint32_t dim)
{
	lay_room(a, dim);
	a->n_stages = 3;
	return a->n_stages * STEP_STAGE + a->room.all <= SHARED;
}

void
cu_step(const struct queue *, enum word word, const struct step *a, uint32_t dim)
{
	static uint64_t seed;
	std::vector<std::thread> blocks;

	static_assert((int)THREADS == (int)THREADS_MOST);
	for (unsigned i = 0; i < a->n_blocks; i++)
		blocks.emplace_back(run_block, word, a, dim, i, ++seed);
	for (std::thread &t : blocks)
		t.join();
}
