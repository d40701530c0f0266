/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A copy of the kernel's ranges of a device, for look-ups.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_PINS_KERNEL_RANGES_H
#define HELPER_PINS_KERNEL_RANGES_H

#include <stdbool.h>
#include <stddef.h>

#include "netlink/client.h"
#include "pins/pin_list.h"

/* Label of the ranges that the daemon pins. It reads them from the kernel: they are not recorded. */
#define HOT_LABEL	"nearcache-hot"

/**
 * struct known - ranges of a device
 * @range: in ascending order; owns its labels
 * @count: entries of @range
 * @room: allocated entries
 */
struct known {
	struct nl_range *range;
	size_t count;
	size_t room;
};

int known_read(struct known *known, dev_t number);
void known_sort(struct known *known);
bool known_has(const struct known *known, const struct nl_range *range);
int pins_labels(const struct pins *pins, const char ***label, size_t *count);
bool labels_have(const char *const *label, size_t count, const char *wanted);
int pins_recorded(const struct pins *pins, struct known *recorded);
bool known_is_unrecorded(const struct known *recorded, const struct nl_range *range);
bool known_has_pin(const struct known *known, const struct pins *pins,
		   const struct pin *pin);
void known_free(struct known *known);

#endif /* HELPER_PINS_KERNEL_RANGES_H */
