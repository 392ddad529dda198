/* blas.c: cuBLASLt by dlopen, so that a machine without it still runs. */
#include <cublasLt.h>
#include <dlfcn.h>
#include <err.h>
#include <stdio.h>

#include "engine.h"

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
	void	*library, *workspace;
	size_t	 workspace_bytes;
	cublasLtHandle_t handle;
	cublasLtMatmulDesc_t desc;
	cublasLtMatmulPreference_t preference;
	struct product product[MAX_PLANS];
	size_t	 n;
	__typeof__(cublasLtCreate) *create;
	__typeof__(cublasLtDestroy) *destroy;
	__typeof__(cublasLtMatmulDescCreate) *desc_create;
	__typeof__(cublasLtMatmulDescDestroy) *desc_destroy;
	__typeof__(cublasLtMatmulDescSetAttribute) *desc_set;
	__typeof__(cublasLtMatrixLayoutCreate) *layout_create;
	__typeof__(cublasLtMatrixLayoutDestroy) *layout_destroy;
	__typeof__(cublasLtMatmulPreferenceCreate) *preference_create;
	__typeof__(cublasLtMatmulPreferenceDestroy) *preference_destroy;
	__typeof__(cublasLtMatmulPreferenceSetAttribute) *preference_set;
	__typeof__(cublasLtMatmulAlgoGetHeuristic) *heuristic;
	__typeof__(cublasLtMatmul) *matmul;
};

static void *
find_library(void)
{
	char name[40];
	void *p;

	for (int v = CUDART_VERSION / 1000 + 1; v >= 11; v--) {
		snprintf(name, sizeof name, "libcublasLt.so.%d", v);
		if ((p = dlopen(name, RTLD_NOW | RTLD_LOCAL)) != NULL)
			return p;
		snprintf(name, sizeof name, "/usr/local/cuda/lib64/libcublasLt.so.%d", v);
		if (v == CUDART_VERSION / 1000 &&
		    (p = dlopen(name, RTLD_NOW | RTLD_LOCAL)) != NULL)
			return p;
	}
	return NULL;
}

/* A function's address goes by memory: ISO C casts no object pointer to it. */
static bool
find(void *library, const char *name, void *function)
{
	void *p = dlsym(library, name);

	memcpy(function, &p, sizeof p);
	return p != NULL;
}

static bool
find_all(struct blas *b)
{
	return find(b->library, "cublasLtCreate", &b->create) &&
	    find(b->library, "cublasLtDestroy", &b->destroy) &&
	    find(b->library, "cublasLtMatmulDescCreate", &b->desc_create) &&
	    find(b->library, "cublasLtMatmulDescDestroy", &b->desc_destroy) &&
	    find(b->library, "cublasLtMatmulDescSetAttribute", &b->desc_set) &&
	    find(b->library, "cublasLtMatrixLayoutCreate", &b->layout_create) &&
	    find(b->library, "cublasLtMatrixLayoutDestroy", &b->layout_destroy) &&
	    find(b->library, "cublasLtMatmulPreferenceCreate", &b->preference_create) &&
	    find(b->library, "cublasLtMatmulPreferenceDestroy", &b->preference_destroy) &&
	    find(b->library, "cublasLtMatmulPreferenceSetAttribute", &b->preference_set) &&
	    find(b->library, "cublasLtMatmulAlgoGetHeuristic", &b->heuristic) &&
	    find(b->library, "cublasLtMatmul", &b->matmul);
}

struct blas *
blas_open(void *workspace, size_t bytes)
{
	struct blas *b = xalloc(1, sizeof *b);
	const cublasOperation_t turned = CUBLAS_OP_T;

	b->library = find_library();
	if (b->library == NULL || !find_all(b) ||
	    b->create(&b->handle) != CUBLAS_STATUS_SUCCESS) {
		warnx("no cuBLASLt (libcublasLt.so): products by kernels of "
		    "ns-worker's own, which are slower for long prompts");
		if (b->library != NULL)
			dlclose(b->library);
		free(b);
		return NULL;
	}
	b->workspace = workspace;
	b->workspace_bytes = bytes;
	if (b->desc_create(&b->desc, CUBLAS_COMPUTE_32F, CUDA_R_32F) != 0 ||
	    b->desc_set(b->desc, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned) != 0 ||
	    b->preference_create(&b->preference) != 0 ||
	    b->preference_set(b->preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
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

	p->can = b->layout_create(&p->a, type, p->k, p->n, (int64_t)p->k) == 0 &&
	    b->layout_create(&p->b, type, p->k, p->m, (int64_t)p->k) == 0 &&
	    b->layout_create(&p->c, to, p->n, p->m, (int64_t)p->n) == 0 &&
	    b->heuristic(b->handle, b->desc, p->a, p->b, p->c, p->c,
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
	return p != NULL && p->can && b->matmul(b->handle, b->desc, &one, g->w, p->a,
	    g->x, p->b, &add, g->out, p->c, g->out, p->c, &p->algo, b->workspace,
	    b->workspace_bytes, stream) == CUBLAS_STATUS_SUCCESS;
}

void
blas_close(struct blas *b)
{
	if (b == NULL)
		return;
	for (size_t i = 0; i < b->n; i++) {
		b->layout_destroy(b->product[i].a);
		b->layout_destroy(b->product[i].b);
		b->layout_destroy(b->product[i].c);
	}
	b->preference_destroy(b->preference);
	b->desc_destroy(b->desc);
	b->destroy(b->handle);
	dlclose(b->library);
	free(b);
}
