/*
 * blas-tune: what blas.c and blas-tune.c choose for a product, of offers of a
 * cuBLASLt that is made up here, on a device whose clock moves as they say.
 *
 *	blas-tune ROWS COLUMNS f32|add OFFER...
 *
 * An offer is its microseconds; then o: sums in another order; f: it fails.  Writes
 * the one that is used in the end, and whether that is a change.  Dies where it is
 * not added once, or with other bits than the first has.
 */
#include <err.h>
#include <stdlib.h>

#include "../tools/cuda/blas.h"

enum { K = 200, LAYERS = 3, COLD = 2 };	/* a trial's first products take longer */

static struct offer {
	double	 us;
	bool	 other, fails;
} offers[BLAS_OFFERS];
static int n_offers, last, n_products;
static double now;

static void
read_offer(const char *word)
{
	char *end;
	struct offer o = { .us = strtod(word, &end) };

	o.other = *end == 'o';
	o.fails = *end == 'f';
	offers[n_offers++] = o;
}

/* ---- a cuBLASLt: a layout is its rows, columns and type */

struct layout {
	uint64_t rows, cols;
};

static cublasStatus_t
layout(cublasLtMatrixLayout_t *l, cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld)
{
	struct layout *a = xalloc(1, sizeof *a);

	if (type != CUDA_R_32F || ld != (int64_t)rows)
		errx(NS_TROUBLE, "a layout of other than whole rows of f32");
	*a = (struct layout){ rows, cols };
	*l = (cublasLtMatrixLayout_t)a;
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t
layout_free(cublasLtMatrixLayout_t l)
{
	free(l);
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t
heuristic(cublasLtHandle_t h, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t p, int most, cublasLtMatmulHeuristicResult_t *r, int *n)
{
	(void)h, (void)desc, (void)a, (void)b, (void)c, (void)d, (void)p;
	*n = n_offers < most ? n_offers : most;
	for (int i = 0; i < *n; i++)
		r[i].algo.data[0] = (uint64_t)i;
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t
matmul(cublasLtHandle_t h, cublasLtMatmulDesc_t desc, const void *alpha, const void *wv,
    cublasLtMatrixLayout_t lw, const void *xv, cublasLtMatrixLayout_t lx, const void *beta,
    const void *cv, cublasLtMatrixLayout_t lc, void *outv, cublasLtMatrixLayout_t ld,
    const cublasLtMatmulAlgo_t *algo, void *space, size_t bytes, cudaStream_t s)
{
	const struct layout *a = (const void *)lw, *b = (const void *)lx;
	const struct offer *o = &offers[last = (int)algo->data[0]];
	const float *w = wv, *x = xv, add = *(const float *)beta;
	float *out = outv;

	(void)h, (void)desc, (void)alpha, (void)cv, (void)lc, (void)ld, (void)space, (void)bytes, (void)s;
	now += o->us + (n_products++ < COLD ? 1000 : 0);
	if (o->fails)
		return CUBLAS_STATUS_EXECUTION_FAILED;
	for (size_t i = 0; i < b->cols; i++)
		for (size_t j = 0; j < a->cols; j++) {
			float sum = 0;

			for (size_t k = 0; k < K; k++) {
				const size_t at = o->other ? K - 1 - k : k;

				sum += w[j * K + at] * x[i * K + at];
			}
			out[i * a->cols + j] = sum + (add != 0 ? out[i * a->cols + j] : 0);
		}
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t
set_up(void)
{
	return CUBLAS_STATUS_SUCCESS;
}

bool
lt_open(struct lt *lt)
{
	*lt = (struct lt){ .layout = layout, .layout_free = layout_free,
	    .heuristic = heuristic, .matmul = matmul,
	    .desc = (__typeof__(lt->desc))(void *)set_up,
	    .desc_set = (__typeof__(lt->desc_set))(void *)set_up,
	    .desc_free = (__typeof__(lt->desc_free))(void *)set_up,
	    .preference = (__typeof__(lt->preference))(void *)set_up,
	    .preference_set = (__typeof__(lt->preference_set))(void *)set_up,
	    .preference_free = (__typeof__(lt->preference_free))(void *)set_up };
	return true;
}

void
lt_close(struct lt *lt)
{
	(void)lt;
}

/* ---- a device: an event is a time */

void
device_check(cudaError_t e, const char *what)
{
	if (e != cudaSuccess)
		errx(NS_TROUBLE, "%s", what);
}

cudaError_t
cudaEventCreate(cudaEvent_t *e)
{
	*e = xalloc(1, sizeof now);
	return cudaSuccess;
}
cudaError_t
cudaEventDestroy(cudaEvent_t e)
{
	free(e);
	return cudaSuccess;
}
cudaError_t
cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
	(void)s;
	memcpy(e, &now, sizeof now);
	return cudaSuccess;
}
cudaError_t
cudaEventSynchronize(cudaEvent_t e)
{
	(void)e;
	return cudaSuccess;
}
cudaError_t
cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
	*ms = (float)((*(double *)to - *(double *)from) / 1e3);
	return cudaSuccess;
}
cudaError_t
cudaMemsetAsync(void *p, int v, size_t n, cudaStream_t s)
{
	(void)s;
	memset(p, v, n);
	return cudaSuccess;
}
cudaError_t
cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind kind, cudaStream_t s)
{
	(void)s, (void)kind;
	memcpy(to, from, n);
	return cudaSuccess;
}
cudaError_t
cudaStreamSynchronize(cudaStream_t s)
{
	(void)s;
	return cudaSuccess;
}
cudaError_t
cudaGetLastError(void)
{
	return cudaSuccess;
}

/* ---- */

static float *
random_floats(size_t n)
{
	float *f = xalloc(n, sizeof *f);

	for (size_t i = 0; i < n; i++)
		f[i] = (float)(drand48() - 0.5);
	return f;
}

/* As the first offer has it, over ones. */
static void
check(const struct gemm *g)
{
	const float *w = g->w, *x = g->x, *out = g->out;

	for (size_t i = 0; i < g->m; i++)
		for (size_t j = 0; j < g->n; j++) {
			float sum = 0;

			for (size_t k = 0; k < K; k++)
				sum += w[j * K + k] * x[i * K + k];
			sum += g->to == OUT_ADD ? 1 : 0;
			if (memcmp(&sum, &out[i * g->n + j], sizeof sum) != 0)
				errx(NS_NO, "row %zu, column %zu: %g, not %g", i, j,
				    (double)out[i * g->n + j], (double)sum);
		}
}

int
main(int argc, char *argv[])
{
	struct blas *b = blas_open(NULL, 0);
	struct gemm g = { .k = K };
	const float *layer[LAYERS];
	float *x, *out;
	bool changed;

	if (argc < 5 || argc - 4 > BLAS_OFFERS)
		errx(NS_TROUBLE, "usage: blas-tune ROWS COLUMNS f32|add OFFER...");
	g.m = opt_count("rows", argv[1]);
	g.n = opt_count("columns", argv[2]);
	g.to = strcmp(argv[3], "add") == 0 ? OUT_ADD : OUT_F32;
	for (int i = 4; i < argc; i++)
		read_offer(argv[i]);
	g.x = x = random_floats(g.m * K);
	g.out = out = random_floats(g.m * g.n);
	for (int i = 0; i < LAYERS; i++) {
		g.w = layer[i] = random_floats(g.n * K);
		blas_gemm(b, NULL, WORD_F32, &g);
	}
	n_products = 0;
	changed = blas_tune(b, NULL);
	for (size_t i = 0; i < g.m * g.n; i++)
		out[i] = 1;
	if (blas_gemm(b, NULL, WORD_F32, &g))
		check(&g);
	printf("%d%s\n", last, changed ? " changed" : "");
	blas_close(b);
	for (int i = 0; i < LAYERS; i++)
		free((void *)(uintptr_t)layer[i]);
	free(x);
	free(out);
	return NS_OK;
}
