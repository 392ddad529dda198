/*
 * cupti.c: how many passes do these metrics take on that chip?  The host half
 * of CUPTI answers without a GPU and without a driver.
 */
#include <dlfcn.h>
#include <err.h>

#include "library.h"
#include "plan.h"

bool
cupti_open(struct cupti *c, const char *path)
{
	const struct symbol all[] = {
		{ &c->version, "cuptiGetVersion", NULL },
		{ &c->chips, "cuptiProfilerHostGetSupportedChips", NULL },
		{ &c->init, "cuptiProfilerHostInitialize", NULL },
		{ &c->fini, "cuptiProfilerHostDeinitialize", NULL },
		{ &c->add, "cuptiProfilerHostConfigAddMetrics", NULL },
		{ &c->image_size, "cuptiProfilerHostGetConfigImageSize", NULL },
		{ &c->image, "cuptiProfilerHostGetConfigImage", NULL },
		{ &c->passes, "cuptiProfilerHostGetNumOfPasses", NULL },
	};
	void *lib = path != NULL ? dlopen(path, RTLD_NOW) :
	    library_cupti("cuptiProfilerHostInitialize");

	return lib != NULL && library_find(lib, all, sizeof all / sizeof *all) == NULL;
}		/* it stays: libcupti does not like to be unloaded */

void
cupti_choose(struct cupti *c, const char *chip, bool sampling)
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

unsigned
cupti_version(const struct cupti *c)
{
	uint32_t v = 0;

	return c->version(&v) == 0 ? v : 0;
}

static unsigned
passes_of(const struct cupti *c, void *host, const char **name, size_t n)
{
	struct host_add add = { .size = BLOCK_SIZE(struct host_add, n),
	    .host = host, .name = name, .n = n };
	struct host_image_size size = { .host = host,
	    .size = BLOCK_SIZE(struct host_image_size, bytes) };
	struct host_image image = { .host = host,
	    .size = BLOCK_SIZE(struct host_image, image) };
	struct host_passes passes = {
	    .size = BLOCK_SIZE(struct host_passes, n) };
	bool ok;

	if (c->add(&add) != 0 || c->image_size(&size) != 0)
		return 0;
	image.bytes = passes.bytes = size.bytes;
	image.image = passes.image = xalloc(size.bytes, 1);
	ok = c->image(&image) == 0 && c->passes(&passes) == 0;
	free(image.image);
	return ok ? (unsigned)passes.n : 0;
}

unsigned
cupti_passes(const struct cupti *c, const char **name, size_t n)
{
	struct host_init init = { .profiler = c->profiler, .chip = c->chip,
	    .size = BLOCK_SIZE(struct host_init, host) };
	struct host_fini fini = { .size = BLOCK_SIZE(struct host_fini, host) };
	unsigned n_passes;

	if (c->init(&init) != 0)
		errx(NS_TROUBLE, "libcupti cannot plan for chip %s", c->chip);
	n_passes = passes_of(c, init.host, name, n);
	fini.host = init.host;
	c->fini(&fini);
	return n_passes;
}
