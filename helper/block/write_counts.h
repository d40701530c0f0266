/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's counters of the writes of this node to the disks of a device. */
#ifndef HELPER_BLOCK_WRITE_COUNTS_H
#define HELPER_BLOCK_WRITE_COUNTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct write_counts - a state of the counters
 * @boot: hash of the id of this boot, with which the counters begin
 * @writes: hash of the disks and their counters: it changes with each write or discard
 */
struct write_counts {
	uint64_t boot;
	uint64_t writes;
};

bool write_counts_read(dev_t number, struct write_counts *counts);

#endif /* HELPER_BLOCK_WRITE_COUNTS_H */
