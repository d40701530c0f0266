// SPDX-License-Identifier: GPL-2.0-only
#include "block/device.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/blkzoned.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/error.h"
#include "block/device_sysfs.h"

#define CHUNK	(4U << 20)

/* Time that a device may be suspended while another program replaces its table: one second. */
#define RUNNING_TRIES	10
#define RUNNING_PAUSE_US	(100 * 1000)

#define CLAIM_TRIES	20
#define CLAIM_PAUSE_US	(10 * 1000)

#define REREAD_TRIES	20
#define REREAD_PAUSE_US	(100 * 1000)

static int open_direct(const char *path, int flags, bool is_file)
{
	int fd = open(path, flags | O_CLOEXEC | O_DIRECT);

	/*
	 * Some file systems refuse O_DIRECT. A regular file does not need it: no kernel module
	 * writes to the file below its page cache.
	 */
	if (fd < 0 && errno == EINVAL && is_file)
		fd = open(path, flags | O_CLOEXEC);
	return fd;
}

static int read_facts(struct device *dev)
{
	int lbs, read_only;

	if (ioctl(dev->fd, BLKGETSIZE64, &dev->size) ||
	    ioctl(dev->fd, BLKSSZGET, &lbs) ||
	    ioctl(dev->fd, BLKROGET, &read_only))
		return fail_errno(errno, "cannot ask %s '%s' for its size",
				  dev->role, dev->path);
	dev->lbs = (uint32_t)lbs;
	dev->read_only = read_only;
	if (!dev->size)
		return fail(CODE_DEVICE, "%s '%s' has no size: is it connected?",
			    dev->role, dev->path);
	identity_read(dev->number, dev->id);
	return 0;
}

/*
 * Fail if a device, or one below it, is suspended: a read would hang, and could not be killed.
 * @what: the device or file to read, as the start of the message.
 */
int device_need_running(dev_t number, const char *what)
{
	char name[DEVICE_DM_NAME];
	int tries;

	for (tries = 0; identity_suspended(number, name); tries++) {
		if (tries == RUNNING_TRIES)
			return fail(CODE_BUSY,
				    "%s cannot be read: device '%s' is suspended: 'dmsetup resume %s' first",
				    what, name, name);
		usleep(RUNNING_PAUSE_US);
	}
	return 0;
}

static int open_checked(struct device *dev, const char *path, const char *role,
			bool file_allowed)
{
	char what[PATH_MAX + 64];
	struct stat st;

	memset(dev, 0, sizeof(*dev));
	dev->fd = -1;
	dev->role = role;
	if (!realpath(path, dev->path) || stat(dev->path, &st))
		return fail_errno(errno, "%s '%s'", role, path);
	dev->is_file = S_ISREG(st.st_mode);
	if (!S_ISBLK(st.st_mode) && !(dev->is_file && file_allowed))
		return fail(CODE_DEVICE, "%s '%s' is not a block device", role,
			    path);
	snprintf(what, sizeof(what), "%s '%s'", role, path);
	if (device_need_running(dev->is_file ? st.st_dev : st.st_rdev, what))
		return fail_code();
	dev->fd = open_direct(dev->path, O_RDONLY, dev->is_file);
	if (dev->fd < 0)
		return fail_errno(errno, "cannot open %s '%s'", role, path);
	if (dev->is_file) {
		dev->size = (uint64_t)st.st_size;
		dev->lbs = 512;
		return 0;
	}
	dev->number = st.st_rdev;
	return read_facts(dev);
}

/*
 * Open a block device for reading. The caller calls device_close() even after a failure. @role is
 * not copied: the string must stay valid until device_close().
 */
int device_open(struct device *dev, const char *path, const char *role)
{
	return open_checked(dev, path, role, false);
}

