/* SPDX-License-Identifier: GPL-2.0-only */
/* Devices that 'dmsetup rename' or 'dmsetup wipe_table' changed behind this command. */
#ifndef HELPER_OPEN_RENAMED_H
#define HELPER_OPEN_RENAMED_H

#include "block/dm.h"

void renamed_explain(const char *name);
const char *renamed_table_gone(const struct dm_device *dev);

#endif /* HELPER_OPEN_RENAMED_H */
