/*
 * cupti.c: how many passes do these metrics take on that chip?  The host half
 * of CUPTI answers without a GPU and without a driver.
 */
#include <dlfcn.h>
#include <err.h>

#include "cupti.h"
#include "library.h"

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

	*c = (struct cupti){ .profiler = RANGE_PROFILER };
	c->library = path != NULL ? dlopen(path, RTLD_NOW) :
	    library_cupti("cuptiProfilerHostInitialize");
	return c->library != NULL &&
	    library_find(c->library, all, sizeof all / sizeof *all) == NULL &&
	    cupti_version(c) != 0;
}		/* it stays: libcupti does not like to be unloaded */

unsigned
cupti_version(const struct cupti *c)
{
	uint32_t v = 0;

	return c->version(&v) == 0 ? v : 0;
}

static bool
config_image(struct cupti_config *k, const struct cupti *c)
{
	struct host_image_size size = { .host = k->host,
	    .size = BLOCK_SIZE(struct host_image_size, bytes) };
	struct host_image image = { .host = k->host,
	    .size = BLOCK_SIZE(struct host_image, image) };
	struct host_passes passes = {
	    .size = BLOCK_SIZE(struct host_passes, n) };

	if (c->image_size(&size) != 0)
		return false;
	k->bytes = image.bytes = passes.bytes = size.bytes;
	k->image = image.image = passes.image = xalloc(size.bytes, 1);
	if (c->image(&image) != 0 || c->passes(&passes) != 0)
		return false;
	k->n_passes = (unsigned)passes.n;
	return k->n_passes > 0;
}

bool
cupti_configure(struct cupti_config *k, const struct cupti *c, const char **name,
    size_t n)
{
	struct host_init init = { .profiler = c->profiler, .chip = c->chip,
	    .availability = c->availability,
	    .size = BLOCK_SIZE(struct host_init, host) };
	struct host_add add = { .size = BLOCK_SIZE(struct host_add, n),
	    .name = name, .n = n };
	const int result = c->init(&init);

	if (result != 0)
		errx(NS_TROUBLE, "libcupti %u cannot plan for chip %s: it says %d (15: "
		    "libnvperf_host.so is not beside it; 46: it does not know the chip)",
		    cupti_version(c), c->chip, result);
	*k = (struct cupti_config){ .host = add.host = init.host };
	if (c->add(&add) == 0 && config_image(k, c))
		return true;
	cupti_config_free(k, c);
	return false;
}

void
cupti_config_free(struct cupti_config *k, const struct cupti *c)
{
	struct host_fini fini = { .size = BLOCK_SIZE(struct host_fini, host),
	    .host = k->host };

	c->fini(&fini);
	free(k->image);
	*k = (struct cupti_config){ 0 };
}

unsigned
cupti_passes(const struct cupti *c, const char **name, size_t n)
{
	struct cupti_config k;
	unsigned n_passes;

	if (!cupti_configure(&k, c, name, n))
		return 0;
	n_passes = k.n_passes;
	cupti_config_free(&k, c);
	return n_passes;
}
