/*
 * pread.c: how fast the files of a checkpoint come into pinned memory and from
 * there to the device, if nothing else is done.
 *
 *	pread THREADS PIECE_BYTES FILE...
 *
 * out  what  bytes  dur_ns: pinned (the buffers' making), pread, pread+copy
 */
#include <err.h>
#include <fcntl.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

enum { MAX_FILES = 256, MAX_THREADS = 64, TIMES = 5 };

struct file {
	int	 fd;
	size_t	 bytes, first;		/* in the row of all of them */
};
struct lane {
	cudaStream_t stream;
	cudaEvent_t free[2];
	char	*buffer[2];
};
struct job {
	struct file file[MAX_FILES];
	size_t	 n_files, bytes, piece;
	struct lane lane[MAX_THREADS];
	int	 n_threads;
	char	*device;		/* as large as all files, or NULL: no copies */
};

static void
must(cudaError_t e)
{
	if (e != cudaSuccess)
		errx(2, "%s", cudaGetErrorString(e));
}

static uint64_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void
open_file(struct job *j, const char *path)
{
	struct file *f = &j->file[j->n_files++];
	struct stat st;

	f->fd = open(path, O_RDONLY);
	if (f->fd == -1 || fstat(f->fd, &st) != 0)
		err(2, "%s", path);
	f->bytes = (size_t)st.st_size;
	f->first = j->bytes;
	j->bytes += (f->bytes + j->piece - 1) / j->piece * j->piece;
}

static void
piece(struct job *j, struct lane *l, size_t at, int i)
{
	const struct file *f = j->file;
	size_t n, from;

	while (at >= f->first + (f->bytes + j->piece - 1) / j->piece * j->piece)
		f++;
	from = at - f->first;
	n = f->bytes - from < j->piece ? f->bytes - from : j->piece;
	if (j->device != NULL)
		must(cudaEventSynchronize(l->free[i]));
	for (size_t done = 0; done < n;) {
		ssize_t got = pread(f->fd, l->buffer[i] + done, n - done,
		    (off_t)(from + done));

		if (got <= 0)
			err(2, "pread");
		done += (size_t)got;
	}
	if (j->device == NULL)
		return;
	must(cudaMemcpyAsync(j->device + at, l->buffer[i], n, cudaMemcpyHostToDevice,
	    l->stream));
	must(cudaEventRecord(l->free[i], l->stream));
}

static uint64_t
pass(struct job *j)
{
	const uint64_t start = now();
	const size_t n = j->bytes / j->piece;

#pragma omp parallel num_threads(j->n_threads)
	{
		struct lane *l = &j->lane[omp_get_thread_num()];
		int i = 0;

#pragma omp for schedule(dynamic)
		for (size_t p = 0; p < n; p++)
			piece(j, l, p * j->piece, i = !i);
		if (j->device != NULL)
			must(cudaStreamSynchronize(l->stream));
	}
	return now() - start;
}

static int
compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void
measure(struct job *j, const char *what)
{
	uint64_t took[TIMES];
	size_t bytes = 0;

	for (size_t f = 0; f < j->n_files; f++)
		bytes += j->file[f].bytes;
	for (int i = 0; i < TIMES; i++)
		took[i] = pass(j);
	qsort(took, TIMES, sizeof *took, compare);
	printf("%s\t%zu\t%llu\n", what, bytes, (unsigned long long)took[TIMES / 2]);
}

int
main(int argc, char *argv[])
{
	static struct job j;
	uint64_t start;

	if (argc < 4 || argc - 3 > MAX_FILES)
		errx(2, "usage: pread threads piece_bytes file...");
	j.n_threads = atoi(argv[1]);
	j.piece = (size_t)atol(argv[2]);
	if (j.n_threads < 1 || j.n_threads > MAX_THREADS || j.piece == 0)
		errx(2, "threads: 1 to %d; piece_bytes: at least 1", MAX_THREADS);
	for (int i = 3; i < argc; i++)
		open_file(&j, argv[i]);
	must(cudaFree(NULL));
	start = now();
	for (int t = 0; t < j.n_threads; t++)
		for (int i = 0; i < 2; i++) {
			must(cudaHostAlloc((void **)&j.lane[t].buffer[i], j.piece, 0));
			must(cudaEventCreateWithFlags(&j.lane[t].free[i],
			    cudaEventDisableTiming));
			if (i == 0)
				must(cudaStreamCreateWithFlags(&j.lane[t].stream,
				    cudaStreamNonBlocking));
		}
	printf("what\tbytes\tdur_ns\npinned\t%zu\t%llu\n", 2 * j.piece *
	    (size_t)j.n_threads, (unsigned long long)(now() - start));
	measure(&j, "pread");
	must(cudaMalloc((void **)&j.device, j.bytes));
	measure(&j, "pread+copy");
	return 0;
}
