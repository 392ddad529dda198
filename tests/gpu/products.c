/*
 * products.c: is all of a product's result written, and is it the product?
 *
 *	products	poisons each result first; a row a product: who made it, what
 *			of it is still poison, and how far it is from the own kernels'
 *	products own	results in memory that nobody has written, then read by a
 *	products lt	kernel: for compute-sanitizer --tool initcheck
 */
#include "results.h"
#include "calib.h"

enum { LARGEST = 1 << 25 };	/* elements */

static const struct shape {
	size_t	 m, n, k;
} shapes[] = {
	{ 1, 128, 64 }, { 17, 128, 64 }, { 136, 320, 64 }, { 20, 1152, 256 },
	{ 512, 1152, 256 }, { 340, 1424, 256 }, { 8, 1001, 256 }, { 17, 2048, 1000 },
	{ 512, 512, 1000 }, { 33, 4608, 3584 }, { 2048, 4608, 3584 }, { 512, 3584, 18944 / 4 },
};
static const char *const words[] = { "f32", "f16", "bf16" };
static const char *const outs[] = { "word", "f32" };

struct memory {
	cudaStream_t stream;
	struct blas *blas;
	void	*x, *w, *workspace;
	void	*out[2];		/* cuBLASLt's, our own */
	char	*host[2];
};

/* False: none of cuBLASLt's. */
static bool
multiply(struct memory *m, enum word word, const struct gemm *g, bool lt)
{
	const struct queue q = { .stream = m->stream };

	if (lt)
		return blas_gemm(m->blas, m->stream, word, g);
	cu_gemm(&q, word, g);
	return true;
}

static size_t
out_bytes(const struct gemm *g, enum word word)
{
	return g->m * g->n * (word == WORD_F32 || g->to == OUT_F32 ? 4 : 2);
}

/* Results that are all ones still: no sum of finite products is. */
static size_t
poisoned(const char *p, size_t n, size_t size)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++)
		left += memcmp(p + i * size, "\377\377\377\377", size) == 0;
	return left;
}

static size_t
fetch(struct memory *m, int which, size_t n, size_t size)
{
	must(cudaMemcpyAsync(m->host[which], m->out[which], n * size,
	    cudaMemcpyDeviceToHost, m->stream));
	must(cudaStreamSynchronize(m->stream));
	return poisoned(m->host[which], n, size);
}

static bool
poison(struct memory *m, enum word word, const struct gemm *shape)
{
	const size_t bytes = out_bytes(shape, word), n = shape->m * shape->n;
	const size_t size = bytes / n;
	double error = 0, square = 0;
	size_t left[2];

	for (int own = 0; own < 2; own++) {
		struct gemm g = *shape;

		g.out = m->out[own];
		must(cudaMemsetAsync(g.out, 0xff, bytes, m->stream));
		if (fetch(m, own, n, size) != n)
			errx(NS_TROUBLE, "poison is not seen");
		if (!multiply(m, word, &g, own == 0))
			errx(NS_TROUBLE, "cuBLASLt has no product %zu x %zu x %zu of %s",
			    g.m, g.n, g.k, words[word]);
		left[own] = fetch(m, own, n, size);
	}
	for (size_t i = 0; i < n; i++) {
		const double a = value(size == 4 ? WORD_F32 : word, m->host[0], i);
		const double b = value(size == 4 ? WORD_F32 : word, m->host[1], i);

		error += (a - b) * (a - b);
		square += b * b;
	}
	error = sqrt(error / square);
	printf("%s\t%s\t%zu\t%zu\t%zu\t%zu\t%zu\t%.2g\n", words[word], outs[shape->to],
	    shape->m, shape->n, shape->k, left[0], left[1], error);
	return left[0] == 0 && left[1] == 0 && error <= (size == 4 ? 1e-5 : 5e-3);
}

/* A result nobody wrote before, and a kernel that reads all of it. */
static void
fresh(struct memory *m, enum word word, const struct gemm *shape, bool lt)
{
	const struct queue q = { .stream = m->stream };
	const size_t bytes = out_bytes(shape, word);
	struct gemm g = *shape;
	void *act = device(bytes);

	g.out = device(bytes);
	if (multiply(m, word, &g, lt)) {
		cu_silu(&q, g.to == OUT_F32 ? WORD_F32 : word, act, g.out, g.n / 2, g.m);
		must(cudaStreamSynchronize(m->stream));
	}
	must(cudaFree(g.out));
	must(cudaFree(act));
}

int
main(int argc, char *argv[])
{
	struct memory m = { .x = device(LARGEST * 4), .w = device(LARGEST * 4),
	    .workspace = device(BLAS_WORKSPACE) };
	bool right = true;

	must(cudaStreamCreate(&m.stream));
	m.blas = blas_open(m.workspace, BLAS_WORKSPACE);
	if (m.blas == NULL)
		return NS_TROUBLE;
	for (int i = 0; i < 2 && argc == 1; i++) {
		m.out[i] = device(LARGEST * 4);
		m.host[i] = xalloc(LARGEST, 4);
	}
	if (argc == 1)
		puts("word\tout\trows\tcolumns\tdepth\tleft_lt\tleft_own\terror");
	for (int w = WORD_F32; w <= WORD_BF16; w++) {
		const enum cu_type type = w == WORD_F32 ? CU_F32 : w == WORD_F16 ? CU_F16 : CU_BF16;

		cu_calib_values(m.stream, type, m.x, LARGEST, 1);
		cu_calib_values(m.stream, type, m.w, LARGEST, 2);
		for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
			for (int to = OUT_WORD; to <= OUT_F32; to++) {
				const struct gemm g = { .x = m.x, .w = m.w, .m = shapes[i].m,
				    .n = shapes[i].n, .k = shapes[i].k, .to = (enum gemm_out)to };

				if (argc == 1)
					right = poison(&m, (enum word)w, &g) && right;
				else
					fresh(&m, (enum word)w, &g, strcmp(argv[1], "lt") == 0);
			}
		must(cudaDeviceSynchronize());
		blas_close(m.blas);	/* it knows shapes, not words */
		m.blas = blas_open(m.workspace, BLAS_WORKSPACE);
	}
	blas_close(m.blas);
	return right ? NS_OK : NS_NO;
}
