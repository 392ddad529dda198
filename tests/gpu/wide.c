/*
 * wide.c: wide.cu beside the product and the SiLU of others.
 *
 *	wide		a row a case: how far off, in relative L2 and at worst, and
 *			the time of either
 */
#include "results.h"
#include "calib.h"

enum { TIMES = 12 };

enum kind { GATE, HEAD, SUM };
static const char *const kinds[] = { "gate", "head", "sum" };
struct shape {
	enum kind kind;
	uint32_t batch, cols, rows;	/* rows: of gate, or of the matrix */
};
static const uint32_t batches[] = { 9, 16, 17, 20, 32, 33, 64 };
static const struct shape shapes[] = {
	{ GATE, 0, 64, 8 }, { GATE, 0, 64, 1000 }, { HEAD, 0, 64, 9 }, { HEAD, 0, 72, 4001 },
	{ GATE, 0, 448, 1096 }, { GATE, 0, 520, 20008 }, { HEAD, 0, 320, 60003 },
	{ SUM, 0, 64, 8 }, { SUM, 0, 456, 1000 }, { SUM, 0, 1000, 60 }, { SUM, 0, 8192, 2048 },
	{ GATE, 0, 3584, 18944 }, { HEAD, 0, 3584, 152064 }, { SUM, 0, 3584, 3584 },
	{ SUM, 0, 18944, 3584 },
};

struct memory {
	struct queue q;
	struct blas *blas;
	void	*w, *x, *gate_up, *out, *wanted, *best;
	cudaEvent_t begun, ended;
	enum word word;
	size_t	 n_parts;
};

static bool
own(struct memory *m, const struct shape *s)
{
	static const enum wide_to to[] = { [GATE] = WIDE_SILU, [HEAD] = WIDE_BEST,
	    [SUM] = WIDE_PARTS };
	const struct wide g = { .w = m->w, .x = m->x, .batch = s->batch, .cols = s->cols,
	    .rows = s->kind == GATE ? 2 * s->rows : s->rows, .to = to[s->kind],
	    .out = s->kind == HEAD ? m->best : m->out,
	    .logits = s->kind == HEAD ? m->out : NULL };

	return cu_wide(&m->q, m->word, &g, &m->n_parts);
}

static void
plain(struct memory *m, const struct shape *s)
{
	const bool silu = s->kind == GATE;
	const struct gemm g = { .x = m->x, .w = m->w, .m = s->batch, .k = s->cols,
	    .n = silu ? 2 * s->rows : s->rows, .out = silu ? m->gate_up : m->wanted,
	    .to = silu ? OUT_WORD : OUT_F32 };

	if (!blas_gemm(m->blas, m->q.stream, m->word, &g))
		cu_gemm(&m->q, m->word, &g);
	if (silu)
		cu_silu(&m->q, m->word, m->wanted, m->gate_up, s->rows, s->batch);
}

static void *
fetch(struct memory *m, const void *from, size_t bytes)
{
	void *p = xalloc(1, bytes);

	must(cudaMemcpyAsync(p, from, bytes, cudaMemcpyDeviceToHost, m->q.stream));
	must(cudaStreamSynchronize(m->q.stream));
	return p;
}

/* Of some in a row, a time. */
static double
time_us(struct memory *m, const struct shape *s, bool is_own)
{
	float ms;

	must(cudaEventRecord(m->begun, m->q.stream));
	for (int i = 0; i < TIMES; i++)
		if (is_own)
			own(m, s);
		else
			plain(m, s);
	must(cudaEventRecord(m->ended, m->q.stream));
	must(cudaEventSynchronize(m->ended));
	must(cudaEventElapsedTime(&ms, m->begun, m->ended));
	return (double)ms * 1000 / TIMES;
}

/* The sum of the parts: words have one. */
static double
sum(const struct memory *m, enum word word, const void *p, size_t i, size_t n)
{
	double all = 0;

	for (size_t k = 0; k < m->n_parts; k++)
		all += value(word, p, k * n + i);
	return all;
}

/* Relative L2; the worst of all, beside its own size and the usual. */
static void
compare(const struct memory *m, enum word word, const void *got, const void *wanted, size_t n,
    double *l2, double *worst)
{
	double error = 0, square = 0, rms;

	for (size_t i = 0; i < n; i++) {
		const double a = sum(m, word, got, i, n), b = value(word, wanted, i);

		error += (a - b) * (a - b);
		square += b * b;
	}
	rms = sqrt(square / (double)n);
	*l2 = sqrt(error / square);
	*worst = 0;
	for (size_t i = 0; i < n; i++) {
		const double b = value(word, wanted, i);

		*worst = fmax(*worst, fabs(sum(m, word, got, i, n) - b) / (fabs(b) + rms));
	}
}

