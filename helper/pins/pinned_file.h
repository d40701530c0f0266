/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides whether a pinned file still exists. A pin is dropped only if there is proof that its file
 * is gone: its file system may not be mounted, or be mounted elsewhere, or something else may be
 * mounted over its folder.
 */
#ifndef HELPER_PINS_PINNED_FILE_H
#define HELPER_PINS_PINNED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "block/layer_map.h"
#include "pins/pin_list.h"

enum file_state {
	FILE_EXISTS,
	FILE_GONE,
	FILE_UNSURE,
};

/**
 * struct mounted - a mount of a file system on the device
 * @device: device of the file system
 * @fd: its mount point
 * @whole: the mount shows the whole file system, not one of its folders
 * @layers: map of @device to the device of the pins
 */
struct mounted {
	dev_t device;
	int fd;
	bool whole;
	struct layers layers;
};

/**
 * struct mounted_all - all mounts of file systems on a device that this process sees
 * @lower: the device
 * @mount: array of @count elements
 */
struct mounted_all {
	dev_t lower;
	struct mounted *mount;
	size_t count;
};

char *file_handle(const char *path);
int pin_file(struct pins *added, const struct pin *like, const struct shard *shard);
int mounted_find(struct mounted_all *all, dev_t lower);
bool mounted_has(const struct mounted_all *all, const char *path);
enum file_state mounted_look(const struct mounted_all *all, const struct pin *pin, char **path);
void mounted_free(struct mounted_all *all);

#endif /* HELPER_PINS_PINNED_FILE_H */
