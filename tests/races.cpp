/*
 * races.cpp: finds what nothing orders in an emulated kernel.  The compiler tells
 * of each access (g++ -fsanitize=thread, whose runtime this is), the emulation of
 * what orders threads (races.hpp).  Two accesses to the same memory, one of them
 * a write, are a race if the second's thread does not know of the first: each has
 * a clock of all others of its block.  By the memory model of PTX: shuffles and
 * votes order nothing, nor do relaxed words; and what threads have written is
 * before a bulk copy only if a proxy fence lies between.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include <link.h>

#include "races.hpp"

namespace {

enum { GRAIN = 2, COPIES = 64 };	/* bytes; agents of a block that copy, by barrier */
unsigned agents;			/* of a block: those, then its threads */

/* Until when it is known what each agent did, by block; of most blocks, nothing. */
struct known {
	std::vector<std::vector<uint32_t>> of;

	std::vector<uint32_t> &
	block(unsigned b)
	{
		if (of.size() <= b)
			of.resize(b + 1);
		if (of[b].empty())
			of[b].resize(agents);
		return of[b];
	}
	bool
	has(unsigned agent, uint32_t when) const
	{
		const unsigned b = agent / agents;

		return b < of.size() && !of[b].empty() && of[b][agent % agents] >= when;
	}
	void
	add(const known &other)
	{
		for (unsigned b = 0; b < other.of.size(); b++) {
			if (other.of[b].empty())
				continue;
			uint32_t *mine = block(b).data();

			for (unsigned i = 0; i < agents; i++)
				mine[i] = mine[i] < other.of[b][i] ? other.of[b][i] : mine[i];
		}
	}
};
/* All; of that, what lies before a fence, of proxies or of memory; what one will add to all. */
struct knowledge {
	known	 all, proxied, fenced, pending;

	void
	add(const knowledge &other)
	{
		all.add(other.all);
		proxied.add(other.proxied);
		fenced.add(other.fenced);
		pending.add(other.pending);
	}
};
struct left {				/* for whom a barrier's turn lets go on */
	uint32_t turn = 0;
	knowledge what;
};

struct event {
	const void *pc;
	unsigned agent;
	uint32_t when;			/* 0: there was none */
	bool	 writes, atomic;

	bool copies(void) const { return agent % agents < COPIES; }
};
struct cell {
	event	 write, read;		/* the last */
	std::unique_ptr<std::map<unsigned, event>> reads;	/* of several agents */
	bool	 ignored;		/* but for what is atomic: a barrier's */
};
struct shadow {
	uintptr_t base;
	std::vector<cell> cells;

	shadow(const void *p, size_t size) : base((uintptr_t)p), cells((size + GRAIN - 1) / GRAIN) {}
	size_t at(const void *p) const { return ((uintptr_t)p - base) / GRAIN; }
	bool has(const void *p) const { return (uintptr_t)p >= base && at(p) < cells.size(); }
};

struct block {
	unsigned index;
	int	 now;			/* the thread that runs; -1: none */
	std::vector<knowledge> thread;
	std::map<const void *, left[2]> barriers;
	std::map<const void *, unsigned> copies;	/* agents, by barrier */
	uint32_t copied;
	shadow	 shared;

	knowledge &mine(void) { return thread[(unsigned)now]; }
	unsigned agent(unsigned i) const { return index * agents + i; }
	uint32_t &time(unsigned i) { return mine().all.block(index)[i]; }
	unsigned self(void) const { return COPIES + (unsigned)now; }
};
thread_local std::unique_ptr<block> here;

std::recursive_mutex lock;		/* of what follows */
std::vector<shadow> device;
std::map<const void *, known> sums;	/* that were added to */
std::set<std::pair<const void *, const void *>> found;

bool
running(void)
{
	return here != nullptr && here->now >= 0;
}

bool
orders(enum order by)
{
	static const char *const name[ORDERS] = { "warp", "block", "name", "arrival", "copy", "proxy", "fence" };
	static const char *const without = getenv("RACES_WITHOUT");

	return without == nullptr || strcmp(without, name[by]) != 0;
}

