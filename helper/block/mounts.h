/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a block device is mounted or used as swap. The only user of libmount. */
#ifndef HELPER_BLOCK_MOUNTS_H
#define HELPER_BLOCK_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * struct mount_place - a mount in some mount namespace
 * @pid: a process that sees it, as text, or "self"
 * @id: number of the mount
 * @device: device number of the file system; all subvolumes of btrfs have the same here
 * @btrfs: the file system is btrfs, so that @device is no block device
 * @discards: the file system discards the blocks that it frees (mount option discard)
 * @source: device as text, "" if unknown; several are separated by colons
 * @where: mount point, as the process sees it
 */
struct mount_place {
	const char *pid;
	int id;
	dev_t device;
	bool btrfs;
	bool discards;
	const char *source;
	const char *where;
};

bool mounts_find(dev_t number, bool writable, char *where, size_t size);
void mounts_each(void (*visit)(dev_t device, const char *where, const char *root, void *arg),
		 void *arg);
void mounts_each_anywhere(void (*visit)(const struct mount_place *place, void *arg), void *arg);
bool mounts_on(const struct mount_place *place, dev_t number);
bool mounts_device_of(const char *path, dev_t *number);
int mounts_open(const struct mount_place *place);
bool mounts_swap(dev_t number);
bool mounts_swap_file(dev_t number);

#endif /* HELPER_BLOCK_MOUNTS_H */
