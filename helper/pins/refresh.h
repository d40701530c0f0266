/* SPDX-License-Identifier: GPL-2.0-only */
/* Pins as they are on record, again: where the files are now, and what they lack. */
#ifndef HELPER_PINS_REFRESH_H
#define HELPER_PINS_REFRESH_H

#include "cli/options.h"
#include "block/dm.h"
#include "pins/pins.h"
#include "pins/restore.h"

/**
 * struct refreshed - what came of it
 * @restored: pins, and which of them moved
 * @missing: bytes that were not cached any more, or not yet
 * @job: what brings them; its number is 0: there is nothing to bring
 */
struct refreshed {
	struct restored restored;
	uint64_t missing;
	uint32_t job;
};

int refresh_device(const struct dm_device *dev, struct pins *pins,
		   struct refreshed *refreshed);
void refresh_print(const struct refreshed *refreshed);
int refresh_need_live(const struct dm_device *dev);
int refresh_all(bool dry_run);

#endif /* HELPER_PINS_REFRESH_H */
