/*
 * calib-gemm.c: what cuBLASLt reaches, for each type of operands.  The library
 * is loaded if it is there; its first choices are tried, and the fastest whose
 * result is right counts.
 */
#include <err.h>
#include <math.h>
#include <time.h>

#include "calib-gpu.h"
#include "lt.h"

enum { TRIED = 6, LARGEST = 8192 };

/* d = a b^T as C has it: column by column, d = a^T b of two turned matrices. */
struct product {
	const struct lt *lt;
	cublasLtMatmulDesc_t desc;
	cublasLtMatrixLayout_t in, out;
	cublasLtMatmulHeuristicResult_t choice[TRIED], *best;
	int	 n_choices;
};

static const struct {
	cudaDataType in, out;
	cublasComputeType_t compute;
	int	 cc;			/* from this on: 89 is 8.9 */
} types[CU_TYPES] = {
	[CU_F32] = { CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 0 },
	[CU_TF32] = { CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 80 },
	[CU_F16] = { CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 53 },
	[CU_BF16] = { CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 80 },
	[CU_FP8] = { CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 89 },
};

/* False: the library has nothing for it. */
static bool
plan(struct product *p, const struct lt *lt, enum cu_type type, size_t n, size_t workspace)
{
	const cublasOperation_t turned = CUBLAS_OP_T;
	const int8_t fast = 1;		/* fp8: sums as the tensor cores keep them */
	cublasLtMatmulPreference_t preference = NULL;
	bool so;

	*p = (struct product){ .lt = lt };
	so = lt->desc(&p->desc, types[type].compute, CUDA_R_32F) == 0 &&
	    lt->desc_set(p->desc, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned) == 0 &&
	    (type != CU_FP8 || lt->desc_set(p->desc, CUBLASLT_MATMUL_DESC_FAST_ACCUM,
	    &fast, sizeof fast) == 0) &&
	    lt->layout(&p->in, types[type].in, n, n, (int64_t)n) == 0 &&
	    lt->layout(&p->out, types[type].out, n, n, (int64_t)n) == 0 &&
	    lt->preference(&preference) == 0 &&
	    lt->preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
	    &workspace, sizeof workspace) == 0 &&
	    lt->heuristic(lt->handle, p->desc, p->in, p->in, p->out, p->out, preference,
	    TRIED, p->choice, &p->n_choices) == 0 && p->n_choices > 0;
	if (preference != NULL)
		lt->preference_free(preference);
	return so;
}

static void
unplan(struct product *p)
{
	if (p->in != NULL)
		p->lt->layout_free(p->in);
	if (p->out != NULL)
		p->lt->layout_free(p->out);
	if (p->desc != NULL)
		p->lt->desc_free(p->desc);
}

static void
multiply(struct gpu *g, const void *job, unsigned repeat)
{
	const struct product *p = job;
	const float one = 1, zero = 0;

	(void)repeat;
	if (p->lt->matmul(p->lt->handle, p->desc, &one, g->quarter[0], p->in, g->quarter[1],
	    p->in, &zero, g->quarter[2], p->out, g->quarter[2], p->out, &p->best->algo,
	    g->quarter[3], p->best->workspaceSize, g->stream) != CUBLAS_STATUS_SUCCESS)
		errx(NS_TROUBLE, "--device cuda: cuBLASLt refuses what it proposed");
}

static bool
right(struct gpu *g, enum cu_type type, size_t n)
{
	gpu_sum(g);
	cu_calib_check(g->stream, type, g->quarter[0], g->quarter[1], g->quarter[2], n,
	    g->sum);
	return gpu_sum(g) == 0;
}

static void
rest(unsigned ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* The fastest choice whose result is right, over a poisoned one. */
static bool
choose(struct gpu *g, struct product *p, enum cu_type type, size_t n)
{
	cublasLtMatmulHeuristicResult_t *best = NULL;
	double took, least = INFINITY;

	for (int i = 0; i < p->n_choices; i++) {
		gpu_must(cudaMemsetAsync(g->quarter[2], 0xff, n * n * sizeof(float),
		    g->stream), "memory");
		p->best = &p->choice[i];
		rest(50);
		took = gpu_seconds(g, multiply, p, 0);
		if (!right(g, type, n))
			warnx("gemm: wrong results of a product: not used");
		else if (took < least) {
			least = took;
			best = p->best;
		}
	}
	p->best = best;
	return best != NULL;
}

static void
measure(struct gpu *g, const struct lt *lt, struct gemms *m, enum cu_type type,
    double seconds)
{
	const double flop = 2.0 * (double)m->n * (double)m->n * (double)m->n;
	struct product p;

	if (plan(&p, lt, type, m->n, 64 << 20)) {
		cu_calib_values(g->stream, type, g->quarter[0], m->n * m->n, 1);
		cu_calib_values(g->stream, type, g->quarter[1], m->n * m->n, 2);
		if (choose(g, &p, type, m->n)) {
			rest(200);
			m->flop_per_s[type] = flop / gpu_seconds(g, multiply, &p, 0);
			m->sustained[type] = flop / gpu_seconds(g, multiply, &p, seconds);
		}
	}
	unplan(&p);
}

void
gpu_gemms(struct gpu *g, struct gemms *m, double seconds)
{
	const int cc = g->p.major * 10 + g->p.minor;
	struct lt lt;

	*m = (struct gemms){ .n = LARGEST };
	for (int t = 0; t < CU_TYPES; t++)
		m->flop_per_s[t] = m->sustained[t] = NAN;
	while (m->n * m->n * sizeof(float) > g->bytes)
		m->n /= 2;
	if (!lt_open(&lt)) {
		warnx("gemm: no libcublasLt.so.%d where the loader looks or in "
		    "/usr/local/cuda/lib64: NA", CUBLAS_VER_MAJOR);
		return;
	}
	snprintf(m->library, sizeof m->library, "cublaslt-%zu", lt.version());
	for (int t = 0; t < CU_TYPES; t++)
		if (cc >= types[t].cc)
			measure(g, &lt, m, (enum cu_type)t, seconds / CU_TYPES);
	lt_close(&lt);
}
