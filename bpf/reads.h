/* SPDX-License-Identifier: GPL-2.0-only */
/* Map layouts of bpf/reads.bpf.c, shared with the helper. */
#ifndef BPF_READS_H
#define BPF_READS_H

#include <linux/types.h>

/**
 * struct wanted - the device to record: the only entry of map wanted
 * @dev: dm device: major << 20 | minor; 0: none
 * @reserved: 0
 * @lost: pieces of @dev that were dropped because the ring buffer was full
 */
struct wanted {
	__u32 dev;
	__u32 reserved;
	__u64 lost;
};

/**
 * struct piece - one piece of a read: a record of the ring buffer
 * @sector: first sector, of 512 bytes
 * @nr_sectors: number of sectors
 * @reserved: 0
 */
struct piece {
	__u64 sector;
	__u32 nr_sectors;
	__u32 reserved;
};

/* Size of the ring buffer, bytes.  A record takes 24 bytes, so with 10 polls per second the ring
 * buffer carries 7 million reads per second.
 */
#define READS_RING	16777216

#endif /* BPF_READS_H */
