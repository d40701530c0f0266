// SPDX-License-Identifier: GPL-2.0-only
#include "cli/option_value.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/size.h"
#include "lib/enum_words.h"
#include "lib/name.h"
#include "nearcache.h"
#include "block/stage_params.h"
#include "block/table_params.h"
#include "lib/range.h"
#include "shard/shard_split.h"
#include "block/status_line.h"

/* The take_* functions that return a string return NULL, or the reason why @value is invalid. */
static const char *take_size(void *place, const char *value)
{
	const char *why;

	if (!size_parse(value, place, &why))
		return why;
	return *(uint64_t *)place ? NULL : "it must not be 0";
}

static bool take_count(void *place, const char *value)
{
	unsigned long number;
	char *end;

	if (!isdigit((unsigned char)*value))
		return false;
	number = strtoul(value, &end, 10);
	if (*end || !number || number > UINT_MAX)
		return false;
	*(unsigned int *)place = (unsigned int)number;
	return true;
}

/* Converts seconds, which may have decimals, to milliseconds. */
static bool take_interval(void *place, const char *value)
{
	double seconds;
	char *end;

	if (!isdigit((unsigned char)*value))
		return false;
	seconds = strtod(value, &end);
	if (*end || seconds < 0.1 || seconds > 86400)
		return false;
	*(unsigned int *)place = (unsigned int)(seconds * 1000 + 0.5);
	return true;
}

/* Parses digits. Returns false for anything else, or if the number is above @most. */
static bool take_number(const char *value, uint64_t most, uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)*value))
		return false;
	errno = 0;
	*number = strtoull(value, &end, 10);
	return !*end && !errno && *number <= most;
}

static bool take_small(void *place, const char *value, uint64_t least,
		       uint64_t most)
{
	uint64_t number;

	if (!take_number(value, most, &number) || number < least)
		return false;
	*(unsigned int *)place = (unsigned int)number;
	return true;
}

static const char *take_label(void *place, const char *value)
{
	const char *why = label_check(value);

	if (!why)
		*(const char **)place = value;
	return why;
}

/* Parses the kinds of values that prefetch, pin, plan and a stage have. */
static const char *take_wish(void *place, enum option_value kind, const char *value)
{
	switch (kind) {
	case LABEL:
		return take_label(place, value);
	case PRIORITY:
		return take_small(place, value, 0, NEARCACHE_PRIORITY_MAX) ?
		       NULL : "give 0 to 7";
	case DURATION:
		return duration_parse(value, place);
	case BANDWIDTH:
		return bandwidth_parse(value, place);
	case RANK:
		return take_small(place, value, 0, UINT_MAX - 1) ?
		       NULL : "give 0 to 4294967294";
	case WORLD_SIZE:
		return take_small(place, value, 1, UINT_MAX) ?
		       NULL : "give 1 to 4294967295";
	case NUMBER:
		return take_number(value, UINT64_MAX, place) ?
		       NULL : "give a whole number of 64 bits";
	case SPLIT:
		return share_split_parse(value, place) ?
		       NULL : "give " SHARE_SPLIT_WORDS;
	case DRAIN_RATE:
		return stage_rate_parse(value, place);
	case STAGE_LIMIT:
		return stage_limit_parse(value, place);
	case ON_FULL:
		return stage_on_full_parse(value, place) ? NULL : "give " STAGE_ON_FULL_WORDS;
	default:
		return NULL;
	}
}

static const char *take_other(void *place, enum option_value kind, const char *value)
{
	if (kind == SHARD_FORMAT && !index_format_parse(value, place))
		return "give " INDEX_FORMAT_WORDS;
	if (kind == INTERVAL && !take_interval(place, value))
		return "give 0.1 to 86400 seconds";
	if (kind == COUNT && !take_count(place, value))
		return "give 1 to 4294967295";
	return take_wish(place, kind, value);
}

/*
 * Parses @value into @place, which has option_value_size() bytes. A TEXT or LABEL is not copied.
 * Returns NULL, or the reason why @value is invalid.
 */
const char *option_value_take(void *place, enum option_value kind,
			      const char *value)
{
	static char range_why[RANGE_WHY];
	const char *size_why;

	switch (kind) {
	case TEXT:
		*(const char **)place = value;
		return NULL;
	case SIZE:
		return take_size(place, value);
	case SIZE_OR_0:
		return size_parse(value, place, &size_why) ? NULL : size_why;
	case MODE:
		return mode_parse(value, place) ? NULL : "give read-only, writearound, writethrough or writeback";
	case ON_CHANGE:
		return on_change_parse(value, place) ?
		       NULL : "give " ON_CHANGE_WORDS;
	case RANGE:
		return range_parse(value, place, range_why) ? NULL : range_why;
	case INTEGRITY:
		return status_integrity_parse(value, place) ?
		       NULL : "give none or crc32c";
	case CACHE_TIMEOUT:
		return params_cache_timeout_parse(value, place) ?
		       NULL : "give " PARAMS_CACHE_TIMEOUT_RANGE;
	case ORIGIN_TIMEOUT:
		return params_origin_timeout_parse(value, place) ?
		       NULL : "give " PARAMS_ORIGIN_TIMEOUT_RANGE;
	case VERIFY:
		return params_verify_parse(value, place) ?
		       NULL : "give " PARAMS_VERIFY_RANGE;
	default:
		return take_other(place, kind, value);
	}
}

/* Returns the number of bytes that a value takes in struct arguments. */
size_t option_value_size(enum option_value kind)
{
	switch (kind) {
	case FLAG:
		return 0;
	case TEXT:
	case LABEL:
		return sizeof(char *);
	case SIZE:
	case SIZE_OR_0:
	case BANDWIDTH:
	case NUMBER:
	case DRAIN_RATE:
		return sizeof(uint64_t);
	case STAGE_LIMIT:
		return sizeof(struct stage_limit);
	case RANGE:
		return sizeof(struct range);
	default:
		/* Enums, and numbers of the size of an enum. */
		return sizeof(unsigned int);
	}
}
