/*
 * emulate-wide.hpp: what wide.cu asks of a device of compute capability 9.0, on a
 * CPU; in place of wide-ptx.cuh and of the driver.  Boxes arrive late, in any order;
 * products are worked out at any time until they are waited for.
 */
#ifndef EMULATE_WIDE_HPP
#define EMULATE_WIDE_HPP

#include <array>

#include <cuda.h>

#include "emulate-launch.hpp"
#include "emulate-barrier.hpp"

#define WIDE_PTX_CUH
#define __CUDA_ARCH_FEAT_SM90_ALL
#define __CUDA_ARCH_LIST__ 900

static inline uint64_t word_policy(void) { return 1; }
static inline void *__cvta_shared_to_generic(uint32_t at) { return shared_of(at); }

/* ---- launches: one thread of a block waits, one lets the next start */

static void
pass_turns(uint64_t n)
{
	for (; n > 0; n--)
		pass(nullptr, 0);
}

/* What others do before that may be little or much. */
static void
one_waits_for_last(void)
{
	pass_turns(dice() % 512);
	last_is_awaited(nullptr);
}
#define wait_for_last one_waits_for_last
#define let_next_start() next_is_let_start(nullptr)

/* ---- boxes: 64 columns of some rows, 128 bytes each, or zeros */

struct box {
	const uint16_t *words;
	uint64_t cols, rows;
	uint32_t some_rows;
};
static_assert(sizeof(struct box) <= sizeof(CUtensorMap), "a box is in its map's place");

/* Eighths of a row of 128 bytes lie where the row's number in 1024 says. */
static uint32_t
swizzled(uint32_t at)
{
	return at ^ (at >> 7 & 7) << 4;
}

static void
put_box(uint32_t to, const struct box &b, uint32_t column, uint32_t row)
{
	for (uint32_t i = 0; i < b.some_rows; i++)
		for (uint32_t k = 0; k < 64; k++) {
			const bool there = row + i < b.rows && column + k < b.cols;

			*(uint16_t *)shared_of(swizzled(to + i * 128 + k * 2)) =
			    there ? b.words[(row + i) * b.cols + column + k] : 0;
		}
}

/* Now and then much later than what is asked for after it. */
static void
arrive(uint64_t turns, const std::function<void()> &box)
{
	here->later.push_back([=] {
		if (turns == 0)
			box();
		else
			arrive(turns - 1, box);
	});
}

static void
fetch_box(uint32_t to, const CUtensorMap *map, uint32_t column, uint32_t row, uint32_t barrier,
    uint64_t)
{
	struct box b;

	memcpy(&b, map, sizeof b);
	if (to % 1024 != 0 || barrier % 8 != 0 || (uintptr_t)map % 64 != 0)
		wrong("a box that is not aligned");
	if (to + b.some_rows * 128 > sizeof smem)
		wrong("a box beyond shared memory");
	arrive(dice() % 8 == 0 ? dice() % 256 : 0, [=] {
		put_box(to, b, column, row);
		barrier_got(barrier, b.some_rows * 128);
	});
}

