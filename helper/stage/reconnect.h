/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Give a running stage its origin back, which went away and returned as another device.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_STAGE_RECONNECT_H
#define HELPER_STAGE_RECONNECT_H

#include "block/dm.h"
#include "cli/options.h"

bool stage_origin_gone(const struct dm_device *dev);
int stage_reconnect(const struct dm_device *dev, const char *cache, const struct arguments *args);

#endif /* HELPER_STAGE_RECONNECT_H */
