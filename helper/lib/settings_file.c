// SPDX-License-Identifier: GPL-2.0-only
#include "lib/settings_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/error.h"

static char *trim_blanks(char *text)
{
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return text;
}

static int take_line(struct setting_line *line, char *text,
		     int (*take)(const struct setting_line *line, void *arg), void *arg)
{
	char *value;

	text[strcspn(text, "#")] = '\0';
	text = trim_blanks(text);
	if (!*text)
		return 0;
	value = strchr(text, '=');
	if (!value)
		return fail(CODE_USAGE, "'%s' line %u: '%s' is not of the form SETTING = VALUE",
			    line->path, line->number, text);
	*value++ = '\0';
	line->name = trim_blanks(text);
	line->value = trim_blanks(value);
	return take(line, arg);
}

/* Call @take for each setting in @text, which is overwritten, until a call fails. */
int settings_parse(const char *path, char *text,
		   int (*take)(const struct setting_line *line, void *arg), void *arg)
{
	struct setting_line line = { .path = path };
	char *one;

	while ((one = strsep(&text, "\n"))) {
		line.number++;
		if (take_line(&line, one, take, arg))
			return fail_code();
	}
	return 0;
}

/* Read a file into @text (SETTINGS_BYTES_MAX + 2 bytes). A missing file is an error. */
int settings_read(const char *path, char *text)
{
	FILE *file = fopen(path, "re");
	size_t bytes;

	if (!file)
		return fail_errno(errno, "cannot open '%s'", path);
	bytes = fread(text, 1, SETTINGS_BYTES_MAX + 1, file);
	if (ferror(file))
		fail_errno(errno, "cannot read '%s'", path);
	else if (bytes > SETTINGS_BYTES_MAX)
		fail(CODE_USAGE, "'%s' is longer than 64 KiB", path);
	fclose(file);
	if (fail_code())
		return fail_code();
	text[bytes] = '\0';
	if (strlen(text) != bytes)
		return fail(CODE_USAGE, "'%s' is not a text file", path);
	return 0;
}
