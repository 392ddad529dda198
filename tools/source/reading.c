/*
 * reading.c: where a kernel's samples are, in one line.  Samples are summed by
 * what they wait for: the kind of the instruction that delivers it, where that is
 * known, else the reason; docs/03 and ns-source(1) have the rules in words.
 */
#include <math.h>
#include <string.h>

#include "waits.h"

/* A half of so few samples is only known to a tenth (one standard error). */
enum { FEW = 25 };
/* What is told besides the largest; and the part of a kind whose places are counted. */
static const double TOLD = 0.15, PART = 0.8;
/* More than this many times what is needed is waste. */
static const double WASTE = 1.1;

enum { N_KINDS = W_NONE + MAX_REASONS };
struct kind {
	double	 n_samples;
	double	*at;			/* samples of each place: an instruction */
};

static const struct {
	const char *one, *many;
} producers[W_NONE] = {
	[W_LOAD_GLOBAL] = { "load of global memory", "loads of global memory" },
	[W_LOAD_LOCAL] = { "load of spilled registers", "loads of spilled registers" },
	[W_LOAD_SHARED] = { "load of shared memory", "loads of shared memory" },
	[W_ATOMIC] = { "atomic on global memory", "atomics on global memory" },
	[W_ATOMIC_SHARED] = { "atomic on shared memory", "atomics on shared memory" },
	[W_TEXTURE] = { "texture or surface load", "texture or surface loads" },
	[W_MBARRIER] = { "barrier of asynchronous copies", "barriers of asynchronous copies" },
	[W_TENSOR_MEMORY] = { "load of tensor memory", "loads of tensor memory" },
	[W_SHUFFLE] = { "exchange between lanes", "exchanges between lanes" },
	[W_SPECIAL] = { "special function", "special functions" },
	[W_SPECIAL_REGISTER] = { "special register", "special registers" },
	[W_CONSTANT] = { "constant", "constants" },
	[W_CONVERSION] = { "conversion", "conversions" },
};

static const struct {
	const char *reason, *waits_for;
} reasons[] = {
	{ "long_scoreboard", "data from L1, L2 or memory" },
	{ "short_scoreboard", "shared memory or a slow unit" },
	{ "barrier", "the other warps of the block, at a barrier" },
	{ "wait", "the fixed latency of the instruction before" },
	{ "math_pipe_throttle", "a pipe of the CUDA or tensor cores that is busy" },
	{ "gmma", "the tensor cores" },
	{ "mio_throttle", "the queue to shared memory and the special units" },
	{ "lg_throttle", "the queue to L1 for global and local memory" },
	{ "tex_throttle", "the queue to L1 for textures" },
	{ "not_selected", "their turn: another warp was issued" },
	{ "no_instruction", "instructions to be fetched" },
	{ "imc_miss", "constants, which missed their cache" },
	{ "branch_resolving", "branches" },
	{ "dispatch_stall", "the dispatcher" },
	{ "drain", "stores to leave, at the end" },
	{ "membar", "a memory barrier" },
	{ "sleeping", "a sleep that they asked for" },
	{ "misc", "something rare" },
	{ "other", "what ncu does not name" },
};

static const char *
waits_for(const char *reason)
{
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (strcmp(reason, reasons[i].reason) == 0)
			return reasons[i].waits_for;
	return reason;
}

/* Samples by kind and place.  A producer stands for the reason that found it. */
static void
sort_out(struct kind *kind, const struct page *p, const struct block *b)
{
	uint32_t selected = intern_find(&p->reasons, "selected", strlen("selected"));

	for (size_t i = 0; i < b->n; i++) {
		const struct instruction *in = &b->i[i];
		double most;
		uint32_t main = main_stall(p, in->stall, &most);

		for (uint32_t s = 0; s < p->reasons.n; s++) {
			bool produced = s == main && in->producer != NO_PRODUCER;
			enum wait w = produced ? wait_of_producer(b->i[in->producer].text) : W_NONE;
			struct kind *k = &kind[w != W_NONE ? (size_t)w : W_NONE + (size_t)s];

			if (in->stall[s] <= 0 || s == selected)
				continue;
			if (k->at == NULL)
				k->at = xalloc(b->n, sizeof *k->at);
			k->n_samples += in->stall[s];
			k->at[w != W_NONE ? in->producer : i] += in->stall[s];
		}
	}
}