void
say(const char *when, const event &a)
{
	fprintf(stderr, "%s%s%s by %s %u of block %u at %p", when, a.atomic ? "atomic " : "",
	    a.writes ? "write" : "read", a.copies() ? "copy" : "thread",
	    a.agent % agents - (a.copies() ? 0 : COPIES), a.agent / agents, a.pc);
}

void
report(const event &first, const event &then)
{
	const std::lock_guard<std::recursive_mutex> guard(lock);

	if (!found.insert({ first.pc, then.pc }).second || found.size() > 20)
		return;
	say("race: ", first);
	say(", then ", then);
	fprintf(stderr, "\n");
}

bool
is_before(const event &first, const event &then)
{
	const knowledge &k = here->mine();

	if (first.when == 0 || (first.atomic && then.atomic))
		return true;
	return (then.copies() && first.writes && !first.copies() ? k.proxied : k.all).has(
	    first.agent, first.when);
}

void
check(const event &first, const event &then)
{
	if (!is_before(first, then))
		report(first, then);
}

void
note_read(cell &c, const event &a)
{
	if (c.reads == nullptr && (c.read.when == 0 || (c.read.atomic == a.atomic && is_before(c.read, a)))) {
		c.read = a;
		return;
	}
	if (c.reads == nullptr) {
		c.reads.reset(new std::map<unsigned, event>());
		(*c.reads)[c.read.agent * 2 + c.read.atomic] = c.read;
	}
	(*c.reads)[a.agent * 2 + a.atomic] = a;
}

void
touch(cell &c, const event &a)
{
	check(c.write, a);
	if (!a.writes) {
		note_read(c, a);
		return;
	}
	if (c.reads == nullptr)
		check(c.read, a);
	else
		for (const auto &one : *c.reads)
			check(one.second, a);
	c.reads.reset();
	c.read.when = 0;
	c.write = a;
}

void
touch_all(shadow &s, const void *p, size_t size, const event &a)
{
	for (size_t i = s.at(p), end = s.at((const char *)p + size - 1); i <= end; i++)
		if (!s.cells[i].ignored || a.atomic)
			touch(s.cells[i], a);
}

void
touch_memory(const void *p, size_t size, const event &a)
{
	if (here->shared.has(p)) {
		touch_all(here->shared, p, size, a);
		return;
	}
	for (shadow &s : device)
		if (s.has(p)) {
			const std::lock_guard<std::recursive_mutex> guard(lock);

			touch_all(s, p, size, a);
		}
}

void
touches(const void *p, size_t size, bool writes, bool atomic, const void *pc)
{
	if (running())
		touch_memory(p, size, { (const char *)pc - 1, here->agent(here->self()),
		    here->time(here->self()), writes, atomic });
}

/* What others have fenced before their additions is known behind the next fence. */
template <class V> V
add_to(V *p, V v, const void *pc)
{
	const std::lock_guard<std::recursive_mutex> guard(lock);

	touches(p, sizeof v, true, true, pc);
	if (running() && orders(BY_FENCE)) {
		here->mine().pending.add(sums[p]);
		sums[p].add(here->mine().fenced);
	}
	return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
}

void
fence(void)
{
	if (!running())
		return;
	here->mine().all.add(here->mine().pending);
	here->mine().fenced.add(here->mine().all);
	here->time(here->self())++;
}

/* Of the program, where this thread has the variables of its own. */
int
find_own(struct dl_phdr_info *info, size_t, void *to)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS)
			*(shadow *)to = shadow(info->dlpi_tls_data, info->dlpi_phdr[i].p_memsz);
	return 1;
}

}

/* ---- told by the emulation */

void
races_watch(const void *p, size_t size)
{
	device.emplace_back(p, size);
}

void
races_ignore(const void *p, size_t size)
{
	for (size_t i = 0; i < size; i += GRAIN)
		here->shared.cells[here->shared.at(p) + i / GRAIN].ignored = true;
}

