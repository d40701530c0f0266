/* SPDX-License-Identifier: GPL-2.0-only */
/* The map of bpf/heat.bpf.c, as who reads it sees it. */
#ifndef BPF_HEAT_H
#define BPF_HEAT_H

#include <linux/types.h>

/**
 * struct heat_key - a region of a device
 * @dev: dm device: major << 20 | minor
 * @region: its number; its size is a power of two, see region_shift
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
