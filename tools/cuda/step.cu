/*
 * step.cu: launches the kernel of a whole step.  All blocks must run at a time:
 * the launch is cooperative.
 */
#include "common.cuh"
#include "step-kernel.cuh"

static size_t
shared_bytes(const struct step *a)
{
	return (size_t)a->n_stages * STEP_STAGE + a->room.all;
}

/* Do all blocks run at a time, with so much shared memory? */
static bool
kernel_fits(step_kernel kernel, const struct step *a, int sms)
{
	int blocks = 0;

	return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
	    shared_bytes(a)) == cudaSuccess &&
	    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel,
	    threads((uint32_t)a->finish.batch), shared_bytes(a)) == cudaSuccess &&
	    (uint32_t)(blocks * sms) >= a->n_blocks;
}

bool
cu_step_fits(enum word word, struct step *a, uint32_t dim)
{
	struct cudaFuncAttributes f;
	int device, most, left, sms, major;

	if (cudaGetDevice(&device) != cudaSuccess ||
	    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
	    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess ||
	    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
	    cudaFuncGetAttributes(&f, kernel_of(word, a, dim, true)) != cudaSuccess || major < 9)
		return false;
	lay_room(a, dim);
	left = most - (int)f.sharedSizeBytes - (int)a->room.all;
	if (left < STEP_STAGES_LEAST * STEP_STAGE)
		return false;
	a->n_stages = min((uint32_t)left / STEP_STAGE, (uint32_t)STEP_STAGES);
	return kernel_fits(kernel_of(word, a, dim, true), a, sms) &&
	    kernel_fits(kernel_of(word, a, dim, false), a, sms);
}

void
cu_step(const struct queue *q, enum word word, const struct step *a, uint32_t dim)
{
	cudaLaunchConfig_t c = {};
	cudaLaunchAttribute together = {};

	together.id = cudaLaunchAttributeCooperative;
	together.val.cooperative = 1;
	c.gridDim = dim3(a->n_blocks);
	c.blockDim = dim3(threads((uint32_t)a->finish.batch));
	c.dynamicSmemBytes = shared_bytes(a);
	c.stream = q->stream;
	c.attrs = &together;
	c.numAttrs = 1;
	cudaLaunchKernelEx(&c, kernel_of(word, a, dim, a->stamp != NULL), *a);
}