static int
down(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* The fewest places that have most of the kind's samples, and how many those are. */
static size_t
n_places(const struct kind *k, size_t n, double *n_samples)
{
	double *at = xalloc(n, sizeof *at);
	size_t i = 0;

	memcpy(at, k->at, n * sizeof *at);
	qsort(at, n, sizeof *at, down);
	for (*n_samples = 0; i < n && *n_samples < PART * k->n_samples; i++)
		*n_samples += at[i];
	free(at);
	return i;
}

static char *
added(char *all, const char *between, char *more)
{
	char *both = xasprintf("%s%s%s", all, *all != '\0' ? between : "", more);

	free(all);
	free(more);
	return both;
}

/* "44 % of samples wait for 2 loads of global memory" */
static char *
tell(const struct page *p, const struct kind *all, size_t which, size_t n, double total, bool first)
{
	double part;
	size_t places = n_places(&all[which], n, &part);
	const char *of = first ? " of samples wait" : "";

	if (which < W_NONE)
		return xasprintf("%.0f %%%s for %zu %s", 100 * part / total, of, places,
		    places == 1 ? producers[which].one : producers[which].many);
	return xasprintf("%.0f %%%s for %s (at %zu %s)", 100 * part / total, of,
	    waits_for(interned(&p->reasons, (uint32_t)(which - W_NONE))), places,
	    places == 1 ? "instruction" : "instructions");
}

static size_t
largest(const struct kind *kind, double below, size_t not)
{
	size_t best = N_KINDS;

	for (size_t i = 0; i < N_KINDS; i++)
		if (i != not && kind[i].n_samples > 0 && kind[i].n_samples <= below &&
		    (best == N_KINDS || kind[i].n_samples > kind[best].n_samples))
			best = i;
	return best;
}

static char *
waste(char *all, const struct sums *s)
{
	if (s->sectors_ratio >= WASTE)
		all = added(all, "; ", xasprintf("its accesses of global memory touch %.1f times "
		    "the sectors they need", s->sectors_ratio));
	if (s->wavefronts_ratio >= WASTE)
		all = added(all, "; ", xasprintf("shared memory takes %.1f times the wavefronts "
		    "it needs (bank conflicts)", s->wavefronts_ratio));
	return all;
}

char *
reading(const struct page *p, const struct block *b)
{
	struct kind *kind = xalloc(N_KINDS, sizeof *kind);
	struct sums s = SUMS_NONE;
	char *all = xstrdup("");
	size_t first, second;

	for (size_t i = 0; i < b->n; i++)
		sums_add(&s, &b->i[i], p->reasons.n);
	sums_end(&s);
	sort_out(kind, p, b);
	first = largest(kind, HUGE_VAL, N_KINDS);
	if (s.n_samples < FEW)
		all = added(all, "", s.n_samples < 1 ? xstrdup("no sample: it ends before the first is taken") :
		    xasprintf("%.0f %s: too few to say where it waits", s.n_samples,
		    s.n_samples < 2 ? "sample" : "samples"));
	else if (first == N_KINDS)
		all = added(all, "", xstrdup("no sample waits"));
	else {
		all = added(all, "", tell(p, kind, first, b->n, s.n_samples, true));
		second = largest(kind, kind[first].n_samples, first);
		if (second != N_KINDS && kind[second].n_samples >= TOLD * s.n_samples)
			all = added(all, ", ", tell(p, kind, second, b->n, s.n_samples, false));
	}
	for (size_t i = 0; i < N_KINDS; i++)
		free(kind[i].at);
	free(kind);
	return waste(all, &s);
}
