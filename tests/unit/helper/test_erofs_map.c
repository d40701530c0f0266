// SPDX-License-Identifier: GPL-2.0-only
/* files/erofs_tail.c: place of a file's inline tail on a synthetic EROFS device. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "block/device.h"
#include "files/erofs_tail.h"
#include "lib/error.h"
#include "unit.h"

#define BYTES	(64U << 10)

static unsigned char disk[BYTES];
static ino_t inode;

int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
	(void)fd;
	memset(st, 0, sizeof(*st));
	st->st_ino = inode;
	return 0;
}

int device_open_number(struct device *dev, dev_t number, const char *role)
{
	(void)number;
	(void)role;
	dev->size = BYTES;
	return 0;
}

void device_close(struct device *dev)
{
	(void)dev;
}

void *device_buffer(size_t bytes)
{
	return malloc(bytes);
}

int device_read(const struct device *dev, void *buffer, size_t bytes, uint64_t offset)
{
	(void)dev;
	assert_true(offset % DEVICE_ALIGN == 0 && offset + bytes <= BYTES);
	memcpy(buffer, disk + offset, bytes);
	return 0;
}

static void put(size_t at, uint64_t value, unsigned int bytes)
{
	while (bytes--) {
		disk[at++] = (unsigned char)value;
		value >>= 8;
	}
}

/* Write a superblock: blocks of 4096 bytes, inodes from block 2 on. */
static void superblock(unsigned int devices, uint32_t incompat)
{
	memset(disk, 0, sizeof(disk));
	put(1024, EROFS_MAGIC, 4);
	put(1024 + 12, 12, 1);
	put(1024 + 40, 2, 4);
	put(1024 + 80, incompat, 4);
	put(1024 + 86, devices, 2);
}

/* The helper caches the superblock per device, so use a new device number. */
static dev_t fresh(void)
{
	static unsigned int number;

	fail_reset();
	return makedev(8, ++number);
}

static void one_device(void **state)
{
	(void)state;
	superblock(0, 0);
	assert_int_equal(erofs_check(fresh(), "file"), 0);
	superblock(3, 0);
	assert_int_equal(erofs_check(fresh(), "file"), CODE_DEVICE);
	assert_non_null(strstr(fail_message(), "'file': its EROFS has 3 extra devices"));
	memset(disk, 0, sizeof(disk));
	assert_int_equal(erofs_check(fresh(), "file"), CODE_DEVICE);
	superblock(0, 0);
	put(1024 + 12, 30, 1);
	assert_int_equal(erofs_check(fresh(), "file"), CODE_DEVICE);
	fail_reset();
}

static uint64_t tail(ino_t nid)
{
	uint64_t start = 0;

	inode = nid;
	erofs_tail(fresh(), 0, "file", &start);
	return start;
}

static void tails(void **state)
{
	(void)state;
	superblock(0, 0x20);
	/* The tail follows the inode (32 bytes, 64 if extended) and its extended attributes. */
	put(8192 + 10 * 32, 2 << 1, 2);
	assert_int_equal(tail(10), 8192 + 10 * 32 + 32);
	put(8192 + 10 * 32 + 2, 3, 2);
	assert_int_equal(tail(10), 8192 + 10 * 32 + 32 + 12 + 8);
	put(8192 + 127 * 32, 2 << 1 | 1, 2);
	assert_int_equal(tail(127), 8192 + 127 * 32 + 64);
	assert_int_equal(fail_code(), 0);
}

static void unknown_tails(void **state)
{
	(void)state;
	superblock(0, 0);
	/* Plain and compressed inodes have no tail; feature bits may move inodes. */
	put(8192, 0, 2);
	assert_int_equal(tail(0), 0);
	put(8192, 3 << 1, 2);
	assert_int_equal(tail(0), 0);
	put(8192, 2 << 1, 2);
	put(1024 + 80, 0x80, 4);
	assert_int_equal(tail(0), 0);
	assert_int_equal(fail_code(), 0);
	/* Inodes beyond the end of the device; offsets that would overflow. */
	assert_int_equal(tail(BYTES), 0);
	assert_non_null(strstr(fail_message(), "beyond the end"));
	assert_int_equal(tail((ino_t)1 << 58), 0);
	assert_int_equal(tail(((ino_t)1 << 59) - 256 - 1), 0);
	assert_int_equal(fail_code(), CODE_DEVICE);
	fail_reset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_device),
		cmocka_unit_test(tails),
		cmocka_unit_test(unknown_tails),
	};

	return RUN(tests);
}
