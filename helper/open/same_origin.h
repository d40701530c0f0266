/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prevent that one device writes to an origin that another device caches.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_OPEN_SAME_ORIGIN_H
#define HELPER_OPEN_SAME_ORIGIN_H

#include "block/device.h"
#include "lib/enum_words.h"

int neighbour_check(const struct device *origin, enum nearcache_mode mode,
		    const char *self);

#endif /* HELPER_OPEN_SAME_ORIGIN_H */
