// SPDX-License-Identifier: GPL-2.0-only
/* The verb that a table speaks of, with its options and nothing behind it. */
#include <stddef.h>

#include "arguments.h"

const struct verb verbs[] = {
	{ .name = "open", .operands = "[NAME]", .operands_max = 1,
	  .optional = OPTION_ALL | OPTION_TAB | OPTION_WAIT_DEVICES |
		      OPTION_CACHE | OPTION_ORIGIN | OPTION_MODE |
		      OPTION_READ_ONLY | OPTION_FILL_MEMORY |
		      OPTION_CACHE_TIMEOUT | OPTION_ORIGIN_TIMEOUT |
		      OPTION_VERIFY | OPTION_DATASET_VERSION |
		      OPTION_ON_CHANGE | OPTION_GROW | OPTION_WITNESS |
		      OPTION_FORCE },
	{ .name = NULL },
};
