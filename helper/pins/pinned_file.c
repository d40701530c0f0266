// SPDX-License-Identifier: GPL-2.0-only
#include "pins/pinned_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "block/mounts.h"
#include "lib/error.h"
#include "lib/path.h"

/* Values of statfs.f_type. */
#define MAGIC_EXT4	0xEF53
#define MAGIC_XFS	0x58465342

/* Size of a handle as text, "TYPE:" and hexadecimal digits, with NUL. */
#define HANDLE_TEXT	(16 + 2 * MAX_HANDLE_SZ)

union handle {
	struct file_handle head;
	char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
};

/*
 * Get the handle of an open file as text: inode and generation. Returns false if the file system
 * has none that tells a deleted file from a new one with its inode number.
 */
static bool handle_print(int fd, char *text)
{
	union handle handle = { .head.handle_bytes = MAX_HANDLE_SZ };
	struct statfs fs;
	unsigned int i;
	int mount;

	if (fstatfs(fd, &fs) ||
	    ((uint32_t)fs.f_type != MAGIC_EXT4 && (uint32_t)fs.f_type != MAGIC_XFS) ||
	    name_to_handle_at(fd, "", &handle.head, &mount, AT_EMPTY_PATH))
		return false;
	text += sprintf(text, "%x:", (unsigned int)handle.head.handle_type);
	for (i = 0; i < handle.head.handle_bytes; i++)
		text += sprintf(text, "%02x", handle.head.f_handle[i]);
	return true;
}

static bool handle_parse(const char *text, union handle *handle)
{
	unsigned int bytes = 0, byte;
	int used = 0;

	if (sscanf(text, "%x:%n", (unsigned int *)&handle->head.handle_type, &used) != 1 || !used)
		return false;
	for (text += used; *text && bytes < MAX_HANDLE_SZ; text += 2)
		if (sscanf(text, "%2x%n", &byte, &used) == 1 && used == 2)
			handle->head.f_handle[bytes++] = (unsigned char)byte;
		else
			return false;
	handle->head.handle_bytes = bytes;
	return bytes && !*text;
}

/*
 * True if an open file certainly has another handle than the recorded one. Handles of different
 * type or length prove nothing: on XFS these depend on mount options.
 */
static bool handle_differs(int fd, const char *recorded)
{
	char text[HANDLE_TEXT];
	size_t type = strcspn(recorded, ":");

	return handle_print(fd, text) && strlen(text) == strlen(recorded) &&
	       !strncmp(text, recorded, type + 1) && strcmp(text, recorded);
}

/* Return the handle of a file as text, for free(), or NULL without recording an error. */
char *file_handle(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	char text[HANDLE_TEXT];
	bool found = fd >= 0 && handle_print(fd, text);

	if (fd >= 0)
		close(fd);
	return found ? strdup(text) : NULL;
}

/*
 * Append a pin for @shard, a file or a range, like @like, unless it has no ranges: an empty file. A
 * file of which no part has its home on this node stays on record: homes may move.
 */
int pin_file(struct pins *added, const struct pin *like, const struct shard *shard)
{
	struct pin with_handle = *like, *pin;
	char *path = NULL;

	if (!shard->ranges && !(like->part && shard->device))
		return 0;
	if (shard->device) {
		path = path_absolute(shard->name);
		if (!path)
			return fail_code();
	}
	with_handle.handle = path ? file_handle(path) : NULL;
	pin = pins_append(added, &with_handle, path);
	free(with_handle.handle);
	free(path);
	return pin ? pin_place(pin, shard) : (int)fail_code();
}

static int append_mount(struct mounted_all *all, dev_t device, int fd, bool whole,
			const struct layers *layers)
{
	struct mounted *mount = reallocarray(all->mount, all->count + 1, sizeof(*mount));

	if (!mount)
		return fail_memory();
	all->mount = mount;
	mount[all->count++] = (struct mounted){ device, fd, whole, *layers };
	return 0;
}

static void take_mount(dev_t device, const char *where, const char *root, void *arg)
{
	struct mounted_all *all = arg;
	struct layers layers = { 0 };
	struct stat st;
	int fd;

	if (!major(device) || fail_code() == CODE_MEMORY)
		return;
	if (layers_resolve(&layers, device, all->lower) || !layers_touch(&layers)) {
		if (fail_code() != CODE_MEMORY)
			fail_reset();
		layers_free(&layers);
		return;
	}
	/* A mount point may be hidden by another mount, so that this opens something else. */
	fd = open(where, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && !fstat(fd, &st) && st.st_dev == device &&
	    !append_mount(all, device, fd, !strcmp(root, "/"), &layers))
		return;
	if (fd >= 0)
		close(fd);
	layers_free(&layers);
}

/* Find the mounts. mounted_free() is needed even after a failure. */
int mounted_find(struct mounted_all *all, dev_t lower)
{
	*all = (struct mounted_all){ .lower = lower };
	mounts_each(take_mount, all);
	return fail_code();
}

void mounted_free(struct mounted_all *all)
{
	while (all->count) {
		struct mounted *mount = &all->mount[--all->count];

		close(mount->fd);
		layers_free(&mount->layers);
	}
	free(all->mount);
	*all = (struct mounted_all){ 0 };
}

/* True if the path leads to one of the file systems. */
bool mounted_has(const struct mounted_all *all, const char *path)
{
	struct stat st;
	size_t i;

	if (stat(path, &st))
		return false;
	for (i = 0; i < all->count; i++)
		if (all->mount[i].device == st.st_dev)
			return true;
	return false;
}

static bool layers_hold(const struct layers *layers, uint64_t start)
{
	size_t i;

	for (i = 0; i < layers->count; i++) {
		const struct layer_piece *piece = &layers->piece[i];

		if (piece->below && start >= piece->at && start - piece->at < piece->length)
			return true;
	}
	return false;
}

