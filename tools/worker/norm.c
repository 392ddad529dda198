/* norm.c: tokens to rows, and rows to unit mean square. */
#include <math.h>

#include "cpu.h"
#include "vec.h"

enum { GRAIN = 16 };	/* rows worth a thread */

CLONES static void
embed_row(float *x, const struct weight *w, size_t token)
{
	const size_t d = w->cols, first = token * d;
	size_t i;
	v8 v;

	for (i = 0; i + LANES <= d; i += LANES) {
		load8(&v, w->dtype, w->data, first + i);
		*(v8_at *)(x + i) = v;
	}
	for (; i < d; i++)
		x[i] = load1(w->dtype, w->data, first + i);
}

void
embed(float *x, const struct weight *w, const uint32_t *token, size_t n)
{
	for (size_t i = 0; i < n; i++)
		embed_row(x + i * w->cols, w, token[i]);
}

CLONES static void
norm_row(float *out, const float *x, const struct weight *w, float eps)
{
	const size_t d = w->cols;
	const float unit = 1 / sqrtf(dot(x, x, d) / (float)d + eps);
	size_t i;
	v8 v;

	for (i = 0; i + LANES <= d; i += LANES) {
		load8(&v, w->dtype, w->data, i);
		*(v8_at *)(out + i) = v * (*(const v8_at *)(x + i) * unit);
	}
	for (; i < d; i++)
		out[i] = load1(w->dtype, w->data, i) * (x[i] * unit);
}

struct rows {
	float	*out;
	const float *x;
	const struct weight *w;
	float	 eps;
};

static void
part(const void *arg, struct range in)
{
	const struct rows *r = arg;

	for (size_t i = in.first; i < in.last; i++)
		norm_row(r->out + i * r->w->cols, r->x + i * r->w->cols, r->w,
		    r->eps);
}

/* out may be x. */
void
rms_norm(struct threads *t, float *out, const float *x, const struct weight *w,
    double eps, size_t n)
{
	split(t, n, GRAIN, part, &(struct rows){ out, x, w, (float)eps });
}
