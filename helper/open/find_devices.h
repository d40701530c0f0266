/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From what a table says to the devices that are meant.  Nothing here waits for a device
 * that does not answer.
 */
#ifndef HELPER_OPEN_FIND_DEVICES_H
#define HELPER_OPEN_FIND_DEVICES_H

#include <uuid/uuid.h>

#include "block/device.h"
#include "meta/format.h"

/* Seconds that a device has to show what it carries. */
#define RESOLVE_SECONDS	2

/**
 * struct resolved - what lies at a place
 * @path: of the device
 * @number: of it, if it was found by what it carries
 * @sb: its superblock
 */
struct resolved {
	char path[PATH_MAX];
	dev_t number;
	struct nearcache_super sb;
};

/**
 * struct carriers - all devices of this machine that carry a cache, or a part of it
 * @uuid: of the cache
 * @one: they
 * @count: how many
 * @silent: how many others did not answer
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
