/* SPDX-License-Identifier: GPL-2.0-only */
/* An origin that was disconnected and has come back as another device. */
#ifndef HELPER_OPEN_RECONNECT_H
#define HELPER_OPEN_RECONNECT_H

#include "cli/options.h"
#include "block/dm.h"

bool reconnect_needed(const struct dm_device *dev);
int reconnect(const struct dm_device *dev, const struct arguments *args);

#endif /* HELPER_OPEN_RECONNECT_H */
