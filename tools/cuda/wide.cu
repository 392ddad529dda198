/*
 * wide.cu: plans and launches the kernel of wide-kernel.cuh, where there is code
 * for the device: mk/build.mk has this file made for 9.0a.
 */
#include "wide-kernel.cuh"

typedef void (*kernel_fn)(struct wide_plan);

/* Rows of x, as they are multiplied. */
static uint32_t
rows_of_x(uint32_t batch)
{
	return batch <= 16 ? 16 : batch <= 32 ? 32 : 64;
}

template <class T, enum wide_to TO> static kernel_fn
kernel_of(uint32_t batch)
{
	return batch <= 16 ? wide<T, 16, TO> : batch <= 32 ? wide<T, 32, TO> : wide<T, 64, TO>;
}

template <class T> static kernel_fn
kernel_for(const struct wide *g)
{
	return g->to == WIDE_SILU ? kernel_of<T, WIDE_SILU>(g->batch) :
	    g->to == WIDE_BEST ? kernel_of<T, WIDE_BEST>(g->batch) :
	    kernel_of<T, WIDE_PARTS>(g->batch);
}

/* Is there code for 9.0a, and is this such a device? */
static bool
runs_here(kernel_fn kernel)
{
	static const int archs[] = { __CUDA_ARCH_LIST__ };
	cudaFuncAttributes a;
	bool built = false;

	for (int arch : archs)
		built = built || arch == 900;
	return built && cudaFuncGetAttributes(&a, kernel) == cudaSuccess && a.binaryVersion == 90;
}

static bool
can(enum word word, const struct wide *g)
{
	return word != WORD_F32 && g->batch >= WIDE_LEAST && g->batch <= WIDE_MOST &&
	    g->cols % 8 == 0 && (g->to != WIDE_SILU || g->rows % WIDE_UNIT == 0);
}

typedef decltype(&cuTensorMapEncodeTiled) encode_fn;

/* Boxes of a slab of some rows of a matrix, whose words may as well be of the other kind. */
static bool
map(encode_fn encode, CUtensorMap *box, const void *of, uint32_t cols, uint32_t rows,
    uint32_t some_rows)
{
	const cuuint64_t size[] = { cols, rows }, stride[] = { cols * (cuuint64_t)2 };
	const cuuint32_t some[] = { WIDE_SLAB, some_rows }, one[] = { 1, 1 };

	return encode(box, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void *)of, size, stride, some,
	    one, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
	    CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

/* NULL: the driver is older than it. */
static encode_fn
find_encode(void)
{
	cudaDriverEntryPointQueryResult found;
	void *f = nullptr;
#if CUDART_VERSION >= 12050
	const cudaError_t e = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000,
	    cudaEnableDefault, &found);
#else
	const cudaError_t e = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &f,
	    cudaEnableDefault, &found);
#endif

	return e == cudaSuccess && found == cudaDriverEntryPointSuccess ? (encode_fn)f : nullptr;
}

static bool
map_all(struct wide_plan *p)
{
	const struct wide *g = &p->g;
	const encode_fn encode = find_encode();
	bool mapped = encode != nullptr;

	for (uint32_t i = 0; i < 2; i++)
		mapped = mapped && map(encode, &p->box[i], g->w, g->cols, g->rows,
		    (p->deal.fewest + i) * WIDE_UNIT / 2);
	return mapped && map(encode, &p->x, g->x, g->cols, g->batch, rows_of_x(g->batch));
}

bool
cu_wide(const struct queue *q, enum word word, const struct wide *g, size_t *n_parts)
{
	struct wide_plan p = { .g = *g };
	kernel_fn kernel;

	if (!can(word, g))
		return false;
	BY_SHORT_WORD(word, kernel = kernel_for<T>(g));
	if (!runs_here(kernel))
		return false;
	p.deal = wide_deal(g->rows, g->cols, rows_of_x(g->batch),
	    g->to == WIDE_PARTS ? WIDE_SPANS : 1, q->n_sms);
	p.stages = min(WEIGHTS_ROOM / (p.deal.most * STAGE_UNIT), (uint32_t)STAGES);
	p.under_way = (UNDER_WAY + p.deal.most - 1) / p.deal.most;
	if (!map_all(&p))
		return false;
	cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);
	launch(q, kernel, dim3(p.deal.spans, p.deal.tiles), THREADS, SHARED, p);
	if (n_parts != NULL)
		*n_parts = g->to == WIDE_BEST ? p.deal.tiles : p.deal.spans;
	return true;
}
