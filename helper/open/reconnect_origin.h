/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connect a device in use to its origin again, after the origin was disconnected and came back
 * under another device number.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_OPEN_RECONNECT_ORIGIN_H
#define HELPER_OPEN_RECONNECT_ORIGIN_H

#include "cli/options.h"
#include "block/dm.h"

bool reconnect_needed(const struct dm_device *dev);
int reconnect_explain(const struct dm_device *dev);
int reconnect(const struct dm_device *dev, const struct arguments *args);

#endif /* HELPER_OPEN_RECONNECT_ORIGIN_H */
