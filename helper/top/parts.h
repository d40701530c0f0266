/* SPDX-License-Identifier: GPL-2.0-only */
/* Labels and jobs of a device, for 'nearcache top'. */
#ifndef HELPER_TOP_PARTS_H
#define HELPER_TOP_PARTS_H

#include "block/dm.h"
#include "top/model.h"

int parts_take(const struct dm_device *dev, struct top_device *device);
bool parts_gone(const struct dm_device *dev);

#endif /* HELPER_TOP_PARTS_H */
