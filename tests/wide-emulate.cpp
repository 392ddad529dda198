/*
 * wide-emulate: products of wide.cu on a CPU (emulate-wide.hpp) beside sums of doubles.
 * Writes a row a product: how it is dealt, how far off in relative L2 and at worst.
 */
#include "emulate-wide.hpp"
#include "wide.cu"

static const uint32_t batches[] = { 9, 16, 20, 32, 33, 64 };
struct shape {
	enum wide_to to;
	uint32_t rows, cols;
	int	 blocks;
};
static const struct shape shapes[] = {
	{ WIDE_PARTS, 1, 8, 4 }, { WIDE_PARTS, 40, 64, 2 }, { WIDE_PARTS, 269, 72, 3 },
	{ WIDE_PARTS, 643, 328, 1 }, { WIDE_PARTS, 50, 1096, 9 }, { WIDE_PARTS, 200, 840, 5 },
	{ WIDE_SILU, 16, 64, 4 }, { WIDE_SILU, 16, 2632, 1 }, { WIDE_SILU, 16 * 41, 200, 1 },
	{ WIDE_SILU, 16 * 37, 320, 2 }, { WIDE_SILU, 16 * 25, 448, 7 },
	{ WIDE_BEST, 9, 64, 4 }, { WIDE_BEST, 1001, 136, 3 }, { WIDE_BEST, 333, 456, 1 },
};
static const char *const names[] = { "parts", "silu", "best" };

static float
number(void)
{
	static uint32_t seed = 1;

	seed = seed * 1664525 + 1013904223;
	return (float)(seed >> 8) / (1 << 23) - 1;
}

/* Memory that is poisoned, and more behind it that stays so. */
struct result {
	std::vector<unsigned char> bytes;
	size_t	 n;

	explicit result(size_t n) : bytes(n + 4096, 0xff), n(n) {}
	bool
	within() const
	{
		return std::all_of(bytes.begin() + (ptrdiff_t)n, bytes.end(),
		    [](unsigned char c) { return c == 0xff; });
	}
	template <class V> V
	at(size_t i) const
	{
		V v;

		memcpy(&v, &bytes[i * sizeof v], sizeof v);
		return v;
	}
};

/* The kernel before, of one block: x is there when it has ended, and no sooner. */
static void
bring(void *to, const void *from, size_t n)
{
	let_next_start();
	last_is_awaited(nullptr);
	memcpy(to, from, n);
}

template <class T> struct product_of {
	uint32_t batch, rows, cols;
	std::vector<T> w, x;

	/*
	 * Of keys: some rows are others again, and all sums of every other sequence are
	 * less than the 0 of rows that are not there.
	 */
	product_of(const shape &s, uint32_t batch) : batch(batch), rows(s.rows), cols(s.cols)
	{
		const bool keys = s.to == WIDE_BEST;

		for (size_t i = 0; i < (size_t)rows * cols; i++)
			w.push_back(from_float<T>(keys ? fabsf(number()) : number()));
		for (size_t i = (size_t)rows * 2 / 3; keys && i < rows; i++)
			std::copy_n(&w[(i - rows * 2 / 3) * cols], cols, &w[i * cols]);
		for (size_t i = 0; i < (size_t)batch * cols; i++)
			x.push_back(from_float<T>(!keys ? number() : i / cols % 2 ?
			    fabsf(number()) : -fabsf(number())));
	}

	double
	sum(uint32_t seq, uint32_t row) const
	{
		double all = 0;

		for (size_t k = 0; k < cols; k++)
			all += (double)to_float(x[seq * (size_t)cols + k]) *
			    (double)to_float(w[row * (size_t)cols + k]);
		return all;
	}

	/* [batch][rows, or half as many] */
	std::vector<double>
	wanted(bool silu) const
	{
		std::vector<double> all;

		for (uint32_t seq = 0; seq < batch; seq++)
			for (uint32_t row = 0; row < (silu ? rows / 2 : rows); row++) {
				const double v = sum(seq, row);

				all.push_back(silu ? v / (1 + exp(-v)) * sum(seq, row + rows / 2) : v);
			}
		return all;
	}

	/* How many parts there are. */
	size_t
	multiply(const shape &s, enum word word, result *out, result *logits) const
	{
		const struct queue q = { .stream = nullptr, .overlap = true, .n_sms = s.blocks };
		const size_t bytes = x.size() * sizeof(T);
		result late(bytes);
		const struct wide g = { w.data(), late.bytes.data(), out->bytes.data(),
		    logits != nullptr ? (float *)logits->bytes.data() : nullptr, batch, rows, cols, s.to };
		size_t parts;

		launch(&q, bring, dim3(1), 32, 0, late.bytes.data(), x.data(), bytes);
		if (!cu_wide(&q, word, &g, &parts))
			wrong("not a product for wide.cu");
		emulated();
		if (!late.within())
			wrong("x is another");
		return parts;
	}
};

