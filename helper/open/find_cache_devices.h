/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find cache devices by path or uuid, and logs of stages. A device that does not answer delays a
 * search by at most RESOLVE_SECONDS.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_OPEN_FIND_CACHE_DEVICES_H
#define HELPER_OPEN_FIND_CACHE_DEVICES_H

#include <uuid/uuid.h>

#include "block/device.h"
#include "meta/ondisk_check.h"
#include "ondisk/stage_log.h"

/* Seconds to wait for the answer of a device; then resolve_path() fails. */
#define RESOLVE_SECONDS	2

/**
 * struct resolved - a cache device that was found
 * @path: path of the device
 * @number: device number; set only by a search by uuid
 * @sb: valid superblock of the device
 */
struct resolved {
	char path[PATH_MAX];
	dev_t number;
	struct nearcache_super sb;
};

/**
 * struct carriers - all devices of this machine that carry a member of one cache
 * @uuid: uuid of the cache
 * @one: the devices, which may include copies of a member
 * @count: entries of @one
 * @silent: number of devices that did not answer
 */
struct carriers {
	uuid_t uuid;
	struct resolved *one;
	size_t count;
	unsigned int silent;
};

/**
 * struct log_carrier - a device with the log of a stage
 * @path: path of the device
 * @number: device number
 * @covered: for resolve_logs()
 * @sb: valid superblock of the log
 */
struct log_carrier {
	char path[PATH_MAX];
	dev_t number;
	bool covered;
	struct nearcache_stage_super sb;
};

/**
 * struct logs - the logs on local devices
 * @one: the devices, which may include copies of a log
 * @count: entries of @one
 * @silent: number of devices that did not answer
 * @silent_path: path of one of these
 */
struct logs {
	struct log_carrier *one;
	size_t count;
	unsigned int silent;
	char silent_path[PATH_MAX];
};

bool resolve_searches(dev_t number);
int resolve_logs(struct logs *all, const struct device *origin);
int resolve_log(const char *path, struct nearcache_stage_super *sb);
void logs_free(struct logs *all);
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

#endif /* HELPER_OPEN_FIND_CACHE_DEVICES_H */
