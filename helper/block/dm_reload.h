/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replace the table of a device in use.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_BLOCK_DM_RELOAD_H
#define HELPER_BLOCK_DM_RELOAD_H

#include "block/dm.h"
#include "block/table_params.h"

int reload_prepare(const struct dm_device *dev, bool force,
		   struct params *params);
int reload(const struct dm_device *dev, const struct params *old,
	   const struct params *params, uint64_t bytes, bool hand_over);
void reload_print_started(const struct dm_device *dev, bool dry_run);

#endif /* HELPER_BLOCK_DM_RELOAD_H */
