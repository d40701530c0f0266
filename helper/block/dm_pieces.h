/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read the table of a device-mapper device of any kind.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_BLOCK_DM_PIECES_H
#define HELPER_BLOCK_DM_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Size of a target's type with NUL. */
#define DM_TYPE		16

/**
 * struct dm_piece - one line of the table of any dm device
 * @start: first byte
 * @length: bytes
 * @type: target type
 * @linear: the bytes are those of the device below; then @under and @offset are valid. @type is
 *	"linear", or that of a cluster device, whose bytes have the same place on its local cache
 * @under: device below
 * @offset: first byte on @under
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

#endif /* HELPER_BLOCK_DM_PIECES_H */
