/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HELPER_CMD_RATES_H
#define HELPER_CMD_RATES_H

#include "block/dm.h"
#include "cmd/device_samples.h"

void rates_print(const struct dm_device *dev, const struct status *status,
		 const struct device_samples *earlier);

#endif /* HELPER_CMD_RATES_H */
