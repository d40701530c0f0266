// SPDX-License-Identifier: GPL-2.0-only
#include "lib/want.h"

#include <stdio.h>
#include <string.h>

#include "nearcache.h"

static const struct {
	uint32_t flag;
	const char *word;
} words[] = {
	{ NEARCACHE_RANGE_PIN, "pin" },
	{ NEARCACHE_RANGE_BYPASS, "bypass" },
	{ NEARCACHE_RANGE_EVICT_AFTER_USE, "evict-after-use" },
};

#define WORDS	(sizeof(words) / sizeof(words[0]))

/**
 * want_print() - write what is wanted
 * @flags: NEARCACHE_RANGE_*
 * @text: WANT_TEXT bytes to fill: words with commas, or "count" for none
 *
 * Return: @text.
 */
const char *want_print(uint32_t flags, char *text)
{
	size_t i, used = 0;

	strcpy(text, "count");
	for (i = 0; i < WORDS; i++)
		if (flags & words[i].flag)
			used += (size_t)snprintf(text + used, WANT_TEXT - used,
						 "%s%s", used ? "," : "",
						 words[i].word);
	return text;
}

/**
 * want_parse() - read what want_print() wrote
 * @text: the text
 * @flags: the result
 *
 * Return: whether it is that.
 */
bool want_parse(const char *text, uint32_t *flags)
{
	char again[WANT_TEXT];
	size_t i;

	*flags = 0;
	for (i = 0; i < WORDS; i++)
		if (strstr(text, words[i].word))
			*flags |= words[i].flag;
	return !strcmp(want_print(*flags, again), text);
}
