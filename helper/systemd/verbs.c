// SPDX-License-Identifier: GPL-2.0-only
/* The verb that a table speaks of, with its options and nothing behind it. */
#include <stddef.h>

#include "cli/options.h"

const struct verb verbs[] = {
	{ .name = "open", .operands = "[NAME]", .operands_max = 1,
	  .optional = OPTIONS_OPEN },
	{ .name = NULL },
};
