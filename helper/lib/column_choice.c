// SPDX-License-Identifier: GPL-2.0-only
#include "lib/column_choice.h"

#include <string.h>
#include <strings.h>

/*
 * Takes the next name of a list of columns. Returns false at the end. A leading '+' is no part of a
 * name.
 */
bool column_next(const char **list, size_t *length, const char **name)
{
	if (!*list)
		return false;
	*name = *list + (**list == '+');
	*length = strcspn(*name, ",");
	*list = (*name)[*length] ? *name + *length + 1 : NULL;
	return true;
}

/* Compares a column with a word of the user, who need not use capital letters. */
bool column_is(const char *name, const char *word, size_t length)
{
	return strlen(name) == length && !strncasecmp(name, word, length);
}

/* Returns whether the table has the column @name. @by_default: it is one of the default columns. */
bool column_is_chosen(const struct column_choice *choice, const char *name, bool by_default)
{
	const char *list = choice->list, *word;
	size_t length;

	if (by_default && (!list || *list == '+'))
		return true;
	while (column_next(&list, &length, &word))
		if (column_is(name, word, length))
			return true;
	return false;
}
