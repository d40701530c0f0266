/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of caches and stages from the kernel module, for users without root privileges. */
#ifndef HELPER_NETLINK_DEVICE_STATE_H
#define HELPER_NETLINK_DEVICE_STATE_H

#include "block/dm.h"

int nl_device_state(struct dm_device *dev);

#endif /* HELPER_NETLINK_DEVICE_STATE_H */
