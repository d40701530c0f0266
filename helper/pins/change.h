/* SPDX-License-Identifier: GPL-2.0-only */
/* What is wanted of a device changes: in the kernel and on record, or in neither. */
#ifndef HELPER_PINS_CHANGE_H
#define HELPER_PINS_CHANGE_H

#include "block/dm.h"
#include "pins/pins.h"

/**
 * struct change - pins as they are to be
 * @dev: the device
 * @pins: of it: those that are dropped go, those that are fresh come
 * @which: what lies in one of these goes, too; it is not among @pins any more
 * @count: how many
 * @some: without room for all that come, as many come as there is room for
 * @room: result: what pins take then; also after a refusal
 * @deleted: result: how many ranges went
 */
struct change {
	const struct dm_device *dev;
	const struct pins *pins;
	const struct nl_range *which;
	size_t count;
	bool some;
	struct nl_room room;
	uint64_t deleted;
};

int change_kernel(struct change *change);
int change_both(struct change *change);

#endif /* HELPER_PINS_CHANGE_H */
