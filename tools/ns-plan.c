/*
 * ns-plan: the metrics of a platform in as few passes as they fit.
 *
 * CUPTI says what fits, for any chip and without a GPU; where it is not
 * installed, a recorded plan does.
 *
 * in   quantity rung metric tier role [set]: the platform's registry
 * out  chip pass n_passes metric source
 */
#include <err.h>
#include <unistd.h>

#include "plan/plan.h"

#define PLAN "chip pass n_passes metric source"

enum { OPT_CHIP = 256, OPT_SAMPLING, OPT_ONE_PASS, OPT_MEMORY, OPT_TIER,
	OPT_SET, OPT_RECORDED, OPT_CUPTI };
static const struct opt opts[] = {
	{ 'm', "metrics", "FILE", "metrics.tsv or samples.tsv of the platform" },
	{ OPT_CHIP, "chip", "NAME", "GB20B, GH100, ..., as ns-probe has it" },
	{ OPT_SAMPLING, "sampling", NULL, "to be sampled while the program runs" },
	{ OPT_MEMORY, "memory", NULL, "only memory's bytes, sentinels and time" },
	{ OPT_TIER, "tier", "N", "metrics of tiers up to this one (1)" },
	{ OPT_SET, "set", "NAME", "only the metrics of this set" },
	{ OPT_ONE_PASS, "one-pass", NULL, "exit 1 unless one pass holds all" },
	{ OPT_RECORDED, "recorded", "FILE", "plan.tsv, used where CUPTI is not" },
	{ OPT_CUPTI, "cupti", "FILE", "this libcupti.so and no other" },
	{ 0, NULL, NULL, NULL }
};
static const struct tool tool = {
	.name = "ns-plan",
	.purpose = "the metrics of a platform in as few passes as they fit",
	.operands = "",
	.in = "-m: quantity rung metric tier role [set]",
	.out = PLAN,
	.example = "ns-plan -m configs/platforms/gb10/metrics.tsv --chip GB20B "
	    "--memory --one-pass",
	.opts = opts,
};

struct choice {
	const char *metrics, *chip, *set, *recorded, *cupti;
	uint64_t tier;
	bool	 sampling, memory, one_pass;
};

static void
want(struct wanted *w, const char *name, bool must)
{
	size_t i = 0;

	while (i < w->n && strcmp(w->name[i], name) != 0)
		i++;
	if (i < w->n && (!must || i < w->n_must))
		return;
	if (i == w->n) {
		w->name = xgrow(w->name, &w->cap, w->n + 1, sizeof *w->name);
		w->name[w->n++] = xstrdup(name);
	}
	if (must) {
		const char *moved = w->name[i];

		for (; i > w->n_must; i--)
			w->name[i] = w->name[i - 1];
		w->name[w->n_must++] = moved;
	}
}

/* A pass must hold what memory's bytes are, and what shows them complete. */
static void
wanted_read(struct wanted *w, const struct choice *c)
{
	struct tsv t;

	tsv_open(&t, c->metrics);
	size_t quantity = tsv_col(&t, "quantity"), rung = tsv_col(&t, "rung");
	size_t metric = tsv_col(&t, "metric"), tier = tsv_col(&t, "tier");
	size_t role = tsv_col(&t, "role");
	size_t set = c->set != NULL ? tsv_col(&t, "set") : TSV_NONE;

	while (tsv_next(&t)) {
		const char *r = tsv_text(&t, role);
		bool must = strcmp(tsv_text(&t, quantity), "time") == 0 ||
		    strcmp(r, "sentinel") == 0 || (strcmp(r, "value") == 0 &&
		    strcmp(t.val[quantity], "bytes") == 0 &&
		    strcmp(tsv_text(&t, rung), "memory") == 0);

		if (tsv_count(&t, tier) <= c->tier && (must || !c->memory) &&
		    (c->set == NULL || listed(tsv_text(&t, set), c->set)))
			want(w, tsv_text(&t, metric), must);
	}
	if (w->n == 0)
		errx(NS_TROUBLE, "%s: no such metric in it", t.name);
	tsv_close(&t);
}

static void
wanted_free(struct wanted *w)
{
	while (w->n > 0)
		free((void *)(uintptr_t)w->name[--w->n]);
	free(w->name);
}

