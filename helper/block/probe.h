/* SPDX-License-Identifier: GPL-2.0-only */
/* What a device carries, by libblkid and a few signatures it does not know. */
#ifndef HELPER_BLOCK_PROBE_H
#define HELPER_BLOCK_PROBE_H

#include "block/device.h"

/* Room for a description. */
#define PROBE_WHAT	160

int probe_content(const struct device *dev, char *what);
int probe_wipe(const struct device *dev);

#endif /* HELPER_BLOCK_PROBE_H */
