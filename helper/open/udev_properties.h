/* SPDX-License-Identifier: GPL-2.0-only */
/* The udev properties of cache devices, witnesses and logs, for a libblkid that does not know them. */
#ifndef HELPER_OPEN_UDEV_PROPERTIES_H
#define HELPER_OPEN_UDEV_PROPERTIES_H

#include "block/device.h"

int udev_properties_print(const struct device *dev);

#endif /* HELPER_OPEN_UDEV_PROPERTIES_H */