/* Like device_open(), but by device number. */
int device_open_number(struct device *dev, dev_t number, const char *role)
{
	char path[PATH_MAX], name[128];

	*dev = (struct device)DEVICE_CLOSED;
	if (!identity_kernel_name(number, name, sizeof(name)))
		return fail(CODE_DEVICE,
			    "the %s (device %u:%u) is gone: its disk was disconnected or has another number now",
			    role, major(number), minor(number));
	if (device_open(dev, device_path_of(number, path), role))
		return fail_code();
	/* An outdated node in /dev may lead to another device. */
	if (dev->number == number)
		return 0;
	return fail(CODE_DEVICE, "'%s' is not the %s of number %u:%u",
		    dev->path, role, major(number), minor(number));
}

/* Like device_open(), but also accepts a regular file (the image of a device). */
int device_open_any(struct device *dev, const char *path, const char *role)
{
	return open_checked(dev, path, role, true);
}

/* Fail if the device takes only sequential writes: slots are written in any order. */
int device_check_zoned(const struct device *dev)
{
	uint32_t zone = 0;

	if (dev->is_file || ioctl(dev->fd, BLKGETZONESZ, &zone) || !zone)
		return 0;
	return fail(CODE_DEVICE,
		    "%s '%s' is a zoned device, with zones of %llu bytes: give a device that takes writes in any order",
		    dev->role, dev->path, (unsigned long long)zone * 512);
}

static int reopen_device(struct device *dev, int flags)
{
	struct stat st;
	int fd;

	if (dev->read_only)
		return fail(CODE_DEVICE, "%s '%s' is read-only", dev->role,
			    dev->path);
	fd = open_direct(dev->path, O_RDWR | flags, dev->is_file);
	if (fd < 0 && errno == EBUSY)
		return fail(CODE_BUSY,
			    "%s '%s' is in use: unmount it or close the devices on top of it (lsblk shows them)",
			    dev->role, dev->path);
	if (fd < 0)
		return fail_errno(errno, "cannot open %s '%s' for writing",
				  dev->role, dev->path);
	if (fstat(fd, &st) || st.st_rdev != dev->number) {
		close(fd);
		return fail(CODE_DEVICE, "%s '%s' was replaced meanwhile",
			    dev->role, dev->path);
	}
	close(dev->fd);
	dev->fd = fd;
	return 0;
}

/*
 * Reopen for writing with O_EXCL: until device_close(), no file system, swap, md, dm or other
 * caller can claim the device. Fails with CODE_BUSY if the device is claimed already.
 */
int device_claim(struct device *dev)
{
	return reopen_device(dev, O_EXCL);
}

/*
 * Reopen for writing without O_EXCL, which succeeds even if another user has claimed the device.
 * The caller makes sure that this user does not use the bytes that the caller writes.
 */
int device_share(struct device *dev)
{
	return reopen_device(dev, 0);
}

/*
 * Make the kernel read the partition table again. Fails with CODE_BUSY if a partition is in use. A
 * command that overwrites a whole disk calls this twice: before the write, to test for partitions
 * in use, and after the write, to remove the partitions of the old partition table.
 */
int device_reread_partitions(const struct device *dev)
{
	int tries = 0, error;

	/* udev opens each new partition for a moment, and BLKRRPART fails meanwhile: retry. */
	while ((error = ioctl(dev->fd, BLKRRPART) ? errno : 0) == EBUSY &&
	       tries++ < REREAD_TRIES)
		usleep(REREAD_PAUSE_US);
	/* EINVAL, ENOTTY: the device is a partition, or of a kind that has no partitions. */
	if (!error || error == EINVAL || error == ENOTTY)
		return 0;
	if (error == EBUSY)
		return fail(CODE_BUSY,
			    "a partition of %s '%s' is in use: unmount or close it",
			    dev->role, dev->path);
	return fail_errno(error, "cannot read the partition table of %s '%s'",
			  dev->role, dev->path);
}

/*
 * Set @busy to whether a file system, swap, md, dm or another process has claimed the device. If it
 * is claimed but sysfs shows no holder, test again for 200 ms: another run of this command may be
 * doing the same test.
 */
