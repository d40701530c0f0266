/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commit and drain a stage.  Functions that return int return 0, or an exit code after recording an
 * error with fail().
 */
#ifndef HELPER_STAGE_DRAIN_H
#define HELPER_STAGE_DRAIN_H

#include <stdint.h>

#include "block/dm.h"

int stage_commit(const struct dm_device *dev, uint64_t *epoch);
int stage_wait_epoch(const char *name, uint64_t epoch);
int stage_drain(const struct dm_device *dev);

#endif /* HELPER_STAGE_DRAIN_H */
