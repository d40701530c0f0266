/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Give up the log of a running stage, because it hangs or has failed.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_STAGE_GIVE_UP_H
#define HELPER_STAGE_GIVE_UP_H

#include "block/dm.h"

int stage_give_up(const struct dm_device *dev);
int stage_wait_log(const struct dm_device *dev);
void stage_print_lost(const struct dm_device *dev, const char *cache);

#endif /* HELPER_STAGE_GIVE_UP_H */
