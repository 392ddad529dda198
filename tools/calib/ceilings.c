/* ceilings.c: what this machine reaches, unprofiled: ceilings, sweep, canary. */
#include <math.h>

#include "calib.h"

enum { LINE = sizeof(line) };

static double
beyond(const struct arena *a, enum job_kind kind, const struct kernels *k,
    double seconds)
{
	struct job j = { .kind = kind, .k = k, .a = a->a, .b = a->b,
	    .lines = a->lines, .passes = 1, .rotate = true };

	return job_rate(&j, seconds);
}

/* The faster of plain and streaming stores, and which that was. */
static void
stores(struct out *o, const struct arena *a, enum job_kind kind,
    const char *name, double seconds)
{
	const struct kernels *s = kernels_streaming();
	double plain = beyond(a, kind, kernels_best(), seconds / 2);
	double streaming = s != NULL ? beyond(a, kind, s, seconds / 2) : NAN;
	bool faster = streaming > plain;
	char *key = xasprintf("memory_%s_bytes_per_s", name);

	out_kv_num(o, key, faster ? streaming : plain);
	free(key);
	key = xasprintf("memory_%s_stores", name);
	out_kv(o, key, faster ? "nontemporal" : "plain");
	free(key);
}

/* Half of the last level, every thread its own part, read again and again. */
static void
within(struct out *o, const struct arena *a, double seconds)
{
	struct job j = { .kind = JOB_READ, .k = kernels_best(), .a = a->a, .b = a->b,
	    .lines = a->last_level_bytes / 2 / LINE, .passes = 1 };

	if (j.lines > a->lines)
		j.lines = a->lines;
	j.passes = 1 + ((size_t)64 << 20) / (j.lines * LINE + 1);
	out_kv_num(o, "l2_read_bytes_per_s", job_rate(&j, seconds));
	out_kv_count(o, "l2_working_set_bytes", j.lines * LINE);
}

void
ceilings(double seconds)
{
	struct gemm g = gemm_f32(seconds / 4);	/* first: it forks */
	struct arena a = arena_open();
	struct out o;

	out_open(&o, NULL);
	out_kv_num(&o, "memory_read_bytes_per_s",
	    beyond(&a, JOB_READ, kernels_best(), seconds / 7));
	stores(&o, &a, JOB_COPY, "copy", seconds / 4);
	within(&o, &a, seconds / 10);
	stores(&o, &a, JOB_WRITE, "write", seconds / 4);	/* random data ends */
	out_kv_num(&o, "gemm_f32_flop_per_s", g.flop_per_s);
	out_kv(&o, "gemm_f32_kernel", *g.kernel != '\0' ? g.kernel : NULL);
	out_kv(&o, "gemm_f16_flop_per_s", NULL);
	out_kv(&o, "gemm_bf16_flop_per_s", NULL);
	out_kv_count(&o, "working_set_bytes", a.lines * LINE);
	out_kv_count(&o, "last_level_bytes", a.last_level_bytes);
	out_kv_count(&o, "n_threads", (uint64_t)a.n_threads);
	out_kv(&o, "vector", kernels_best()->name);
	out_close(&o);
	arena_close(&a);
}

static void
point(struct out *o, const struct arena *a, enum job_kind kind, size_t lines,
    double seconds)
{
	struct job j = { .kind = kind, .k = kernels_best(), .a = a->a, .b = a->b,
	    .lines = kind == JOB_COPY ? lines / 2 : lines };

	j.passes = 1 + ((size_t)16 << 20) / (lines * LINE);
	out_text(o, kind == JOB_COPY ? "copy" : "read");
	out_count(o, lines * LINE);
	out_num(o, job_rate(&j, seconds));
	out_row(o);
}

/* From 16 KiB to the whole buffer, four points an octave. */
void
sweep(double seconds)
{
	struct arena a = arena_open();
	size_t unit = 2 * (size_t)a.n_threads, smallest = (16 << 10) / LINE;
	double octaves = log2((double)a.lines / (double)smallest);
	int n = octaves > 0 ? (int)ceil(4 * octaves) : 0;
	struct out o;

	out_open(&o, NULL);
	out_head(&o, "kernel working_set_bytes bytes_per_s");
	for (int copy = 0; copy <= 1; copy++)
		for (int i = 0; i <= n; i++) {
			size_t lines = i == n ? a.lines :
			    (size_t)((double)smallest * exp2(i / 4.0));

			lines = lines / unit * unit;
			point(&o, &a, copy ? JOB_COPY : JOB_READ,
			    lines != 0 ? lines : unit, seconds / (2 * (n + 1)));
		}
	out_close(&o);
	arena_close(&a);
}

void
canary(double seconds)
{
	struct arena a = arena_open();
	struct out o;

	out_open(&o, NULL);
	out_kv_num(&o, "canary_gemv_bytes_per_s",
	    beyond(&a, JOB_GEMV, kernels_best(), seconds / 2));
	out_kv_num(&o, "canary_copy_bytes_per_s",
	    beyond(&a, JOB_COPY, kernels_best(), seconds / 2));
	out_close(&o);
	arena_close(&a);
}
