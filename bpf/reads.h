/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps of bpf/reads.bpf.c, as who reads them sees them. */
#ifndef BPF_READS_H
#define BPF_READS_H

#include <linux/types.h>

/**
 * struct wanted - what is recorded, the one value of its map
 * @dev: dm device: major << 20 | minor; 0: none
 * @reserved: 0
 * @lost: pieces of it for which there was no room
 */
struct wanted {
	__u32 dev;
	__u32 reserved;
	__u64 lost;
};

/**
 * struct piece - a piece that was read: a record of the ring buffer
 * @sector: first one, of 512 bytes
 * @nr_sectors: how many
 * @reserved: 0
 */
struct piece {
	__u64 sector;
	__u32 nr_sectors;
	__u32 reserved;
};

/* Bytes of the ring buffer, a record takes 24: 7 million reads in a second, at ten looks. */
#define READS_RING	16777216

#endif /* BPF_READS_H */
