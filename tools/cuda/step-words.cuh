/*
 * step-words.cuh: results that blocks leave for one another.  A word that
 * nobody has written yet is all ones, which no result is; who needs it reads
 * until it is something else, so there is no barrier between blocks.  Who
 * writes a word wipes its twin in the other set, for the next step.
 */
#ifndef STEP_WORDS_CUH
#define STEP_WORDS_CUH

#define NOT_YET UINT32_MAX

/* Two sets: now is of this step, other of the next. */
struct words {
	char	*now;
	ptrdiff_t other;		/* from now */
	uint64_t policy;		/* they leave the L2 last */
};

D_INLINE void
words_leave(const struct words &w, uint32_t at, uint32_t v)
{
	word_put(w.now + at, v, w.policy);
}

D_INLINE void
words_wipe(const struct words &w, uint32_t at)
{
	word_put(w.now + at + w.other, NOT_YET, w.policy);
}

D_INLINE void
words_put(const struct words &w, uint32_t at, uint32_t v)
{
	words_leave(w, at, v);
	words_wipe(w, at);
}

/* As bits that are not those of a word that nobody has written. */
D_INLINE uint32_t
word_of(float v)
{
	const uint32_t bits = __float_as_uint(v);

	return bits == NOT_YET ? 0x7fffffff : bits;
}

D_INLINE void
words_put(const struct words &w, uint32_t at, float v)
{
	words_put(w, at, word_of(v));
}

D_INLINE uint32_t
words_most(uint32_t most, uint4 v)
{
	return max(max(max(most, v.x), v.y), max(v.z, v.w));
}

D_INLINE uint32_t
words_most(uint32_t most, uint2 v)
{
	return max(max(most, v.x), v.y);
}

/* Lines that few blocks read come to the L2. */
D_INLINE void
words_expect_all(const struct words &w, uint32_t at, uint32_t bytes, int lane)
{
#pragma unroll 1
	for (uint32_t i = at / 128 + lane; i * 128 < at + bytes; i += 32)
		word_line_expect(w.now + i * 128);
}

/* Lines that all of so many blocks read do: each asks for its share of many. */
D_INLINE void
words_expect(const struct words &w, uint32_t at, uint32_t bytes, uint32_t blocks, int lane)
{
	const uint32_t most = 64, lines = (bytes + 127) / 128;
	const uint32_t apart = min((lines + most - 1) / most, blocks);

#pragma unroll 1
	for (uint32_t i = lane * apart + blockIdx.x % apart; i < lines; i += 32 * apart)
		word_line_expect(w.now + at + i * 128);
}

/* Two words or four at each of N places, so many bytes apart, of which n are there. */
template <int N, class V> D_INLINE void
words_ask(const struct words &w, V v[N], const char *p, uint32_t apart, int n)
{
#pragma unroll
	for (int i = 0; i < N; i++) {
		v[i] = V();
		word_again(&v[i], p + i * apart, i < n, w.policy);
	}
}

/*
 * What is missing is asked for again until all is there; of much, one until it is, first.
 * All lanes go on asking until none must: they stay together.
 */
template <int N, class V> D_INLINE void
words_settle(const struct words &w, V v[N], const char *p, uint32_t apart, bool much)
{
	for (;;) {
		uint32_t all = 0, missing = 0;

#pragma unroll
		for (int i = 0; i < N; i++) {
			all = words_most(all, v[i]);
			if (much && words_most(0, v[i]) == NOT_YET)
				missing = i;
		}
		if (!__any_sync(~0u, all == NOT_YET))
			break;
		if (much)
			while (__any_sync(~0u, all == NOT_YET)) {
				V one = V();

				word_again(&one, p + missing * apart, all == NOT_YET, w.policy);
				all = words_most(0, one);
			}
#pragma unroll
		for (int i = 0; i < N; i++)
			word_again(&v[i], p + i * apart, words_most(0, v[i]) == NOT_YET, w.policy);
	}
}

#endif
