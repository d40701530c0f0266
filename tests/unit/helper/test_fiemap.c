// SPDX-License-Identifier: GPL-2.0-only
/*
 * files/fiemap.c with synthetic answers of the kernel: extents of files, parts without a location,
 * and files it refuses.
 */
#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "files/erofs_tail.h"
#include "files/fiemap.h"
#include "lib/error.h"
#include "unit.h"

#define PAGE	4096ULL
#define EXT4	0xEF53
#define XFS	0x58465342

/* Results of the faked system calls for the file. */
static struct {
	uint64_t size;
	dev_t device;
	long magic;
	uint64_t attributes;
	int error;
	uint32_t xflags;
	const struct fiemap_extent *extent;
	unsigned int count;
	unsigned int calls;
} file;

int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
	(void)fd;
	memset(st, 0, sizeof(*st));
	st->st_dev = file.device;
	st->st_size = (off_t)file.size;
	return 0;
}

int __wrap_fstatfs(int fd, struct statfs *fs);
int __wrap_fstatfs(int fd, struct statfs *fs)
{
	(void)fd;
	memset(fs, 0, sizeof(*fs));
	fs->f_type = file.magic;
	return 0;
}

int __wrap_statx(int fd, const char *path, int flags, unsigned int mask, struct statx *st);
int __wrap_statx(int fd, const char *path, int flags, unsigned int mask, struct statx *st)
{
	(void)fd;
	(void)path;
	(void)flags;
	(void)mask;
	memset(st, 0, sizeof(*st));
	st->stx_attributes = file.attributes;
	return 0;
}

/* Like the kernel, return as many extents as fit, from the first that ends behind fm_start. */
static int fiemap(struct fiemap *map)
{
	unsigned int i;

	file.calls++;
	assert_true(map->fm_flags & FIEMAP_FLAG_SYNC);
	if (file.error) {
		errno = file.error;
		return -1;
	}
	for (i = 0; i < file.count && map->fm_mapped_extents < map->fm_extent_count; i++)
		if (file.extent[i].fe_logical + file.extent[i].fe_length > map->fm_start)
			map->fm_extents[map->fm_mapped_extents++] = file.extent[i];
	return 0;
}

int __wrap_ioctl(int fd, unsigned long request, void *arg);
int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	(void)fd;
	if (request == FS_IOC_FSGETXATTR) {
		((struct fsxattr *)arg)->fsx_xflags = file.xflags;
		return 0;
	}
	assert_int_equal(request, FS_IOC_FIEMAP);
	return fiemap(arg);
}

int erofs_check(dev_t device, const char *path)
{
	assert_int_equal(device, file.device);
	return strcmp(path, "two-devices") ? 0 : (fail)(CODE_DEVICE, "%s: more devices", path);
}

/* Where EROFS stores the end of the file; 0: unknown. */
static uint64_t tail = 1234;

int erofs_tail(dev_t device, int fd, const char *path, uint64_t *start)
{
	(void)device;
	(void)fd;
	(void)path;
	*start = tail;
	return 0;
}

static int fd;

static int set_up(void **state)
{
	(void)state;
	memset(&file, 0, sizeof(file));
	file.device = makedev(253, 1);
	file.magic = EXT4;
	fail_reset();
	return 0;
}

#define EXTENT(offset, start, length, flags)					\
	{ .fe_logical = (offset), .fe_physical = (start), .fe_length = (length), \
	  .fe_flags = (flags) }

#define FILE_OF(bytes, ...)							\
	do {									\
		static const struct fiemap_extent extent[] = { __VA_ARGS__ };	\
										\
		file.size = (bytes);						\
		file.extent = extent;						\
		file.count = sizeof(extent) / sizeof(extent[0]);		\
	} while (0)

static void extent_is(const struct extents *extents, size_t i, uint64_t offset,
		      uint64_t start, uint64_t length)
{
	assert_true(i < extents->count);
	assert_int_equal(extents->extent[i].offset, offset);
	assert_int_equal(extents->extent[i].start, start);
	assert_int_equal(extents->extent[i].length, length);
}

static void refused(const char *path, const char *what)
{
	struct extents extents;

	assert_int_equal(extents_read(&extents, fd, path), CODE_DEVICE);
	if (!strstr(fail_message(), what) || !strstr(fail_message(), path))
		fail_msg("'%s' and '%s' not in: %s", path, what, fail_message());
	extents_free(&extents);
	fail_reset();
}

