/*
 * ns-source: where in a kernel the time goes, instruction by instruction.
 *
 * in   ncu's source page as CSV, and before it, if it is there, the raw page of
 *      the same report
 * out  source.tsv, or with --kernels source-kernels.tsv: docs/05-formats.md
 */
#include <err.h>
#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "source/source.h"
#include "table.h"

#define WHICH "phase rank kernel name grid block launch "
#define SOURCE WHICH "place address line instruction n_instructions n_samples " \
	"share_ratio stall stall_ratio producer_address producer n_executed l2_sectors " \
	"l2_over_ideal_ratio n_wavefronts shared_over_ideal_ratio"
#define KERNELS WHICH "n_instructions n_samples n_executed l2_sectors " \
	"l2_over_ideal_ratio n_wavefronts shared_over_ideal_ratio reading"

enum { OPT_CHOSEN = 256, OPT_KERNELS, OPT_PARTIAL };
static const struct opt opts[] = {
	{ 'k', "hottest", "N", "so many instructions of each kernel (10)" },
	{ 'p', "phase", "PHASE", "of which phase the kernels are" },
	{ OPT_CHOSEN, "chosen", "FILE", "chosen.tsv: what was asked for" },
	{ OPT_KERNELS, "kernels", NULL, "a row a kernel instead, with a reading" },
	{ OPT_PARTIAL, "partial", NULL, "what was not profiled has no row, which is no error" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-source",
	.purpose = "where in a kernel the time goes, instruction by instruction",
	.operands = "[FILE]",
	.in = "ncu --import FILE --csv --page source, after --page raw of the same",
	.out = SOURCE "\n     --kernels: " KERNELS,
	.example = "ncu --import run.ncu-rep --csv --page source | ns-source -k 5",
	.opts = opts,
};

struct job {
	struct page page;
	struct table chosen;
	const char *phase;
	uint64_t n_hottest;
	bool	 kernels;
	struct out out;
};

static int
hotter(const void *va, const void *vb)
{
	const struct instruction *const *a = va, *const *b = vb;

	return ((*a)->n_samples < (*b)->n_samples) - ((*a)->n_samples > (*b)->n_samples) ?:
	    ((*a)->address > (*b)->address) - ((*a)->address < (*b)->address);
}

static void
out_which(struct job *j, const struct launch *l, size_t row)
{
	const struct table *c = &j->chosen;
	struct out *o = &j->out;
	bool asked = row != TSV_NONE;

	out_text(o, asked ? table_text(c, row, "phase") : j->phase);
	out_text(o, asked ? table_text(c, row, "rank") : NULL);
	out_text(o, l->kernel);
	out_text(o, asked ? table_text(c, row, "name") : l->kernel);
	out_text(o, l->grid);
	out_text(o, l->block);
	out_text(o, l->id);
}

static void
out_places(struct out *o, const struct sums *s)
{
	out_sum(o, s->n_executed);
	out_sum(o, s->sectors);
	out_num(o, s->sectors_ratio);
	out_sum(o, s->wavefronts);
	out_num(o, s->wavefronts_ratio);
}

/* Addresses count from the kernel's first instruction, as nvdisasm has them. */
static void
out_address(struct out *o, uint64_t address, uint64_t begin)
{
	char *s = xasprintf("0x%04" PRIx64, address - begin);

	out_text(o, s);
	free(s);
}

static void
out_stall(const struct job *j, struct out *o, const struct sums *s)
{
	double most;
	uint32_t reason = main_stall(&j->page, s->stall, &most);

	if (s->n_samples > 0) {
		out_text(o, reason != INTERN_NONE ? interned(&j->page.reasons, reason) : "none");
		out_num(o, most / s->n_samples);
	} else {
		out_na(o);
		out_na(o);
	}
}

static void
print_hot(struct job *j, const struct launch *l, size_t row, size_t place,
    const struct instruction *i, uint64_t begin, double all)
{
	struct out *o = &j->out;
	struct sums s = SUMS_NONE;

	sums_add(&s, i, j->page.reasons.n);
	sums_end(&s);
	out_which(j, l, row);
	out_count(o, place);
	out_address(o, i->address, begin);
	out_text(o, i->line);
	out_text(o, i->text);
	out_count(o, 1);
	out_sum(o, s.n_samples);
	out_num(o, s.n_samples / all);
	out_stall(j, o, &s);
	if (i->producer != NO_PRODUCER) {
		out_address(o, l->at->i[i->producer].address, begin);
		out_text(o, l->at->i[i->producer].text);
	} else {
		out_na(o);
		out_na(o);
	}
	out_places(o, &s);
	out_row(o);
}

static void
print_rest(struct job *j, const struct launch *l, size_t row, struct sums *rest, double all)
{
	struct out *o = &j->out;

	sums_end(rest);
	out_which(j, l, row);
	for (int i = 0; i < 3; i++)
		out_na(o);
	out_text(o, "rest");
	out_count(o, rest->n);
	out_sum(o, rest->n_samples);
	out_num(o, rest->n_samples / all);
	out_stall(j, o, rest);
	out_na(o);
	out_na(o);
	out_places(o, rest);
	out_row(o);
}

static void
print_source(struct job *j, const struct launch *l, size_t row)
{
	const struct block *b = l->at;
	const struct instruction **by = xalloc(b->n, sizeof *by);
	struct sums rest = SUMS_NONE;
	uint64_t begin = UINT64_MAX;
	double all = 0;

	for (size_t i = 0; i < b->n; i++) {
		by[i] = &b->i[i];
		all += b->i[i].n_samples;
		begin = b->i[i].address < begin ? b->i[i].address : begin;
	}
	qsort(by, b->n, sizeof *by, hotter);
	for (size_t i = 0; i < b->n; i++)
		if (i < j->n_hottest && by[i]->n_samples > 0)
			print_hot(j, l, row, i + 1, by[i], begin, all);
		else
			sums_add(&rest, by[i], j->page.reasons.n);
	print_rest(j, l, row, &rest, all);
	free(by);
}

static void
print_kernel(struct job *j, const struct launch *l, size_t row)
{
	struct out *o = &j->out;
	struct sums s = SUMS_NONE;
	char *words = reading(&j->page, l->at);

	for (size_t i = 0; i < l->at->n; i++)
		sums_add(&s, &l->at->i[i], j->page.reasons.n);
	sums_end(&s);
	out_which(j, l, row);
	out_count(o, s.n);
	out_sum(o, s.n_samples);
	out_places(o, &s);
	out_text(o, words);
	out_row(o);
	free(words);
}

static void
print_launch(struct job *j, const struct launch *l, size_t row)
{
	if (j->kernels)
		print_kernel(j, l, row);
	else
		print_source(j, l, row);
}

/* ---- what was asked for */

static bool
fits(const struct table *c, size_t row, const struct launch *l)
{
	double want = table_num(c, row, "shared_bytes");

	return table_is(c, row, "kernel", l->kernel) && l->grid != NULL && l->block != NULL &&
	    table_is(c, row, "grid", l->grid) && table_is(c, row, "block", l->block) &&
	    (isnan(want) || isnan(l->shared_bytes) || want == l->shared_bytes);
}

static const struct launch *
launch_of(const struct job *j, size_t row)
{
	for (size_t i = 0; i < j->page.n_launches; i++)
		if (fits(&j->chosen, row, &j->page.l[i]))
			return &j->page.l[i];
	return NULL;
}

static const char *
text_of(const struct table *c, size_t row, const char *column)
{
	return table_text(c, row, column) ?: "NA";
}

static void
say_absent(const struct job *j, size_t row)
{
	const struct table *c = &j->chosen;

	warnx("%s: not profiled: %s %s: %s grid %s block %s", j->page.path,
	    text_of(c, row, "phase"), text_of(c, row, "rank"), text_of(c, row, "kernel"),
	    text_of(c, row, "grid"), text_of(c, row, "block"));
}

static void
print_chosen(struct job *j, bool partial)
{
	const struct table *c = &j->chosen;
	size_t n = 0, n_absent = 0;

	for (size_t i = 0; i < c->n; i++)
		if (j->phase == NULL || table_is(c, i, "phase", j->phase)) {
			n++;
			if (launch_of(j, i) == NULL) {
				n_absent++;
				say_absent(j, i);
			}
		}
	if (n == 0)
		errx(NS_TROUBLE, "%s: nothing is chosen in phase %s", c->path,
		    j->phase != NULL ? j->phase : "(any)");
	if (n_absent > 0 && !partial)
		errx(NS_TROUBLE, "the watched program launched others than in the timeline, or "
		    "outside the range: same program, same options? (capture the timeline "
		    "again, then the kernels; --partial takes what is there)");
	out_head(&j->out, j->kernels ? KERNELS : SOURCE);
	for (size_t i = 0; i < c->n; i++)
		if ((j->phase == NULL || table_is(c, i, "phase", j->phase)) &&
		    launch_of(j, i) != NULL)
			print_launch(j, launch_of(j, i), i);
}

static void
print_all(struct job *j)
{
	out_head(&j->out, j->kernels ? KERNELS : SOURCE);
	for (size_t i = 0; i < j->page.n_launches; i++)
		print_launch(j, &j->page.l[i], TSV_NONE);
}

int
main(int argc, char *argv[])
{
	struct job j = { .n_hottest = 10 };
	const char *chosen = NULL;
	bool partial = false, told;
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		switch (ch) {
		case 'k': j.n_hottest = opt_count("hottest", optarg); break;
		case 'p': j.phase = optarg; break;
		case OPT_CHOSEN: chosen = optarg; break;
		case OPT_KERNELS: j.kernels = true; break;
		case OPT_PARTIAL: partial = true; break;
		}
	if (argc - optind > 1)
		tool_usage(&tool);
	if (chosen != NULL && !table_read(&j.chosen, chosen))
		errx(NS_TROUBLE, "%s: no such file: ns-choose makes it", chosen);
	if (chosen != NULL)
		table_need(&j.chosen, "phase rank kernel name grid block shared_bytes");
	page_read(&j.page, argv[optind]);
	told = j.page.n_launches > 0;
	if (chosen != NULL && !told)
		errx(NS_TROUBLE, "%s: the source page alone does not tell launches of one kernel "
		    "apart: --chosen needs the raw page of the same report before it "
		    "(ncu --import FILE --csv --page raw --print-units base)", j.page.path);
	launches_join(&j.page);
	producers_find(&j.page);
	out_open(&j.out, NULL);
	if (chosen != NULL)
		print_chosen(&j, partial);
	else
		print_all(&j);
	out_close(&j.out);
	page_free(&j.page);
	table_free(&j.chosen);
	return NS_OK;
}
