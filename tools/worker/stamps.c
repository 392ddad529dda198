/* stamps.c: when what happened within a decode step, as a table. */
#include "backend.h"

static uint64_t
earliest(const struct stamps *s)
{
	uint64_t t = UINT64_MAX;

	for (size_t i = 0; i < s->n_blocks * s->n_ops * s->n_events; i++)
		t = s->ns[i] != 0 && s->ns[i] < t ? s->ns[i] : t;
	return t;
}

static void
write_op(struct out *out, const struct stamps *s, size_t block, size_t op, uint64_t start)
{
	const uint64_t *ns = s->ns + (block * s->n_ops + op) * s->n_events;
	const size_t of_layer = s->n_kinds - 1;
	const bool last = op + 1 == s->n_ops;

	for (size_t e = 0; e < s->n_events; e++) {
		if (ns[e] == 0)
			continue;
		out_count(out, block);
		out_count(out, op);
		out_text(out, s->kind[last ? of_layer : op % of_layer]);
		if (last)
			out_na(out);
		else
			out_count(out, op / of_layer);
		out_text(out, s->event[e]);
		out_count(out, ns[e] - start);
		out_row(out);
	}
}

void
stamps_write(const char *path, const struct stamps *s)
{
	const uint64_t start = earliest(s);
	struct out out;

	out_open(&out, path);
	out_head(&out, "block op kind layer event time_ns");
	for (size_t b = 0; b < s->n_blocks; b++)
		for (size_t i = 0; i < s->n_ops; i++)
			write_op(&out, s, b, i, start);
	out_close(&out);
}
