/* blas.h: what blas.c plans products with, and blas-tune.c chooses from. */
#ifndef BLAS_H
#define BLAS_H

#include "engine.h"
#include "lt.h"

enum { BLAS_PLANS = 256, BLAS_OFFERS = 16, BLAS_WEIGHTS = 16, BLAS_FEW_ROWS = 64 };

/* All products of a shape. */
struct product {
	struct gemm g;			/* the first of them */
	const void *w[BLAS_WEIGHTS];	/* of the first ones */
	size_t	 n_w, out_bytes;
	cublasLtMatrixLayout_t a, b, c;
	cublasLtMatmulHeuristicResult_t offer[BLAS_OFFERS];
	int	 n_offers, chosen;	/* no offers: cuBLASLt cannot */
};

struct blas {
	struct lt lt;
	void	*workspace;
	size_t	 workspace_bytes;
	cublasLtMatmulDesc_t desc;
	cublasLtMatmulPreference_t preference;
	struct product product[BLAS_PLANS];
	size_t	 n;
};

/* g, which has p's shape, by one of p's offers. */
bool	blas_multiply(const struct blas *, cudaStream_t, const struct product *p,
	    int offer, const struct gemm *g);

#endif
