/*
 * load.c: weights from their files to the device.  Each thread fills one of its
 * two pinned buffers while the other is on its way.
 */
#include <err.h>
#include <errno.h>
#include <omp.h>
#include <unistd.h>

#include "engine.h"

/*
 * Bytes of a buffer.  Pinning costs as much a byte as twenty copies, so there are
 * few and small ones; smaller ones wait for each other in the driver.
 */
enum { BUFFER = 4 << 20, MAX_THREADS = 8 };

struct lane {
	cudaStream_t stream;
	void	*buffer[2];		/* NULL: not pinned yet */
	cudaEvent_t free[2];
	int	 next;
};

void
load_add(struct loads *all, const struct weight *from, void *to, enum word as)
{
	all->load = xgrow(all->load, &all->cap, all->n + 1, sizeof *all->load);
	all->load[all->n++] = (struct load){ .from = from, .to = to, .as = as };
}

static size_t
elements(const struct load *l)
{
	return l->from->rows * l->from->cols;
}

/* Are words copied as they are?  Else short ones become floats. */
static bool
as_is(const struct load *l)
{
	return (l->as == WORD_F32) == (l->from->dtype == DT_F32);
}

static size_t
size_there(const struct load *l)
{
	return as_is(l) ? dtype_bits(l->from->dtype) / 8 : sizeof(float);
}

static size_t
n_pieces(const struct load *l)
{
	const size_t each = BUFFER / size_there(l);

	return (elements(l) + each - 1) / each;
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

/* Out of the file where there is one: a mapping would cost its page table too. */
static void
fill(char *to, const struct weight *w, size_t first, size_t bytes)
{
	if (w->fd == -1) {
		memcpy(to, (const char *)w->data + first, bytes);
		return;
	}
	for (size_t done = 0; done < bytes;) {
		const ssize_t got = pread(w->fd, to + done, bytes - done,
		    (off_t)(w->offset + first + done));

		if (got == 0)
			errx(NS_TROUBLE, "a checkpoint's file ends before its weights: "
			    "it was changed while it was read");
		if (got < 0 && errno != EINTR)
			err(NS_TROUBLE, "weights");
		done += got > 0 ? (size_t)got : 0;
	}
}

static void
lane_open(struct lane *l)
{
	device_check(cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking), "stream");
	for (int i = 0; i < 2; i++)
		device_check(cudaEventCreateWithFlags(&l->free[i],
		    cudaEventDisableTiming), "event");
}

/* The buffer whose turn it is, free again. */
static void *
lane_buffer(struct lane *l)
{
	void **buffer = &l->buffer[l->next];

	if (*buffer == NULL)
		device_check(cudaHostAlloc(buffer, BUFFER, cudaHostAllocDefault),
		    "pinned memory");
	else
		device_check(cudaEventSynchronize(l->free[l->next]),
		    "weights to the device");
	return *buffer;
}

static void
lane_close(struct lane *l)
{
	for (int i = 0; i < 2; i++) {
		cudaFreeHost(l->buffer[i]);
		cudaEventDestroy(l->free[i]);
	}
	cudaStreamDestroy(l->stream);
}

static size_t
send(struct lane *lane, const struct load *l, size_t first)
{
	const size_t size = dtype_bits(l->from->dtype) / 8, to_size = size_there(l);
	const size_t left = elements(l) - first, each = BUFFER / to_size;
	const size_t n = left < each ? left : each;
	void *buffer = lane_buffer(lane);

	if (as_is(l))
		fill(buffer, l->from, first * size, n * size);
	else
		widen(buffer, (const uint16_t *)l->from->data + first,
		    l->from->dtype, n);
	device_check(cudaMemcpyAsync((char *)l->to + first * to_size, buffer,
	    n * to_size, cudaMemcpyHostToDevice, lane->stream), "weights to the device");
	device_check(cudaEventRecord(lane->free[lane->next], lane->stream), "event");
	lane->next = !lane->next;
	return n * size;
}

/* The piece that a number stands for: the weight, and its first element. */
static const struct load *
piece(const struct loads *all, size_t number, size_t *first)
{
	size_t low = 0, high = all->n;

	while (high - low > 1) {
		const size_t middle = (low + high) / 2;

		if (all->load[middle].piece <= number)
			low = middle;
		else
			high = middle;
	}
	*first = (number - all->load[low].piece) *
	    (BUFFER / size_there(&all->load[low]));
	return &all->load[low];
}

struct loaded
load_all(struct loads *all)
{
	const uint64_t start = now_ns();
	uint64_t took = 0;
	const int threads = omp_get_max_threads() < MAX_THREADS ?
	    omp_get_max_threads() : MAX_THREADS;
	size_t pieces = 0, total = 0, done = 0;
	struct progress p;

	for (size_t i = 0; i < all->n; i++) {
		all->load[i].piece = pieces;
		pieces += n_pieces(&all->load[i]);
		total += elements(&all->load[i]) *
		    dtype_bits(all->load[i].from->dtype) / 8;
	}
	progress_start(&p, "ns-worker: MiB to the device", total >> 20);
#pragma omp parallel num_threads(threads)
	{
		struct lane lane = { 0 };

		lane_open(&lane);
#pragma omp for schedule(dynamic) nowait
		for (size_t i = 0; i < pieces; i++) {
			size_t first, sum, bytes;
			const struct load *l = piece(all, i, &first);

			bytes = send(&lane, l, first);
#pragma omp atomic capture
			sum = done += bytes;
			if (omp_get_thread_num() == 0)
				progress(&p, sum >> 20);
		}
		device_check(cudaStreamSynchronize(lane.stream), "weights to the device");
#pragma omp barrier
#pragma omp master
		took = now_ns() - start;
		lane_close(&lane);
	}
	progress_end(&p);
	return (struct loaded){ total, took, (uint64_t)threads };
}
