/* blas.c: products by cuBLASLt, each shape planned once. */
#include <err.h>

#include "blas.h"

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
	const cudaDataType to = p->g.to == OUT_WORD ? type : CUDA_R_32F;
	const struct gemm *g = &p->g;

	p->out_bytes = g->m * g->n * (to == CUDA_R_32F ? 4 : 2);
	if (b->lt.layout(&p->a, type, g->k, g->n, (int64_t)g->k) != 0 ||
	    b->lt.layout(&p->b, type, g->k, g->m, (int64_t)g->k) != 0 ||
	    b->lt.layout(&p->c, to, g->n, g->m, (int64_t)g->n) != 0 ||
	    b->lt.heuristic(b->lt.handle, b->desc, p->a, p->b, p->c, p->c, b->preference,
	    g->m <= BLAS_FEW_ROWS ? BLAS_OFFERS : 1, p->offer, &p->n_offers) != 0)
		p->n_offers = 0;
}

static struct product *
planned(struct blas *b, enum word word, const struct gemm *g)
{
	struct product *p;

	for (size_t i = 0; i < b->n; i++) {
		p = &b->product[i];
		if (p->g.m == g->m && p->g.n == g->n && p->g.k == g->k && p->g.to == g->to)
			return p;
	}
	if (b->n == BLAS_PLANS)
		return NULL;
	p = &b->product[b->n++];
	*p = (struct product){ .g = *g };
	plan(b, p, word);
	return p;
}

bool
blas_multiply(const struct blas *b, cudaStream_t stream, const struct product *p, int offer,
    const struct gemm *g)
{
	const float one = 1, add = g->to == OUT_ADD ? 1 : 0;

	return b->lt.matmul(b->lt.handle, b->desc, &one, g->w, p->a, g->x, p->b, &add,
	    g->out, p->c, g->out, p->c, &p->offer[offer].algo, b->workspace,
	    b->workspace_bytes, stream) == CUBLAS_STATUS_SUCCESS;
}

/* False: not a product for it. */
bool
blas_gemm(struct blas *b, cudaStream_t stream, enum word word, const struct gemm *g)
{
	struct product *p;

	if (b == NULL || g->offset != NULL || g->bias != NULL)
		return false;
	p = planned(b, word, g);
	if (p == NULL || p->n_offers == 0)
		return false;
	if (p->n_w < BLAS_WEIGHTS)
		p->w[p->n_w++] = g->w;
	return blas_multiply(b, stream, p, p->chosen, g);
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
