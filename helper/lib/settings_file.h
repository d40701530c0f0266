/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text files with one setting on each line: SETTING = VALUE; # begins a comment.
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_LIB_SETTINGS_FILE_H
#define HELPER_LIB_SETTINGS_FILE_H

#include <stddef.h>

/* A larger file is an error. */
#define SETTINGS_BYTES_MAX	65536UL

/**
 * struct setting_line - a line of a settings file
 * @path: the file, for messages
 * @number: of the line, from 1
 * @name: the setting, without blanks around it
 * @value: its value, without blanks around it; may be changed
 */
struct setting_line {
	const char *path;
	unsigned int number;
	const char *name;
	char *value;
};

int settings_read(const char *path, char *text);
int settings_parse(const char *path, char *text,
		   int (*take)(const struct setting_line *line, void *arg), void *arg);

#endif /* HELPER_LIB_SETTINGS_FILE_H */
