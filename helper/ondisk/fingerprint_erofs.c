// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fingerprint of EROFS: hashes the superblock (checksum, build time, uuid, counts), the start of
 * the metadata, and samples of the image. An image is never written in place, only replaced. A new
 * image has another superblock, unless it is a reproducible build: then only the samples may show
 * the change.
 *
 * Offsets: fs/erofs/erofs_fs.h.
 */
#include <endian.h>
#include <string.h>

#include "ondisk/fingerprint_fs.h"

#define SUPER		1024
#define SUPER_BYTES	128
#define MAGIC		0xE0F5E1E2U
/* Bytes hashed at the start of the metadata. */
#define START_BYTES	65536U
#define SAMPLES		128U
#define SAMPLE_BYTES	4096U

static uint32_t get_le32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

bool fsprint_erofs(struct fsprint *print)
{
	const unsigned char *sb = fsprint_look(print, SUPER, SUPER_BYTES);
	uint64_t start, bytes, block;
	unsigned int i;

	if (!sb || get_le32(sb) != MAGIC || sb[12] < 9 || sb[12] > 16)
		return false;
	block = 1ULL << sb[12];
	bytes = get_le32(sb + 36) * block;
	start = get_le32(sb + 40) * block;
	if (bytes > fsprint_size(print))
		bytes = fsprint_size(print);
	fsprint_add(print, SUPER, SUPER_BYTES);
	if (start < bytes)
		fsprint_add(print, start, bytes - start < START_BYTES ?
					  bytes - start : START_BYTES);
	for (i = 0; i < SAMPLES && bytes >= SAMPLE_BYTES; i++) {
		uint64_t offset = (bytes - SAMPLE_BYTES) / (SAMPLES - 1) * i;

		fsprint_add(print, offset - offset % SAMPLE_BYTES,
			    SAMPLE_BYTES);
	}
	return true;
}
