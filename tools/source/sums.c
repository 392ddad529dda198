/* sums.c: instructions together. */
#include <math.h>

#include "source.h"

static void
add(double *sum, double x)
{
	if (!isnan(x))
		*sum = isnan(*sum) ? x : *sum + x;
}

void
sums_add(struct sums *s, const struct instruction *i, size_t n_reasons)
{
	s->n++;
	s->n_samples += i->n_samples;
	add(&s->n_executed, i->n_executed);
	add(&s->sectors, i->sectors);
	add(&s->wavefronts, i->wavefronts);
	if (!isnan(i->sectors) && !isnan(i->ideal_sectors)) {
		s->both_sectors += i->sectors;
		s->ideal_sectors += i->ideal_sectors;
	}
	if (!isnan(i->wavefronts) && !isnan(i->ideal_wavefronts)) {
		s->both_wavefronts += i->wavefronts;
		s->ideal_wavefronts += i->ideal_wavefronts;
	}
	for (size_t r = 0; r < n_reasons; r++)
		s->stall[r] += i->stall[r];
}

void
sums_end(struct sums *s)
{
	s->sectors_ratio = s->ideal_sectors > 0 ? s->both_sectors / s->ideal_sectors : NAN;
	s->wavefronts_ratio = s->ideal_wavefronts > 0 ?
	    s->both_wavefronts / s->ideal_wavefronts : NAN;
}