static void mapped(void **state)
{
	struct extents extents;

	(void)state;
	/* Adjacent extents are merged.  What lies behind the end of the file is cut off. */
	FILE_OF(4 * PAGE - 100, EXTENT(0, 100 * PAGE, PAGE, 0),
		EXTENT(PAGE, 101 * PAGE, PAGE, 0),
		EXTENT(2 * PAGE, 9 * PAGE, 2 * PAGE, FIEMAP_EXTENT_SHARED),
		EXTENT(4 * PAGE, 50 * PAGE, PAGE,
		       FIEMAP_EXTENT_UNWRITTEN | FIEMAP_EXTENT_LAST));
	assert_int_equal(extents_read(&extents, fd, "file"), 0);
	assert_int_equal(extents.count, 2);
	assert_int_equal(extents.size, 4 * PAGE - 100);
	assert_int_equal(extents.device, file.device);
	extent_is(&extents, 0, 0, 100 * PAGE, 2 * PAGE);
	extent_is(&extents, 1, 2 * PAGE, 9 * PAGE, 2 * PAGE - 100);
	extents_free(&extents);
	file.size = 0;
	assert_int_equal(extents_read(&extents, fd, "empty"), 0);
	assert_int_equal(extents.count, 0);
}

/* All blocks of the file, also beyond its end, but no reservation in memory. */
static void allocated(void **state)
{
	struct extents extents;

	(void)state;
	FILE_OF(PAGE + 100, EXTENT(0, 100 * PAGE, 2 * PAGE, 0),
		EXTENT(3 * PAGE, 50 * PAGE, PAGE, FIEMAP_EXTENT_UNWRITTEN),
		EXTENT(4 * PAGE, 0, PAGE, FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_UNKNOWN |
		       FIEMAP_EXTENT_LAST));
	assert_int_equal(extents_read_allocated(&extents, fd, "file"), 0);
	assert_int_equal(extents.count, 2);
	assert_int_equal(extents.selected, PAGE + 100);
	extent_is(&extents, 0, 0, 100 * PAGE, 2 * PAGE);
	extent_is(&extents, 1, 3 * PAGE, 50 * PAGE, PAGE);
	extents_free(&extents);
	file.size = 0;
	assert_int_equal(extents_read_allocated(&extents, fd, "empty"), 0);
	assert_int_equal(extents.count, 2);
	extents_free(&extents);
	FILE_OF(5, EXTENT(0, 0, 60, FIEMAP_EXTENT_DATA_INLINE | FIEMAP_EXTENT_LAST));
	assert_int_equal(extents_read_allocated(&extents, fd, "tiny"), 0);
	assert_int_equal(extents.extent[0].length, 5);
	extents_free(&extents);
	/* Without data the file still has a device: the extents would be on another one. */
	file.size = 0;
	file.magic = XFS;
	file.xflags = FS_XFLAG_REALTIME;
	assert_int_equal(extents_read_allocated(&extents, fd, "empty"), 0);
	assert_int_equal(extents.count, 0);
}

/* More extents than one request asks for: further requests get the rest. */
static void fragmented(void **state)
{
	static struct fiemap_extent extent[1000];
	struct extents extents;
	unsigned int i;

	(void)state;
	for (i = 0; i < 1000; i++)
		extent[i] = (struct fiemap_extent)EXTENT(i * PAGE, (5000 - 2 * i) * PAGE,
							 PAGE, 0);
	file.extent = extent;
	file.count = 1000;
	file.size = 1000 * PAGE;
	assert_int_equal(extents_read(&extents, fd, "file"), 0);
	assert_int_equal(extents.count, 1000);
	for (i = 0; i < 1000; i++)
		extent_is(&extents, i, i * PAGE, (5000 - 2 * i) * PAGE, PAGE);
	assert_true(file.calls > 1);
	extents_free(&extents);
}

static void unlocated(void **state)
{
	static const struct {
		uint32_t flags;
		const char *why;
	} row[] = {
		{ FIEMAP_EXTENT_DATA_INLINE | FIEMAP_EXTENT_NOT_ALIGNED, "inline" },
		{ FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_UNKNOWN, "delayed" },
		{ FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_UNWRITTEN, "delayed" },
		{ FIEMAP_EXTENT_ENCODED, "encoded" },
		{ FIEMAP_EXTENT_DATA_ENCRYPTED | FIEMAP_EXTENT_ENCODED, "encoded" },
		{ FIEMAP_EXTENT_DATA_TAIL | FIEMAP_EXTENT_NOT_ALIGNED, "tail" },
		{ FIEMAP_EXTENT_UNKNOWN, "does not report" },
	};
	static struct fiemap_extent extent[2] = {
		EXTENT(0, PAGE, PAGE, 0),
	};
	struct extents extents;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		extent[1] = (struct fiemap_extent)EXTENT(PAGE, 2 * PAGE, PAGE,
							 row[i].flags);
		file.extent = extent;
		file.count = 2;
		file.size = PAGE + 10;
		assert_int_equal(extents_read(&extents, fd, "file"), 0);
		/* The extents are adjacent on the device, but must not be merged. */
		assert_int_equal(extents.count, 2);
		assert_int_equal(extents.extent[0].kind, EXTENT_DATA);
		assert_int_equal(extents.extent[1].kind, EXTENT_UNLOCATED);
		assert_int_equal(extents.extent[1].length, 10);
		assert_non_null(strstr(extents.extent[1].why, row[i].why));
		extents_free(&extents);
	}
}

