/* apart.h: how far one row of numbers is from another: relative L2. */
#include <math.h>
#include <stddef.h>

static double
apart(const float *got, const float *wanted, size_t n)
{
	double of = 0, all = 0;

	for (size_t i = 0; i < n; i++) {
		of += (got[i] - wanted[i]) * (double)(got[i] - wanted[i]);
		all += wanted[i] * (double)wanted[i];
	}
	return sqrt(of / all);
}
