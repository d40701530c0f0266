/* SPDX-License-Identifier: GPL-2.0-only */
/* Ranges that go and ranges that come, as one change of what the kernel knows. */
#ifndef HELPER_PINS_EXCHANGE_H
#define HELPER_PINS_EXCHANGE_H

#include "block/dm.h"
#include "pins/known.h"
#include "netlink/client.h"

/**
 * struct exchange - what is to be otherwise
 * @dev: the device
 * @which: what lies in one of these goes
 * @fresh: come
 * @stay: those of them that lie in one of @which stay
 * @which_count: how many
 * @fresh_count: how many
 * @stay_count: how many
 * @some: without room for all of @fresh those come that there is room for
 * @room: result: what pins take then; also after a refusal
 * @deleted: result: how many went
 * @known: what the kernel knew
 * @goes: @which, and of @fresh what the kernel knows already
 * @gone: of @known, what lies in one of @goes; labels are those of @known
 * @touched: the same, and what exchange_undo() would delete, too
 * @come: @fresh, and of @stay what comes back
 * @goes_count: how many
 * @gone_count: how many
 * @touched_count: how many
 * @come_count: how many
 * @bridged: pins of @gone are there by another label meanwhile
 */
struct exchange {
	const struct dm_device *dev;
	const struct nl_range *which;
	const struct nl_range *fresh;
	const struct nl_range *stay;
	size_t which_count;
	size_t fresh_count;
	size_t stay_count;
	bool some;
	struct nl_room room;
	uint64_t deleted;
	struct known known;
	struct nl_range *goes;
	struct nl_range *gone;
	struct nl_range *touched;
	struct nl_range *come;
	size_t goes_count;
	size_t gone_count;
	size_t touched_count;
	size_t come_count;
	bool bridged;
};

int exchange(struct exchange *ex);
void exchange_undo(struct exchange *ex);
void exchange_free(struct exchange *ex);

#endif /* HELPER_PINS_EXCHANGE_H */
