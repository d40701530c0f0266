/* SPDX-License-Identifier: GPL-2.0-only */
/* Take the words of a dm table line or status line, one after the other. */
#ifndef HELPER_LIB_TABLE_WORDS_H
#define HELPER_LIB_TABLE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The functions move *@text behind the word that they take, and return false if there is none.
 * table_word() takes words that fit into @size bytes with NUL.
 */
bool table_word(const char **text, char *word, size_t size);
bool table_number(const char **text, uint64_t *number);

/*
 * Call @take with @to for each pair of a table line's optional part: [COUNT [NAME WORD]...].
 * @value is that of @word, 0 if it is no number.
 */
bool table_options(const char *text, void (*take)(void *to, const char *name, const char *word,
						  uint64_t value), void *to);

#endif /* HELPER_LIB_TABLE_WORDS_H */
