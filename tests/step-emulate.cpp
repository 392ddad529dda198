/*
 * step-emulate.cpp: the kernel of a decode step on a CPU (emulate.hpp).  All
 * blocks run at a time; bulk copies arrive late.  Of memory nothing is read that
 * no block has asked into the L2 before, but for what a step begins with.
 */
#include <mutex>
#include <set>
#include <thread>

#include "emulate-barrier.hpp"
#include "step.h"

#define TILE_CUH

static thread_local const struct step *given;

/* ---- memory */

static inline uint32_t
__cvta_generic_to_shared(const void *p)
{
	return (uint32_t)((intptr_t)p - (intptr_t)smem);
}
static uint4
shared16(uint32_t at)
{
	if (at % 16 != 0)
		wrong("16 bytes that are not aligned");
	return *(const uint4 *)shared_of(at);
}
static void
shared_again(uint4 *v, uint32_t at, bool there)
{
	if (there)
		*v = shared16(at);
}
static uint32_t
shared4(uint32_t at)
{
	uint32_t v;

	memcpy(&v, shared_of(at), sizeof v);
	return v;
}
/* Lines of memory, of a block; then of all that have ended. */
struct lines {
	std::set<uintptr_t> expected, asked;
};
static thread_local lines lines;
static uintptr_t
line_of(const void *p)
{
	return (uintptr_t)p / 128;
}
/* Words are kept, all of them, and nothing else. */
enum { KEPT = 2 };
static uint64_t
word_policy(void)
{
	return KEPT;
}
static void
check_policy(uint64_t policy)
{
	if (policy != KEPT)
		wrong("a word that is not kept like others");
}
static void
expect_line(const void *p, bool word)
{
	if (word != ((size_t)((const char *)p - given->words) < 2 * given->set))
		wrong("a line that is not kept like others");
	lines.expected.insert(line_of(p));
}
static void line_expect(const void *p) { expect_line(p, false); }
static void word_line_expect(const void *p) { expect_line(p, true); }
static float
__ldg(const float *p)
{
	lines.asked.insert(line_of(p));
	return *p;
}
static float4
__ldg(const float4 *p)
{
	if ((uintptr_t)p % sizeof *p != 0)
		wrong("16 bytes that are not aligned");
	lines.asked.insert(line_of(p));
	return *p;
}
static void
word_put(void *p, uint32_t v, uint64_t policy)
{
	check_policy(policy);
	__atomic_store_n((uint32_t *)p, v, __ATOMIC_RELAXED);
}
/* Who gets what nobody has written yet lets others run. */
static uint32_t
word_ask(const void *p, bool there, uint64_t policy)
{
	uint32_t v = 0;

	check_policy(policy);
	if (there) {
		lines.asked.insert(line_of(p));
		v = __atomic_load_n((const uint32_t *)p, __ATOMIC_RELAXED);
	}
	if (v == UINT32_MAX)
		pass((const uint32_t *)p, v);
	return v;
}
static void
word_again(uint2 *v, const void *p, bool so, uint64_t policy)
{
	const char *at = (const char *)p;

	if (so)
		*v = { word_ask(at, true, policy), word_ask(at + 4, true, policy) };
}
static void
word_again(uint4 *v, const void *p, bool so, uint64_t policy)
{
	const char *at = (const char *)p;

	if (so)
		*v = { word_ask(at, true, policy), word_ask(at + 4, true, policy),
		    word_ask(at + 8, true, policy), word_ask(at + 12, true, policy) };
}
/* Each that asks has a time of its own. */
static unsigned long long
clock_ns(void)
{
	static unsigned long long now;

	return __atomic_add_fetch(&now, 1, __ATOMIC_SEQ_CST);
}
static inline unsigned long long __ldcg(const unsigned long long *p) { return *p; }
template <class V> static void settle(V *) { }
static void bulk_fence(void) { races_proxy_fence(); }
/* Barriers of stages, one for each copy that is to come. */
static thread_local std::multiset<uint32_t> under_way;

static void
set_out(uint32_t barrier)
{
	under_way.insert(barrier);
	if (std::set<uint32_t>(under_way.begin(), under_way.end()).size() > given->under_way)
		wrong("more stages under way than may be");
}
static void
bulk_copy(uint32_t to, const void *from, uint32_t bytes, uint32_t at, uint64_t)
{
	if (to % 16 != 0 || (uintptr_t)from % 16 != 0 || bytes % 16 != 0)
		wrong("a bulk copy that is not aligned");
	if (to + bytes > SHARED)
		wrong("a bulk copy beyond shared memory");
	set_out(at);
	races_copy(shared_of(to), from, bytes, barrier_of(at), barrier_of(at)->turn);
	here->later.push_back([=] {
		under_way.erase(under_way.find(at));
		memcpy(shared_of(to), from, bytes);
		barrier_got(at, bytes);
	});
}

#include "step-kernel.cuh"

/* ---- a launch */

bool
cu_step_fits(enum word, struct step *a, uint32_t dim)
{
	lay_room(a, dim);
	a->n_stages = (SHARED - a->room.all) / STEP_STAGE;
	return a->room.all < SHARED && a->n_stages >= STEP_STAGES_LEAST;
}

static void
remember(struct lines *all)
{
	static std::mutex one;
	const std::lock_guard<std::mutex> guard(one);

	all->expected.insert(lines.expected.begin(), lines.expected.end());
	all->asked.insert(lines.asked.begin(), lines.asked.end());
}

void
cu_step(const struct queue *, enum word word, const struct step *a, uint32_t dim)
{
	static uint64_t seed;
	const step_kernel kernel = kernel_of(word, a, dim, a->stamp != NULL);
	std::vector<std::thread> blocks;
	struct lines all;

	races_launch(threads((uint32_t)a->finish.batch));
	for (unsigned i = 0; i < a->n_blocks; i++)
		blocks.emplace_back([=, &all, mine = ++seed] {
			given = a;
			races_block(i);
			races_ignore(&lines, sizeof lines);
			races_ignore(&under_way, sizeof under_way);
			run_block(dim3(i), threads((uint32_t)a->finish.batch), mine, [=] { kernel(*a); });
			remember(&all);
		});
	for (std::thread &t : blocks)
		t.join();
	if (races_found())
		wrong("races");
	if (!std::includes(all.expected.begin(), all.expected.end(), all.asked.begin(),
	    all.asked.end()))
		wrong("read what nobody had asked for ahead");
}

extern "C" void
device_memory(const void *p, size_t size)
{
	races_watch(p, size);
}
