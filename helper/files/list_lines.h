/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a list of words, such as TARGETs, from a file or standard input. Functions that return int
 * return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_FILES_LIST_LINES_H
#define HELPER_FILES_LIST_LINES_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct list_line - a line of a list, or a word of a list of words that NULs separate
 * @text: the line without its newline, not empty; the visitor may change it
 * @number: its number, from 1
 * @escaped: the line may begin with an escape, see list_decode(); false for a word
 */
struct list_line {
	char *text;
	size_t number;
	bool escaped;
};

int list_each_line(const char *path, int (*visit)(struct list_line *line, void *arg), void *arg);
int list_each_word(const char *path, int (*visit)(const char *word, void *arg), void *arg);
int list_decode(struct list_line *line);

#endif /* HELPER_FILES_LIST_LINES_H */
