/*
 * rope.cu: a warp a head of a row: bias, norm, rotation; keys and values into
 * the cache, the row's queries to where attention reads them.
 */
#include "common.cuh"
#include "head.cuh"

enum { WARPS = 8 };

template <class T> __global__ void
rope(struct heads h, const T *qkv, T *q, uint32_t first, size_t rows)
{
	const unsigned all = h.heads + 2 * h.kv_heads, lane = threadIdx.x % 32;
	const size_t i = blockIdx.x * (size_t)WARPS + threadIdx.x / 32;
	const size_t row = i / all, head = i % all;
	float v[HEAD_MAX];
	const T *in = qkv + i * h.dim;
	size_t seq, position;
	T *out;

	wait_for_last();
	if (row >= rows)
		return;
	seq = row % h.batch;
	position = first == AT_PLACE ? h.place[seq].position : first + row / h.batch;
	head_read(v, in, h, head, lane);
	if (head < h.heads + h.kv_heads)
		head_turn(v, h, head, position, lane);
	out = head < h.heads ? q + (row * h.heads + head) * h.dim :
	    (T *)(head < h.heads + h.kv_heads ? h.k : h.v) +
	    ((seq * h.kv_heads + (head - h.heads) % h.kv_heads) * h.n_positions +
	    position) * h.dim;
	head_write(out, v, h, lane);
}

void
cu_rope(const struct queue *q, enum word word, const struct heads *h,
    const void *qkv, void *out, uint32_t first, size_t rows)
{
	const size_t n = rows * (h->heads + 2 * h->kv_heads);

	BY_WORD(word, launch(q, rope<T>, dim3((n + WARPS - 1) / WARPS), WARPS * 32, 0,
	    *h, (const T *)qkv, (T *)out, first, rows));
}
