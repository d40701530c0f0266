/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the devices that a table line means. Nothing here waits for a device that does not answer.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_OPEN_FIND_DEVICES_H
#define HELPER_OPEN_FIND_DEVICES_H

#include <uuid/uuid.h>

#include "block/device.h"
#include "meta/format.h"

/* Seconds that a device has to answer. */
#define RESOLVE_SECONDS	2

/**
 * struct resolved - a device with a cache superblock
 * @path: path of the device
 * @number: device number, if it was found by uuid
 * @sb: its superblock
 */
struct resolved {
	char path[PATH_MAX];
	dev_t number;
	struct nearcache_super sb;
};

/**
 * struct carriers - all devices of this machine that are a member of a cache
 * @uuid: of the cache
 * @one: the devices
 * @count: entries of @one
 * @silent: number of devices that did not answer
 */
struct carriers {
	uuid_t uuid;
	struct resolved *one;
	size_t count;
	unsigned int silent;
};

int resolve_path(struct resolved *cache, const char *path);
int resolve_uuid(struct resolved *cache, const char *uuid,
		 const struct device *origin);
int resolve_carriers(struct carriers *all, const unsigned char *uuid,
		     const struct device *origin);
int resolve_part(const struct carriers *all, unsigned int index,
		 const struct resolved **found);
int resolve_none(const struct carriers *all);
const struct resolved *resolve_rival(const struct carriers *all, unsigned int index,
				     dev_t number);
void resolve_free(struct carriers *all);
bool resolve_wait(const char *path, unsigned int seconds);

#endif /* HELPER_OPEN_FIND_DEVICES_H */
