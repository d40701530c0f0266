/* SPDX-License-Identifier: GPL-2.0-only */
/* Other devices on the same origin: who writes there, and who would not notice. */
#ifndef HELPER_NEIGHBOUR_H
#define HELPER_NEIGHBOUR_H

#include "device.h"
#include "mode.h"

int neighbour_check(const struct device *origin, enum nearcache_mode mode,
		    const char *self);

#endif /* HELPER_NEIGHBOUR_H */
