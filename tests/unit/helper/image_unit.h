/* SPDX-License-Identifier: GPL-2.0-only */
/* The image of an origin in a sparse file, whose fingerprint a test takes. */
#ifndef HELPER_IMAGE_UNIT_H
#define HELPER_IMAGE_UNIT_H

#include <endian.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/error.h"
#include "ondisk/fingerprint_fs.h"
#include "unit.h"

#define IMAGE_BYTES	(64ULL << 20)

static char image_path[] = "/tmp/image_unit.XXXXXX";
static int image_file;

/* Setup and teardown of a group of tests. */
static inline int image_begin(void **state)
{
	(void)state;
	image_file = mkstemp(image_path);
	return image_file < 0;
}

static inline int image_end(void **state)
{
	(void)state;
	close(image_file);
	return unlink(image_path);
}

static inline void image_empty(void)
{
	assert_int_equal(ftruncate(image_file, 0), 0);
	assert_int_equal(ftruncate(image_file, IMAGE_BYTES), 0);
}

static inline void put(uint64_t offset, const void *data, size_t bytes)
{
	assert_int_equal(pwrite(image_file, data, bytes, (off_t)offset), bytes);
}

/* Write the lower @bytes of a number, little-endian. */
static inline void put_number(uint64_t offset, uint64_t number, size_t bytes)
{
	number = htole64(number);
	put(offset, &number, bytes);
}

static inline unsigned char image_byte(uint64_t offset)
{
	unsigned char byte;

	assert_int_equal(pread(image_file, &byte, 1, (off_t)offset), 1);
	return byte;
}

/* Take the fingerprint of the first @size bytes. */
static inline void image_take(uint64_t size, struct fsprint_result *result)
{
	struct device dev;

	fail_reset();
	assert_int_equal(device_open_any(&dev, image_path, "origin"), 0);
	if (fsprint_take(&dev, size, result))
		fail_msg("%s", fail_message());
	device_close(&dev);
}

#endif /* HELPER_IMAGE_UNIT_H */
