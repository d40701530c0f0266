// SPDX-License-Identifier: GPL-2.0-only
/* The only verb that a table needs: its options, without a function. */
#include <stddef.h>

#include "cli/options.h"

const struct verb verbs[] = {
	{ .name = "open", .operands = "[NAME]", .operands_max = 1,
	  .optional = OPTIONS_OPEN },
	{ .name = NULL },
};
