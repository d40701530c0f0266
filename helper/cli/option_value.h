/* SPDX-License-Identifier: GPL-2.0-only */
/* Parses the values of options. */
#ifndef HELPER_CLI_OPTION_VALUE_H
#define HELPER_CLI_OPTION_VALUE_H

#include <stddef.h>

/* Kinds of values of options. FLAG: no value. option_value_size() gives the size of the others. */
enum option_value {
	FLAG, TEXT, SIZE, SIZE_OR_0, MODE, ON_CHANGE, RANGE, CACHE_TIMEOUT, ORIGIN_TIMEOUT,
	VERIFY, INTEGRITY, SHARD_FORMAT, INTERVAL, COUNT,
	LABEL, PRIORITY, DURATION, BANDWIDTH, RANK, WORLD_SIZE, NUMBER, SPLIT,
	DRAIN_RATE, STAGE_LIMIT, ON_FULL,
};

const char *option_value_take(void *place, enum option_value kind,
			      const char *value);
size_t option_value_size(enum option_value kind);

#endif /* HELPER_CLI_OPTION_VALUE_H */
