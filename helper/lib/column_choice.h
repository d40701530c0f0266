/* SPDX-License-Identifier: GPL-2.0-only */
/* The columns of a table that the user has chosen, and the form of the table. */
#ifndef HELPER_LIB_COLUMN_CHOICE_H
#define HELPER_LIB_COLUMN_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct column_choice - how to print the table of a verb
 * @active: print only this table, in the form that the other members give
 * @list: names of columns with a comma between them; behind a '+' they follow the default columns;
 *	NULL: the default columns
 * @no_headings: print no heading
 * @raw: one blank between columns, and the values of JSON
 */
struct column_choice {
	bool active;
	const char *list;
	bool no_headings;
	bool raw;
};

bool column_next(const char **list, size_t *length, const char **name);
bool column_is(const char *name, const char *word, size_t length);
bool column_is_chosen(const struct column_choice *choice, const char *name, bool by_default);

#endif /* HELPER_LIB_COLUMN_CHOICE_H */