static int
print_plan(const struct plan *p, const char *chip, const char *source)
{
	uint64_t pass = 1;
	struct out o;

	out_open(&o, NULL);
	out_head(&o, PLAN);
	for (size_t i = 0; i < p->n; i++) {
		for (size_t j = 0; j < p->group[i].n; j++) {
			out_text(&o, chip);
			out_count(&o, pass);
			out_count(&o, p->group[i].n_passes);
			out_text(&o, p->group[i].name[j]);
			out_text(&o, source);
			out_row(&o);
		}
		pass += p->group[i].n_passes;
	}
	out_close(&o);
	return NS_OK;
}

/* The answer is no: say which metric, in the registry's order, is too much. */
static int
refuse(const struct wanted *w, const struct cupti *c, const char *chip)
{
	size_t n = 1;
	unsigned all = cupti_passes(c, w->name, w->n);

	while (n < w->n && cupti_passes(c, w->name, n) == 1)
		n++;
	if (all == 0)
		warnx("%s: the %zu metrics do not fit one pass, nor any number "
		    "of them; %s is the first too many", chip, w->n,
		    w->name[n - 1]);
	else
		warnx("%s: the %zu metrics take %u passes; %s is the first too "
		    "many", chip, w->n, all, w->name[n - 1]);
	return NS_NO;
}

static void
choose(struct cupti *c, const char *chip, bool sampling)
{
	struct host_chips p = { .size = BLOCK_SIZE(struct host_chips, name) };
	bool known = false;

	if (c->chips(&p) != 0)
		errx(NS_TROUBLE, "libcupti does not say which chips it knows");
	for (size_t i = 0; i < p.n && !known; i++)
		known = strcmp(p.name[i], chip) == 0;
	if (!known)
		errx(NS_TROUBLE, "--chip: libcupti %u knows no chip '%s'; it "
		    "knows %s to %s", cupti_version(c), chip, p.n > 0 ?
		    p.name[0] : "none", p.n > 0 ? p.name[p.n - 1] : "none");
	c->chip = chip;
	c->profiler = sampling ? PM_SAMPLING : RANGE_PROFILER;
}

static int
plan_by_cupti(const struct wanted *w, const struct choice *c, struct cupti *cupti)
{
	char source[32];
	struct plan p;
	int rc;

	choose(cupti, c->chip, c->sampling);
	snprintf(source, sizeof source, "cupti-%u", cupti_version(cupti));
	pack_check(w, cupti);
	if (c->one_pass && cupti_passes(cupti, w->name, w->n) != 1)
		return refuse(w, cupti, c->chip);
	pack(&p, w, cupti);
	rc = print_plan(&p, c->chip, source);
	plan_free(&p);
	return rc;
}

static int
plan_by_record(const struct wanted *w, const struct choice *c)
{
	unsigned n;

	if (c->recorded == NULL || c->sampling)
		errx(NS_TROUBLE, "%s%s: install CUPTI (of CUDA 12.6 to 13.2: needs no "
		    "GPU; later ones need its driver)%s", c->cupti != NULL ? c->cupti :
		    "libcupti.so", c->cupti != NULL ?
		    ": not a libcupti whose host interface answers" :
		    " was not found, or does not answer",
		    c->sampling ? "" : ", or give a plan: --recorded plan.tsv");
	n = recorded_print(c->recorded, w, c->chip);
	if (!c->one_pass || n == 1)
		return NS_OK;
	warnx("%s: the %zu metrics take %u passes as recorded", c->chip, w->n, n);
	return NS_NO;
}

static void
options(struct choice *c, int argc, char *argv[])
{
	int ch;

	while ((ch = tool_opt(&tool, argc, argv)) != -1)
		switch (ch) {
		case 'm':
			c->metrics = optarg;
			break;
		case OPT_CHIP:
			c->chip = optarg;
			break;
		case OPT_SAMPLING:
			c->sampling = true;
			break;
		case OPT_ONE_PASS:
			c->one_pass = true;
			break;
		case OPT_MEMORY:
			c->memory = true;
			break;
		case OPT_TIER:
			c->tier = opt_count("tier", optarg);
			break;
		case OPT_SET:
			c->set = optarg;
			break;
		case OPT_RECORDED:
			c->recorded = optarg;
			break;
		case OPT_CUPTI:
			c->cupti = optarg;
			break;
		}
	if (c->metrics == NULL || c->chip == NULL || optind < argc)
		tool_usage(&tool);
}

int
main(int argc, char *argv[])
{
	struct choice c = { .tier = 1 };
	struct wanted w = { 0 };
	struct cupti cupti;
	int rc;

	options(&c, argc, argv);
	wanted_read(&w, &c);
	rc = cupti_open(&cupti, c.cupti) ? plan_by_cupti(&w, &c, &cupti) :
	    plan_by_record(&w, &c);
	wanted_free(&w);
	return rc;
}
