/* blas.c: products by cuBLASLt, each shape planned once. */
#include <err.h>

#include "engine.h"
#include "lt.h"

enum { MAX_PLANS = 256 };

/* What a product of that shape is done with. */
struct product {
	size_t	 m, n, k;
	enum gemm_out to;
	bool	 can;
	cublasLtMatrixLayout_t a, b, c;
	cublasLtMatmulAlgo_t algo;
};

struct blas {
	struct lt lt;
	void	*workspace;
	size_t	 workspace_bytes;
	cublasLtMatmulDesc_t desc;
	cublasLtMatmulPreference_t preference;
	struct product product[MAX_PLANS];
	size_t	 n;
};

struct blas *
blas_open(void *workspace, size_t bytes)
{
	struct blas *b = xalloc(1, sizeof *b);
	const cublasOperation_t turned = CUBLAS_OP_T;

	if (!lt_open(&b->lt)) {
		warnx("no cuBLASLt (libcublasLt.so): products by kernels of "
		    "ns-worker's own, which are slower for long prompts");
		free(b);
		return NULL;
	}
	b->workspace = workspace;
	b->workspace_bytes = bytes;
	if (b->lt.desc(&b->desc, CUBLAS_COMPUTE_32F, CUDA_R_32F) != 0 ||
	    b->lt.desc_set(b->desc, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned) != 0 ||
	    b->lt.preference(&b->preference) != 0 ||
	    b->lt.preference_set(b->preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
	    &bytes, sizeof bytes) != 0)
		errx(NS_TROUBLE, "--device cuda: cuBLASLt cannot be set up");
	return b;
}

/* Row by row is column by column turned: out^T = w x^T. */
static void
plan(struct blas *b, struct product *p, enum word word)
{
	const cudaDataType type = word == WORD_F32 ? CUDA_R_32F :
	    word == WORD_F16 ? CUDA_R_16F : CUDA_R_16BF;
	const cudaDataType to = p->to == OUT_WORD ? type : CUDA_R_32F;
	cublasLtMatmulHeuristicResult_t found;
	int n = 0;

	p->can = b->lt.layout(&p->a, type, p->k, p->n, (int64_t)p->k) == 0 &&
	    b->lt.layout(&p->b, type, p->k, p->m, (int64_t)p->k) == 0 &&
	    b->lt.layout(&p->c, to, p->n, p->m, (int64_t)p->n) == 0 &&
	    b->lt.heuristic(b->lt.handle, b->desc, p->a, p->b, p->c, p->c,
	    b->preference, 1, &found, &n) == 0 && n == 1;
	if (p->can)
		p->algo = found.algo;
}

static struct product *
planned(struct blas *b, enum word word, const struct gemm *g)
{
	struct product *p;

	for (size_t i = 0; i < b->n; i++) {
		p = &b->product[i];
		if (p->m == g->m && p->n == g->n && p->k == g->k && p->to == g->to)
			return p;
	}
	if (b->n == MAX_PLANS)
		return NULL;
	p = &b->product[b->n++];
	*p = (struct product){ .m = g->m, .n = g->n, .k = g->k, .to = g->to };
	plan(b, p, word);
	return p;
}

/* False: not a product for it. */
bool
blas_gemm(struct blas *b, cudaStream_t stream, enum word word, const struct gemm *g)
{
	const float one = 1, add = g->to == OUT_ADD ? 1 : 0;
	const struct product *p;

	if (b == NULL || g->offset != NULL || g->bias != NULL)
		return false;
	p = planned(b, word, g);
	return p != NULL && p->can && b->lt.matmul(b->lt.handle, b->desc, &one, g->w, p->a,
	    g->x, p->b, &add, g->out, p->c, g->out, p->c, &p->algo, b->workspace,
	    b->workspace_bytes, stream) == CUBLAS_STATUS_SUCCESS;
}

void
blas_close(struct blas *b)
{
	if (b == NULL)
		return;
	for (size_t i = 0; i < b->n; i++) {
		b->lt.layout_free(b->product[i].a);
		b->lt.layout_free(b->product[i].b);
		b->lt.layout_free(b->product[i].c);
	}
	b->lt.preference_free(b->preference);
	b->lt.desc_free(b->desc);
	lt_close(&b->lt);
	free(b);
}
