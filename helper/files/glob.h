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

/**
 * struct glob_word - a file or a range
 * @text: path, or the range as it was given
 * @range: of length 0: it is a file
 */
struct glob_word {
	char *text;
	struct range range;
};

/**
 * struct glob_words - all of them
 * @word: in the order in which they were named; files of a directory by name
 * @count: how many
 * @room: that fit
 */
struct glob_words {
	struct glob_word *word;
	size_t count;
	size_t room;
};

int glob_add(struct glob_words *words, const char *text);
int glob_each_listed(const char *path,
		     int (*visit)(const char *line, void *arg), void *arg);
int glob_add_list(struct glob_words *words, const char *path);
void glob_free(struct glob_words *words);

#endif /* HELPER_FILES_GLOB_H */
