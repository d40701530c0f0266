/* SPDX-License-Identifier: GPL-2.0-only */
/* Devices opened as the table says, and without their cache if that is not there. */
#ifndef HELPER_OPEN_BOOT_H
#define HELPER_OPEN_BOOT_H

#include "cli/options.h"

int opentab(const struct arguments *args,
	    int (*open_devices)(const struct arguments *args));
int opentab_all(const struct arguments *args,
		int (*open_devices)(const struct arguments *args));

#endif /* HELPER_OPEN_BOOT_H */
