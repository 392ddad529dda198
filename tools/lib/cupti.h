/*
 * cupti.h: the host half of CUPTI, which knows every chip, present or not: what
 * is counted together, and in how many passes.
 *
 * NVIDIA's cupti_profiler_host.h includes a C++ header, so that C cannot read
 * it; tests/cupti-structs.c holds these parameter blocks against it where it is
 * installed.
 */
#ifndef CUPTI_H
#define CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A block begins with its size, up to the end of its last field, unpadded.  Sizes
 * are those of CUDA 12.6 update 2 to 13.0, which later libraries take as well; but
 * they clear what they have added to a block, behind its end: there is room for it.
 */
#define BLOCK_SIZE(type, last) \
	(offsetof(type, last) + sizeof ((type *)NULL)->last)

enum { RANGE_PROFILER, PM_SAMPLING };

struct host_init {
	size_t	 size;
	void	*priv;
	int	 profiler;
	const char *chip;
	const uint8_t *availability;	/* NULL: all that the chip has */
	void	*host;			/* out */
	const char *room;		/* CUDA 13.3 */
};
struct host_fini {
	size_t	 size;
	void	*priv, *host;
};
struct host_chips {
	size_t	 size;
	void	*priv;
	size_t	 n;			/* out */
	const char *const *name;	/* out */
};
struct host_add {
	size_t	 size;
	void	*priv, *host;
	const char **name;
	size_t	 n;
};
struct host_image_size {
	size_t	 size;
	void	*priv, *host;
	size_t	 bytes;			/* out */
};
struct host_image {
	size_t	 size;
	void	*priv, *host;
	size_t	 bytes;
	uint8_t	*image;
};
struct host_passes {
	size_t	 size;
	void	*priv;
	size_t	 bytes;
	uint8_t	*image;
	size_t	 n;			/* out */
};

struct cupti {
	void	*library;
	const char *chip;
	int	 profiler;
	const uint8_t *availability;	/* of the device; NULL: all that the chip has */
	int	 (*version)(uint32_t *);
	int	 (*chips)(struct host_chips *);
	int	 (*init)(struct host_init *);
	int	 (*fini)(struct host_fini *);
	int	 (*add)(struct host_add *);
	int	 (*image_size)(struct host_image_size *);
	int	 (*image)(struct host_image *);
	int	 (*passes)(struct host_passes *);
};
/* False where there is none, one from before the host interface, or one that does
   not answer: from CUDA 13.3 on it does not without a driver. */
bool	cupti_open(struct cupti *, const char *path);	/* NULL: usual places */
unsigned cupti_version(const struct cupti *);

/* How metrics are counted: on the chip, by the profiler that are set. */
struct cupti_config {
	void	*host;
	uint8_t	*image;
	size_t	 bytes;
	unsigned n_passes;
};
/* False: one of them is unknown there, or they cannot be counted together. */
bool	cupti_configure(struct cupti_config *, const struct cupti *,
	    const char **name, size_t n);		/* dies if not for that chip */
void	cupti_config_free(struct cupti_config *, const struct cupti *);
/* 0: as when they cannot be configured. */
unsigned cupti_passes(const struct cupti *, const char **name, size_t n);

#endif
