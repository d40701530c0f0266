/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Map the block device of a file system to the nearcache device below it, through partitions, loop
 * devices and linear device-mapper targets. Bytes that are elsewhere (RAID, encryption, another
 * disk) are not mapped, and the map has the reason.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_BLOCK_LAYER_MAP_H
#define HELPER_BLOCK_LAYER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/range.h"

/* Size of a reason with NUL. */
#define LAYERS_WHY	160

/**
 * struct layer_piece - part of the upper device: contiguous on the lower device, or not on it
 * @start: first byte of the upper device
 * @length: bytes
 * @at: first byte on the lower device, if @below
 * @below: the bytes are on the lower device
 * @why: the reason if not @below, as the end of a sentence
 */
struct layer_piece {
	uint64_t start;
	uint64_t length;
	uint64_t at;
	bool below;
	char why[LAYERS_WHY];
};

/**
 * struct layers - the map of one device onto another
 * @upper: device of a file system
 * @lower: nearcache device
 * @piece: ascending, covers the upper device
 * @count: entries of @piece
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

#endif /* HELPER_BLOCK_LAYER_MAP_H */
