/* SPDX-License-Identifier: GPL-2.0-only */
/* What 'delete the ranges that lie in these' means, to be asked of many ranges. */
#ifndef HELPER_PINS_SPANS_H
#define HELPER_PINS_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netlink/client.h"
#include "lib/range.h"

/**
 * struct span - bytes of a device in which ranges are meant
 * @label: of this one only; NULL: of any
 * @start: first byte
 * @reach: where the last of those ends that have its label and start before, or there
 */
struct span {
	const char *label;
	uint64_t start;
	uint64_t reach;
};

/**
 * struct spans - several
 * @span: by label, then ascending
 * @count: how many
 */
struct spans {
	struct span *span;
	size_t count;
};

int spans_make(struct spans *spans, const struct nl_range *which, size_t count);
bool spans_hold(const struct spans *spans, const struct range *range,
		const char *label);
void spans_free(struct spans *spans);

#endif /* HELPER_PINS_SPANS_H */
