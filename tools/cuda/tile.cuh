/* tile.cuh: words from memory to shared memory, and from there to fragments. */
#ifndef TILE_CUH
#define TILE_CUH

D_INLINE uint32_t
shared_at(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

/* 16 bytes, or zeros. */
D_INLINE void
copy16(uint32_t to, const void *from, bool there)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
	    :: "r"(to), "l"(from), "r"(there ? 16 : 0));
}

D_INLINE void
copy_commit(void)
{
	asm volatile("cp.async.commit_group;");
}

/* All but the last n groups have arrived. */
template <int n> D_INLINE void
copy_wait(void)
{
	asm volatile("cp.async.wait_group %0;" :: "n"(n) : "memory");
}

D_INLINE void
fragments(uint32_t r[4], uint32_t at)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
	    : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}

D_INLINE void
fragments_turned(uint32_t r[4], uint32_t at)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
	    : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}

/* A fragment of 8 x 8 words, its rows as columns. */
D_INLINE uint32_t
fragment_turned(uint32_t v)
{
	uint32_t turned;

	asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(v));
	return turned;
}

#endif
