// SPDX-License-Identifier: GPL-2.0-only
#include "block/mounts.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <libmount/libmount.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Number of views that search_namespaces() visits only once. */
#define VIEWS	256

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

/**
 * struct mount_search - parameters and result of mounts_find()
 */
struct mount_search {
	dev_t number;
	bool writable;
	char *where;
	size_t size;
};

/* Call @visit for each mount that process @pid sees, until one call returns true. */
static bool search_mounts(const char *pid,
			  bool (*visit)(struct libmnt_fs *fs, const char *pid, void *data),
			  void *data)
{
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_table *table;
	struct libmnt_fs *fs;
	bool found = false;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%.20s/mountinfo", pid);
	table = mnt_new_table_from_file(path);
	while (table && iter && !found && !mnt_table_next_fs(table, iter, &fs))
		found = visit(fs, pid, data);
	mnt_free_iter(iter);
	mnt_unref_table(table);
	return found;
}

static bool take_first(struct libmnt_fs *fs, const char *pid, void *data)
{
	struct mount_search *search = data;

	(void)pid;
	if (!is_on(fs, search->number) || (search->writable && !is_writable(fs)))
		return false;
	snprintf(search->where, search->size, "%s", mnt_fs_get_target(fs));
	return true;
}

/**
 * struct view - the mounts that some processes see: a mount namespace, below a root folder
 */
struct view {
	ino_t space;
	dev_t device;
	ino_t root;
};

/* True if process @pid sees mounts in a way that is not yet in @seen. */
static bool is_new(const char *pid, struct view *seen, size_t *count)
{
	struct stat space, root;
	char path[64];
	size_t i;

	snprintf(path, sizeof(path), "/proc/%.20s/ns/mnt", pid);
	if (!isdigit((unsigned char)*pid) || stat(path, &space))
		return false;
	snprintf(path, sizeof(path), "/proc/%.20s/root", pid);
	if (stat(path, &root))
		return false;
	for (i = 0; i < *count; i++)
		if (seen[i].space == space.st_ino && seen[i].device == root.st_dev &&
		    seen[i].root == root.st_ino)
			return false;
	if (*count < VIEWS)
		seen[(*count)++] = (struct view){ space.st_ino, root.st_dev, root.st_ino };
	return true;
}

/* As search_mounts(), for the mounts of all mount namespaces that have a process. */
static bool search_namespaces(bool (*visit)(struct libmnt_fs *fs, const char *pid, void *data),
			      void *data)
{
	bool found = search_mounts("self", visit, data);
	struct view seen[VIEWS];
	struct dirent *entry;
	size_t count = 0;
	DIR *proc;

	proc = found ? NULL : opendir("/proc");
	while (proc && !found && (entry = readdir(proc)))
		found = is_new(entry->d_name, seen, &count) &&
			search_mounts(entry->d_name, visit, data);
	if (proc)
		closedir(proc);
	return found;
}

/*
 * Find a mount of a device in any mount namespace. Returns false if there is none.
 * @writable: ignore file systems that cannot write to the device.
 * @where: the mount point, as a process in its namespace sees it.
 */
