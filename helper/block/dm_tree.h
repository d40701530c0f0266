/* SPDX-License-Identifier: GPL-2.0-only */
/* What a device-mapper device of any kind is made of. */
#ifndef HELPER_BLOCK_DM_TREE_H
#define HELPER_BLOCK_DM_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Room for the type of a target. */
#define DM_TYPE		16

/**
 * struct dm_piece - a part of any dm device, by one line of its table
 * @start: first byte
 * @length: bytes
 * @type: of the target
 * @linear: @type is linear, and what follows tells where the bytes are
 * @under: device
 * @offset: first byte on it
 */
struct dm_piece {
	uint64_t start;
	uint64_t length;
	char type[DM_TYPE];
	bool linear;
	dev_t under;
	uint64_t offset;
};

int dm_pieces(dev_t number, struct dm_piece **list, size_t *count);

#endif /* HELPER_BLOCK_DM_TREE_H */
