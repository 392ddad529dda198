/* heads.c: what attention needs to know of a layer. */
#include "engine.h"

struct heads
heads_of(const struct engine *e, size_t l)
{
	const struct model *m = e->m;
	const struct device_layer *w = &e->weights.layer[l];
	const size_t one = e->plan.batch * m->kv_size * e->n_positions *
	    e->weights.word_bytes;

	return (struct heads){ .k = (char *)e->kv + 2 * l * one,
	    .v = (char *)e->kv + (2 * l + 1) * one, .bias = w->qkv_bias,
	    .q_norm = w->q_norm, .k_norm = w->k_norm, .cos = e->cos, .sin = e->sin,
	    .place = e->finish.place, .eps = (float)m->arch->norm_eps,
	    .heads = (uint32_t)m->heads, .kv_heads = (uint32_t)m->kv_heads,
	    .dim = (uint32_t)m->head_dim, .window = (uint32_t)arch_window(m->arch, l),
	    .n_positions = (uint32_t)e->n_positions, .batch = (uint32_t)e->plan.batch };
}
