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
	int64_t	 cupti_version;
	int	 major, minor, n_sms, integrated, bus_bits;
	int64_t	 l2_bytes, memory_bytes, shared_bytes;
	int	 cuda_version;			/* 13000 */
	struct nvml nvml;
};
void	gpu_probe(struct gpu *, int device);
void	gpu_print(struct out *, const struct gpu *);

void	chip_find(struct gpu *, int device);
const char *chip_platform(const struct gpu *);	/* NULL: none for this chip */
int64_t	counting_version(void);		/* UNKNOWN: no libcupti counts ranges */

/* OPEN and ADMIN: so the driver says; COUNTED: ncu has counted a kernel. */
enum permission {
	COUNTERS_OPEN, COUNTERS_ADMIN, COUNTERS_DENIED, COUNTERS_UNKNOWN,
	COUNTERS_COUNTED, COUNTERS_FAILED
};
struct counters {
	enum permission is;
	char	*why;
};
struct counters counters_find(const char *root);
void	counters_prove(struct counters *, const struct gpu *, const char *root);
void	counters_print(struct out *, const struct counters *, const char *root);
int	counters_require(const struct counters *, const struct gpu *);	/* exit status */

void	machine_print(struct out *, const char *root);
void	programs_print(struct out *, const char *root);
char	*program_find(const char *root, const char *name);	/* NULL: not here */
char	*program_says(const char *const argv[], unsigned seconds);	/* its first 16 KiB */
void	others_print(struct out *, const char *root);

#endif
