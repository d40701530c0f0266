/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Open devices of nearcachetab(5); without their cache if the cache device is missing.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 * @open_devices opens a device with given origin and cache device.
 */
#ifndef HELPER_OPEN_OPEN_AT_BOOT_H
#define HELPER_OPEN_OPEN_AT_BOOT_H

#include "cli/options.h"

int opentab(const struct arguments *args,
	    int (*open_devices)(const struct arguments *args));
int opentab_all(const struct arguments *args,
		int (*open_devices)(const struct arguments *args));

#endif /* HELPER_OPEN_OPEN_AT_BOOT_H */
