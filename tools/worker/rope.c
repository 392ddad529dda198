/* rope.c: rotary position embedding; a head's halves are the pairs. */
#include <math.h>

#include "cpu.h"

enum { GRAIN = 16 };	/* rows worth a thread */

/*
 * Llama 3 stretches slow rotations by the factor, leaves fast ones, and goes
 * smoothly between the two; in single precision, as such models are trained.
 */
static float
llama3(const struct arch *a, float frequency)
{
	const float factor = (float)a->rope_factor, low = (float)a->rope_low_freq;
	const float span = (float)(a->rope_high_freq - a->rope_low_freq);
	const float wave = (float)(2 * M_PI) / frequency;
	const float turns = (float)a->rope_old_context / wave;
	const float smooth = (turns - low) / span;

	if (smooth > 1)
		return frequency;
	if (smooth < 0)
		return frequency / factor;
	return (1 - smooth) * frequency / factor + smooth * frequency;
}

void
rope_open(struct rope_table *r, const struct arch *a, size_t n_positions)
{
	const size_t half = a->head_dim / 2;

	r->half = half;
	r->cos = xalloc(n_positions * half, sizeof *r->cos);
	r->sin = xalloc(n_positions * half, sizeof *r->sin);
	for (size_t i = 0; i < half; i++) {
		float f = 1 / (float)pow(a->rope_theta, (double)i / (double)half);
		float step = a->rope == ROPE_LLAMA3 ? llama3(a, f) : f;

		for (size_t p = 0; p < n_positions; p++) {
			float angle = (float)p * step;

			r->cos[p * half + i] = (float)cos((double)angle);
			r->sin[p * half + i] = (float)sin((double)angle);
		}
	}
}

/* The heads at x, one after the other. */
static void
turn_row(float *x, const struct rope_table *r, size_t position, size_t heads)
{
	const float *c = r->cos + position * r->half;
	const float *s = r->sin + position * r->half;

	for (size_t h = 0; h < heads; h++, x += 2 * r->half)
		for (size_t i = 0; i < r->half; i++) {
			float a = x[i], b = x[i + r->half];

			x[i] = a * c[i] - b * s[i];
			x[i + r->half] = b * c[i] + a * s[i];
		}
}

static void
part(const void *arg, struct range in)
{
	const struct turn *r = arg;

	for (size_t i = in.first; i < in.last; i++)
		turn_row(r->x + i * r->heads * 2 * r->table->half, r->table,
		    r->first + i / r->batch, r->heads);
}

void
rope(struct threads *t, const struct turn *r)
{
	split(t, r->n_pos * r->batch, GRAIN, part, r);
}

void
rope_close(struct rope_table *r)
{
	free(r->cos);
	free(r->sin);
}
