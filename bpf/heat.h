/* SPDX-License-Identifier: GPL-2.0-only */
/* Map layout of bpf/heat.bpf.c, shared with the helper. */
#ifndef BPF_HEAT_H
#define BPF_HEAT_H

#include <linux/types.h>

/* A region has 1 << HEAT_REGION_SHIFT sectors: 16 MiB. */
#define HEAT_REGION_SHIFT	15
/* Capacity of map heats: regions of 1 TiB.  A full map drops the least recently read regions. */
#define HEAT_REGIONS		65536

/**
 * struct heat_key - a region of a device
 * @dev: dm device: major << 20 | minor
 * @region: sector >> HEAT_REGION_SHIFT
 */
struct heat_key {
	__u32 dev;
	__u32 region;
};

/**
 * struct heat - counters of a region
 * @reads: reads
 * @hits: reads served by the cache device; an estimate, as hits are sampled
 * @bytes: bytes of @reads
 * @hit_bytes: bytes of @hits
 */
struct heat {
	__u64 reads;
	__u64 hits;
	__u64 bytes;
	__u64 hit_bytes;
};

#endif /* BPF_HEAT_H */
