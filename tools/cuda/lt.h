/* lt.h: cuBLASLt by dlopen, so that a program without it still runs. */
#ifndef LT_H
#define LT_H

#include <cublasLt.h>

#include "ns.h"

#define LT_FUNCTIONS(f) \
	f(create, cublasLtCreate) \
	f(destroy, cublasLtDestroy) \
	f(version, cublasLtGetVersion) \
	f(desc, cublasLtMatmulDescCreate) \
	f(desc_free, cublasLtMatmulDescDestroy) \
	f(desc_set, cublasLtMatmulDescSetAttribute) \
	f(layout, cublasLtMatrixLayoutCreate) \
	f(layout_free, cublasLtMatrixLayoutDestroy) \
	f(preference, cublasLtMatmulPreferenceCreate) \
	f(preference_free, cublasLtMatmulPreferenceDestroy) \
	f(preference_set, cublasLtMatmulPreferenceSetAttribute) \
	f(heuristic, cublasLtMatmulAlgoGetHeuristic) \
	f(matmul, cublasLtMatmul)
#define LT_POINTER(name, function) __typeof__(function) *name;

struct lt {
	void	*library;
	LT_FUNCTIONS(LT_POINTER)
	cublasLtHandle_t handle;
};
bool	lt_open(struct lt *);	/* false: not there, or no GPU for it */
void	lt_close(struct lt *);

#endif
