/*
 * cupti.h: the few parameter blocks of CUPTI's host interface that are used.
 * NVIDIA's cupti_profiler_host.h includes a C++ header, so that C cannot read
 * it; tests/cupti-structs.c holds these against it where it is installed.
 */
#ifndef CUPTI_H
#define CUPTI_H

#include <stddef.h>
#include <stdint.h>

/* A block begins with its size, up to the end of its last field, unpadded. */
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

#endif
