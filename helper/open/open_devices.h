/* SPDX-License-Identifier: GPL-2.0-only */
/* Open a cache that was created before. */
#ifndef HELPER_OPEN_OPEN_DEVICES_H
#define HELPER_OPEN_OPEN_DEVICES_H

#include "cli/options.h"

/*
 * Open the cache with the name and the devices in @args, which are from the command line or from
 * nearcachetab(5). Returns 0, or an exit code recorded with fail().
 */
int open_devices(const struct arguments *args);

#endif /* HELPER_OPEN_OPEN_DEVICES_H */
