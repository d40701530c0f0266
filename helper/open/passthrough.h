/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pass-through devices: a plain dm-linear on the origin, without a cache, so that a machine boots
 * without its cache device.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_OPEN_PASSTHROUGH_H
#define HELPER_OPEN_PASSTHROUGH_H

#include "block/device.h"
#include "block/dm.h"
#include "lib/enum_words.h"

/**
 * struct passthrough - a pass-through device
 * @name: dm name, checked
 * @origin: open origin
 * @mode: mode of the cached device
 * @cache: uuid of the missing cache, NULL: unknown
 * @why: why the cache is missing
 * @read_only: result: the device refuses writes
 */
struct passthrough {
	const char *name;
	const struct device *origin;
	enum nearcache_mode mode;
	const uint8_t *cache;
	const char *why;
	bool read_only;
};

int passthrough_start(struct passthrough *pass, bool dry_run);
int passthrough_close(const struct dm_device *dev, bool dry_run);

#endif /* HELPER_OPEN_PASSTHROUGH_H */
