/* SPDX-License-Identifier: GPL-2.0-only */
/* A part of a device, as the user names it: START:LENGTH, or among files START-END. */
#ifndef HELPER_LIB_RANGE_H
#define HELPER_LIB_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* Room for a reason. */
#define RANGE_WHY	160

/**
 * struct range - whole sectors of a device
 * @start: bytes, multiple of 512
 * @length: bytes, multiple of 512, not 0
 */
struct range {
	uint64_t start;
	uint64_t length;
};

bool range_parse(const char *text, struct range *range, char *why);
bool range_like(const char *word);
bool range_parse_word(const char *word, struct range *range, char *why);
bool range_inside(const struct range *range, uint64_t size, char *why);

#endif /* HELPER_LIB_RANGE_H */
