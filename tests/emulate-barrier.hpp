/*
 * emulate-barrier.hpp: barriers in shared memory and what arrives at them, on a CPU;
 * in place of that part of step-ptx.cuh.
 */
#ifndef EMULATE_BARRIER_HPP
#define EMULATE_BARRIER_HPP

#include "emulate.hpp"

#define STEP_PTX_CUH

static inline void *
shared_of(uint32_t at)
{
	return (void *)((intptr_t)smem + (int32_t)at);
}

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
	races_barrier(barrier_of(at), sizeof(barrier));
	*barrier_of(at) = { 0, (uint8_t)n, (uint8_t)n, 0 };
	here->at_end.push_back([=] {
		if (barrier_of(at)->left != n || barrier_of(at)->bytes != 0)
			wrong("the block has ended amid a barrier's turn");
	});
}
static void
barrier_arrive(uint32_t at)
{
	barrier *b = barrier_of(at);

	races_give(b, b->turn, BY_ARRIVAL);
	if (b->left-- == 0)
		wrong("one too many at a barrier");
	barrier_turn(b);
}
enum { ARRIVALS = 1 };
static inline void
warp_arrive(uint32_t at, int lane)
{
	__syncwarp();
	if (lane == 0)
		barrier_arrive(at);
}
static void
barrier_expect(uint32_t at, uint32_t bytes)
{
	barrier_of(at)->bytes += (int32_t)bytes;
	barrier_arrive(at);
}
static void
barrier_got(uint32_t at, uint32_t bytes)
{
	barrier_of(at)->bytes -= (int32_t)bytes;
	barrier_turn(barrier_of(at));
}
static void
barrier_wait(uint32_t at, uint32_t parity)
{
	const uint32_t *b = (const uint32_t *)barrier_of(at);

	while ((barrier_of(at)->turn & 1) == parity)
		pass(b, *b);
	races_take(b, barrier_of(at)->turn - 1, BY_ARRIVAL);
}
static inline bool
barrier_is_over(uint32_t at, uint32_t parity)
{
	return (barrier_of(at)->turn & 1) != parity;
}
static inline uint64_t read_once_policy(void) { return 0; }

#endif