/* Holes have no extent; unwritten data has an extent of its own kind. */
static void without_data(void **state)
{
	struct extents extents;

	(void)state;
	FILE_OF(5 * PAGE, EXTENT(PAGE, PAGE, PAGE, 0),
		EXTENT(2 * PAGE, 2 * PAGE, PAGE, FIEMAP_EXTENT_UNWRITTEN),
		EXTENT(4 * PAGE, 3 * PAGE, PAGE, FIEMAP_EXTENT_LAST));
	assert_int_equal(extents_read(&extents, fd, "file"), 0);
	assert_int_equal(extents.count, 3);
	assert_int_equal(extents.selected, 5 * PAGE);
	extent_is(&extents, 0, PAGE, PAGE, PAGE);
	extent_is(&extents, 1, 2 * PAGE, 2 * PAGE, PAGE);
	assert_int_equal(extents.extent[1].kind, EXTENT_UNWRITTEN);
	extent_is(&extents, 2, 4 * PAGE, 3 * PAGE, PAGE);
	extents_free(&extents);
	file.count = 0;
	assert_int_equal(extents_read(&extents, fd, "file"), 0);
	assert_int_equal(extents.count, 0);
	extents_free(&extents);
	/* The second extent makes no progress: it must not cause an endless loop. */
	FILE_OF(3 * PAGE, EXTENT(0, PAGE, PAGE, 0), EXTENT(10, PAGE, PAGE, 0));
	refused("file", "changed during");
}

/* A file as a whole that FIEMAP does not locate on the device. */
static void nowhere(const char *what)
{
	struct extents extents;

	assert_int_equal(extents_read(&extents, fd, "file"), 0);
	assert_int_equal(extents.count, 1);
	assert_int_equal(extents.extent[0].kind, EXTENT_UNLOCATED);
	assert_int_equal(extents.extent[0].length, file.size);
	assert_non_null(strstr(extents.extent[0].why, what));
	extents_free(&extents);
}

static void kinds(void **state)
{
	struct extents extents;

	(void)state;
	FILE_OF(PAGE + 5, EXTENT(0, PAGE, PAGE, 0),
		EXTENT(PAGE, 0, 5, FIEMAP_EXTENT_DATA_INLINE | FIEMAP_EXTENT_LAST));
	file.magic = (long)EROFS_MAGIC;
	assert_int_equal(extents_read(&extents, fd, "file"), 0);
	extent_is(&extents, 1, PAGE, 1234, 5);
	assert_int_equal(extents.extent[1].kind, EXTENT_DATA);
	extents_free(&extents);
	tail = 0;
	assert_int_equal(extents_read(&extents, fd, "file"), 0);
	assert_int_equal(extents.extent[1].kind, EXTENT_UNLOCATED);
	extents_free(&extents);
	refused("two-devices", "more devices");
	file.attributes = STATX_ATTR_COMPRESSED;
	nowhere("is compressed");
	file.attributes = 0;
	file.magic = XFS;
	file.xflags = FS_XFLAG_REALTIME;
	nowhere("realtime");
	file.magic = 0xF2F52010;
	refused("file", "F2FS");
	file.magic = EXT4;
	file.error = EOPNOTSUPP;
	refused("file", "FIEMAP");
	file.error = EIO;
	refused("file", "Input/output");
	file.device = makedev(0, 40);
	refused("file", "no block device of its own");
}

static void kept(void **state)
{
	static const struct index_range range[] = {
		{ 10, 20 }, { PAGE - 10, 20 }, { 2 * PAGE + 1, 0 }, { 3 * PAGE, 100 * PAGE },
	};
	struct extents extents;

	(void)state;
	FILE_OF(4 * PAGE, EXTENT(0, 100 * PAGE, PAGE, 0), EXTENT(PAGE, 0, 3 * PAGE, 0));
	assert_int_equal(extents_read(&extents, fd, "file"), 0);
	assert_int_equal(extents_keep(&extents, range, 4), 0);
	assert_int_equal(extents.count, 4);
	assert_int_equal(extents.selected, 20 + 20 + PAGE);
	extent_is(&extents, 0, 10, 100 * PAGE + 10, 20);
	extent_is(&extents, 1, PAGE - 10, 101 * PAGE - 10, 10);
	extent_is(&extents, 2, PAGE, 0, 10);
	extent_is(&extents, 3, 3 * PAGE, 2 * PAGE, PAGE);
	assert_int_equal(extents_keep(&extents, NULL, 0), 0);
	assert_int_equal(extents.count, 0);
	extents_free(&extents);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(mapped, set_up),
		cmocka_unit_test_setup(allocated, set_up),
		cmocka_unit_test_setup(fragmented, set_up),
		cmocka_unit_test_setup(unlocated, set_up),
		cmocka_unit_test_setup(without_data, set_up),
		cmocka_unit_test_setup(kinds, set_up),
		cmocka_unit_test_setup(kept, set_up),
	};

	fd = memfd_create("file", 0);
	return RUN(tests);
}