/* Is the best of each row's keys the first of its greatest logits? */
static bool
right_best(struct memory *m, const struct shape *s, const float *logits)
{
	uint64_t *key = fetch(m, m->best, s->batch * m->n_parts * sizeof *key);
	bool right = true;

	for (size_t b = 0; b < s->batch; b++) {
		uint64_t best = 0;
		uint32_t greatest = 0;

		for (size_t i = 0; i < m->n_parts; i++)
			best = key[b * m->n_parts + i] > best ? key[b * m->n_parts + i] : best;
		for (uint32_t i = 1; i < s->rows; i++)
			if (logits[b * s->rows + i] > logits[b * s->rows + greatest])
				greatest = i;
		right = right && (uint32_t)~best == greatest;
	}
	free(key);
	if (!right)
		puts("the best is another");
	return right;
}

/* Poisoned first, and a row more: as it was, or something wrote beyond the end. */
static bool
check(struct memory *m, const struct shape *s)
{
	const bool words = s->kind == GATE;
	const size_t row = s->rows * (size_t)(words ? 2 : 4), each = s->batch * row;
	const size_t most = (s->kind == SUM ? WIDE_SPANS : 1) * each + row;
	double l2, worst;
	bool beyond = false, chosen = true, same;
	unsigned char *got, *again;
	void *wanted;

	must(cudaMemsetAsync(m->out, 0xff, most, m->q.stream));
	if (!own(m, s))
		errx(NS_NO, "not a product for wide.cu: not compute capability 9.0?");
	got = fetch(m, m->out, most);
	must(cudaMemsetAsync(m->out, 0xff, most, m->q.stream));
	own(m, s);
	again = fetch(m, m->out, most);
	plain(m, s);
	wanted = fetch(m, m->wanted, each);
	if (s->kind == HEAD) {
		chosen = right_best(m, s, (const float *)(const void *)got);
		m->n_parts = 1;
	}
	for (size_t i = m->n_parts * each; i < most; i++)
		beyond = beyond || got[i] != 0xff;
	same = memcmp(got, again, most) == 0;
	compare(m, words ? m->word : WORD_F32, got, wanted, s->batch * (size_t)s->rows, &l2,
	    &worst);
	printf("%s\t%s\t%u\t%u\t%u\t%zu\t%.2g\t%.2g\t%s\t%s\t%.1f\t%.1f\n", m->word == WORD_F16 ? "f16" : "bf16",
	    kinds[s->kind], s->batch, s->rows, s->cols, m->n_parts, l2, worst, same ? "same" : "other",
	    beyond ? "beyond" : "within", time_us(m, s, true), time_us(m, s, false));
	free(got);
	free(again);
	free(wanted);
	return same && !beyond && chosen && l2 <= (words ? 1e-2 : 1e-4) &&
	    worst <= (words ? 0.1 : 1e-3);
}

enum { WEIGHTS = 152064 * 3584, ROWS = WIDE_MOST, COLS = 18944, OUTS = (ROWS + 1) * 152064 };

static bool
check_all(struct memory *m, enum word word)
{
	const enum cu_type type = word == WORD_F16 ? CU_F16 : CU_BF16;
	bool right = true;

	m->word = word;
	m->blas = blas_open(device(BLAS_WORKSPACE), BLAS_WORKSPACE);
	cu_calib_values(m->q.stream, type, m->w, WEIGHTS, 1);
	cu_calib_values(m->q.stream, type, m->x, ROWS * COLS, 2);
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
			struct shape s = shapes[i];

			s.batch = batches[b];
			right = check(m, &s) && right;
		}
	blas_close(m->blas);
	return right;
}

int
main(void)
{
	struct cudaDeviceProp prop;
	struct memory m;
	bool right = true;

	must(cudaGetDeviceProperties(&prop, 0));
	m = (struct memory){ .q = { .overlap = true, .n_sms = prop.multiProcessorCount },
	    .w = device(2 * (size_t)WEIGHTS), .x = device(2 * ROWS * COLS),
	    .gate_up = device(2 * (size_t)OUTS), .out = device(4 * (size_t)OUTS),
	    .wanted = device(4 * (size_t)OUTS), .best = device(ROWS * 1024 * sizeof(uint64_t)) };
	must(cudaStreamCreate(&m.q.stream));
	must(cudaEventCreate(&m.begun));
	must(cudaEventCreate(&m.ended));
	puts("dtype\twhat\tbatch\trows\tcolumns\tparts\terror\tworst\tagain\tend\twide_us\tplain_us");
	right = check_all(&m, WORD_BF16) && right;
	right = check_all(&m, WORD_F16) && right;
	return right ? NS_OK : NS_NO;
}