static CUresult
encode_box(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *words,
    const cuuint64_t *size, const cuuint64_t *stride, const cuuint32_t *some,
    const cuuint32_t *step, CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill)
{
	const struct box b = { (const uint16_t *)words, size[0], size[1], some[1] };

	if (type != CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 || rank != 2 || some[0] != 64 ||
	    step[0] != 1 || step[1] != 1 || stride[0] != 2 * size[0] ||
	    swizzle != CU_TENSOR_MAP_SWIZZLE_128B || fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
		wrong("not boxes as wide.cu has them");
	if ((uintptr_t)words % 16 != 0 || stride[0] % 16 != 0 || some[1] == 0 || some[1] > 256)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(map, &b, sizeof b);
	return CUDA_SUCCESS;
}

extern "C" cudaError_t
cudaGetDriverEntryPointByVersion(const char *, void **f, unsigned, unsigned long long,
    cudaDriverEntryPointQueryResult *found)
{
	*f = (void *)encode_box;
	*found = cudaDriverEntryPointSuccess;
	return cudaSuccess;
}
template <class F> static cudaError_t
cudaFuncGetAttributes(cudaFuncAttributes *a, F)
{
	a->binaryVersion = 90;
	return cudaSuccess;
}

/* ---- products of four warps */

template <class T> static float
word_at(uint64_t operand, uint32_t row, uint32_t k)
{
	const uint32_t at = (operand & 0x3fff) << 4, eight = (operand >> 32 & 0x3fff) << 4;
	const uint32_t from = swizzled(at + row / 8 * eight + row % 8 * 128 + k * 2);
	T v;

	if (at % 1024 >= 128)
		wrong("an operand whose first row is not the first of eight");
	if (from + sizeof v > sizeof smem)
		wrong("an operand beyond shared memory");
	memcpy(&v, shared_of(from), sizeof v);
	return to_float(v);
}

/* d[16][N] += a[16][16] b[N][16] of one of the four: lanes have d as of mma. */
template <class T, int N> static void
multiply_of(const std::array<float *, 32> &d, uint64_t a, uint64_t b, uint32_t warp)
{
	float aw[16][16], bw[N][16];

	for (int k = 0; k < 16; k++) {
		for (int row = 0; row < 16; row++)
			aw[row][k] = word_at<T>(a, warp * 16 + row, k);
		for (int n = 0; n < N; n++)
			bw[n][k] = word_at<T>(b, n, k);
	}
	for (int row = 0; row < 16; row++)
		for (int n = 0; n < N; n++) {
			float sum = 0;

			for (int k = 0; k < 16; k++)
				sum += aw[row][k] * bw[n][k];
			d[row % 8 * 4 + n % 8 / 2][n / 8 * 4 + row / 8 * 2 + n % 2] += sum;
		}
}

/* What a warp has begun, in its first lane's copies. */
static void
do_products(void **)
{
	std::vector<std::function<void()>> &begun = here->lanes[threadIdx.x / 32 * 32].copies;

	for (const std::function<void()> &product : begun)
		product();
	begun.clear();
}

/* Four warps multiply the same, each in its own time. */
struct four {
	std::vector<std::pair<uint64_t, uint64_t>> of;
	size_t	 n[4];
};
static thread_local four fours[THREADS_MOST / 128];

static void
check_four(uint64_t a, uint64_t b)
{
	four *f = &fours[threadIdx.x / 128];
	size_t *n = &f->n[threadIdx.x / 32 % 4];

	if (f->of.empty())
		here->at_end.push_back([=] {
			for (const size_t each : f->n)
				if (each != f->of.size())
					wrong("four warps do not all multiply");
			*f = {};
		});
	if (*n == f->of.size())
		f->of.push_back({ a, b });
	if (f->of[(*n)++] != std::make_pair(a, b))
		wrong("four warps do not multiply the same");
}

struct product {
	float	*d;
	uint64_t a, b;
};
template <class T, int SUMS> static void
wgmma(float (&d)[SUMS], uint64_t a, uint64_t b)
{
	product mine = { d, a, b };

	meet_warp(&mine, [](void **all) {
		const product one = *(product *)all[0];
		const uint32_t warp = threadIdx.x / 32;
		std::array<float *, 32> sums;

		for (int i = 0; i < 32; i++) {
			const product *p = (product *)all[i];

			if (p->a != one.a || p->b != one.b)
				wrong("lanes do not multiply the same");
			sums[i] = p->d;
		}
		check_four(one.a, one.b);
		here->lanes[warp * 32].copies.push_back([=] {
			multiply_of<T, 2 * SUMS>(sums, one.a, one.b, warp % 4);
		});
		if (dice() % 2 == 0)
			do_products(nullptr);
	});
}
/* Now and then it takes long. */
template <int SUMS> static void
wgmma_end(float (&)[SUMS])
{
	if (dice() % 256 == 0)
		pass_turns(dice() % 16);
	meet_warp(nullptr, do_products);
}
template <int SUMS> static void wgmma_begin(float (&)[SUMS]) {}

static inline void barriers_are_begun(void) {}

/* ---- the kernel's shared memory, which begins at no multiple of 1024, and how much it is */

#define shared_at(raw) 16u
#define SHARED SHARED_OF_WIDE

#endif
