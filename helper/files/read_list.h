/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order in which a program will read: files, ranges of the device, and samples of files, which
 * have numbers. Functions that return int return 0, or an exit code after recording an error with
 * fail().
 */
#ifndef HELPER_FILES_READ_LIST_H
#define HELPER_FILES_READ_LIST_H

#include <stdint.h>

#include "files/glob.h"

/**
 * struct listed_read - a read of a file or range, or of consecutive samples of a file
 * @first: number of the first sample
 * @end: number of the last sample plus 1; 0: the whole file or range
 * @word: index of the file or range in read_list.words
 * @line: line of the list; 0: the command line
 */
struct listed_read {
	uint64_t first;
	uint64_t end;
	uint32_t word;
	uint32_t line;
};

/**
 * struct read_list - reads in their order
 * @root: folder of relative names in a list, or NULL: the current one
 * @whole: reason why sample numbers are refused, or NULL: they are allowed
 * @words: the different files and ranges
 * @read: the reads
 * @reads: entries in @read
 * @room: allocated entries
 * @names: the names of a list and their words: a tree of struct listed_name
 */
struct read_list {
	const char *root;
	const char *whole;
	struct glob_words words;
	struct listed_read *read;
	size_t reads;
	size_t room;
	void *names;
};

int read_list_add(struct read_list *list, const char *text);
int read_list_add_file(struct read_list *list, const char *path);
void read_list_free(struct read_list *list);

#endif /* HELPER_FILES_READ_LIST_H */
