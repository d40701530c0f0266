/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Identify the content of a device, by libblkid and a few signatures that libblkid lacks.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_BLOCK_PROBE_H
#define HELPER_BLOCK_PROBE_H

#include "block/device.h"

/* Size of a description with NUL. */
#define PROBE_WHAT	160

int probe_content(const struct device *dev, char *what);
int probe_wipe(const struct device *dev);

#endif /* HELPER_BLOCK_PROBE_H */
