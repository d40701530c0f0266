/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Expands TARGETs of the user into files and ranges, without access to a device. Functions
 * that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_FILES_GLOB_H
#define HELPER_FILES_GLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/range.h"

/*
 * @text: a path (@range has length 0), or @range as the user wrote it.
 * @found: the user did not name the path, but a directory or a pattern.
 */
struct glob_word {
	char *text;
	struct range range;
	bool found;
};

/*
 * A growing array in the order of the command line; files of a directory are sorted by name. The
 * caller zeroes it before the first call.
 * @passed_over: entries of directories and patterns that are not regular files: links that lead
 *	nowhere or back to a parent directory, FIFOs, sockets, devices, and directories without
 *	files that a pattern matches. A dataset on a read-only
 *	volume may have them, and they have no data.
 * @passed_first: name of the first of them
 */
struct glob_words {
	struct glob_word *word;
	size_t count;
	size_t room;
	uint64_t passed_over;
	char *passed_first;
};

int glob_add(struct glob_words *words, const char *text);
int glob_add_listed(struct glob_words *words, const char *text);
int glob_add_list(struct glob_words *words, const char *path);
void glob_free(struct glob_words *words);

#endif /* HELPER_FILES_GLOB_H */
