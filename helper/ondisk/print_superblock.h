/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Print the superblock of a cache device and the status of nearcache devices, as text or JSON.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_ONDISK_PRINT_SUPERBLOCK_H
#define HELPER_ONDISK_PRINT_SUPERBLOCK_H

#include "block/dm.h"
#include "meta/ondisk_check.h"
#include "block/status_line.h"

void describe_super(const struct nearcache_super *sb, bool all);
void describe_areas(const struct nearcache_super *sb);
int describe_devices(char **names, int count,
		     int (*describe)(const struct dm_device *dev,
				     const struct status *status));
void describe_witness(const struct dm_device *dev, const char *label);
int describe_status(const struct dm_device *dev, struct status *status);
int describe_bypass(const char *name);
const char *describe_bypass_reason(const struct dm_device *dev);
int describe_need_cache(const struct dm_device *dev);
void describe_reason(const struct dm_device *dev, const struct status *status);
const char *describe_state(const struct dm_device *dev,
			   const struct status *status);

#endif /* HELPER_ONDISK_PRINT_SUPERBLOCK_H */
