/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prevent that a device writes to an origin that another device caches: the other cache would
 * return stale data.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_OPEN_ORIGIN_USERS_H
#define HELPER_OPEN_ORIGIN_USERS_H

#include "block/device.h"
#include "lib/enum_words.h"

int neighbour_check(const struct device *origin, enum nearcache_mode mode,
		    const char *self);

#endif /* HELPER_OPEN_ORIGIN_USERS_H */
