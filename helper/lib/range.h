/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses ranges of a device as users write them: START:LENGTH, and for a TARGET also START-END.
 * size_parse() parses the numbers. A function with @why that returns false has written the reason
 * to @why (RANGE_WHY bytes).
 */
#ifndef HELPER_LIB_RANGE_H
#define HELPER_LIB_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#define RANGE_WHY	160

/* Whole sectors of a device: @start and @length are multiples of 512 bytes, @length is not 0. */
struct range {
	uint64_t start;
	uint64_t length;
};

bool range_parse(const char *text, struct range *range, char *why);
bool range_like(const char *word);
bool range_parse_word(const char *word, struct range *range, char *why);
bool range_inside(const struct range *range, uint64_t size, char *why);

#endif /* HELPER_LIB_RANGE_H */
