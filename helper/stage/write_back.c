// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file system keeps new data in memory, and so does a block device that programs write directly.
 * syncfs() on an open file of a file system writes all its data, in any mount namespace; fsync() on
 * the block device does not.  A file system that no process sees any more, as after 'umount -l',
 * cannot be opened: then the functions fail.
 */
#include "stage/write_back.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <uuid/uuid.h>

#include "block/device.h"
#include "block/device_sysfs.h"
#include "block/mounts.h"
#include "lib/error.h"

/* A file system may be unmounted, or mounted elsewhere, during a search: search again. */
#define SEARCHES	3

#define DEVICES		"/sys/class/block"

/**
 * struct file_system - a file system that has a mount
 * @device: device number of its mounts
 * @source: a device of the file system that is on the stage; 0: unknown
 * @btrfs: it is btrfs, with the uuid @uuid if @opened
 * @opened: one of its mounts could be opened
 * @above: it is on the stage, and its data was written
 */
struct file_system {
	dev_t device;
	dev_t source;
	bool btrfs;
	uuid_t uuid;
	bool opened;
	bool above;
};

/**
 * struct write_back - state of the search
 * @stage: device number of the stage
 * @fs: file systems on the stage, and all of btrfs
 * @count: entries of @fs
 * @lacks: a device on the stage whose file system was not found or not opened
 */
struct write_back {
	dev_t stage;
	struct file_system *fs;
	size_t count;
	dev_t lacks;
};

static bool is_above(dev_t number, dev_t stage)
{
	return number == stage || identity_rests_on(number, stage);
}

/* Call @visit for each entry of a folder in sysfs, with its device number, until it returns true. */
static bool each_device(const char *folder,
			bool (*visit)(const char *name, dev_t number, void *arg), void *arg)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir))) {
		char path[PATH_MAX];
		unsigned int high, low;
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s/dev", folder, entry->d_name);
		file = entry->d_name[0] == '.' ? NULL : fopen(path, "re");
		if (!file)
			continue;
		if (fscanf(file, "%u:%u", &high, &low) == 2)
			found = visit(entry->d_name, makedev(high, low), arg);
		fclose(file);
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool device_is_above(const char *name, dev_t number, void *stage)
{
	(void)name;
	return is_above(number, *(dev_t *)stage);
}

/* Btrfs has device numbers of its own, and may have several devices. */
static bool btrfs_is_above(int fd, dev_t stage, unsigned char *uuid)
{
	struct btrfs_ioctl_fs_info_args info = { 0 };
	char folder[96] = "/sys/fs/btrfs/";

	if (ioctl(fd, BTRFS_IOC_FS_INFO, &info))
		return false;
	uuid_copy(uuid, info.fsid);
	uuid_unparse_lower(uuid, folder + strlen(folder));
	strcat(folder, "/devices");
	return each_device(folder, device_is_above, &stage);
}

/* The device of a mount that is on the stage; 0: none.  Bcachefs has device numbers of its own. */
static dev_t source_above(const struct mount_place *place, dev_t stage)
{
	const char *from = place->source;
	char path[PATH_MAX];
	struct stat st;

	if (major(place->device))
		return is_above(place->device, stage) ? place->device : 0;
	while (*from) {
		size_t length = strcspn(from, ":");

		snprintf(path, sizeof(path), "%.*s", (int)length, from);
		if (!strncmp(path, "/dev/", 5) && !stat(path, &st) && S_ISBLK(st.st_mode) &&
		    is_above(st.st_rdev, stage))
			return st.st_rdev;
		from += length + (from[length] == ':');
	}
	return 0;
}

static struct file_system *find_file_system(struct write_back *all, dev_t device)
{
	struct file_system *longer;
	size_t i;

	for (i = 0; i < all->count; i++)
		if (all->fs[i].device == device)
			return &all->fs[i];
	longer = reallocarray(all->fs, all->count + 1, sizeof(*longer));
	if (!longer) {
		fail_memory();
		return NULL;
	}
	all->fs = longer;
	longer[all->count] = (struct file_system){ .device = device };
	return &longer[all->count++];
}

/* A mount that cannot be opened is no error yet: the file system may have another one. */
static void visit_mount(const struct mount_place *place, void *arg)
{
	struct write_back *all = arg;
	dev_t source = fail_code() ? 0 : source_above(place, all->stage);
	struct file_system *fs;
	int fd;

	if (fail_code() || (!place->btrfs && !source))
		return;
	fs = find_file_system(all, place->device);
	if (!fs || fs->opened)
		return;
	fs->btrfs = place->btrfs;
	fs->source = source;
	fd = mounts_open(place);
	if (fd < 0)
		return;
	fs->opened = true;
	fs->above = !fs->btrfs || btrfs_is_above(fd, all->stage, fs->uuid);
	if (fs->above && syncfs(fd))
		fail_errno(errno, "cannot write back the file system on '%s'", place->where);
	close(fd);
}

/* True if btrfs uses the device of this name in sysfs, and no mount of it was found. */
static bool lacks_btrfs(const struct write_back *all, const char *name)
{
	static const char folder[] = "/sys/fs/btrfs";
	struct dirent *entry;
	bool lacks = false;
	uuid_t uuid;
	DIR *dir;

	dir = opendir(folder);
	while (dir && !lacks && (entry = readdir(dir))) {
		char path[PATH_MAX];
		size_t i;

		snprintf(path, sizeof(path), "%s/%s/devices/%s", folder, entry->d_name, name);
		lacks = !uuid_parse(entry->d_name, uuid) && !access(path, F_OK);
		for (i = 0; lacks && i < all->count; i++)
			lacks = !all->fs[i].above || uuid_compare(all->fs[i].uuid, uuid);
	}
	if (dir)
		closedir(dir);
	return lacks;
}

/* True if the kernel has another file system on the device, and no mount of it was found. */
static bool lacks_other(const struct write_back *all, const char *name, dev_t number)
{
	static const char *const types[] = { "ext4", "xfs", "f2fs" };
	char path[PATH_MAX];
	bool lacks = false;
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]) && !lacks; i++) {
		snprintf(path, sizeof(path), "/sys/fs/%s/%s", types[i], name);
		lacks = !access(path, F_OK);
	}
	for (i = 0; i < all->count; i++)
		if (all->fs[i].device == number || all->fs[i].source == number)
			lacks = !all->fs[i].opened;
	return lacks;
}

