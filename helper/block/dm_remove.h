/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Remove a device that is not open. Check whether a process has a device open, or open for writing.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_BLOCK_DM_REMOVE_H
#define HELPER_BLOCK_DM_REMOVE_H

#include "block/dm.h"

int stop_check(const struct dm_device *dev);
int stop_check_writers(const struct dm_device *dev);
int stop(const struct dm_device *dev);

#endif /* HELPER_BLOCK_DM_REMOVE_H */
