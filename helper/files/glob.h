/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Expands TARGETs of the user into files and ranges, without access to a device. Functions
 * that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_FILES_GLOB_H
#define HELPER_FILES_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/range.h"

/* A file or a range: @text as the user wrote it; the length of @range is 0 for a file. */
struct word {
	char *text;
	struct range range;
};

/* A growing array in the user's order; files of a directory are sorted by name. */
struct words {
	struct word *word;
	size_t count;
	size_t room;
};

int words_add(struct words *words, const char *text);
int words_each_listed(const char *path,
		      int (*visit)(const char *line, void *arg), void *arg);
int words_add_list(struct words *words, const char *path);
void words_free(struct words *words);

#endif /* HELPER_FILES_GLOB_H */
