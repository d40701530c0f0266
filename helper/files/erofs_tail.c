// SPDX-License-Identifier: GPL-2.0-only
/* Locates the ends of files that EROFS stores behind inodes and FIEMAP does not locate. */
#include "files/erofs_tail.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "block/device.h"
#include "lib/error.h"

/* The incompatible features up to xattr prefixes (0x40). None of them moves inodes. */
#define INCOMPAT_KNOWN	0x7FU

/* Layout of a file's data, from i_format. Flat inline: the file's end is behind the inode. */
#define LAYOUT(format)		((format) >> 1 & 7)
#define LAYOUT_FLAT_INLINE	2

static uint32_t get_le16(const unsigned char *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return le16toh(value);
}

static uint32_t get_le32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

/* Decodes @bytes (EROFS_SUPER_BYTES of them). Returns false if they are no EROFS superblock. */
bool erofs_super_parse(const unsigned char *bytes, struct erofs_super *super)
{
	if (get_le32(bytes) != EROFS_MAGIC || bytes[12] < 9 || bytes[12] > 16)
		return false;
	super->block = 1ULL << bytes[12];
	super->meta = get_le32(bytes + 40) * super->block;
	super->incompat = get_le32(bytes + 80);
	super->extra_devices = get_le16(bytes + 86);
	return true;
}

/* Returns the offset of an inode on the device, bytes. @nid: its number, st_ino. */
uint64_t erofs_inode_place(const struct erofs_super *super, uint64_t nid)
{
	return super->meta + (nid << 5);
}

/*
 * Finds the end of a file that EROFS stores behind its inode. @inode: EROFS_INODE_BYTES from
 * offset @place of the device. @start receives the offset of the file's end on the device. Returns
 * false if the layout is not flat inline or the superblock has an unknown feature.
 */
bool erofs_tail_parse(const unsigned char *inode, uint64_t place,
		      const struct erofs_super *super, uint64_t *start)
{
	uint32_t format = get_le16(inode), xattrs = get_le16(inode + 2);

	if (super->incompat & ~INCOMPAT_KNOWN ||
	    LAYOUT(format) != LAYOUT_FLAT_INLINE)
		return false;
	*start = place + (format & 1 ? 64 : 32);
	/* Skip the xattrs: a header of 12 bytes, then @xattrs - 1 entries of 4 bytes. */
	if (xattrs)
		*start += 12 + 4 * (xattrs - 1);
	return true;
}

/*
 * Reads @count bytes at offset @place of device @number. Direct I/O reads whole pages: the one or
 * two that contain the bytes, and no further page, because a read may fill a cache.
 */
static int read_bytes(dev_t number, const char *path, uint64_t place,
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
		     "'%s': its EROFS has an inode beyond the end of the device: check it with fsck.erofs",
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

/* Reads a device's superblock and keeps it: callers map many files of one device in a row. */
static int super_of(dev_t device, const char *path, struct erofs_super *super)
{
	static struct erofs_super last;
	static dev_t last_device;
	unsigned char bytes[EROFS_SUPER_BYTES];

	if (device != last_device) {
		if (read_bytes(device, path, EROFS_SUPER, bytes, sizeof(bytes)))
			return fail_code();
		if (!erofs_super_parse(bytes, &last))
			return fail(CODE_DEVICE,
				    "'%s': its file system is EROFS, but its device has no EROFS superblock",
				    path);
		last_device = device;
	}
	*super = last;
	return 0;
}

/*
 * Fails if the file system on @device has several devices, because FIEMAP does not report on which
 * of them an extent is. @path is for messages.
 */
int erofs_check(dev_t device, const char *path)
{
	struct erofs_super super;

	if (super_of(device, path, &super))
		return fail_code();
	if (!super.extra_devices)
		return 0;
	return fail(CODE_DEVICE,
		    "'%s': its EROFS has %u extra devices, and does not report which one holds a file",
		    path, super.extra_devices);
}

/*
 * Finds where the end of file @fd, which FIEMAP reports as inline, is stored. @start receives the
 * offset in bytes on @device, the mounted device, or 0 if the inode has an unknown form. @path is
 * for messages.
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
	if (read_bytes(device, path, at, inode, sizeof(inode)))
		return fail_code();
	if (!erofs_tail_parse(inode, at, &super, start))
		*start = 0;
	return 0;
}
