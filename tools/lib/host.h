/*
 * host.h: what Linux says of this machine in /proc and /sys.  root stands
 * before every path: "" but in tests.
 */
#ifndef HOST_H
#define HOST_H

#include "ns.h"

struct host_cache {
	uint64_t bytes;		/* of the largest */
	uint64_t total_bytes;	/* of all there are in the machine */
};
enum host_cache_type { CACHE_DATA, CACHE_INSTRUCTION };	/* unified is data */
bool	host_cache(const char *root, unsigned level, enum host_cache_type,
	    struct host_cache *);
struct host_cache host_last_level(const char *root);	/* 0: unknown */
bool	host_meminfo(const char *root, const char *key, uint64_t *bytes);
char	*host_line(const char *root, const char *path);	/* or NULL; free it */
char	*host_value(const char *root, const char *path, const char *key);
					/* after "KEY:" or "KEY=" or "KEY :" */
#endif
