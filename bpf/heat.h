/* SPDX-License-Identifier: GPL-2.0-only */
/* The map of bpf/heat.bpf.c, as who reads it sees it. */
#ifndef BPF_HEAT_H
#define BPF_HEAT_H

#include <linux/types.h>

/* Sectors of a region, as a power of two: 16 MiB. */
#define HEAT_REGION_SHIFT	15
/* Regions, of 1 TiB, beyond which those that were read longest ago go. */
#define HEAT_REGIONS		65536

/**
 * struct heat_key - a region of a device
 * @dev: dm device: major << 20 | minor
 * @region: its number
 */
struct heat_key {
	__u32 dev;
	__u32 region;
};

/**
 * struct heat - what was done there
 * @reads: reads
 * @hits: of these, from the cache device; as those are told by samples, estimates
 * @bytes: of @reads
 * @hit_bytes: of @hits
 */
struct heat {
	__u64 reads;
	__u64 hits;
	__u64 bytes;
	__u64 hit_bytes;
};

#endif /* BPF_HEAT_H */
