// SPDX-License-Identifier: GPL-2.0-only
#include "files/erofs_map.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "block/device.h"
#include "lib/error.h"

/* Features that leave inodes where this file looks for them, up to xattr prefixes. */
#define INCOMPAT_KNOWN	0x7FU

/* Bytes of the file's end are behind the inode; of its i_format. */
#define LAYOUT(format)		((format) >> 1 & 7)
#define LAYOUT_FLAT_INLINE	2

static uint32_t get16(const unsigned char *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return le16toh(value);
}

static uint32_t get32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

/**
 * erofs_super_parse() - take a superblock apart
 * @bytes: EROFS_SUPER_BYTES of it
 * @super: the result
 *
 * Return: whether it is one.
 */
bool erofs_super_parse(const unsigned char *bytes, struct erofs_super *super)
{
	if (get32(bytes) != EROFS_MAGIC || bytes[12] < 9 || bytes[12] > 16)
		return false;
	super->block = 1ULL << bytes[12];
	super->meta = get32(bytes + 40) * super->block;
	super->incompat = get32(bytes + 80);
	super->extra_devices = get16(bytes + 86);
	return true;
}

/**
 * erofs_inode_place() - where an inode is
 * @super: of the file system
 * @nid: its number, as stat() tells it
 *
 * Return: byte of the device.
 */
uint64_t erofs_inode_place(const struct erofs_super *super, uint64_t nid)
{
	return super->meta + (nid << 5);
}

/**
 * erofs_tail_parse() - where the end of a file is that is kept with its inode
 * @inode: EROFS_INODE_BYTES of it
 * @place: where it is, bytes
 * @super: of the file system
 * @start: filled in: byte of the device
 *
 * Return: whether this inode has its file's end behind it.
 */
bool erofs_tail_parse(const unsigned char *inode, uint64_t place,
		      const struct erofs_super *super, uint64_t *start)
{
	uint32_t format = get16(inode), xattrs = get16(inode + 2);

	if (super->incompat & ~INCOMPAT_KNOWN ||
	    LAYOUT(format) != LAYOUT_FLAT_INLINE)
		return false;
	*start = place + (format & 1 ? 64 : 32);
	/* A header of 12 bytes has room for the first of four. */
	if (xattrs)
		*start += 12 + 4 * (xattrs - 1);
	return true;
}

/*
 * Direct I/O wants whole blocks; what is looked at lies in one page or two.  No more is
 * read than that: it is cached.
 */
static int look(dev_t number, const char *path, uint64_t place,
		unsigned char *bytes, size_t count)
{
	struct device dev = { .fd = -1 };
	unsigned char *page = device_buffer(2 * DEVICE_ALIGN);
	uint64_t from = place - place % DEVICE_ALIGN;
	size_t length = place - from + count > DEVICE_ALIGN ? 2 * DEVICE_ALIGN :
							      DEVICE_ALIGN;

	if (!page || device_open_number(&dev, number, "EROFS device"))
		goto out;
	if (from >= dev.size || place + count > dev.size) {
		fail(CODE_DEVICE,
		     "'%s': its EROFS says that an inode is beyond the end of its device: check it with fsck.erofs",
		     path);
		goto out;
	}
	if (length > dev.size - from)
		length = dev.size - from;
	if (!device_read(&dev, page, length, from))
		memcpy(bytes, page + (place - from), count);
out:
	device_close(&dev);
	free(page);
	return fail_code();
}

/* Asked for file after file: the last one is kept. */
static int super_of(dev_t device, const char *path, struct erofs_super *super)
{
	static struct erofs_super last;
	static dev_t last_device;
	unsigned char bytes[EROFS_SUPER_BYTES];

	if (device != last_device) {
		if (look(device, path, EROFS_SUPER, bytes, sizeof(bytes)))
			return fail_code();
		if (!erofs_super_parse(bytes, &last))
			return fail(CODE_DEVICE,
				    "'%s': the device of its EROFS has no superblock of one",
				    path);
		last_device = device;
	}
	*super = last;
	return 0;
}

/**
 * erofs_check() - demand a file system on one device
 * @device: that is mounted
 * @path: of a file on it, for messages
 *
 * Return: 0 or the exit code.
 */
int erofs_check(dev_t device, const char *path)
{
	struct erofs_super super;

	if (super_of(device, path, &super))
		return fail_code();
	if (!super.extra_devices)
		return 0;
	return fail(CODE_DEVICE,
		    "'%s': its EROFS has %u more devices, and which one a file is on is not told",
		    path, super.extra_devices);
}

/**
 * erofs_tail() - where the end of a file is that FIEMAP calls inline
 * @device: that is mounted
 * @fd: the file
 * @path: what messages call it
 * @start: filled in: byte of the device
 *
 * Return: 0 or the exit code.
 */
int erofs_tail(dev_t device, int fd, const char *path, uint64_t *start)
{
	unsigned char inode[EROFS_INODE_BYTES];
	struct erofs_super super;
	uint64_t at;
	struct stat st;

	if (fstat(fd, &st))
		return fail_errno(errno, "'%s'", path);
	if (super_of(device, path, &super))
		return fail_code();
	at = erofs_inode_place(&super, st.st_ino);
	if (look(device, path, at, inode, sizeof(inode)))
		return fail_code();
	if (erofs_tail_parse(inode, at, &super, start))
		return 0;
	return fail(CODE_DEVICE,
		    "'%s': its end is kept inside EROFS's metadata (inline), in a form that this command does not know: mkfs.erofs -E noinline_data",
		    path);
}
