/*
 * kernels.h: the kernels once; kernels.c includes this for each instruction
 * set, with TARGET and NAME() set.  KEEP stops the compiler from turning a loop
 * into a call of memcpy, which goes past the caches when it sees fit.
 */
TARGET static uint64_t
NAME(read)(const line *a, size_t n)
{
	line s = { 0 }, t = { 0 };
	uint64_t sum = 0;

	for (size_t i = 0; i + 1 < n; i += 2) {
		s += a[i];
		t += a[i + 1];
	}
	if (n % 2 != 0)
		s += a[n - 1];
	s += t;
	for (size_t i = 0; i < 8; i++)
		sum += s[i];
	return sum;
}

TARGET static void
NAME(write)(line *a, size_t n, uint64_t value)
{
	line v = { value, value, value, value, value, value, value, value };

	for (size_t i = 0; i < n; i++) {
		a[i] = v;
		KEEP;
	}
}

TARGET static void
NAME(copy)(line *to, const line *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		to[i] = from[i];
		KEEP;
	}
}

TARGET static void
NAME(gemv)(float *y, const void *matrix, const void *vector, size_t rows, size_t n)
{
	const fline *a = matrix, *x = vector;

	for (size_t r = 0; r < rows; r++, a += n) {
		fline s = { 0 }, t = { 0 };
		float sum = 0;

		for (size_t i = 0; i + 1 < n; i += 2) {
			s += a[i] * x[i];
			t += a[i + 1] * x[i + 1];
		}
		s += t;
		for (size_t i = 0; i < 16; i++)
			sum += s[i];
		y[r] = sum;
	}
}
