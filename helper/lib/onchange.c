// SPDX-License-Identifier: GPL-2.0-only
#include "lib/onchange.h"

#include <string.h>

/**
 * on_change_parse() - read a word
 * @word: as the user gave it
 * @result: what it says
 *
 * Return: whether it says anything.
 */
bool on_change_parse(const char *word, enum on_change *result)
{
	static const char *const words[] = {
		[ON_CHANGE_DROP] = "drop",
		[ON_CHANGE_REFUSE] = "refuse",
		[ON_CHANGE_TRUST] = "trust",
	};
	unsigned int i;

	for (i = ON_CHANGE_DROP; i <= ON_CHANGE_TRUST; i++)
		if (!strcmp(word, words[i])) {
			*result = i;
			return true;
		}
	return false;
}