void
races_launch(unsigned threads)
{
	agents = COPIES + threads;
	sums.clear();
	for (shadow &s : device)
		s = shadow((const void *)s.base, s.cells.size() * GRAIN);
}

void
races_block(unsigned index)
{
	shadow own(nullptr, 0);

	dl_iterate_phdr(find_own, &own);
	here.reset(new block{ index, -1, std::vector<knowledge>(agents - COPIES), {}, {}, 0, std::move(own) });
	for (unsigned i = COPIES; i < agents; i++)
		here->thread[i - COPIES].all.block(index)[i] = 1;
}

void
races_run(int thread)
{
	if (here != nullptr)
		here->now = thread;
}

bool
races_found(void)
{
	return !found.empty();
}

void
races_give(const void *barrier, uint32_t turn, enum order by)
{
	left &l = here->barriers[barrier][turn & 1];

	touches(barrier, 1, false, true, __builtin_return_address(0));
	if (!orders(by))
		return;
	if (l.turn != turn)
		l = { turn, {} };
	l.what.add(here->mine());
	here->time(here->self())++;
}

void
races_take(const void *barrier, uint32_t turn, enum order by)
{
	const left &l = here->barriers[barrier][turn & 1];

	touches(barrier, 1, false, true, __builtin_return_address(0));
	if (orders(by) && l.turn == turn)
		here->mine().add(l.what);
}

void
races_barrier(const void *barrier, size_t size)
{
	touches(barrier, size, true, false, __builtin_return_address(0));
	races_ignore(barrier, size);
}

void
races_proxy_fence(void)
{
	if (!orders(BY_PROXY))
		return;
	here->mine().proxied.add(here->mine().all);
	here->time(here->self())++;
}

void
races_copy(void *to, const void *from, size_t size, const void *barrier, uint32_t turn)
{
	const unsigned agent = here->copies.emplace(barrier, here->copies.size()).first->second;
	left &l = here->barriers[barrier][turn & 1];
	event a = { (const char *)__builtin_return_address(0) - 1, here->agent(agent), ++here->copied, false, false };

	if (agent >= COPIES)
		abort();
	touch_memory(from, size, a);
	a.writes = true;
	touch_memory(to, size, a);
	a.writes = false, a.atomic = true;
	touch_memory(barrier, 1, a);
	if (l.turn != turn)
		l = { turn, {} };
	if (orders(BY_COPY))
		l.what.all.block(here->index)[agent] = a.when;
}

/* ---- told by the compiler */

#define PC __builtin_return_address(0)
#define SIZE(n) \
	void __tsan_read##n(void *p) { touches(p, n, false, false, PC); } \
	void __tsan_write##n(void *p) { touches(p, n, true, false, PC); } \
	void __tsan_unaligned_read##n(void *p) { touches(p, n, false, false, PC); } \
	void __tsan_unaligned_write##n(void *p) { touches(p, n, true, false, PC); }
#define ATOMIC(bits) \
	uint##bits##_t \
	__tsan_atomic##bits##_load(uint##bits##_t *p, int) \
	{ \
		touches(p, bits / 8, false, true, PC); \
		return __atomic_load_n(p, __ATOMIC_SEQ_CST); \
	} \
	void \
	__tsan_atomic##bits##_store(uint##bits##_t *p, uint##bits##_t v, int) \
	{ \
		touches(p, bits / 8, true, true, PC); \
		__atomic_store_n(p, v, __ATOMIC_SEQ_CST); \
	} \
	uint##bits##_t \
	__tsan_atomic##bits##_fetch_add(uint##bits##_t *p, uint##bits##_t v, int) \
	{ \
		return add_to(p, v, PC); \
	}
extern "C" {
void __tsan_init(void) {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit(void) {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_read_range(void *p, size_t n) { touches(p, n, false, false, PC); }
void __tsan_write_range(void *p, size_t n) { touches(p, n, true, false, PC); }
SIZE(1) SIZE(2) SIZE(4) SIZE(8) SIZE(16)
ATOMIC(32) ATOMIC(64)
void __tsan_atomic_thread_fence(int) { fence(); }
}
