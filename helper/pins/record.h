/* SPDX-License-Identifier: GPL-2.0-only */
/* What is on record of pins, for a device that is there. */
#ifndef HELPER_PINS_RECORD_H
#define HELPER_PINS_RECORD_H

#include "block/dm.h"
#include "pins/pins.h"

int record_open(struct pins *pins, const struct dm_device *dev);
int record_require(const struct pins *pins, const struct dm_device *dev);
int record_forget(const char *name, const char *uuid);
void record_adopt(struct pins *pins, const struct dm_device *dev);

#endif /* HELPER_PINS_RECORD_H */
