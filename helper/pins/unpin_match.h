/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decide for each of many ranges whether a deletion request deletes it. A request names spans.
 * Functions that return int return 0, or an exit code after recording an error with fail(), unless
 * they say otherwise.
 */
#ifndef HELPER_PINS_UNPIN_MATCH_H
#define HELPER_PINS_UNPIN_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netlink/client.h"
#include "lib/range.h"

/**
 * struct span - bytes of a device in which ranges are deleted
 * @label: only ranges with this label; NULL: any label
 * @start: first byte
 * @reach: largest end of this and all earlier spans of the same label
 */
struct span {
	const char *label;
	uint64_t start;
	uint64_t reach;
};

/**
 * struct spans - sorted spans
 * @span: sorted by label, then by start
 * @count: entries of @span
 */
struct spans {
	struct span *span;
	size_t count;
};

int spans_make(struct spans *spans, const struct nl_range *which, size_t count);
bool spans_hold(const struct spans *spans, const struct range *range,
		const char *label);
void spans_free(struct spans *spans);

#endif /* HELPER_PINS_UNPIN_MATCH_H */
