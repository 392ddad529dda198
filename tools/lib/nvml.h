/* nvml.h: what NVML says of one GPU, where there is NVML. */
#ifndef NVML_H
#define NVML_H

#include "ns.h"

struct nvml {
	char	 why[160];		/* it, or the memory, is not known; or empty */
	char	 driver[80];
	char	 throttle[256];		/* "none", reasons, or empty: not known */
	/* Negative: not known. */
	int64_t	 total_bytes, used_bytes, free_bytes;
	int64_t	 sm_hz, sm_max_hz, memory_hz;
	int	 ecc, mig;
	int	 busy_percent, n_processes;	/* of anyone */
};
/* bus: as CUDA has it; NULL: there is no GPU, and nothing is known. */
void	nvml_read(struct nvml *, const char *bus);

#endif
