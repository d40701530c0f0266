/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the bytes of a volume inside another one lie: a partition, or an LVM logical volume. */
#ifndef HELPER_ONDISK_VOLUME_MAP_H
#define HELPER_ONDISK_VOLUME_MAP_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct volume_stripe - one part of a segment
 * @here: the stripe lies on the volume below; false: it lies on another device
 * @start: bytes from the start of the volume below
 */
struct volume_stripe {
	bool here;
	uint64_t start;
};

/**
 * struct volume_segment - consecutive bytes of a volume
 * @start: bytes from the start of the volume
 * @length: bytes, not 0
 * @unit: bytes of one stripe until the next stripe begins, not 0; @length if there is one stripe
 * @stripe: array of @stripes entries
 * @stripes: entries of @stripe, not 0
 */
struct volume_segment {
	uint64_t start;
	uint64_t length;
	uint64_t unit;
	struct volume_stripe *stripe;
	unsigned int stripes;
};

/**
 * struct volume - a range of bytes with offsets of its own
 * @below: the volume on which it lies; NULL: this volume is the device itself
 * @size: bytes
 * @segment: array of @segments entries; unused without @below
 * @segments: entries of @segment
 */
struct volume {
	const struct volume *below;
	uint64_t size;
	const struct volume_segment *segment;
	unsigned int segments;
};

bool volume_place(const struct volume *volume, uint64_t offset, uint64_t *place,
		  uint64_t *run);

#endif /* HELPER_ONDISK_VOLUME_MAP_H */
