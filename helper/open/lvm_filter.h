/* SPDX-License-Identifier: GPL-2.0-only */
/* Tell the administrator how LVM uses a volume group through the cache, and not on the origin. */
#ifndef HELPER_OPEN_LVM_FILTER_H
#define HELPER_OPEN_LVM_FILTER_H

#include "block/device.h"

dev_t lvm_filter_lower(dev_t device);
void lvm_filter_notify(dev_t origin);
void lvm_filter_print(const struct device *origin, const char *name);

#endif /* HELPER_OPEN_LVM_FILTER_H */
