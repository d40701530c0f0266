/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Open devices of nearcachetab(5). A device whose cache device is missing becomes a pass-through
 * device (passthrough.h).
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_OPEN_OPEN_AT_BOOT_H
#define HELPER_OPEN_OPEN_AT_BOOT_H

#include "cli/options.h"

int opentab(const struct arguments *args);
int opentab_all(const struct arguments *args);

#endif /* HELPER_OPEN_OPEN_AT_BOOT_H */