/* Is the greatest of each row's keys its first greatest logit? */
static bool
right_best(const result &keys, const result &logits, size_t parts, uint32_t batch, uint32_t rows)
{
	for (uint32_t b = 0; b < batch; b++) {
		unsigned long long best = 0;
		uint32_t first = 0;

		for (size_t i = 0; i < parts; i++)
			best = max(best, keys.at<unsigned long long>(b * parts + i));
		for (uint32_t i = 1; i < rows; i++)
			if (logits.at<float>(b * (size_t)rows + i) > logits.at<float>(b * (size_t)rows + first))
				first = i;
		if (key_index(best) != first || key_value(best) != logits.at<float>(b * (size_t)rows + first))
			return false;
	}
	return true;
}

/* Relative L2; the worst of all, beside its own size and the usual. */
static bool
near(const std::vector<double> &got, const std::vector<double> &wanted, double most)
{
	double error = 0, square = 0, worst = 0, usual;

	for (size_t i = 0; i < got.size(); i++) {
		error += (got[i] - wanted[i]) * (got[i] - wanted[i]);
		square += wanted[i] * wanted[i];
	}
	usual = sqrt(square / (double)got.size());
	for (size_t i = 0; i < got.size(); i++)
		worst = max(worst, fabs(got[i] - wanted[i]) / (fabs(wanted[i]) + usual));
	printf("\t%.2g\t%.2g", sqrt(error / square), worst);
	return error <= most * most * square && worst <= 10 * most;
}

template <class T> static bool
check(const shape &s, enum word word, uint32_t batch)
{
	const product_of<T> p(s, batch);
	const bool silu = s.to == WIDE_SILU, keys = s.to == WIDE_BEST;
	const std::vector<double> wanted = p.wanted(silu);
	const size_t n = wanted.size();
	const struct wide_deal d = wide_deal(s.rows, s.cols, rows_of_x(batch),
	    s.to == WIDE_PARTS ? WIDE_SPANS : 1, s.blocks);
	result out(silu ? n * sizeof(T) : keys ? batch * d.tiles * sizeof(uint64_t) : d.spans * n * 4);
	result again(out.n), logits(keys ? n * 4 : 0);
	const size_t parts = p.multiply(s, word, &out, keys ? &logits : nullptr);
	bool right = out.within() && logits.within() && parts == (keys ? d.tiles : d.spans);
	std::vector<double> got(n);

	for (size_t i = 0; i < n; i++)
		for (size_t part = 0; part < (keys ? 1 : parts); part++)
			got[i] += (double)(silu ? to_float(out.at<T>(i)) : keys ? logits.at<float>(i) :
			    out.at<float>(part * n + i));
	printf("%s\t%s\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u", sizeof(T) == 2 && word == WORD_F16 ? "f16" : "bf16",
	    names[s.to], batch, s.rows, s.cols, d.slabs, d.tiles, d.spans, d.passes, d.most);
	right = near(got, wanted, !silu ? 1e-5 : word == WORD_F16 ? 2e-3 : 1e-2) && right;
	if (keys) {
		p.multiply(s, word, &again, nullptr);
		right = right && again.bytes == out.bytes &&
		    right_best(out, logits, parts, batch, s.rows);
	}
	puts(right ? "\tright" : "\twrong");
	fflush(stdout);
	return right;
}

/* What is not for it, it leaves alone. */
static bool
refuses(enum word word, enum wide_to to, uint32_t batch, uint32_t rows, uint32_t cols)
{
	const struct queue q = { .stream = nullptr, .overlap = true, .n_sms = 2 };
	const struct wide g = { nullptr, nullptr, nullptr, nullptr, batch, rows, cols, to };
	size_t parts;

	return !cu_wide(&q, word, &g, &parts);
}

int
main()
{
	bool right = refuses(WORD_F32, WIDE_PARTS, 9, 16, 64) && refuses(WORD_F16, WIDE_PARTS, 8, 16, 64) &&
	    refuses(WORD_F16, WIDE_PARTS, 65, 16, 64) && refuses(WORD_F16, WIDE_BEST, 9, 16, 60) &&
	    refuses(WORD_BF16, WIDE_SILU, 9, 24, 64);

	puts("dtype\tto\tbatch\trows\tcolumns\tslabs\ttiles\tspans\tpasses\tunits\terror\tworst\tverdict");
	for (const shape &s : shapes)
		for (const uint32_t batch : batches) {
			right = check<bf16>(s, WORD_BF16, batch) && right;
			right = check<half>(s, WORD_F16, batch) && right;
		}
	return !right;
}
