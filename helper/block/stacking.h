/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The block devices between a file system and the device that is cached: partitions,
 * loop devices and device-mapper tables of linear pieces are followed; what lies on
 * others (RAID, encryption, other disks) is not on the device, and why is told.
 */
#ifndef HELPER_BLOCK_STACKING_H
#define HELPER_BLOCK_STACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/range.h"

/* Room for a reason. */
#define LAYERS_WHY	160

/**
 * struct layer_piece - bytes of the upper device that follow each other below
 * @start: first byte of the upper device
 * @length: bytes
 * @at: the same, of the lower device
 * @below: it is on the lower device; else nothing is said by @at
 * @why: when it is not: what it is on, as the end of a sentence
 */
struct layer_piece {
	uint64_t start;
	uint64_t length;
	uint64_t at;
	bool below;
	char why[LAYERS_WHY];
};

/**
 * struct layers - one device, as far as it is on another
 * @upper: that of a file system
 * @lower: that which is cached
 * @piece: ascending, covers the upper device
 * @count: how many
 */
struct layers {
	dev_t upper;
	dev_t lower;
	struct layer_piece *piece;
	size_t count;
};

int layers_resolve(struct layers *layers, dev_t upper, dev_t lower);
bool layers_touch(const struct layers *layers);
bool layers_cover(const struct layers *layers);
bool layers_map(const struct layers *layers, uint64_t start, uint64_t length,
		struct range *piece, const char **why);
void layers_free(struct layers *layers);

#endif /* HELPER_BLOCK_STACKING_H */
