// SPDX-License-Identifier: GPL-2.0-only
#include "lib/mode.h"

#include <string.h>

/* By number: the table's word for it. */
static const char *const words[] = {
	[NEARCACHE_READ_ONLY] = "read-only",
	[NEARCACHE_WRITEAROUND] = "writearound",
	[NEARCACHE_WRITETHROUGH] = "writethrough",
};

#define WORDS	(sizeof(words) / sizeof(words[0]))

/**
 * mode_word() - the word for a mode
 * @mode: as the status line gives it
 *
 * Return: the word, "unknown" for a newer kernel's mode.
 */
const char *mode_word(uint64_t mode)
{
	return mode < WORDS ? words[mode] : "unknown";
}

/**
 * mode_parse() - read a mode
 * @word: the word
 * @mode: the result, on success only
 *
 * Return: whether @word is a mode.
 */
bool mode_parse(const char *word, enum nearcache_mode *mode)
{
	unsigned int i;

	for (i = 0; i < WORDS; i++) {
		if (strcmp(words[i], word))
			continue;
		*mode = i;
		return true;
	}
	return false;
}

/* Whether the device can be written in that mode. */
bool mode_writes(enum nearcache_mode mode)
{
	return mode != NEARCACHE_READ_ONLY;
}
