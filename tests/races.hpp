/*
 * races.hpp: what orders the threads of an emulated kernel, told to whom looks
 * for races (races.cpp) if the kernel is compiled with -DRACES; else to nobody.
 */
#ifndef RACES_HPP
#define RACES_HPP

#include <cstddef>
#include <cstdint>

/* Kinds of order; each can be left out, to see that it is needed. */
enum order { BY_WARP, BY_BLOCK, BY_NAME, BY_ARRIVAL, BY_COPY, BY_PROXY, BY_FENCE, ORDERS };

#ifdef RACES

/* A launch, of so many threads a block; a block that this thread of the host runs; which of its threads runs. */
void	races_launch(unsigned threads);
void	races_block(unsigned block);
void	races_run(int thread);		/* -1: none */
bool	races_found(void);

/* Memory of the device that all blocks share; of a block, but not of the kernel. */
void	races_watch(const void *, size_t);
void	races_ignore(const void *, size_t);

/* At a barrier's turn: what a thread knows is left for others; is taken by it. */
void	races_give(const void *barrier, uint32_t turn, enum order);
void	races_take(const void *barrier, uint32_t turn, enum order);

void	races_barrier(const void *, size_t);	/* it is made now */
void	races_proxy_fence(void);
/* Set out by a thread, in the asynchronous proxy; in time for that turn of the barrier. */
void	races_copy(void *to, const void *from, size_t, const void *barrier, uint32_t turn);

#else

static inline void races_launch(unsigned) {}
static inline void races_block(unsigned) {}
static inline void races_run(int) {}
static inline bool races_found(void) { return false; }
static inline void races_watch(const void *, size_t) {}
static inline void races_ignore(const void *, size_t) {}
static inline void races_give(const void *, uint32_t, enum order) {}
static inline void races_take(const void *, uint32_t, enum order) {}
static inline void races_barrier(const void *, size_t) {}
static inline void races_proxy_fence(void) {}
static inline void races_copy(void *, const void *, size_t, const void *, uint32_t) {}

#endif
#endif
