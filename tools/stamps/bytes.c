/* bytes.c: which of a readset's roles belong to which kind of op. */
#include <err.h>
#include <math.h>

#include "run.h"
#include "stamps.h"

static const struct { const char *kind, *roles; } kinds[N_READ_KINDS] = {
	{ "qkv", "embed,attn_norm,q,k,v,q_bias,k_bias,v_bias" },
	{ "attend", "q_norm,k_norm,kv_cache" },
	{ "out", "o,o_bias" },
	{ "gate", "ffn_norm,gate,up" },
	{ "down", "down" },
	{ "vocab", "final_norm,lm_head" },
};

/* N_READ_KINDS: it belongs to none. */
static size_t
kind_of(const char *role)
{
	size_t i = 0;

	while (i < N_READ_KINDS && !listed(kinds[i].roles, role))
		i++;
	return i;
}

void
reads_read(struct reads *r, const char *readset)
{
	struct tsv t;
	int64_t last = NO_STEP;
	double sum[N_READ_KINDS + 1] = { 0 };
	size_t phase, step, role, bytes;

	tsv_open(&t, readset);
	phase = tsv_col(&t, "phase");
	step = tsv_col(&t, "step");
	role = tsv_col(&t, "role");
	bytes = tsv_col(&t, "read_bytes");
	while (tsv_next(&t)) {
		int64_t now = run_step(&t, step);

		if (strcmp(t.val[phase], "decode") != 0 || now < last)
			continue;
		if (now > last)
			memset(sum, 0, sizeof sum);
		last = now;
		sum[kind_of(tsv_text(&t, role))] += tsv_num(&t, bytes);
	}
	if (last == NO_STEP)
		warnx("%s: no decode step: what its ops must read is not known", t.name);
	else if (sum[N_READ_KINDS] != 0)
		warnx("%s: %.12g bytes of the last decode step belong to no kind of op",
		    t.name, sum[N_READ_KINDS]);
	tsv_close(&t);
	for (size_t i = 0; i < N_READ_KINDS; i++)
		r->bytes[i] = last == NO_STEP ? NAN : sum[i];
}

double
reads_of(const struct reads *r, const char *kind)
{
	for (size_t i = 0; i < N_READ_KINDS; i++)
		if (strcmp(kind, kinds[i].kind) == 0)
			return r->bytes[i];
	return NAN;
}
