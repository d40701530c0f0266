// SPDX-License-Identifier: GPL-2.0-only
#include "range.h"

#include <stdio.h>
#include <string.h>

#include "size.h"

#define SECTOR	512

static bool parse_part(const char *text, const char *what, uint64_t *bytes,
		       char *why)
{
	const char *reason;

	if (!size_parse(text, bytes, &reason)) {
		snprintf(why, RANGE_WHY, "its %s '%.40s': %s", what, text,
			 reason);
		return false;
	}
	/* Rounding would drop what nobody named, or keep what is stale. */
	if (*bytes % SECTOR) {
		snprintf(why, RANGE_WHY,
			 "its %s '%.40s' is no multiple of %d bytes", what,
			 text, SECTOR);
		return false;
	}
	return true;
}

/**
 * range_parse() - read a range
 * @text: "START:LENGTH", sizes as size_parse() reads them
 * @range: the result
 * @why: RANGE_WHY bytes; on failure: what is wrong
 *
 * Return: whether @text is a range.
 */
bool range_parse(const char *text, struct range *range, char *why)
{
	const char *colon = strchr(text, ':');
	char start[64];

	if (!colon || colon - text >= sizeof(start)) {
		snprintf(why, RANGE_WHY, "write it as START:LENGTH, like 1G:64M");
		return false;
	}
	memcpy(start, text, colon - text);
	start[colon - text] = '\0';
	if (!parse_part(start, "start", &range->start, why) ||
	    !parse_part(colon + 1, "length", &range->length, why))
		return false;
	if (!range->length) {
		snprintf(why, RANGE_WHY, "its length is 0");
		return false;
	}
	return true;
}

/**
 * range_inside() - whether a range lies inside a device
 * @range: as parsed
 * @size: bytes of the device
 * @why: RANGE_WHY bytes; when not: what is wrong
 *
 * Return: whether it does.
 */
bool range_inside(const struct range *range, uint64_t size, char *why)
{
	if (range->start < size && range->length <= size - range->start)
		return true;
	snprintf(why, RANGE_WHY,
		 "%llu + %llu bytes reach beyond the end of the device at %llu",
		 (unsigned long long)range->start,
		 (unsigned long long)range->length, (unsigned long long)size);
	return false;
}
