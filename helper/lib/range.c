// SPDX-License-Identifier: GPL-2.0-only
#include "lib/range.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/size.h"

#define SECTOR	512
/* Size of START, LENGTH or END with NUL. */
#define PART_MAX	64

static bool parse_part(const char *text, const char *what, uint64_t *bytes,
		       char *why)
{
	const char *reason;

	if (!size_parse(text, bytes, &reason)) {
		snprintf(why, RANGE_WHY, "its %s '%.40s': %s", what, text,
			 reason);
		return false;
	}
	/*
	 * Do not round. A user may drop data by range: rounding outwards would drop data that the
	 * user did not name, and rounding inwards would leave stale data.
	 */
	if (*bytes % SECTOR) {
		snprintf(why, RANGE_WHY,
			 "its %s '%.40s' is not a multiple of %d bytes", what,
			 text, SECTOR);
		return false;
	}
	return true;
}

/* Parses the sizes before and after the separator at @at. */
static bool parse_sides(const char *text, size_t at, uint64_t *first,
			const char *what, uint64_t *second, char *why)
{
	char start[64];

	memcpy(start, text, at);
	start[at] = '\0';
	return parse_part(start, "start", first, why) &&
	       parse_part(text + at + 1, what, second, why);
}

static bool not_empty(const struct range *range, char *why)
{
	if (!range->length)
		snprintf(why, RANGE_WHY, "its length is 0");
	return range->length;
}

/* Parses "START:LENGTH". */
bool range_parse(const char *text, struct range *range, char *why)
{
	const char *colon = strchr(text, ':');

	if (!colon || colon - text >= PART_MAX) {
		snprintf(why, RANGE_WHY, "write it as START:LENGTH, like 1G:64M");
		return false;
	}
	return parse_sides(text, colon - text, &range->start, "length",
			   &range->length, why) &&
	       not_empty(range, why);
}

/* Returns the index of the separator if @word looks like a range, or 0. */
static size_t separator_of(const char *word)
{
	size_t at, i;

	for (at = 0; isalnum((unsigned char)word[at]); at++)
		;
	if (!isdigit((unsigned char)word[0]) || at >= PART_MAX ||
	    !word[at] || !strchr("-+:", word[at]) ||
	    !isdigit((unsigned char)word[at + 1]))
		return 0;
	for (i = at + 1; isalnum((unsigned char)word[i]); i++)
		;
	return word[i] ? 0 : at;
}

/*
 * Returns whether a TARGET on the command line is to be parsed as a range of the device instead of
 * as a file name. The user writes "./" before the name of a file that looks like a range.
 */
bool range_like(const char *word)
{
	return separator_of(word);
}

/*
 * Parses "START-END" (END is exclusive), "START+LENGTH" or "START:LENGTH". range_like() of @word is
 * true.
 */
bool range_parse_word(const char *word, struct range *range, char *why)
{
	size_t at = separator_of(word);
	bool to_end = word[at] == '-';

	if (!parse_sides(word, at, &range->start, to_end ? "end" : "length",
			 &range->length, why))
		return false;
	if (to_end && range->length < range->start) {
		snprintf(why, RANGE_WHY, "it ends before it begins");
		return false;
	}
	if (to_end)
		range->length -= range->start;
	return not_empty(range, why);
}

/* Checks that a range is inside its device. @size: of the device, bytes. */
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
