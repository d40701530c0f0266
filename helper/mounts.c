// SPDX-License-Identifier: GPL-2.0-only
#include "mounts.h"

#include <libmount/libmount.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define MOUNTS	"/proc/self/mountinfo"

/* Elsewhere a path may be on a file system that hangs. */
static bool is_device(const char *path, dev_t number)
{
	struct stat st;

	return path && !strncmp(path, "/dev/", 5) && !stat(path, &st) && S_ISBLK(st.st_mode) &&
	       st.st_rdev == number;
}

/* btrfs gives its mounts numbers of no device; their source tells. */
static bool is_on(struct libmnt_fs *fs, dev_t number)
{
	dev_t its = mnt_fs_get_devno(fs);

	return its == number ||
	       (!major(its) && is_device(mnt_fs_get_srcpath(fs), number));
}

/* Of the file system itself: a mount of it may be read-only by itself. */
static bool is_writable(struct libmnt_fs *fs)
{
	const char *options = mnt_fs_get_fs_options(fs);

	return !options || mnt_optstr_get_option(options, "ro", NULL, NULL);
}

/**
 * mounts_find() - find a mount of a device
 * @number: the device
 * @writable: only of a file system that writes to it
 * @where: filled in with the mount point
 * @size: bytes of @where
 *
 * Return: whether one was found in this mount namespace.
 */
bool mounts_find(dev_t number, bool writable, char *where, size_t size)
{
	struct libmnt_table *table = mnt_new_table_from_file(MOUNTS);
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	bool found = false;

	while (table && iter && !found &&
	       !mnt_table_next_fs(table, iter, &fs)) {
		if (!is_on(fs, number) || (writable && !is_writable(fs)))
			continue;
		snprintf(where, size, "%s", mnt_fs_get_target(fs));
		found = true;
	}
	mnt_free_iter(iter);
	mnt_unref_table(table);
	return found;
}

/**
 * mounts_swap() - whether a device is a swap area
 * @number: the device
 *
 * Return: whether it is in use as one.
 */
bool mounts_swap(dev_t number)
{
	struct libmnt_table *table = mnt_new_table();
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	bool found = false;

	if (table && iter && !mnt_table_parse_swaps(table, NULL))
		while (!found && !mnt_table_next_fs(table, iter, &fs))
			found = is_device(mnt_fs_get_srcpath(fs), number);
	mnt_free_iter(iter);
	mnt_unref_table(table);
	return found;
}
