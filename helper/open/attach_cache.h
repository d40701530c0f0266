/* SPDX-License-Identifier: GPL-2.0-only */
/* Attach a cache device to a device whose state is bypass. */
#ifndef HELPER_OPEN_ATTACH_CACHE_H
#define HELPER_OPEN_ATTACH_CACHE_H

#include "block/dm.h"
#include "cli/options.h"

/*
 * Attach the cache device that @args names, or the one that @dev had, and pin the recorded ranges again.
 * After an error @dev continues without a cache. Returns 0, or an exit code recorded with fail().
 */
int attach_cache(const struct dm_device *dev, const struct arguments *args);

#endif /* HELPER_OPEN_ATTACH_CACHE_H */