int device_test_claim(const struct device *dev, bool *busy)
{
	char holder[64];
	int tries = 0;

	for (;;) {
		int fd = open_direct(dev->path, O_RDONLY | O_EXCL, false);

		*busy = fd < 0 && errno == EBUSY;
		if (fd < 0 && !*busy)
			return fail_errno(errno, "cannot open %s '%s'",
					  dev->role, dev->path);
		if (fd >= 0)
			close(fd);
		if (!*busy || tries++ == CLAIM_TRIES ||
		    identity_holder(dev->number, holder, sizeof(holder)))
			return 0;
		usleep(CLAIM_PAUSE_US);
	}
}

/* Harmless on a device that is not open. */
void device_close(struct device *dev)
{
	if (dev->fd >= 0)
		close(dev->fd);
	dev->fd = -1;
}

/*
 * Return zeroed memory, aligned for direct I/O, or NULL after recording an error. The caller frees
 * it with free(). @bytes: multiple of 4096.
 */
void *device_buffer(size_t bytes)
{
	void *buffer;

	if (posix_memalign(&buffer, DEVICE_ALIGN, bytes)) {
		fail_memory();
		return NULL;
	}
	memset(buffer, 0, bytes);
	return buffer;
}

/* Read exactly @bytes. @bytes, @offset: multiples of @dev->lbs. @buffer: from device_buffer(). */
int device_read(const struct device *dev, void *buffer, size_t bytes,
		uint64_t offset)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t n = pread(dev->fd, (char *)buffer + done, bytes - done,
				  (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_errno(errno,
					  "cannot read %s '%s' at byte %llu",
					  dev->role, dev->path,
					  (unsigned long long)(offset + done));
		if (!n)
			return fail(CODE_DEVICE,
				    "%s '%s' ends at byte %llu: too short",
				    dev->role, dev->path,
				    (unsigned long long)(offset + done));
		done += (size_t)n;
	}
	return 0;
}

/* @dev: opened by device_claim() or device_share(). @buffer, @bytes, @offset: see device_read(). */
int device_write(const struct device *dev, const void *buffer, size_t bytes,
		 uint64_t offset)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t n = pwrite(dev->fd, (const char *)buffer + done,
				   bytes - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail_errno(n ? errno : ENOSPC,
					  "cannot write %s '%s' at byte %llu",
					  dev->role, dev->path,
					  (unsigned long long)(offset + done));
		done += (size_t)n;
	}
	return 0;
}

/* @dev: opened by device_claim() or device_share(). @offset, @bytes: multiples of 4096. */
int device_zero(const struct device *dev, uint64_t offset, uint64_t bytes)
{
	size_t chunk = bytes < CHUNK ? bytes : CHUNK;
	void *zero = device_buffer(chunk ? chunk : DEVICE_ALIGN);
	int error = zero ? 0 : fail_code();

	while (bytes && !error) {
		if (chunk > bytes)
			chunk = bytes;
		error = device_write(dev, zero, chunk, offset);
		offset += chunk;
		bytes -= chunk;
	}
	free(zero);
	return error;
}

int device_sync(const struct device *dev)
{
	if (fsync(dev->fd))
		return fail_errno(errno, "cannot flush %s '%s'", dev->role,
				  dev->path);
	return 0;
}

/* Write the dm name of a device to @name (128 bytes), or its number if it is gone; return @name. */
const char *device_dm_name(dev_t number, char *name)
{
	if (!identity_attribute(number, "dm/name", name, 128))
		snprintf(name, 128, "%u:%u", major(number), minor(number));
	return name;
}

/*
 * Write the path of a device's node to @path (PATH_MAX bytes) and return @path: /dev/mapper/NAME
 * for device-mapper, /dev/NAME for others. If the device no longer exists, @path is its number,
 * like "253:0".
 */
const char *device_path_of(dev_t number, char *path)
{
	char name[128], attr[64];

	if (identity_attribute(number, "dm/name", name, sizeof(name))) {
		snprintf(path, PATH_MAX, "/dev/mapper/%s", name);
		return path;
	}
	if (identity_kernel_name(number, name, sizeof(name))) {
		snprintf(path, PATH_MAX, "/dev/%s", name);
		return path;
	}
	snprintf(attr, sizeof(attr), "%u:%u", major(number), minor(number));
	return strcpy(path, attr);
}
