/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A device without a cache: a plain dm-linear on the origin, for a machine that has to
 * boot although its local drive is gone.
 */
#ifndef HELPER_OPEN_PASSTHROUGH_H
#define HELPER_OPEN_PASSTHROUGH_H

#include "block/device.h"
#include "block/dm.h"
#include "lib/words.h"

/**
 * struct passthrough - such a device
 * @name: dm name, checked
 * @origin: open origin
 * @mode: that the cache would have
 * @cache: uuid of the cache that is not there, NULL: unknown
 * @why: why it is not
 * @read_only: the result: nobody can write
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
