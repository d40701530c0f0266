/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plans: the order in which readers will read a device. Functions that return int return 0, or
 * an exit code after recording an error with fail().
 */
#ifndef HELPER_FILES_READ_PLAN_H
#define HELPER_FILES_READ_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "block/dm.h"
#include "netlink/client.h"
#include "lib/range.h"

/* Ranges of the device in the order of the reads. @bytes: the sum of their lengths. */
struct plan {
	struct range *range;
	size_t count;
	size_t room;
	uint64_t bytes;
};

int plan_add(struct plan *plan, const struct range *range, size_t count);
int plan_submit(const struct plan *plan, const struct dm_device *dev, unsigned int flags,
		struct nl_plan *now);
void plan_print(const struct nl_plan *now);
void plan_free(struct plan *plan);

#endif /* HELPER_FILES_READ_PLAN_H */
