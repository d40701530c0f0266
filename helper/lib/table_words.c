// SPDX-License-Identifier: GPL-2.0-only
#include "lib/table_words.h"

#include <stdlib.h>
#include <string.h>

bool table_word(const char **text, char *word, size_t size)
{
	size_t length;

	*text += strspn(*text, " ");
	length = strcspn(*text, " ");
	if (!length || length >= size)
		return false;
	memcpy(word, *text, length);
	word[length] = '\0';
	*text += length;
	return true;
}

bool table_number(const char **text, uint64_t *number)
{
	char word[24], *end;

	if (!table_word(text, word, sizeof(word)) || word[0] < '0' || word[0] > '9')
		return false;
	*number = strtoull(word, &end, 10);
	return !*end;
}

bool table_options(const char *text, void (*take)(void *to, const char *name, const char *word,
						  uint64_t value), void *to)
{
	char name[64], word[64];
	uint64_t count, number;

	text += strspn(text, " ");
	if (!*text)
		return true;
	if (!table_number(&text, &count))
		return false;
	for (; count >= 2; count -= 2) {
		const char *value = word;

		if (!table_word(&text, name, sizeof(name)) ||
		    !table_word(&text, word, sizeof(word)))
			return false;
		take(to, name, word, table_number(&value, &number) ? number : 0);
	}
	return !count;
}
