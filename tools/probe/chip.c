/* chip.c: which chip this is, and which platform under configs/ describes it. */
#include "cupti.h"
#include "library.h"
#include "probe.h"

/* Where CUPTI cannot be asked.  One compute capability may be several chips. */
static const struct {
	int	 major, minor;
	const char *chip;
} by_cc[] = {
	{ 8, 0, "GA100" }, { 8, 6, "GA102" }, { 8, 7, "GA10B" }, { 8, 9, "AD102" },
	{ 9, 0, "GH100" }, { 10, 0, "GB100" }, { 10, 1, "GB10B" }, { 10, 3, "GB110" },
	{ 11, 0, "GB10B" }, { 12, 0, "GB202" }, { 12, 1, "GB20B" },
};

static const struct {
	const char *chip;		/* or how it begins */
	const char *platform;
} platforms[] = {
	{ "GB20B", "gb10" }, { "GB20", "gb202" }, { "GB100", "gb100" },
	{ "GB102", "gb100" }, { "GB110", "gb110" }, { "GH100", "gh100" },
	{ "GA100", "ga100" }, { "AD10", "ad10x" },
};

/* As cupti_target.h has it. */
struct chip_name {
	size_t	 size;
	void	*priv;
	size_t	 device;
	const char *name;
};
struct initialize {
	size_t	 size;
	void	*priv;
};

static bool
ask_cupti(struct gpu *g, int device)
{
	struct initialize init = { .size = sizeof init };
	struct chip_name p = { .size = sizeof p, .device = (size_t)device };
	void *lib = library_cupti("cuptiDeviceGetChipName");
	int (*start)(struct initialize *), (*get)(struct chip_name *);
	const struct symbol all[] = { { &start, "cuptiProfilerInitialize", NULL },
	    { &get, "cuptiDeviceGetChipName", NULL } };
	bool ok = false;

	if (lib == NULL)
		return false;
	if (library_find(lib, all, sizeof all / sizeof *all) == NULL &&
	    start(&init) == 0 && get(&p) == 0 && p.name != NULL && *p.name != '\0') {
		snprintf(g->chip, sizeof g->chip, "%s", p.name);
		ok = true;
	}
	return ok;		/* libcupti does not like to be unloaded */
}

/* Of what ns-worker --count would count with. */
int64_t
counting_version(void)
{
	int (*enable)(void *);
	const struct symbol ranges = { &enable, "cuptiRangeProfilerEnable", NULL };
	struct cupti c;

	if (!cupti_open(&c, NULL) || library_find(c.library, &ranges, 1) != NULL)
		return UNKNOWN;
	return cupti_version(&c);
}

void
chip_find(struct gpu *g, int device)
{
	if (ask_cupti(g, device)) {
		g->chip_source = "cupti";
		return;
	}
	for (size_t i = 0; i < sizeof by_cc / sizeof *by_cc; i++)
		if (by_cc[i].major == g->major && by_cc[i].minor == g->minor) {
			snprintf(g->chip, sizeof g->chip, "%s", by_cc[i].chip);
			g->chip_source = "inferred";
		}
}

const char *
chip_platform(const struct gpu *g)
{
	for (size_t i = 0; i < sizeof platforms / sizeof *platforms; i++)
		if (strncmp(g->chip, platforms[i].chip,
		    strlen(platforms[i].chip)) == 0)
			return platforms[i].platform;
	return NULL;
}
