/* SPDX-License-Identifier: GPL-2.0-only */
/* Stopping a device that nobody uses, or writes that nobody does. */
#ifndef HELPER_BLOCK_DM_SUSPEND_H
#define HELPER_BLOCK_DM_SUSPEND_H

#include "block/dm.h"

int stop_check(const struct dm_device *dev);
int stop_check_writers(const struct dm_device *dev);
int stop(const struct dm_device *dev);

#endif /* HELPER_BLOCK_DM_SUSPEND_H */
