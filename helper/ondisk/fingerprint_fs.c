// SPDX-License-Identifier: GPL-2.0-only
#include "ondisk/fingerprint_fs.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/sha256.h"

/* Most bytes per fsprint_look(), and size of a buffer with room to align both ends of the read. */
#define LOOK_MAX	65536U
#define BUFFER		(3 * LOOK_MAX)

/**
 * struct fsprint - state of a fingerprint
 * @dev: open device
 * @size: bytes of the device that belong to the fingerprint
 * @align: alignment of offset and length of a read in bytes, at most LOOK_MAX
 * @buffer: data of the last read
 * @hash: SHA-256 so far
 */
struct fsprint {
	const struct device *dev;
	uint64_t size;
	uint64_t align;
	unsigned char *buffer;
	struct sha256_ctx hash;
};

/*
 * Read @bytes, at most 65536. Returns the data, valid until the next call. Returns NULL if the
 * range exceeds the device, and after an error, which is recorded with fail().
 */
const void *fsprint_look(struct fsprint *print, uint64_t offset, size_t bytes)
{
	uint64_t first = offset - offset % print->align;
	uint64_t last;

	if (offset > print->size || bytes > print->size - offset ||
	    fail_code())
		return NULL;
	last = offset + bytes + print->align - 1;
	last -= last % print->align;
	if (last > print->size)
		last = print->size;
	if (device_read(print->dev, print->buffer, last - first, first))
		return NULL;
	return print->buffer + (offset - first);
}

static void add_data(struct fsprint *print, const void *data, size_t bytes)
{
	sha256_update(&print->hash, bytes, data);
}

void fsprint_add_number(struct fsprint *print, uint64_t number)
{
	unsigned char text[8];
	unsigned int i;

	for (i = 0; i < sizeof(text); i++)
		text[i] = number >> 8 * i;
	add_data(print, text, sizeof(text));
}

/*
 * Hash a range of the device, in parts; @offset and @bytes are in bytes. If a part exceeds the
 * device, hash the part's offset instead of its data, and ignore the further parts.
 */
void fsprint_add(struct fsprint *print, uint64_t offset, uint64_t bytes)
{
	fsprint_add_number(print, bytes);
	while (bytes && !fail_code()) {
		size_t part = bytes < LOOK_MAX ? bytes : LOOK_MAX;
		const void *data = fsprint_look(print, offset, part);

		if (!data) {
			fsprint_add_number(print, offset);
			return;
		}
		add_data(print, data, part);
		offset += part;
		bytes -= part;
	}
}

uint64_t fsprint_size(const struct fsprint *print)
{
	return print->size;
}

static enum nearcache_fingerprint try_all(struct fsprint *print)
{
	static const struct {
		enum nearcache_fingerprint type;
		bool (*take)(struct fsprint *print);
	} kind[] = {
		{ NEARCACHE_FP_EXT4, fsprint_ext4 },
		{ NEARCACHE_FP_XFS, fsprint_xfs },
		{ NEARCACHE_FP_EROFS, fsprint_erofs },
	};
	unsigned int i;

	for (i = 0; i < sizeof(kind) / sizeof(kind[0]); i++)
		if (kind[i].take(print))
			return kind[i].type;
	return NEARCACHE_FP_NONE;
}

/*
 * Take the fingerprint of the file system on a device. @size: bytes of the device, or fewer: its
 * size before it grew. @type receives NEARCACHE_FP_EXT4 (also for ext2 and ext3), _XFS, _EROFS or
 * _NONE. @digest: FSPRINT_SIZE bytes, zero for _NONE. Returns 0 or an exit code of fail().
 */
int fsprint_take(const struct device *dev, uint64_t size,
		 enum nearcache_fingerprint *type, unsigned char *digest)
{
	struct fsprint print = {
		.dev = dev,
		.size = size,
		.align = dev->lbs > DEVICE_ALIGN ? dev->lbs : DEVICE_ALIGN,
		.buffer = device_buffer(BUFFER),
	};

	memset(digest, 0, FSPRINT_SIZE);
	*type = NEARCACHE_FP_NONE;
	sha256_init(&print.hash);
	if (!fail_code())
		*type = try_all(&print);
	if (*type && !fail_code())
		sha256_digest(&print.hash, FSPRINT_SIZE, digest);
	free(print.buffer);
	return fail_code();
}
