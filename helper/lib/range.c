// SPDX-License-Identifier: GPL-2.0-only
#include "lib/range.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/size.h"

#define SECTOR	512
/* Room for one side of a range. */
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
	/* Rounding would drop what nobody named, or keep what is stale. */
	if (*bytes % SECTOR) {
		snprintf(why, RANGE_WHY,
			 "its %s '%.40s' is no multiple of %d bytes", what,
			 text, SECTOR);
		return false;
	}
	return true;
}

/* Both sides of the separator at @at. */
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

	if (!colon || colon - text >= PART_MAX) {
		snprintf(why, RANGE_WHY, "write it as START:LENGTH, like 1G:64M");
		return false;
	}
	return parse_sides(text, colon - text, &range->start, "length",
			   &range->length, why) &&
	       not_empty(range, why);
}

/* Where the separator of a word is that looks like a range; 0: it does not. */
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

/**
 * range_like() - whether a word among files means a range of the device
 * @word: as the user gave it; a file of such a name is written with "./"
 *
 * Return: whether it looks like one, right or wrong.
 */
bool range_like(const char *word)
{
	return separator_of(word);
}

/**
 * range_parse_word() - read a range among files
 * @word: "START-END" (END is the first byte behind it), "START+LENGTH" or
 *	"START:LENGTH", sizes as size_parse() reads them; range_like() of it is true
 * @range: the result
 * @why: RANGE_WHY bytes; on failure: what is wrong
 *
 * Return: whether @word is a range.
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
