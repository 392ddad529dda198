/*
 * load.c: weights from where they are mapped to the device.  Each thread fills
 * one of its two pinned buffers while the other is on its way.
 */
#include <err.h>
#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine.h"

enum { PIECE = 4 << 20, MAX_THREADS = 8 };	/* elements */

struct lane {
	cudaStream_t stream;
	void	*buffer[2];
	cudaEvent_t free[2];
	int	 next;
};

void
load_add(struct loads *all, const struct weight *from, void *to, enum word as)
{
	all->load = xgrow(all->load, &all->cap, all->n + 1, sizeof *all->load);
	all->load[all->n++] = (struct load){ from, to, as };
}

static size_t
elements(const struct load *l)
{
	return l->from->rows * l->from->cols;
}

static float
half_to_float(uint16_t h)
{
	const uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 31;
	uint32_t bits = sign | (e + 112) << 23 | (uint32_t)(h & 0x3ff) << 13;
	float f;

	if (e == 31)
		bits |= 0x7f800000;
	memcpy(&f, &bits, sizeof f);
	if (e == 0) {
		f = (float)(h & 0x3ff) * 0x1p-24f;
		return sign != 0 ? -f : f;
	}
	return f;
}

static void
widen(float *out, const uint16_t *in, enum dtype from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (from == DT_BF16) {
			uint32_t bits = (uint32_t)in[i] << 16;

			memcpy(out + i, &bits, sizeof bits);
		} else
			out[i] = half_to_float(in[i]);
}

/* All pages of a piece at once, where the kernel can do that. */
static void
touch(const char *p, size_t bytes)
{
#ifdef MADV_POPULATE_READ
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t before = (uintptr_t)p % page;

	madvise((void *)(uintptr_t)(p - before), bytes + before, MADV_POPULATE_READ);
#else
	(void)p, (void)bytes;
#endif
}

static void
lane_open(struct lane *l)
{
	device_check(cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking), "stream");
	for (int i = 0; i < 2; i++) {
		device_check(cudaHostAlloc(&l->buffer[i], PIECE * sizeof(float),
		    cudaHostAllocDefault), "pinned memory");
		device_check(cudaEventCreateWithFlags(&l->free[i],
		    cudaEventDisableTiming), "event");
	}
}

static void
lane_close(struct lane *l)
{
	device_check(cudaStreamSynchronize(l->stream), "weights to the device");
	for (int i = 0; i < 2; i++) {
		cudaFreeHost(l->buffer[i]);
		cudaEventDestroy(l->free[i]);
	}
	cudaStreamDestroy(l->stream);
}

static size_t
send(struct lane *lane, const struct load *l, size_t first)
{
	const size_t all = elements(l), n = all - first < PIECE ? all - first : PIECE;
	const size_t size = dtype_bits(l->from->dtype) / 8;
	const bool same = (l->as == WORD_F32) == (l->from->dtype == DT_F32);
	const size_t to_size = same ? size : sizeof(float);
	const char *from = (const char *)l->from->data + first * size;
	const int i = lane->next;

	lane->next = !i;
	touch(from, n * size);
	device_check(cudaEventSynchronize(lane->free[i]), "weights to the device");
	if (same)
		memcpy(lane->buffer[i], from, n * size);
	else
		widen(lane->buffer[i], (const uint16_t *)from, l->from->dtype, n);
	device_check(cudaMemcpyAsync((char *)l->to + first * to_size, lane->buffer[i],
	    n * to_size, cudaMemcpyHostToDevice, lane->stream), "weights to the device");
	device_check(cudaEventRecord(lane->free[i], lane->stream), "event");
	return n * size;
}

/* The piece that a number stands for: the weight, and its first element. */
static const struct load *
piece(const struct loads *all, size_t number, size_t *first)
{
	for (size_t i = 0; ; i++) {
		size_t n = (elements(&all->load[i]) + PIECE - 1) / PIECE;

		if (number < n) {
			*first = number * PIECE;
			return &all->load[i];
		}
		number -= n;
	}
}

void
load_all(struct loads *all)
{
	const int threads = omp_get_max_threads() < MAX_THREADS ?
	    omp_get_max_threads() : MAX_THREADS;
	size_t pieces = 0, total = 0, done = 0;
	struct progress p;

	for (size_t i = 0; i < all->n; i++) {
		pieces += (elements(&all->load[i]) + PIECE - 1) / PIECE;
		total += elements(&all->load[i]) *
		    dtype_bits(all->load[i].from->dtype) / 8;
	}
	progress_start(&p, "ns-worker: MiB to the device", total >> 20);
#pragma omp parallel num_threads(threads)
	{
		struct lane lane = { 0 };

		lane_open(&lane);
#pragma omp for schedule(dynamic)
		for (size_t i = 0; i < pieces; i++) {
			size_t first, sum, bytes;
			const struct load *l = piece(all, i, &first);

			bytes = send(&lane, l, first);
#pragma omp atomic capture
			sum = done += bytes;
			if (omp_get_thread_num() == 0)
				progress(&p, sum >> 20);
		}
		lane_close(&lane);
	}
	progress_end(&p);
}
