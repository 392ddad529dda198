/* expect.c: the table that a gate prints and judge reads. */
#include "calib.h"

void
gate_head(struct out *o)
{
	out_open(o, NULL);
	out_head(o, "kernel rung direction expected_bytes");
}

void
gate_expect(struct out *o, const char *kernel, const char *rung,
    const char *direction, uint64_t bytes)
{
	out_text(o, kernel);
	out_text(o, rung);
	out_text(o, direction);
	out_count(o, bytes);
	out_row(o);
}
