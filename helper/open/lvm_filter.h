/* SPDX-License-Identifier: GPL-2.0-only */
/* Tell the administrator how LVM uses a volume group through the cache, and not on the origin. */
#ifndef HELPER_OPEN_LVM_FILTER_H
#define HELPER_OPEN_LVM_FILTER_H

#include "block/device.h"

void lvm_filter_print(const struct device *origin, const char *name);

#endif /* HELPER_OPEN_LVM_FILTER_H */
