/*
 * kernels.h: the kernels once; kernels.c includes this for each instruction
 * set, with TARGET, BYTES of a register, and NAME() set.  KEEP stops the
 * compiler from turning a loop into a call of memcpy, which goes past the
 * caches when it sees fit.
 */
typedef uint64_t NAME(ints) __attribute__((vector_size(BYTES), may_alias));
typedef float NAME(floats) __attribute__((vector_size(BYTES), may_alias));

TARGET static uint64_t
NAME(read)(const line *from, size_t n)
{
	const NAME(ints) *a = (const void *)from, *end = (const void *)(from + n);
	NAME(ints) s[4] = { { 0 } };
	uint64_t sum = 0;

	for (; end - a >= 4; a += 4) {
		s[0] += a[0];
		s[1] += a[1];
		s[2] += a[2];
		s[3] += a[3];
	}
	for (; a < end; a++)
		s[0] += *a;
	s[0] += s[1] + s[2] + s[3];
	for (size_t i = 0; i < BYTES / sizeof(uint64_t); i++)
		sum += s[0][i];
	return sum;
}

TARGET static void
NAME(write)(line *to, size_t n, uint64_t value)
{
	NAME(ints) *a = (void *)to, *end = (void *)(to + n), v = { 0 };

	v += value;
	for (; a < end; a++) {
		*a = v;
		KEEP;
	}
}

TARGET static void
NAME(copy)(line *to, const line *from, size_t n)
{
	NAME(ints) *a = (void *)to, *end = (void *)(to + n);
	const NAME(ints) *b = (const void *)from;

	for (; a < end; a++, b++) {
		*a = *b;
		KEEP;
	}
}

TARGET static void
NAME(gemv)(float *y, const void *matrix, const void *vector, size_t rows, size_t n)
{
	const NAME(floats) *a = matrix, *x = vector;

	n *= sizeof(line) / BYTES;
	for (size_t r = 0; r < rows; r++, a += n) {
		NAME(floats) s[4] = { { 0 } };
		float sum = 0;
		size_t i = 0;

		for (; n - i >= 4; i += 4) {
			s[0] += a[i] * x[i];
			s[1] += a[i + 1] * x[i + 1];
			s[2] += a[i + 2] * x[i + 2];
			s[3] += a[i + 3] * x[i + 3];
		}
		for (; i < n; i++)
			s[0] += a[i] * x[i];
		s[0] += s[1] + s[2] + s[3];
		for (i = 0; i < BYTES / sizeof(float); i++)
			sum += s[0][i];
		y[r] = sum;
	}
}