bool mounts_find(dev_t number, bool writable, char *where, size_t size)
{
	struct mount_search search = { number, writable, where, size };

	return search_namespaces(take_first, &search);
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

/* Parameters of mounts_each_anywhere(), for visit_place(). */
struct visitor {
	void (*visit)(const struct mount_place *place, void *arg);
	void *arg;
};

static bool visit_place(struct libmnt_fs *fs, const char *pid, void *data)
{
	const char *type = mnt_fs_get_fstype(fs), *source = mnt_fs_get_srcpath(fs);
	const char *options = mnt_fs_get_fs_options(fs);
	const struct visitor *visitor = data;
	struct mount_place place = {
		.pid = pid,
		.id = mnt_fs_get_id(fs),
		.device = mnt_fs_get_devno(fs),
		.btrfs = type && !strcmp(type, "btrfs"),
		.discards = mnt_optstr_get_option(options ? options : "", "discard", NULL, NULL) == 0,
		.source = source ? source : "",
		.where = mnt_fs_get_target(fs),
	};

	if (place.where)
		visitor->visit(&place, visitor->arg);
	return false;
}

/* Call @visit for each mount of all mount namespaces that have a process; some of them repeatedly. */
void mounts_each_anywhere(void (*visit)(const struct mount_place *place, void *arg), void *arg)
{
	struct visitor visitor = { visit, arg };

	search_namespaces(visit_place, &visitor);
}

/* True if the file system of a mount is on the device, as mounts_find() has it. */
bool mounts_on(const struct mount_place *place, dev_t number)
{
	return place->device == number ||
	       (!major(place->device) && is_device(place->source, number));
}

/* Parameters and result of mounts_device_of(), for has_id(). */
struct id_search {
	uint64_t id;
	dev_t number;
};

static bool has_id(struct libmnt_fs *fs, const char *pid, void *data)
{
	const char *source = mnt_fs_get_srcpath(fs);
	struct id_search *search = data;
	struct stat st;

	(void)pid;
	if ((uint64_t)mnt_fs_get_id(fs) != search->id)
		return false;
	search->number = mnt_fs_get_devno(fs);
	if (!major(search->number))
		search->number = source && !strncmp(source, "/dev/", 5) && !stat(source, &st) &&
				 S_ISBLK(st.st_mode) ? st.st_rdev : 0;
	return true;
}

/*
 * Get the block device with the file system of a file, 0 if it has none; of a block device, this
 * device. Returns false if that is unknown.
 */
bool mounts_device_of(const char *path, dev_t *number)
{
	struct id_search search = { 0 };
	struct statx st;

	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE | STATX_MNT_ID, &st))
		return false;
	*number = makedev(st.stx_rdev_major, st.stx_rdev_minor);
	if (S_ISBLK(st.stx_mode))
		return true;
	search.id = st.stx_mnt_id;
	if (!(st.stx_mask & STATX_MNT_ID) || !search_mounts("self", has_id, &search))
		return false;
	*number = search.number;
	return true;
}

/*
 * Open the root of a mount, for syncfs().  Returns -1 if it cannot be reached: another mount covers
 * it, or the process has ended.  Another user may have put a device in its place, which must not be
 * opened: so check the type first.
 */
int mounts_open(const struct mount_place *place)
{
	char path[PATH_MAX + 64];
	struct statx st;
	int fd, result;

	snprintf(path, sizeof(path), "/proc/%.20s/root%s", place->pid, place->where);
	fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_MNT_ID, &st) ||
	    !(st.stx_mask & STATX_MNT_ID) || st.stx_mnt_id != (uint64_t)place->id ||
	    !(S_ISDIR(st.stx_mode) || S_ISREG(st.stx_mode)))
		result = -1;
	else
		result = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	close(fd);
	return result;
}

/* Is a device (@files: a file of the file system on it) in use as swap? */
static bool is_swap(dev_t number, bool files)
{
	struct libmnt_table *table = mnt_new_table();
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	bool found = false;
	dev_t below;

	if (table && iter && !mnt_table_parse_swaps(table, NULL))
		while (!found && !mnt_table_next_fs(table, iter, &fs)) {
			const char *path = mnt_fs_get_srcpath(fs);

			found = !files ? is_device(path, number) :
				path && !is_device(path, number) &&
				mounts_device_of(path, &below) && below == number;
		}
	mnt_free_iter(iter);
	mnt_unref_table(table);
	return found;
}

bool mounts_swap(dev_t number)
{
	return is_swap(number, false);
}

/* Swap in a file is no user of the device, and freezing the file system does not stop it. */
bool mounts_swap_file(dev_t number)
{
	return is_swap(number, true);
}
