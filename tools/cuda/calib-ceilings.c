/* calib-ceilings.c: what this GPU reaches, unprofiled: ceilings, sweep, canary. */
#include <math.h>

#include "calib-gpu.h"

enum { TIMES = 64 };			/* the L2, a quarter */

struct stream {
	enum job_kind kind;
	struct walk walk;
	size_t	 bytes;			/* read or written, or each in a copy */
	unsigned passes;
	bool	 rotate;		/* over all quarters, beyond any cache */
};

static void
queue(struct gpu *g, const void *job, unsigned repeat)
{
	const struct stream *s = job;
	char *a = g->quarter[s->rotate ? repeat % QUARTERS : 0];
	char *b = g->quarter[s->rotate ? (repeat + 1) % QUARTERS : 1];

	switch (s->kind) {
	case JOB_READ:
		cu_calib_read(g->stream, s->walk, a, s->bytes, s->passes, g->sum);
		break;
	case JOB_WRITE:
		cu_calib_write(g->stream, s->walk, a, s->bytes, repeat, NULL);
		break;
	case JOB_COPY:
		cu_calib_copy(g->stream, s->walk, b, a, s->bytes, s->passes);
		break;
	case JOB_GEMV:
		cu_calib_gemv(g->stream, g->y, a, b, s->bytes / (2 * CU_ROW), s->walk.n_sms);
	}
}

static double
rate(struct gpu *g, const struct stream *s, double seconds)
{
	const double bytes = (double)s->bytes * s->passes * (s->kind == JOB_COPY ? 2 : 1);

	return bytes / gpu_seconds(g, queue, s, seconds);
}

/* The fastest way to walk; *s becomes that one. */
static double
best(struct gpu *g, struct stream *s, double seconds)
{
	const bool stores = s->kind == JOB_WRITE || s->kind == JOB_COPY;
	const int n = stores ? 8 : 4;
	struct walk w = s->walk;
	double most = 0;

	for (int i = 0; i < n; i++) {
		struct stream t = *s;
		double r;

		t.walk.deep = i & 1;
		t.walk.once = i & 2;
		t.walk.streaming = i & 4;
		r = rate(g, &t, seconds / (n + 1));
		if (r > most) {
			most = r;
			w = t.walk;
		}
	}
	s->walk = w;
	return rate(g, s, seconds / (n + 1));
}

static struct stream
beyond(const struct gpu *g, enum job_kind kind)
{
	return (struct stream){ .kind = kind, .walk = gpu_walk(g), .bytes = g->bytes,
	    .passes = 1, .rotate = true };
}

static void
memory(struct out *o, struct gpu *g, double seconds)
{
	struct stream s = beyond(g, JOB_READ);

	out_kv_num(o, "memory_read_bytes_per_s", best(g, &s, seconds));
	s = beyond(g, JOB_COPY);
	out_kv_num(o, "memory_copy_bytes_per_s", best(g, &s, seconds));
	out_kv(o, "memory_copy_stores", s.walk.streaming ? "nontemporal" : "plain");
	s = beyond(g, JOB_WRITE);
	out_kv_num(o, "memory_write_bytes_per_s", best(g, &s, seconds));
	out_kv(o, "memory_write_stores", s.walk.streaming ? "nontemporal" : "plain");
}

static void
within(struct out *o, struct gpu *g, double seconds)
{
	struct stream s = { .kind = JOB_READ, .walk = gpu_walk(g), .passes = 100,
	    .bytes = gpu_within(g) };

	out_kv_num(o, "l2_read_bytes_per_s", best(g, &s, seconds));
	out_kv_count(o, "l2_working_set_bytes", s.bytes);
}

static void
launching(struct out *o, struct gpu *g)
{
	struct launches l;

	gpu_launches(g, &l);
	out_kv_num(o, "launch_wait_ns", l.wait_ns);
	out_kv_num(o, "launch_each_ns", l.each_ns);
	out_kv_num(o, "graph_wait_ns", l.graph_wait_ns);
	out_kv_num(o, "graph_each_ns", l.graph_each_ns);
}

