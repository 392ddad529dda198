/*
 * gemm.c: what a BLAS reaches in single precision.
 *
 * An OpenBLAS older than the processor chooses kernels of an older one, slow or
 * even wrong ones.  The choice is made when the library is loaded, so each
 * candidate gets a process of its own; the fastest whose result is right counts.
 */
#include <cblas.h>
#include <dlfcn.h>
#include <err.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calib.h"

enum { N = 1024, CHECKED = 64, MAX_REPEATS = 99 };

/* In [-1/2, 1/2), exact in a float. */
static float
next_float(uint64_t *x)
{
	*x = *x * 6364136223846793005 + 1442695040888963407;
	return (float)(*x >> 40) / (1 << 24) - 0.5f;
}

/* Is c = a b^T, in a few places, as doubles say? */
static bool
right(const float *a, const float *b, const float *c)
{
	uint64_t x = 1;

	for (int i = 0; i < CHECKED; i++) {
		size_t row = (size_t)((next_float(&x) + 0.5f) * N);
		size_t col = (size_t)((next_float(&x) + 0.5f) * N);
		double sum = 0, size = 0;

		for (size_t k = 0; k < N; k++) {
			double p = (double)a[row * N + k] * b[col * N + k];

			sum += p;
			size += fabs(p);
		}
		if (!(fabs(c[row * N + col] - sum) <= 1e-5 * size))
			return false;
	}
	return true;
}

static int
by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* In the child: load, check, measure. */
static struct gemm
measure(const char *core, double seconds)
{
	struct gemm g = { .flop_per_s = NAN };
	float *a = xalloc(N * N, sizeof *a), *b = xalloc(N * N, sizeof *b);
	float *c = xalloc(N * N, sizeof *c);
	double rate[MAX_REPEATS];
	uint64_t x = 7, start, t0, t1;
	__typeof__(&cblas_sgemm) sgemm;
	char *(*corename)(void);
	void *lib;
	int n = 0;

	if (core != NULL)
		setenv("OPENBLAS_CORETYPE", core, 1);
	if ((lib = dlopen("libopenblas.so.0", RTLD_NOW)) == NULL &&
	    (lib = dlopen("libblas.so.3", RTLD_NOW)) == NULL)
		return g;
	*(void **)&sgemm = dlsym(lib, "cblas_sgemm");
	*(void **)&corename = dlsym(lib, "openblas_get_corename");
	if (sgemm == NULL)
		return g;
	snprintf(g.kernel, sizeof g.kernel, "%s", corename != NULL ? corename() : "blas");
	for (size_t i = 0; i < N * N; i++) {
		a[i] = next_float(&x);
		b[i] = next_float(&x);
	}
	start = now_ns();
	do {
		t0 = now_ns();
		sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, N, N, N, 1, a, N, b, N,
		    0, c, N);
		t1 = now_ns();
		rate[n++] = 2.0 * N * N * N * 1e9 / (double)(t1 - t0);
	} while (n < MAX_REPEATS && (n < 5 || (double)(t1 - start) * 1e-9 < seconds));
	qsort(rate, (size_t)n, sizeof *rate, by_size);
	if (right(a, b, c))
		g.flop_per_s = rate[n / 2];
	else
		g.flop_per_s = -1;
	return g;
}

static struct gemm
try(const char *core, double seconds)
{
	struct gemm g = { .flop_per_s = NAN };
	int fd[2], status;
	pid_t pid;

	fflush(NULL);
	if (pipe(fd) != 0 || (pid = fork()) < 0)
		err(NS_TROUBLE, "gemm");
	if (pid == 0) {
		g = measure(core, seconds);
		_exit(write(fd[1], &g, sizeof g) == sizeof g ? 0 : 1);
	}
	close(fd[1]);
	if (read(fd[0], &g, sizeof g) != sizeof g)
		g = (struct gemm){ .flop_per_s = -1 };
	close(fd[0]);
	waitpid(pid, &status, 0);
	g.kernel[sizeof g.kernel - 1] = '\0';
	if (g.flop_per_s < 0)
		warnx("gemm: wrong results or a crash with the library's kernel for "
		    "'%s': not used", *g.kernel != '\0' ? g.kernel :
		    core != NULL ? core : "this machine");
	return g;
}

struct gemm
gemm_f32(double seconds)
{
	static const char *const cores[] = { "SKYLAKEX", "HASWELL" };
	struct gemm best = { .flop_per_s = NAN }, g = try(NULL, seconds / 2);
	const char *newer = NULL;

	if (g.flop_per_s > 0)
		best = g;
#ifdef __x86_64__
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
		newer = cores[0];
	else if (__builtin_cpu_supports("avx2"))
		newer = cores[1];
#else
	(void)cores;
#endif
	if (newer != NULL && strcasecmp(newer, g.kernel) != 0) {
		g = try(newer, seconds / 2);
		if (g.flop_per_s > 0 && !(g.flop_per_s <= best.flop_per_s))
			best = g;
	}
	if (isnan(best.flop_per_s))
		warnx("gemm: no BLAS with right results: NA");
	return best;
}
