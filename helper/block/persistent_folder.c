// SPDX-License-Identifier: GPL-2.0-only
#include "block/persistent_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "block/dm_pieces.h"
#include "lib/error.h"
#include "block/device_sysfs.h"

/* Not in linux/magic.h of every distribution. */
#ifndef RAMFS_MAGIC
#define RAMFS_MAGIC	0x858458f6
#endif

/* Maximum depth of file systems and devices below each other. Deeper ones are not examined. */
#define DEPTH_MAX	16

/* Return a name for the volatile storage below a file or a device; NULL: none found. */
static const char *fleeting_file(int fd, int depth);
static const char *fleeting_device(dev_t number, int depth);

/* A live system keeps changes in memory in a dm snapshot, whose devices look like disks. */
static const char *fleeting_pieces(dev_t number, int depth)
{
	const char *what = NULL;
	struct dm_piece *piece;
	size_t i, count;

	if (dm_pieces(number, &piece, &count)) {
		fail_reset();
		count = 0;
	}
	for (i = 0; i < count && !what; i++)
		if (!strcmp(piece[i].type, "snapshot"))
			what = "a device-mapper snapshot";
		else if (piece[i].linear)
			what = fleeting_device(piece[i].under, depth + 1);
	free(piece);
	return what;
}

/* A backing file that cannot be opened counts as deleted: it will be gone after a reboot. */
static const char *fleeting_loop(const char *backing, int depth)
{
	const char *what = "a loop device on a file that is gone";
	struct stat st;
	int fd = open(backing, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return what;
	if (!fstat(fd, &st))
		what = S_ISBLK(st.st_mode) ?
		       fleeting_device(st.st_rdev, depth + 1) :
		       fleeting_file(fd, depth + 1);
	close(fd);
	return what;
}

static const char *fleeting_device(dev_t number, int depth)
{
	char name[128], text[PATH_MAX];

	if (depth > DEPTH_MAX ||
	    !identity_kernel_name(number, name, sizeof(name)))
		return NULL;
	if (!strncmp(name, "zram", 4) || !strncmp(name, "ram", 3))
		return "a RAM disk";
	if (identity_attribute(number, "loop/backing_file", text,
			       sizeof(text)) ||
	    identity_attribute(number, "../loop/backing_file", text,
			       sizeof(text)))
		return fleeting_loop(text, depth);
	if (identity_attribute(number, "dm/name", text, sizeof(text)))
		return fleeting_pieces(number, depth);
	return NULL;
}

static const char *fleeting_file(int fd, int depth)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(fd, &fs) || fstat(fd, &st))
		return "a file system that does not answer";
	switch ((unsigned int)fs.f_type) {
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
		return "a tmpfs";
	case OVERLAYFS_SUPER_MAGIC:
		/* The upper layer of an overlay usually is in memory. */
		return "an overlay";
	default:
		return fleeting_device(st.st_dev, depth);
	}
}

/* Fail unless files in the open @folder survive a reboot. @path: its name for messages. */
int persistent_folder_check(int folder, const char *path)
{
	const char *what = fleeting_file(folder, 0);

	if (!what)
		return 0;
	return fail(CODE_DEVICE,
		    "'%s' does not survive a reboot: it is on %s; mount a persistent file system there",
		    path, what);
}

/* Create the folder, and flush its parent: without a durable entry there, its files could vanish. */
int persistent_folder_make(const char *path)
{
	char above[PATH_MAX];
	char *slash;
	int fd, error;

	if (mkdir(path, 0755))
		return errno == EEXIST ? 0 : fail_errno(errno, "cannot make the folder '%s'", path);
	snprintf(above, sizeof(above), "%s", path);
	slash = strrchr(above, '/');
	*slash = '\0';
	fd = open(slash == above ? "/" : above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	error = fd < 0 || fsync(fd) ? errno : 0;
	if (fd >= 0)
		close(fd);
	return error ? fail_errno(error, "cannot flush '%s'", above) : 0;
}
