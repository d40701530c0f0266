/* SPDX-License-Identifier: GPL-2.0-only */
/* Other devices on the same origin: who writes there, and who would not notice. */
#ifndef HELPER_OPEN_SAME_ORIGIN_H
#define HELPER_OPEN_SAME_ORIGIN_H

#include "block/device.h"
#include "lib/words.h"

int neighbour_check(const struct device *origin, enum nearcache_mode mode,
		    const char *self);

#endif /* HELPER_OPEN_SAME_ORIGIN_H */
