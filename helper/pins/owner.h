/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose a record of pins is: a name may stand for another device one day. */
#ifndef HELPER_PINS_OWNER_H
#define HELPER_PINS_OWNER_H

#include <stdbool.h>

#include "block/device.h"
#include "block/dm.h"

/* Room for the uuid of a cache. */
#define OWNER_UUID	(sizeof(((struct dm_device *)0)->uuid))

/**
 * struct owner - a device that has pins
 * @uuid: of the cache that it was opened with, "": not known
 * @attached: of another one that took its place, with which it is opened next; "": none did
 * @origin_id: identity of the origin (identity.h), "": not known
 */
struct owner {
	char uuid[OWNER_UUID];
	char attached[OWNER_UUID];
	char origin_id[DEVICE_ID];
};

void owner_of(const struct dm_device *dev, struct owner *owner);
bool owner_known(const struct owner *owner);
bool owner_same(const struct owner *before, const struct owner *now);

#endif /* HELPER_PINS_OWNER_H */
