/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Change the pins of a device in the kernel and in the record, or in neither.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_PINS_CHANGE_H
#define HELPER_PINS_CHANGE_H

#include "block/dm.h"
#include "pins/pin_list.h"

/**
 * struct change - a change of pins
 * @dev: the device
 * @pins: pins of the device; dropped ones are deleted, fresh ones added
 * @which: spans; delete also the kernel's ranges inside a span, unless a remaining pin needs them
 * @count: elements of @which
 * @some: if the cache has no room for all fresh pins, add those that fit
 * @room: set by the call, even after a refusal: space that pins need
 * @deleted: set by the call: number of deleted ranges
 */
struct change {
	const struct dm_device *dev;
	struct pins *pins;
	const struct nl_range *which;
	size_t count;
	bool some;
	struct nl_room room;
	uint64_t deleted;
};

int change_kernel(struct change *change);
int change_both(struct change *change);

#endif /* HELPER_PINS_CHANGE_H */
