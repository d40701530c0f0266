// SPDX-License-Identifier: GPL-2.0-only
#include "block/mounts.h"

#include <ctype.h>
#include <dirent.h>
#include <libmount/libmount.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Number of mount namespaces that mounts_find() searches only once. */
#define NAMESPACES	256

/* True if @path is a node of the device. Looks only below /dev: elsewhere stat() may hang. */
static bool is_device(const char *path, dev_t number)
{
	struct stat st;

	return path && !strncmp(path, "/dev/", 5) && !stat(path, &st) && S_ISBLK(st.st_mode) &&
	       st.st_rdev == number;
}

/* True if @fs is on the device. For btrfs (major 0) look up the source, such as "/dev/sda1". */
static bool is_on(struct libmnt_fs *fs, dev_t number)
{
	dev_t its = mnt_fs_get_devno(fs);

	return its == number ||
	       (!major(its) && is_device(mnt_fs_get_srcpath(fs), number));
}

/* True if the file system may write, whether or not this one of its mounts is read-only. */
static bool is_writable(struct libmnt_fs *fs)
{
	const char *options = mnt_fs_get_fs_options(fs);

	return !options || mnt_optstr_get_option(options, "ro", NULL, NULL);
}

/* Search the mounts that process @pid sees. */
static bool find_for(const char *pid, dev_t number, bool writable, char *where,
		     size_t size)
{
	char path[64];
	struct libmnt_table *table;
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%.20s/mountinfo", pid);
	table = mnt_new_table_from_file(path);
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

/* True if process @pid has a mount namespace that is not yet in @seen. */
static bool is_new(const char *pid, ino_t *seen, size_t *count)
{
	char path[64];
	struct stat st;
	size_t i;

	snprintf(path, sizeof(path), "/proc/%.20s/ns/mnt", pid);
	if (!isdigit((unsigned char)*pid) || stat(path, &st))
		return false;
	for (i = 0; i < *count; i++)
		if (seen[i] == st.st_ino)
			return false;
	if (*count < NAMESPACES)
		seen[(*count)++] = st.st_ino;
	return true;
}

/*
 * Find a mount of a device in any mount namespace. Returns false if there is none.
 * @writable: ignore file systems that cannot write to the device.
 * @where: the mount point, as a process in its namespace sees it.
 */
bool mounts_find(dev_t number, bool writable, char *where, size_t size)
{
	bool found = find_for("self", number, writable, where, size);
	ino_t seen[NAMESPACES];
	struct dirent *entry;
	size_t count = 0;
	DIR *proc;

	proc = found ? NULL : opendir("/proc");
	while (proc && !found && (entry = readdir(proc)))
		found = is_new(entry->d_name, seen, &count) &&
			find_for(entry->d_name, number, writable, where, size);
	if (proc)
		closedir(proc);
	return found;
}

/*
 * Call @visit for each mount that this process sees.
 * @device: device of the file system; @where: mount point; @root: the folder of the file system
 * that is mounted there, "/" for all of it.
 */
void mounts_each(void (*visit)(dev_t device, const char *where, const char *root, void *arg),
		 void *arg)
{
	struct libmnt_table *table = mnt_new_table_from_file("/proc/self/mountinfo");
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;

	while (table && iter && !mnt_table_next_fs(table, iter, &fs))
		if (mnt_fs_get_target(fs) && mnt_fs_get_root(fs))
			visit(mnt_fs_get_devno(fs), mnt_fs_get_target(fs), mnt_fs_get_root(fs),
			      arg);
	mnt_free_iter(iter);
	mnt_unref_table(table);
}

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
