/*
 * calib-gate.c: kernels of known traffic, for a profiler to count: each in an
 * NVTX range of its own name.
 *
 * What a kernel reads is what its buffer holds: that is cold, being far larger
 * than the L2.  What it writes back is exact only in the steady state, so the
 * same kernel runs before, unmarked and elsewhere: as many dirty lines are in
 * the L2 when the range opens as when it closes.
 */
#include <err.h>
#include <nvtx3/nvToolsExt.h>

#include "calib-gpu.h"

enum { REREADS = 50, WARMUP = 8 };

struct gate {
	struct gpu g;
	struct walk walk;
	nvtxDomainHandle_t domain;
	size_t	 warm;			/* of the reread buffer */
};

static void
begin(const struct gate *t, const char *name)
{
	nvtxEventAttributes_t a = { .version = NVTX_VERSION,
	    .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
	    .messageType = NVTX_MESSAGE_TYPE_ASCII, .message.ascii = name };

	nvtxDomainRangePushEx(t->domain, &a);
}

static void
end(struct gate *t, const char *name)
{
	gpu_wait(&t->g, name);
	nvtxDomainRangePop(t->domain);
}

static void
read_quarter(struct gate *t, unsigned i, unsigned passes)
{
	cu_calib_read(t->g.stream, t->walk, t->g.quarter[i], t->g.bytes, passes, t->g.sum);
}

static void
must(bool so, const char *kernel)
{
	if (!so)
		errx(NS_TROUBLE, "gate: the %s kernel did not do its work", kernel);
}

/* Of what was written, as the writing kernel made it, not as memory has it. */
static uint32_t
fill(struct gate *t, unsigned quarter, size_t bytes, uint32_t seed)
{
	cu_calib_write(t->g.stream, t->walk, t->g.quarter[quarter], bytes, seed, t->g.sum);
	return gpu_sum(&t->g);
}

/* Filled long before they are read: neither the data nor dirty lines are left in the L2. */
static void
reads(struct gate *t)
{
	const uint32_t whole = fill(t, 0, t->g.bytes, 11);
	const uint32_t part = fill(t, 2, t->warm, 12);

	read_quarter(t, 1, WARMUP);
	gpu_sum(&t->g);
	begin(t, "read");
	read_quarter(t, 0, 1);
	end(t, "read");
	must(gpu_sum(&t->g) == whole, "read");

	begin(t, "reread");
	cu_calib_read(t->g.stream, t->walk, t->g.quarter[2], t->warm, REREADS, t->g.sum);
	end(t, "reread");
	must(gpu_sum(&t->g) == REREADS * part, "reread");
}

static void
writes(struct gate *t)
{
	const uint32_t whole = fill(t, 1, t->g.bytes, 13);

	cu_calib_write(t->g.stream, t->walk, t->g.quarter[3], t->g.bytes, 14, NULL);
	gpu_wait(&t->g, "write");
	begin(t, "write");
	cu_calib_write(t->g.stream, t->walk, t->g.quarter[0], t->g.bytes, 13, NULL);
	end(t, "write");
	read_quarter(t, 0, 1);
	must(gpu_sum(&t->g) == whole, "write");

	cu_calib_copy(t->g.stream, t->walk, t->g.quarter[2], t->g.quarter[1], t->g.bytes, 1);
	gpu_wait(&t->g, "copy");
	begin(t, "copy");
	cu_calib_copy(t->g.stream, t->walk, t->g.quarter[3], t->g.quarter[0], t->g.bytes, 1);
	end(t, "copy");
	read_quarter(t, 3, 1);
	must(gpu_sum(&t->g) == whole, "copy");
}

static void
expect(struct out *o, const char *kernel, uint64_t l2_read, uint64_t memory_read,
    uint64_t l2_write, uint64_t memory_write)
{
	gate_expect(o, kernel, "l2", "read", l2_read);
	gate_expect(o, kernel, "l2", "write", l2_write);
	gate_expect(o, kernel, "memory", "read", memory_read);
	gate_expect(o, kernel, "memory", "write", memory_write);
}

void
cuda_gate(uint64_t last_level_bytes)
{
	struct gate t;
	struct out o;

	(void)last_level_bytes;		/* the device says */
	gpu_open(&t.g, 32);
	t.walk = gpu_walk(&t.g);
	t.walk.once = false;		/* few blocks, few sums to add up */
	t.domain = nvtxDomainCreateA("nsbench");
	t.warm = gpu_within(&t.g);
	if (getenv("NVTX_INJECTION64_PATH") == NULL)
		warnx("gate: no profiler listens: nothing counts the bytes");
	reads(&t);
	writes(&t);
	gate_head(&o);
	expect(&o, "read", t.g.bytes, t.g.bytes, 0, 0);
	expect(&o, "write", 0, 0, t.g.bytes, t.g.bytes);
	expect(&o, "copy", t.g.bytes, t.g.bytes, t.g.bytes, t.g.bytes);
	expect(&o, "reread", REREADS * t.warm, t.warm, 0, 0);
	out_close(&o);
	gpu_close(&t.g);
}
