/* probe.h: the parts of ns-probe. */
#ifndef PROBE_H
#define PROBE_H

#include "host.h"
#include "nvml.h"

enum { UNKNOWN = -1 };		/* of the ints below: NA */

struct gpu {
	bool	 found;
	char	 why[160];			/* why not */
	int	 n_gpus;
	char	 name[96], bus[32], chip[32];
	const char *chip_source;		/* cupti, or inferred from cc */
	int	 major, minor, n_sms, integrated, bus_bits;
	int64_t	 l2_bytes, memory_bytes, shared_bytes;
	int	 cuda_version;			/* 13000 */
	struct nvml nvml;
};
void	gpu_probe(struct gpu *, int device);
void	gpu_print(struct out *, const struct gpu *);

void	chip_find(struct gpu *, int device);
const char *chip_platform(const struct gpu *);	/* NULL: none for this chip */

enum permission { COUNTERS_OPEN, COUNTERS_ADMIN, COUNTERS_DENIED, COUNTERS_UNKNOWN };
enum permission counters_permission(const char *root);
void	counters_print(struct out *, enum permission, const char *root);
int	counters_require(enum permission, const struct gpu *);	/* exit status */

void	machine_print(struct out *, const char *root);
void	programs_print(struct out *, const char *root);
void	others_print(struct out *, const char *root);

#endif
