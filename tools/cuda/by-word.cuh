/* by-word.cuh: from what a word is called to its type. */
#ifndef BY_WORD_CUH
#define BY_WORD_CUH

/* CALL with T as the type that word names; or only the two short ones. */
#define BY_WORD(word, CALL) do switch (word) { \
	case WORD_F32: { typedef float T; CALL; break; } \
	case WORD_F16: { typedef half T; CALL; break; } \
	case WORD_BF16: { typedef bf16 T; CALL; break; } } while (0)
#define BY_SHORT_WORD(word, CALL) do switch (word) { \
	case WORD_F16: { typedef half T; CALL; break; } \
	default: { typedef bf16 T; CALL; break; } } while (0)

#endif