static void
products(struct out *o, struct gpu *g, double seconds)
{
	static const char *const names[CU_TYPES] = { [CU_F32] = "f32",
	    [CU_TF32] = "tf32", [CU_F16] = "f16", [CU_BF16] = "bf16", [CU_FP8] = "fp8" };
	struct gemms m;
	char *key;

	gpu_gemms(g, &m, seconds);
	for (int t = 0; t < CU_TYPES; t++) {
		key = xasprintf("gemm_%s_flop_per_s", names[t]);
		out_kv_num(o, key, m.flop_per_s[t]);
		free(key);
		key = xasprintf("gemm_%s_sustained_flop_per_s", names[t]);
		out_kv_num(o, key, m.sustained[t]);
		free(key);
	}
	out_kv(o, "gemm_library", *m.library != '\0' ? m.library : NULL);
	out_kv_count(o, "gemm_size", m.n);
}

static void
clocks(struct out *o, const char *when)
{
	const struct clocks c = gpu_clocks();
	const struct {
		const char *name;
		uint64_t hz;
	} all[] = { { "sm", c.sm_hz }, { "memory", c.memory_hz } };
	char *key;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		key = xasprintf("%s_clock_%s_hz", all[i].name, when);
		if (all[i].hz != 0)
			out_kv_count(o, key, all[i].hz);
		else
			out_kv(o, key, NULL);
		free(key);
	}
	key = xasprintf("throttle_%s", when);
	out_kv(o, key, *c.throttle != '\0' ? c.throttle : NULL);
	free(key);
}

void
cuda_ceilings(double seconds)
{
	struct stream warm;
	struct gpu g;
	struct out o;

	gpu_open(&g, TIMES);
	warm = beyond(&g, JOB_COPY);
	rate(&g, &warm, seconds / 10);
	out_open(&o, NULL);
	out_kv(&o, "device", "cuda");
	out_kv(&o, "gpu", g.p.name);
	clocks(&o, "before");
	memory(&o, &g, seconds / 8);
	within(&o, &g, seconds / 10);
	launching(&o, &g);
	products(&o, &g, seconds / 2);
	clocks(&o, "after");
	out_kv_count(&o, "working_set_bytes", QUARTERS * g.bytes);
	out_kv_count(&o, "last_level_bytes", g.l2_bytes);
	out_kv_count(&o, "n_sms", (uint64_t)g.p.multiProcessorCount);
	out_close(&o);
	gpu_close(&g);
}

static void
point(struct out *o, struct gpu *g, enum job_kind kind, size_t bytes, double seconds)
{
	struct stream s = { .kind = kind, .walk = gpu_walk(g),
	    .bytes = kind == JOB_COPY ? bytes / 2 : bytes,
	    .passes = 1 + (unsigned)(((size_t)1 << 30) / bytes) };

	s.walk.deep = false;		/* more pieces, where there are few */

	out_text(o, kind == JOB_COPY ? "copy" : "read");
	out_count(o, bytes);
	out_num(o, rate(g, &s, seconds));
	out_row(o);
}

/* From an eighth of the L2 to sixteen times it, four points an octave. */
void
cuda_sweep(double seconds)
{
	enum { OCTAVES = 7, POINTS = 4 * OCTAVES + 1 };
	struct gpu g;
	struct out o;

	gpu_open(&g, 16);
	out_open(&o, NULL);
	out_head(&o, "kernel working_set_bytes bytes_per_s");
	for (int copy = 0; copy <= 1; copy++)
		for (int i = 0; i < POINTS; i++) {
			size_t bytes = (size_t)((double)g.l2_bytes / 8 * exp2(i / 4.0));

			bytes = bytes / (2 * CU_PIECE) * (2 * CU_PIECE);
			if (bytes <= g.bytes)
				point(&o, &g, copy ? JOB_COPY : JOB_READ, bytes,
				    seconds / (2 * POINTS));
		}
	out_close(&o);
	gpu_close(&g);
}

void
cuda_canary(double seconds)
{
	struct stream gemv, copy;
	struct gpu g;
	struct out o;

	gpu_open(&g, 16);
	gemv = beyond(&g, JOB_GEMV);
	copy = beyond(&g, JOB_COPY);
	rate(&g, &copy, seconds / 5);	/* out of its sleep */
	out_open(&o, NULL);
	out_kv_num(&o, "canary_gemv_bytes_per_s", rate(&g, &gemv, 2 * seconds / 5));
	out_kv_num(&o, "canary_copy_bytes_per_s", rate(&g, &copy, 2 * seconds / 5));
	out_close(&o);
	gpu_close(&g);
}
