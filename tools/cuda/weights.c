/* weights.c: where each weight lies on the device. */
#include "engine.h"

static bool
has(const struct weight *w)
{
	return w->data != NULL;
}

/* The word of all matrices; where they differ, the one that holds every value. */
static enum word
common_word(const struct model *m)
{
	const enum dtype d = m->embed.dtype;
	bool same = m->lm_head.dtype == d;

	for (size_t l = 0; l < m->n_layers; l++) {
		const struct layer *w = &m->layer[l];
		const size_t n = has(&w->router) ? m->experts : 1;

		same = same && w->q.dtype == d && w->k.dtype == d &&
		    w->v.dtype == d && w->o.dtype == d &&
		    (!has(&w->router) || w->router.dtype == d);
		for (size_t e = 0; e < n; e++)
			same = same && w->ffn[e].gate.dtype == d &&
			    w->ffn[e].up.dtype == d && w->ffn[e].down.dtype == d;
	}
	return !same || d == DT_F32 ? WORD_F32 :
	    d == DT_F16 ? WORD_F16 : WORD_BF16;
}

static struct matrix
matrix(struct weights *w, struct arena *a, size_t groups, size_t rows, size_t cols)
{
	return (struct matrix){ take(a, groups * rows, cols * w->word_bytes),
	    rows, cols, groups };
}

static float *
vector(struct arena *a, bool there, size_t n)
{
	return there ? take(a, n, sizeof(float)) : NULL;
}

static void
lay_layer(struct weights *w, struct device_layer *d, const struct layer *from,
    const struct model *m, struct arena *a)
{
	const size_t experts = has(&from->router) ? m->experts : 1;
	const size_t ffn = from->ffn->gate.rows, qkv = m->q_size + 2 * m->kv_size;

	*d = (struct device_layer){
	    .qkv = matrix(w, a, 1, qkv, m->hidden),
	    .o = matrix(w, a, 1, m->hidden, m->q_size),
	    .gate_up = matrix(w, a, experts, 2 * ffn, m->hidden),
	    .down = matrix(w, a, experts, m->hidden, ffn),
	    .attn_norm = vector(a, true, m->hidden),
	    .ffn_norm = vector(a, true, m->hidden),
	    .qkv_bias = vector(a, has(&from->q_bias), qkv),
	    .o_bias = vector(a, has(&from->o_bias), m->hidden),
	    .q_norm = vector(a, has(&from->q_norm), m->head_dim),
	    .k_norm = vector(a, has(&from->k_norm), m->head_dim) };
	if (has(&from->router))
		d->router = matrix(w, a, 1, experts, m->hidden);
}

void
weights_lay(struct weights *w, const struct model *m, struct arena *a)
{
	struct device_layer *layer = w->layer;

	if (layer == NULL)
		layer = xalloc(m->n_layers, sizeof *layer);
	*w = (struct weights){ .word = common_word(m), .layer = layer };
	w->word_bytes = w->word == WORD_F32 ? 4 : 2;
	w->embed = matrix(w, a, 1, m->vocab, m->hidden);
	w->lm_head = m->lm_head.data == m->embed.data ? w->embed :
	    matrix(w, a, 1, m->vocab, m->hidden);
	w->final_norm = vector(a, true, m->hidden);
	for (size_t l = 0; l < m->n_layers; l++)
		lay_layer(w, &layer[l], &m->layer[l], m, a);
}

/* Matrices below one another, each where the one above ends. */
static char *
below(struct loads *all, const struct weight *from, char *to, const struct weights *w)
{
	load_add(all, from, to, w->word);
	return to + from->rows * from->cols * w->word_bytes;
}

static void
load_layer(struct loads *all, const struct weights *w, const struct device_layer *d,
    const struct layer *from)
{
	char *at = below(all, &from->q, d->qkv.w, w), *down = d->down.w;

	below(all, &from->v, below(all, &from->k, at, w), w);
	below(all, &from->o, d->o.w, w);
	at = d->gate_up.w;
	for (size_t e = 0; e < d->gate_up.groups; e++) {
		at = below(all, &from->ffn[e].gate, at, w);
		at = below(all, &from->ffn[e].up, at, w);
		down = below(all, &from->ffn[e].down, down, w);
	}
	if (has(&from->router))
		below(all, &from->router, d->router.w, w);
	load_add(all, &from->attn_norm, d->attn_norm, WORD_F32);
	load_add(all, &from->ffn_norm, d->ffn_norm, WORD_F32);
	if (d->qkv_bias != NULL) {
		load_add(all, &from->q_bias, d->qkv_bias, WORD_F32);
		load_add(all, &from->k_bias, d->qkv_bias + from->q.rows, WORD_F32);
		load_add(all, &from->v_bias, d->qkv_bias + from->q.rows +
		    from->k.rows, WORD_F32);
	}
	if (d->o_bias != NULL)
		load_add(all, &from->o_bias, d->o_bias, WORD_F32);
	if (d->q_norm != NULL)
		load_add(all, &from->q_norm, d->q_norm, WORD_F32);
	if (d->k_norm != NULL)
		load_add(all, &from->k_norm, d->k_norm, WORD_F32);
}

struct loaded
weights_load(const struct weights *w, const struct model *m)
{
	struct loads all = { 0 };
	struct loaded done;

	load_add(&all, &m->embed, w->embed.w, w->word);
	if (w->lm_head.w != w->embed.w)
		load_add(&all, &m->lm_head, w->lm_head.w, w->word);
	load_add(&all, &m->final_norm, w->final_norm, WORD_F32);
	for (size_t l = 0; l < m->n_layers; l++)
		load_layer(&all, w, &w->layer[l], &m->layer[l]);
	done = load_all(&all);
	free(all.load);
	return done;
}

void
weights_free(struct weights *w)
{
	free(w->layer);
}
