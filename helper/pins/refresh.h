/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Refresh pins: find files that moved or are gone, and prefetch missing data.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_PINS_REFRESH_H
#define HELPER_PINS_REFRESH_H

#include "cli/options.h"
#include "block/dm.h"
#include "pins/pin_list.h"
#include "pins/restore.h"

/**
 * struct refreshed - result of a refresh
 * @restored: number of pins, and of files that moved or are gone
 * @missing: pinned bytes that were not cached
 * @job: number of the job that prefetches the pins with pin.load; 0: there are no such pins
 */
struct refreshed {
	struct restored restored;
	uint64_t missing;
	uint32_t job;
};

int refresh_device(const struct dm_device *dev, struct pins *pins, bool keep_gone,
		   struct refreshed *refreshed);
void refresh_print(const struct refreshed *refreshed);
void refresh_print_gone(const struct pins *pins);
int refresh_need_live(const struct dm_device *dev);
int refresh_all(bool keep_gone, bool dry_run);

#endif /* HELPER_PINS_REFRESH_H */