/* True if a file system on this device was not opened.  @all->lacks receives the device. */
static bool check_device(const char *name, dev_t number, void *arg)
{
	struct write_back *all = arg;

	if (!is_above(number, all->stage) ||
	    (!lacks_other(all, name, number) && !lacks_btrfs(all, name)))
		return false;
	all->lacks = number;
	return true;
}

/* Write back data that programs wrote to the device directly. */
static bool write_device(const char *name, dev_t number, void *arg)
{
	struct write_back *all = arg;
	char path[PATH_MAX];
	int fd;

	(void)name;
	if (!is_above(number, all->stage))
		return false;
	fd = open(device_path_of(number, path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fsync(fd))
		fail_errno(errno, "cannot write back '%s'", path);
	if (fd >= 0)
		close(fd);
	return fail_code();
}

/* Before another search: a file system that was not opened may have been unmounted. */
static void forget_unopened(struct write_back *all)
{
	size_t i, kept = 0;

	for (i = 0; i < all->count; i++)
		if (all->fs[i].opened)
			all->fs[kept++] = all->fs[i];
	all->count = kept;
	all->lacks = 0;
}

static int write_file_systems(struct write_back *all)
{
	unsigned int searches = 0;
	char path[PATH_MAX];

	do {
		forget_unopened(all);
		mounts_each_anywhere(visit_mount, all);
		if (fail_code() || !each_device(DEVICES, check_device, all))
			return fail_code();
	} while (++searches < SEARCHES);
	return fail(CODE_BUSY,
		    "'%s' has a file system that is mounted where this command cannot open it: below another mount, or in use since 'umount -l'. Its newest writes may be in memory only: unmount it, or end the processes that use it",
		    device_path_of(all->lacks, path));
}

/* Write back all file systems on the stage, and all devices on it, to the stage. */
int write_back_all(dev_t stage)
{
	struct write_back all = { .stage = stage };

	if (!write_file_systems(&all))
		each_device(DEVICES, write_device, &all);
	free(all.fs);
	return fail_code();
}

static bool file_is_above(int fd, const struct stat *st, dev_t stage)
{
	struct statfs fs;
	uuid_t uuid;

	if (!fstatfs(fd, &fs) && fs.f_type == BTRFS_SUPER_MAGIC)
		return btrfs_is_above(fd, stage, uuid);
	return is_above(st->st_dev, stage);
}

/*
 * Write a file to the stage @name; for a folder, the whole file system: fsync() of a folder writes
 * its entries, and not the data of its files.
 */
int write_back_path(dev_t stage, const char *name, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		fail_errno(errno, "cannot open '%s'", path);
	else if (!file_is_above(fd, &st, stage))
		fail(CODE_DEVICE, "'%s' is not on device '%s'", path, name);
	else if (S_ISDIR(st.st_mode) ? syncfs(fd) : fsync(fd))
		fail_errno(errno, "cannot write back '%s'", path);
	if (fd >= 0)
		close(fd);
	return fail_code();
}
