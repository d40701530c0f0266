/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Devices of device-mapper for a user that may not use its control node: names and sizes from sysfs,
 * the state of nearcache devices from a function of a higher layer. Tables cannot be read.
 */
#ifndef HELPER_BLOCK_DM_UNPRIVILEGED_H
#define HELPER_BLOCK_DM_UNPRIVILEGED_H

#include "block/dm.h"

/* Open count of a device that cannot be read. */
#define DM_OPEN_UNKNOWN	(-1)

/*
 * Fills in @ours, @stage, @status, @mode, @cache and @origin if the device is one of nearcache.
 * Returns 0, or an exit code after recording an error with fail().
 */
typedef int dm_take_state(struct dm_device *dev);

void dm_read_unprivileged(dm_take_state *take);
bool dm_is_unprivileged(void);
int dm_unprivileged_find(const char *name, struct dm_device *dev, bool *found);
int dm_unprivileged_each(int (*visit)(const char *name, void *arg), void *arg);

#endif /* HELPER_BLOCK_DM_UNPRIVILEGED_H */
