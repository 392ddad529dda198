/*
 * ranges.h: the parameter blocks of CUPTI's range profiler, device and host, as
 * far as they are used; tests/cupti-structs.c holds them against NVIDIA's.  Sizes
 * and room are those of lib/cupti.h.
 */
#ifndef RANGES_H
#define RANGES_H

#include "cupti.h"

/* The few of CUptiResult that have a remedy of their own. */
enum { CUPTI_PARAMETER = 1, CUPTI_MEMORY = 8, CUPTI_NOT_STARTED = 15, CUPTI_BUSY = 26,
	CUPTI_NOT_PERMITTED = 35, CUPTI_OLD_API = 36, CUPTI_SUBSCRIBED = 39,
	CUPTI_NOT_PERMITTED_VIRTUAL = 40, CUPTI_CONFIDENTIAL = 41, CUPTI_MINING = 42,
	CUPTI_MIG = 43, CUPTI_SLI = 44, CUPTI_WSL = 45, CUPTI_UNKNOWN = 999 };
enum { SUPPORT_UNSUPPORTED = 1, SUPPORT_DISABLED = 2, SUPPORT_FULL = 3 };
enum { API_RANGES = 0 };
enum { RANGES_BY_USER = 2, REPLAY_BY_USER = 3 };

struct profiler_start {			/* and its end */
	size_t	 size;
	void	*priv;
};
struct device_support {
	size_t	 size;
	void	*priv;
	int	 device;
	int	 all, architecture, sli, vgpu, confidential, mining, wsl;	/* out */
	int	 api;
	int	 room;			/* CUDA 13.1 */
};
struct device_chip {
	size_t	 size;
	void	*priv;
	size_t	 device;
	const char *name;		/* out */
};
struct device_counters {
	size_t	 size;
	void	*priv, *context;
	size_t	 bytes;			/* out without an image */
	uint8_t	*image;
	uint8_t	 room;			/* CUDA 13.1 */
};
struct ranges_enable {
	size_t	 size;
	void	*priv, *context;
	void	*profiler;		/* out */
	int	 room;			/* CUDA 13.4 */
};
struct ranges_call {			/* start, pop, disable */
	size_t	 size;
	void	*priv, *profiler;
};
struct ranges_config {
	size_t	 size;
	void	*priv, *profiler;
	size_t	 config_bytes;
	const uint8_t *config;
	size_t	 data_bytes;
	uint8_t	*data;
	int	 range, replay;
	size_t	 n_ranges;
	uint16_t n_levels, first_level;
	size_t	 pass;
	uint16_t level;
};
struct ranges_push {
	size_t	 size;
	void	*priv, *profiler;
	const char *name;
};
struct ranges_stop {
	size_t	 size;
	void	*priv, *profiler;
	size_t	 pass, level;		/* out: what comes next */
	uint8_t	 all;			/* out: nothing does */
};
struct ranges_decode {
	size_t	 size;
	void	*priv, *profiler;
	size_t	 n_dropped;		/* out */
};
struct ranges_data_size {
	size_t	 size;
	void	*priv, *profiler;
	const char **name;
	size_t	 n, n_ranges;
	uint32_t n_nodes;
	size_t	 bytes;			/* out */
};
struct ranges_data {
	size_t	 size;
	void	*priv, *profiler;
	size_t	 bytes;
	uint8_t	*data;
};
struct ranges_count {
	size_t	 size;
	void	*priv;
	const uint8_t *data;
	size_t	 bytes;
	size_t	 n;			/* out */
};
struct ranges_name {
	size_t	 size;
	void	*priv;
	const uint8_t *data;
	size_t	 bytes, range;
	const char *delimiter;
	const char *name;		/* out */
};
struct host_values {
	size_t	 size;
	void	*priv, *host;
	const uint8_t *data;
	size_t	 bytes, range;
	const char **name;
	size_t	 n;
	double	*value;			/* out */
};
struct host_metric {
	size_t	 size;
	void	*priv, *host;
	const char *name;
	const char *about, *hardware, *unit;	/* out */
	int	 type;
	int	 room;			/* CUDA 13.1 */
};

#endif
