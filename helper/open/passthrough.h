/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A pass-through device is a dm-linear device on the origin that replaces a device whose cache is
 * missing, so that the machine can boot.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_OPEN_PASSTHROUGH_H
#define HELPER_OPEN_PASSTHROUGH_H

#include "block/device.h"
#include "block/dm.h"
#include "lib/enum_words.h"

/**
 * struct passthrough - a pass-through device
 * @name: dm name, valid
 * @origin: open origin
 * @mode: mode that the device would have with its cache
 * @cache: uuid of the missing cache, NULL: unknown
 * @why: why the cache is missing, for messages
 * @remembered: settings of the cache that are in force, as remembered_describe() prints them; "": none
 * @remembered_text: the same settings, printed for people
 * @read_only: the device refuses writes, set by passthrough_start()
 */
struct passthrough {
	const char *name;
	const struct device *origin;
	enum nearcache_mode mode;
	const uint8_t *cache;
	const char *why;
	const char *remembered;
	const char *remembered_text;
	bool read_only;
};

int passthrough_start(struct passthrough *pass, bool dry_run);
int passthrough_close(const struct dm_device *dev, bool dry_run);

#endif /* HELPER_OPEN_PASSTHROUGH_H */