/*
 * True if the file system is where the pin's file was: a device may have several file systems, in
 * partitions. A pin without ranges belongs to the only file system of the device.
 */
static bool mount_holds(const struct mounted_all *all, const struct mounted *mount,
			const struct pin *pin)
{
	size_t i;

	if (pin->ranges)
		return layers_hold(&mount->layers, pin->range[0].start);
	for (i = 0; i < all->count; i++)
		if (all->mount[i].device != mount->device)
			return false;
	return true;
}

/* True if @device is the file system of the pin. @alone: it has one mount, which shows all of it. */
static bool is_file_system(const struct mounted_all *all, dev_t device, const struct pin *pin,
			   bool *alone)
{
	size_t i, count = 0;
	bool holds = false, whole = false;

	for (i = 0; i < all->count; i++)
		if (all->mount[i].device == device) {
			count++;
			whole = all->mount[i].whole;
			holds = holds || mount_holds(all, &all->mount[i], pin);
		}
	*alone = count == 1 && whole;
	return holds;
}

/* Open a folder if no component of its path is a link: links may have changed since the pin. */
static int open_folder(const char *path)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS,
	};

	return (int)syscall(SYS_openat2, AT_FDCWD, *path ? path : "/", &how, sizeof(how));
}

/* The name is there: decide whether it is another file than that with the recorded handle. */
static bool is_other(int folder, const char *name, const struct pin *pin)
{
	int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat above, st;
	bool other;

	if (fd < 0)
		return false;
	/* Something may be mounted over the file. */
	other = pin->handle && !fstat(folder, &above) && !fstat(fd, &st) &&
		st.st_dev == above.st_dev && handle_differs(fd, pin->handle);
	close(fd);
	return other;
}

/*
 * True if the recorded path does not lead to the file: on the pin's file system, the deepest folder
 * of the path that exists lacks the next component, or has another file there. Sets @direct if that
 * folder is the file's and the mount is the only one: then the file is gone even without a handle.
 */
static bool path_lacks_file(const struct mounted_all *all, const struct pin *pin, bool *direct)
{
	char *path = strdup(pin->path), *name;
	bool deepest = true, alone, lacks = false;
	struct stat st;
	int fd = -1;

	*direct = false;
	while (path && fd < 0 && (name = strrchr(path, '/'))) {
		*name++ = '\0';
		fd = open_folder(path);
		if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
			break;
		deepest = deepest && fd >= 0;
	}
	if (fd >= 0 && !fstat(fd, &st) && is_file_system(all, st.st_dev, pin, &alone)) {
		if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW))
			lacks = errno == ENOENT;
		else
			lacks = deepest ? is_other(fd, name, pin) : S_ISREG(st.st_mode);
		*direct = lacks && deepest && alone;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return lacks;
}

/* Return the path of the open file, for free(), or NULL if it has none that leads to the file. */
static char *path_of(int fd)
{
	char link[64], path[PATH_MAX];
	struct stat st, same;
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0 || *path != '/')
		return NULL;
	path[length] = '\0';
	if (fstat(fd, &st) || stat(path, &same) || st.st_dev != same.st_dev ||
	    st.st_ino != same.st_ino)
		return NULL;
	return strdup(path);
}

/*
 * Judge the file that the kernel opened for the recorded handle. For ext4 generation 0 in a handle
 * stands for any generation, and files that 'mkfs.ext4 -d' made have it: so the inode may belong to
 * a newer file now.
 */
static enum file_state state_of_open(int fd, const struct pin *pin)
{
	struct stat st;

	/* A program may have the deleted file open. */
	if (!fstat(fd, &st) && !st.st_nlink)
		return FILE_GONE;
	return handle_differs(fd, pin->handle) ? FILE_GONE : FILE_EXISTS;
}

/* Look for the file by its handle. Sets @path, for free(), if the mounts show the file. */
static enum file_state look_by_handle(const struct mounted_all *all, const struct pin *pin,
				      char **path)
{
	enum file_state state = FILE_UNSURE;
	union handle handle;
	size_t i;
	int fd;

	if (!handle_parse(pin->handle, &handle))
		return FILE_UNSURE;
	for (i = 0; i < all->count && !*path; i++) {
		if (!mount_holds(all, &all->mount[i], pin))
			continue;
		fd = open_by_handle_at(all->mount[i].fd, &handle.head, O_PATH | O_CLOEXEC);
		if (fd < 0 && errno == ESTALE)
			return FILE_GONE;
		if (fd < 0)
			continue;
		state = state_of_open(fd, pin);
		if (state == FILE_EXISTS)
			*path = path_of(fd);
		close(fd);
		if (state == FILE_GONE)
			break;
	}
	return state;
}

/*
 * Look for the file or folder of a pin, which has a path. The kernel says ESTALE for a handle also
 * if it cannot read the inode, so a file is gone only if its path does not lead to it either.
 * Without a handle the path alone decides, but only in the plainest case.
 * @path: set to the new path of a file that was renamed, for free(); NULL: as recorded, or unknown.
 */
enum file_state mounted_look(const struct mounted_all *all, const struct pin *pin, char **path)
{
	bool direct, lacks = path_lacks_file(all, pin, &direct);
	enum file_state state;

	*path = NULL;
	if (!pin->handle)
		return direct ? FILE_GONE : FILE_UNSURE;
	state = look_by_handle(all, pin, path);
	if (state == FILE_EXISTS && !lacks) {
		free(*path);
		*path = NULL;
	}
	return state == FILE_GONE && !lacks ? FILE_UNSURE : state;
}
