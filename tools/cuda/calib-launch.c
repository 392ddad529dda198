/* calib-launch.c: what it costs to start a kernel that does nothing. */
#include "calib-gpu.h"

enum { MANY = 1000, WAITS = 201 };

static void
queue_many(struct gpu *g, const void *graph, unsigned repeat)
{
	(void)repeat;
	if (graph != NULL) {
		gpu_must(cudaGraphLaunch(*(const cudaGraphExec_t *)graph, g->stream), "graph");
		return;
	}
	for (int i = 0; i < MANY; i++)
		cu_calib_nothing(g->stream);
}

static cudaGraphExec_t
chain(struct gpu *g, int n)
{
	cudaGraphExec_t ready;
	cudaGraph_t graph;

	gpu_must(cudaStreamBeginCapture(g->stream, cudaStreamCaptureModeThreadLocal), "graph");
	for (int i = 0; i < n; i++)
		cu_calib_nothing(g->stream);
	gpu_must(cudaStreamEndCapture(g->stream, &graph), "graph");
	gpu_must(cudaGraphInstantiate(&ready, graph, 0), "graph");
	gpu_must(cudaGraphDestroy(graph), "graph");
	return ready;
}

/* From the call until the host knows that it is done: median. */
static double
wait_ns(struct gpu *g, cudaGraphExec_t graph)
{
	double took[WAITS];
	uint64_t start;

	for (int i = 0; i < WAITS; i++) {
		start = now_ns();
		if (graph != NULL)
			cudaGraphLaunch(graph, g->stream);
		else
			cu_calib_nothing(g->stream);
		cudaStreamSynchronize(g->stream);
		took[i] = (double)(now_ns() - start);
	}
	gpu_wait(g, "an empty kernel");
	return gpu_median(took, WAITS);
}

void
gpu_launches(struct gpu *g, struct launches *l)
{
	cudaGraphExec_t one = chain(g, 1), many = chain(g, MANY);

	l->wait_ns = wait_ns(g, NULL);
	l->graph_wait_ns = wait_ns(g, one);
	l->each_ns = gpu_seconds(g, queue_many, NULL, 0) * 1e9 / MANY;
	l->graph_each_ns = gpu_seconds(g, queue_many, &many, 0) * 1e9 / MANY;
	cudaGraphExecDestroy(one);
	cudaGraphExecDestroy(many);
}
