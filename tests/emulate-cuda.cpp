/*
 * emulate-cuda.cpp: what the CUDA backend asks of the runtime, for kernels that
 * are emulated (emulate-launch.hpp): a device of EMULATED_SMS multiprocessors, or
 * four, whose memory is the host's, without cuBLASLt.  The kernel of a whole step
 * comes from step-emulate.cpp, and overlaps with none.
 */
#include <chrono>

#include "emulate-launch.hpp"
#include "step.h"

extern "C" {

struct blas *blas_open(void *, size_t) { return nullptr; }
bool blas_gemm(struct blas *, cudaStream_t, enum word, const struct gemm *) { return false; }
bool blas_tune(struct blas *, cudaStream_t) { return false; }
void blas_close(struct blas *) {}
void emulated_step(const struct queue *, enum word, const struct step *, uint32_t dim);
void
cu_step(const struct queue *q, enum word word, const struct step *a, uint32_t dim)
{
	const auto now = [=, s = *a] {
		emulated();
		emulated_step(q, word, &s, dim);
	};

	if (recording != nullptr)
		recording->push_back(now);
	else
		now();
}

const char *cudaGetErrorString(cudaError_t) { return "an error"; }
cudaError_t cudaGetLastError(void) { return cudaSuccess; }
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetDeviceCount(int *n) { *n = 1; return cudaSuccess; }
cudaError_t
cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
	*p = {};
	p->major = 9;
	p->multiProcessorCount = getenv("EMULATED_SMS") != nullptr ? atoi(getenv("EMULATED_SMS")) : 4;
	return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, const void *) { return cudaSuccess; }
cudaError_t cudaMemGetInfo(size_t *left, size_t *all) { *left = *all = (size_t)1 << 40; return cudaSuccess; }
cudaError_t cudaProfilerStart(void) { return cudaSuccess; }
cudaError_t cudaProfilerStop(void) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize(void) { emulated(); return cudaSuccess; }

/* Memory is NaN where nothing has been put. */
cudaError_t
cudaMalloc(void **p, size_t n)
{
	*p = aligned_alloc(256, (n + 255) / 256 * 256);
	memset(*p, 0xff, n);
	return cudaSuccess;
}
cudaError_t cudaFree(void *p) { free(p); return cudaSuccess; }
cudaError_t cudaHostAlloc(void **p, size_t n, unsigned) { return cudaMalloc(p, n); }
cudaError_t cudaFreeHost(void *p) { free(p); return cudaSuccess; }
cudaError_t
cudaMemcpy(void *to, const void *from, size_t n, cudaMemcpyKind)
{
	if (newest != nullptr)
		emulated();
	memcpy(to, from, n);
	return cudaSuccess;
}
cudaError_t
cudaMemcpyAsync(void *to, const void *from, size_t n, cudaMemcpyKind kind, cudaStream_t)
{
	return cudaMemcpy(to, from, n, kind);
}
cudaError_t
cudaMemset(void *p, int v, size_t n)
{
	if (newest != nullptr)
		emulated();
	memset(p, v, n);
	return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *p, int v, size_t n, cudaStream_t) { return cudaMemset(p, v, n); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned) { *s = nullptr; return cudaSuccess; }
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }

/* An event is a time; all before it is done. */
typedef std::chrono::steady_clock clock_type;
cudaError_t cudaEventCreate(cudaEvent_t *e) { *e = (cudaEvent_t)new clock_type::time_point; return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) { return cudaEventCreate(e); }
cudaError_t cudaEventDestroy(cudaEvent_t e) { delete (clock_type::time_point *)e; return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t
cudaEventRecord(cudaEvent_t e, cudaStream_t)
{
	if (newest != nullptr)
		emulated();
	*(clock_type::time_point *)e = clock_type::now();
	return cudaSuccess;
}
cudaError_t
cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
	*ms = std::chrono::duration<float, std::milli>(*(clock_type::time_point *)to -
	    *(clock_type::time_point *)from).count();
	return cudaSuccess;
}

/* A graph is the launches that it was recorded from. */
cudaError_t
cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode)
{
	recording = new std::vector<std::function<void()>>;
	return cudaSuccess;
}
cudaError_t
cudaStreamEndCapture(cudaStream_t, cudaGraph_t *g)
{
	*g = (cudaGraph_t)recording;
	recording = nullptr;
	return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *e, cudaGraph_t g, unsigned long long) { *e = (cudaGraphExec_t)g; return cudaSuccess; }
cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaSuccess; }
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t
cudaGraphLaunch(cudaGraphExec_t e, cudaStream_t)
{
	for (const std::function<void()> &launch : *(std::vector<std::function<void()>> *)e)
		launch();
	return cudaSuccess;
}
cudaError_t
cudaGraphExecDestroy(cudaGraphExec_t e)
{
	delete (std::vector<std::function<void()>> *)e;
	return cudaSuccess;
}

}
